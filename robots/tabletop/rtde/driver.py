"""The arm by `ur_rtde`: states at 125 Hz, motions by its control script, a watchdog behind both.

The library runs in a process of its own (`rtde_child` says why). Every request to it has a
deadline; past that the process is ended, and the controller's watchdog ends the motion.
"""

from __future__ import annotations

import contextlib
import importlib.util
from typing import Any

from cap.errors import MissingExtra, NotConnected, RobotError, Unreachable
from robots.tabletop import controller
from robots.tabletop.driver import ArmState, Joints, TcpPose
from robots.tabletop.gripper import Output, gripper_for
from robots.tabletop.rtde.process import RtdeProcess
from robots.tabletop.trajectory import Motion, Mover, fresh, require_ready

_START_S = 15.0
_PREPARE_S = 10.0
_ANSWER_S = 2.0
_MOVE_S = 6.0
"""The library itself waits 4 s for its script to be ready."""
_STOP_S = 1.5


class RtdeDriver:
    """A UR arm with RTDE: e-Series, or CB3 with software from 3.4 on."""

    name = "ur_rtde"

    def __init__(
        self,
        host: str,
        *,
        gripper: str = "tool_io",
        gripper_wait_s: float = 1.0,
        slack_s: float = 5.0,
    ) -> None:
        """Prepare; `connect` connects.

        Args:
            host: The controller's address.
            gripper: `none`, `robotiq`, `tool_io[:0-1]` or `standard_io[:0-7]`.
            gripper_wait_s: Time a gripper on an output needs, seconds.
            slack_s: What a motion may take beyond twice its time, seconds.

        Raises:
            UsageError: No such gripper.
            MissingExtra: `ur_rtde` is not installed.
        """
        if importlib.util.find_spec("rtde_control") is None:
            raise MissingExtra(
                "the driver ur_rtde needs the package ur_rtde, which is not installed: "
                "pip install 'code-as-policies[rtde]' (CPython 3.11 or 3.12, Linux x86-64)"
            )
        self.host = host
        self._library: RtdeProcess | None = None
        self._remote: bool | None = None
        self._kind = "movel"
        self._gripper = gripper_for(gripper, host, self._switch, wait_s=gripper_wait_s)
        self._mover = Mover(self, slack_s=slack_s)

    def connect(self) -> None:
        """Open the connection and wait for the first state; the arm's program is left alone.

        Raises:
            NotConnected: Nothing listens there, or it sends no states.
        """
        self.close()
        self._library = RtdeProcess(self.host)
        try:
            self._library.read(_START_S)
            self.state()
        except BaseException:
            self.close()
            raise
        self._remote = controller.remote_control(self.host)

    def state(self) -> ArmState:
        """Return the newest state, at most 0.5 s old."""
        state = fresh(self._newest)
        if state is None:
            raise NotConnected(
                f"the controller at {self.host} has said nothing for 0.5 s: check the cable, "
                "then connect again"
            )
        return state

    def tcp_pose(self) -> TcpPose:
        """Return the measured pose of the tool centre point."""
        return self.state().tcp_pose

    def move_joints(
        self, joints: Joints, *, speed_radps: float, acceleration_radps2: float
    ) -> None:
        """Move to joint angles (rad) and return once there."""
        self._mover.go(Motion("movej", tuple(joints), speed_radps, acceleration_radps2))

    def move_linear(self, pose: TcpPose, *, speed_mps: float, acceleration_mps2: float) -> None:
        """Move the tool centre point straight to a pose and return once there."""
        self._mover.go(Motion("movel", tuple(pose), speed_mps, acceleration_mps2))

    def gripper(self, closed: bool) -> bool | None:
        """Close or open the gripper and wait for it; None where it cannot tell what it holds."""
        pause = self._mover.pauses()
        self._remote = controller.remote_control(self.host)
        pause(0.0)
        return self._gripper.set(closed, pause)

    def stop(self) -> None:
        """Brake now; the motion that is under way raises `RobotError`."""
        self._mover.stop()

    def close(self) -> None:
        """Stop what moves and close the connection."""
        library = self._library
        if library is not None:
            if self._mover.busy:
                with contextlib.suppress(NotConnected):
                    self.stop()
            self._library = None
            library.close()
        self._gripper.close()

    def prepare(self) -> None:
        """Ask who has control, and have the library's control script run."""
        self._remote = controller.remote_control(self.host)
        require_ready(self.state())
        self._ask({"do": "prepare"}, _PREPARE_S)

    def send(self, motion: Motion) -> None:
        """Have the controller start a motion."""
        self._kind = motion.kind
        told = self._ask(
            {
                "do": "move",
                "kind": motion.kind,
                "target": motion.target,
                "speed": motion.speed,
                "acceleration": motion.acceleration,
            },
            _MOVE_S,
        )
        if not told["started"]:
            require_ready(self.state())
        if not told["allowed"]:
            raise Unreachable(
                "the controller does not allow that target: it is out of the arm's reach, or "
                "outside the safety limits set on the pendant"
            )
        if not told["started"]:
            raise RobotError("the controller refused the motion: see its log for why")

    def brake(self) -> None:
        """Stop the arm: by a new connection where this one is gone."""
        try:
            self._ask({"do": "stop", "kind": self._kind}, _STOP_S)
        except NotConnected:
            if self._library is None:
                raise
            with contextlib.suppress(OSError):
                controller.brake(self.host)
            raise

    def _newest(self) -> ArmState:
        told = self._ask({"do": "state"})
        return ArmState(
            joints=tuple(told["joints"]),
            tcp_pose=tuple(told["tcp_pose"]),
            mode=controller.ROBOT_MODES.get(told["mode"], "unknown"),
            safety=controller.SAFETY_MODES.get(told["safety"], "unknown"),
            remote=self._remote,
            moving=told["moving"],
            age_s=told["age_s"],
        )

    def _switch(self, output: Output, on: bool) -> None:
        kind, number = output
        told = self._ask({"do": "output", "kind": kind, "number": number, "on": on}, _PREPARE_S)
        if not told["set"]:
            raise RobotError(f"the controller refused to set {kind} output {number}")

    def _ask(self, request: dict[str, Any], seconds: float | None = None) -> dict[str, Any]:
        library = self._library
        if library is None:
            raise NotConnected(f"the arm at {self.host} is not connected: connect first")
        return library.ask(request, _ANSWER_S if seconds is None else seconds)
