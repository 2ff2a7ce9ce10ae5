"""The arm by `urx`: URScript and states at 10 Hz by the secondary interface.

The controller has no watchdog on this interface: should this computer die, the arm ends the motion
that is under way. `rtde_driver` has one.
"""

from __future__ import annotations

import contextlib
import importlib
import time
from typing import Any

from cap.errors import MissingExtra, NotConnected
from robots.tabletop import controller
from robots.tabletop.driver import ArmState, Joints, Safety, TcpPose
from robots.tabletop.gripper import Output, gripper_for
from robots.tabletop.trajectory import Motion, Mover, fresh

_FIRST_STATE_S = 2.0
_STOPL_MPS2 = 1.5
_STOPJ_RADPS2 = 3.0


class UrxDriver:
    """A UR arm with software from 3.2 on, e-Series included."""

    name = "urx"

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
            MissingExtra: `urx` is not installed.
        """
        self.host = host
        self._urx = _import()
        self._robot: Any = None
        self._remote: bool | None = None
        self._straight = True
        self._gripper = gripper_for(gripper, host, self._switch, wait_s=gripper_wait_s)
        self._mover = Mover(self, slack_s=slack_s)

    def connect(self) -> None:
        """Open the connection and wait for the first state.

        Raises:
            NotConnected: Nothing listens there, or it sends no states.
        """
        self.close()
        try:
            self._robot = self._urx.Robot(self.host)
        except OSError as error:
            raise NotConnected(
                f"no UR controller answers at {self.host}:{controller.SCRIPT_PORT} ({error}): "
                "check the address and that the controller is on"
            ) from error
        try:
            self._await_first()
        except BaseException:
            self._release()
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
        if self._robot is not None:
            if self._mover.busy:
                with contextlib.suppress(NotConnected):
                    self.stop()
            self._release()
        self._gripper.close()

    def prepare(self) -> None:
        """Ask who has control."""
        self._remote = controller.remote_control(self.host)

    def send(self, motion: Motion) -> None:
        """Send a motion to the controller, which starts it."""
        self._straight = motion.kind == "movel"
        robot = self._live()
        move = robot.movel if self._straight else robot.movej
        self._script(
            lambda: move(list(motion.target), motion.acceleration, motion.speed, wait=False)
        )

    def brake(self) -> None:
        """Stop the arm: by a new connection where this one is gone."""
        try:
            if self.state().safety not in ("normal", "reduced", "unknown"):
                return
            robot = self._live()
            if self._straight:
                self._script(lambda: robot.stopl(_STOPL_MPS2))
            else:
                self._script(lambda: robot.stopj(_STOPJ_RADPS2))
        except NotConnected:
            if self._robot is None:
                raise
            with contextlib.suppress(OSError):
                controller.brake(self.host)
            raise

    def _newest(self) -> ArmState | None:
        packet = self._live().secmon.newest
        return packet and _state(packet, time.monotonic() - packet.received_s, self._remote)

    def _switch(self, output: Output, on: bool) -> None:
        kind, number = output
        line = f"set_{kind}_digital_out({number}, {on})"
        robot = self._live()
        self._script(lambda: robot.send_program(f"sec cap_output():\n  {line}\nend"))

    def _script(self, send: Any) -> None:
        """Send something, if the controller has spoken just now."""
        self.state()
        try:
            send()
        except OSError as error:
            raise NotConnected(
                f"the controller at {self.host} does not take scripts ({error}): connect again"
            ) from error

    def _await_first(self) -> None:
        deadline = time.monotonic() + _FIRST_STATE_S
        while self._live().secmon.newest is None:
            if time.monotonic() > deadline:
                raise NotConnected(
                    f"{self.host}:{controller.SCRIPT_PORT} accepts connections but sends no robot "
                    "state: is this a UR controller, and is it booted?"
                )
            time.sleep(0.01)

    def _live(self) -> Any:
        """Return the robot, its monitor alive."""
        robot = self._robot
        if robot is None:
            raise NotConnected(f"the arm at {self.host} is not connected: connect first")
        if not robot.secmon.is_alive():
            raise NotConnected(
                f"the connection to {self.host} was lost ({robot.secmon.failure}): connect again"
            )
        return robot

    def _release(self) -> None:
        robot, self._robot = self._robot, None
        if robot is not None:
            robot.close()


def _state(packet: Any, age_s: float, remote: bool | None) -> ArmState:
    mode, pose, joints = (
        packet.data[name] for name in ("RobotModeData", "CartesianInfo", "JointData")
    )
    return ArmState(
        joints=tuple(joints[f"q_actual{n}"] for n in range(6)),
        tcp_pose=(pose["X"], pose["Y"], pose["Z"], pose["Rx"], pose["Ry"], pose["Rz"]),
        mode=controller.ROBOT_MODES.get(mode["robotMode"], "unknown"),
        safety=_safety(packet.safety, mode),
        remote=remote,
        moving=mode["isProgramRunning"],
        age_s=age_s,
    )


def _safety(number: int | None, mode: dict[str, Any]) -> Safety:
    if mode["isEmergencyStopped"]:
        return "emergency_stop"
    if mode["isSecurityStopped"]:
        return "protective_stop"
    return "unknown" if number is None else controller.SAFETY_MODES.get(number, "unknown")


def _import() -> Any:
    try:
        return importlib.import_module("robots.tabletop.urx.monitor")
    except ModuleNotFoundError as error:
        if error.name not in ("urx", "urx.urrobot"):
            raise
        raise MissingExtra(
            "the driver urx needs the package urx, which is not installed: "
            "pip install 'code-as-policies[urx]'"
        ) from None
