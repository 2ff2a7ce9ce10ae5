"""The simulated controller's dashboard: it answers questions and keeps what it was asked."""

from __future__ import annotations

from tests.fakes.ur.arm import SimulatedArm

_MODES = {
    "running": "RUNNING",
    "idle": "IDLE",
    "power_off": "POWER_OFF",
    "disconnected": "NO_CONTROLLER",
}
_SAFETY = {
    "normal": "NORMAL",
    "reduced": "REDUCED",
    "protective_stop": "PROTECTIVE_STOP",
    "safeguard_stop": "SAFEGUARD_STOP",
    "emergency_stop": "ROBOT_EMERGENCY_STOP",
    "fault": "FAULT",
}


class Dashboard:
    """Answers as the arm is."""

    GREETING = b"Connected: Universal Robots Dashboard Server\n"

    def __init__(self, arm: SimulatedArm) -> None:
        self._arm = arm
        self.asked: list[str] = []

    def answer(self, command: str) -> str:
        """Return the answer's line."""
        self.asked.append(command)
        answers = {
            "robotmode": f"Robotmode: {_MODES[self._arm.mode]}",
            "safetystatus": f"Safetystatus: {_SAFETY[self._arm.safety]}",
            "safetymode": f"Safetymode: {_SAFETY[self._arm.safety]}",
            "PolyscopeVersion": "URSoftware 5.11.1.108318 (Feb 01 2022)",
            "get serial number": "20215500001",
            "stop": "Stopped",
            "running": "Program running: false",
            "programState": "STOPPED <unnamed>",
            "quit": "Disconnected",
        }
        if self._arm.remote is None:
            answers["PolyscopeVersion"] = "URSoftware 3.14.3.1031110 (May 26 2020)"
        else:
            answers["is in remote control"] = str(self._arm.remote).lower()
        return answers.get(command, f"could not understand: '{command}'")
