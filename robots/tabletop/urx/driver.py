"""The arm by `urx`: URScript and states at 10 Hz by the secondary interface.

The controller has no watchdog on this interface: should this computer die, the arm ends the motion
that is under way. `ur_rtde` has one.
"""

from __future__ import annotations

import contextlib
import importlib
import time
from collections.abc import Iterator
from typing import Any

from cap.errors import MissingExtra, NotConnected, install_extra
from robots.tabletop import controller
from robots.tabletop.arm_state import ArmState, Motion, Safety
from robots.tabletop.controller import ControllerDriver
from robots.tabletop.gripper import Output

_FIRST_STATE_S = 2.0
_STOPL_MPS2 = 1.5


class UrxDriver(ControllerDriver):
    """A UR arm with software from 3.2 on, e-Series included."""

    name = "urx"
    _robot: Any = None

    def send(self, motion: Motion) -> None:
        """Send a motion to the controller, which starts it."""
        with self._talking() as robot:
            robot.movel(list(motion.target), motion.acceleration, motion.speed, wait=False)

    def _send_stop(self) -> None:
        if self.state().safety in ("normal", "reduced", "unknown"):
            with self._talking() as robot:
                robot.stopl(_STOPL_MPS2)

    def _find_library(self) -> None:
        try:
            self._monitor = importlib.import_module("robots.tabletop.urx.monitor")
        except ModuleNotFoundError as error:
            if error.name not in ("urx", "urx.urrobot"):
                raise
            raise MissingExtra(
                "the driver urx needs the package urx, which is not installed: "
                + install_extra("urx")
            ) from None

    def _open(self) -> None:
        try:
            self._robot = self._monitor.MonitoredRobot(self.host)
        except OSError as error:
            raise NotConnected(
                f"no UR controller answers at {self.host}:{controller.SCRIPT_PORT} ({error}): "
                "check the address and that the controller is on"
            ) from error
        deadline = time.monotonic() + _FIRST_STATE_S
        while self._live().secmon.newest is None:
            if time.monotonic() > deadline:
                raise NotConnected(
                    f"{self.host}:{controller.SCRIPT_PORT} accepts connections but sends no robot "
                    "state: is this a UR controller, and is it booted?"
                )
            time.sleep(0.01)

    def _newest(self) -> ArmState | None:
        packet = self._live().secmon.newest
        return packet and _state(packet, time.monotonic() - packet.received_s, self._remote)

    def _switch(self, output: Output, on: bool) -> None:
        kind, number = output
        line = f"set_{kind}_digital_out({number}, {on})"
        with self._talking() as robot:
            robot.send_program(f"sec cap_output():\n  {line}\nend")

    @contextlib.contextmanager
    def _talking(self) -> Iterator[Any]:
        """Give the robot to send something by, if the controller has spoken just now."""
        self.state()
        robot = self._live()
        try:
            yield robot
        except OSError as error:
            raise NotConnected(
                f"the controller at {self.host} does not take scripts ({error}): connect again"
            ) from error

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
        outputs=int(packet.data.get("MasterBoardData", {}).get("digitalOutputBits", 0)),
    )


def _safety(number: int | None, mode: dict[str, Any]) -> Safety:
    if mode["isEmergencyStopped"]:
        return "emergency_stop"
    if mode["isSecurityStopped"]:
        return "protective_stop"
    return "unknown" if number is None else controller.SAFETY_MODES.get(number, "unknown")
