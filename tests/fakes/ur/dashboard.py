"""The simulated controller's dashboard: it answers questions and keeps what it was asked."""

from __future__ import annotations

from tests.fakes.ur.arm import SimulatedArm


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
            "PolyscopeVersion": "URSoftware 5.11.1.108318 (Feb 01 2022)",
            "get serial number": "20215500001",
            "is in remote control": str(self._arm.remote).lower(),
        }
        return answers.get(command, f"could not understand: '{command}'")
