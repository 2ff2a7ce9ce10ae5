"""The arm by `ur_rtde`: states at 125 Hz, motions by its control script, a watchdog behind both.

The library runs in a process of its own (`child` says why). Every request to it has a
deadline; past that the process is ended, and the controller's watchdog ends the motion.
"""

from __future__ import annotations

import importlib.util
from collections.abc import Sequence
from typing import Any

from cap.errors import MissingExtra, NotConnected, RobotError, Unreachable, install_extra
from robots.tabletop import controller
from robots.tabletop.arm_state import ArmState, Motion, TcpPose, require_ready
from robots.tabletop.controller import ControllerDriver
from robots.tabletop.gripper import Output
from robots.tabletop.rtde.process import RtdeProcess

_START_S = 15.0
_PREPARE_S = 10.0
_ANSWER_S = 2.0
_MOVE_S = 6.0
"""The library itself waits 4 s for its script to be ready."""
_STOP_S = 1.5


class RtdeDriver(ControllerDriver):
    """A UR arm with RTDE: e-Series, or CB3 with software from 3.4 on."""

    name = "ur_rtde"
    _library: RtdeProcess | None = None

    def prepare(self) -> None:
        """Ask who has control, and have the library's control script run."""
        super().prepare()
        require_ready(self.state())
        self._ask({"do": "prepare"}, _PREPARE_S)

    def send(self, motion: Motion) -> None:
        """Have the controller start a motion."""
        answer = self._ask(
            {
                "do": "move",
                "target": motion.target,
                "speed": motion.speed,
                "acceleration": motion.acceleration,
            },
            _MOVE_S,
        )
        if not answer["started"]:
            require_ready(self.state())
        if not answer["allowed"]:
            raise Unreachable(
                "the controller does not allow that target: it is out of the arm's reach, or "
                "outside the safety limits set on the pendant"
            )
        if not answer["started"]:
            raise RobotError("the controller refused the motion: see its log for why")

    def refused(self, poses: Sequence[TcpPose]) -> TcpPose | None:
        """Return the first pose out of reach, or outside the safety limits set on the pendant."""
        self.prepare()
        answer = self._ask({"do": "allowed", "targets": poses}, _PREPARE_S)
        return None if answer["refused"] is None else poses[answer["refused"]]

    def _send_stop(self) -> None:
        self._ask({"do": "stop"}, _STOP_S)

    def _find_library(self) -> None:
        if importlib.util.find_spec("rtde_control") is None:
            raise MissingExtra(
                "the driver ur_rtde needs the package ur_rtde, which is not installed: "
                f"{install_extra('rtde')} (CPython 3.11 or 3.12, Linux x86-64)"
            )

    def _open(self) -> None:
        self._library = RtdeProcess(self.host)
        self._library.read(_START_S)
        self.state()

    def _release(self) -> None:
        library, self._library = self._library, None
        if library is not None:
            library.close()

    def _newest(self) -> ArmState:
        answer = self._ask({"do": "state"})
        return ArmState(
            joints=tuple(answer["joints"]),
            tcp_pose=tuple(answer["tcp_pose"]),
            mode=controller.ROBOT_MODES.get(answer["mode"], "unknown"),
            safety=controller.SAFETY_MODES.get(answer["safety"], "unknown"),
            remote=self._remote,
            moving=answer["moving"],
            age_s=answer["age_s"],
            outputs=answer["outputs"],
        )

    def _switch(self, output: Output, on: bool) -> None:
        kind, number = output
        answer = self._ask({"do": "output", "kind": kind, "number": number, "on": on}, _PREPARE_S)
        if not answer["set"]:
            raise RobotError(f"the controller refused to set {kind} output {number}")

    def _ask(self, request: dict[str, Any], seconds: float | None = None) -> dict[str, Any]:
        library = self._library
        if library is None:
            raise NotConnected(f"the arm at {self.host} is not connected: connect first")
        return library.ask(request, _ANSWER_S if seconds is None else seconds)
