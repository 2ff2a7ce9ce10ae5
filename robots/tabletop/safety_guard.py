"""The arm behind its limits: what every motion passes, whichever driver carries it out."""

from __future__ import annotations

import contextlib
import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field

from cap.errors import LimitExceeded, NotConnected, RobotError
from robots.arm import ur5e
from robots.ravens.transfer import PARK
from robots.tabletop.driver import ArmDriver, ArmState, TcpPose
from robots.tabletop.limits import MotionLimits, straight_down
from robots.tabletop.trajectory import require_ready

_TOOL_TOLERANCE_M = 0.02
"""Arms differ from their published kinematics by a few millimetres."""
STALE_S = 0.5
"""A state older than this is no ground to move on."""


@dataclass
class GuardedArm:
    """Checks the controller's state and the limits before each motion, and stops after a failure.

    Poses are in the table's frame: that of the controller's base, with z from the table top.
    """

    driver: ArmDriver
    """Carries the motions out."""
    limits: MotionLimits
    """What it may be asked for."""
    table_z_m: float = 0.0
    """Height of the table top in the controller's base frame."""
    tool_m: float | None = None
    """Flange to fingertips, which the controller's tool centre point must agree with."""
    _last: TcpPose = field(default=straight_down(PARK.x, PARK.y, PARK.z, PARK.yaw), init=False)

    def connect(self) -> None:
        """Connect and make sure that the arm could move.

        Raises:
            NotConnected: The controller does not answer, or is not ready to be told to move.
            ProtectiveStop: The safety controller has stopped the arm.
            LimitExceeded: The arm stands outside the workspace box, or its tool leans.
        """
        self.driver.connect()
        try:
            state = self.check_state()
            self._check_tool(state)
            self.limits.check_start(self.pose())
        except BaseException:
            self.driver.close()
            raise

    def _check_tool(self, state: ArmState) -> None:
        """Compare the controller's tool centre point with where the fingertips must be.

        Raises:
            LimitExceeded: They are apart: every height would be wrong by that.
        """
        if self.tool_m is None:
            return
        tip = ur5e.forward(state.joints)
        expected = tip[:3, 3] + tip[:3, 2] * (self.tool_m - ur5e.TOOL_LENGTH)
        apart_m = math.dist(expected, state.tcp_pose[:3])
        if apart_m > _TOOL_TOLERANCE_M:
            raise LimitExceeded(
                f"the controller's tool centre point is {100 * apart_m:.1f} cm from the tips of a "
                f"{100 * self.tool_m:.1f} cm tool on a UR5e; set it on the pendant, or give the "
                "tool's length, such as -R tool_m=0.163"
            )

    def check_state(self) -> ArmState:
        """Return the controller's state if it lets the arm be moved.

        Raises:
            NotConnected: It does not; the message says what to do on the pendant.
            ProtectiveStop: The safety controller has stopped the arm.
        """
        state = self.driver.state()
        require_ready(state)
        if state.age_s > STALE_S:
            raise NotConnected(
                f"the controller's last word is {state.age_s:.1f} s old; check the network"
            )
        return state

    def last_pose(self) -> TcpPose:
        """Return where the fingertips are, or were when the controller last said so."""
        with contextlib.suppress(RobotError):
            self._last = self.pose()
        return self._last

    def pose(self) -> TcpPose:
        """Return where the fingertips are, in the table's frame."""
        x, y, z, *turn = self.driver.tcp_pose()
        return (x, y, z - self.table_z_m, turn[0], turn[1], turn[2])

    def move(self, pose: TcpPose, speed_mps: float | None = None) -> None:
        """Move the fingertips straight to a pose; a speed above the limit is lowered to it.

        Raises:
            LimitExceeded: The limits forbid it; nothing was sent.
            NotConnected, ProtectiveStop, Timeout, RobotError: As the driver; the arm was stopped.
        """
        self.path([pose], speed_mps)

    def path(self, poses: Sequence[TcpPose], speed_mps: float | None = None) -> None:
        """Move through poses, all of them checked before the first; otherwise as `move`."""
        speed = min(self.limits.speed_mps, speed_mps or self.limits.speed_mps)
        if speed <= 0:
            raise LimitExceeded(f"a speed of {speed} m/s; it must be above 0")
        with self._stopping():
            self._reach_controller()
            start = self.pose()
            self.limits.check_start(start)
            for pose in poses:
                self.limits.check(pose, start)
                start = pose
            for pose in poses:
                self._send(pose, speed)

    def _send(self, pose: TcpPose, speed_mps: float) -> None:
        self.check_state()
        x, y, z, *turn = pose
        self.driver.move_linear(
            (x, y, z + self.table_z_m, turn[0], turn[1], turn[2]),
            speed_mps=speed_mps,
            acceleration_mps2=self.limits.acceleration_mps2,
        )

    def gripper(self, closed: bool) -> bool | None:
        """Close or open the gripper; see `ArmDriver.gripper`."""
        with self._stopping():
            self._reach_controller()
            return self.driver.gripper(closed)

    def _reach_controller(self) -> None:
        """Check the state before anything is begun; a connection that was lost is made again."""
        try:
            self.check_state()
        except NotConnected:
            self.driver.connect()
            self.check_state()

    @contextlib.contextmanager
    def _stopping(self) -> Iterator[None]:
        """Stop the arm if anything fails or interrupts inside, whatever it is."""
        try:
            yield
        except BaseException:
            self.stop()
            raise

    def stop(self) -> None:
        """Brake; safe from any thread, and where there is nothing to stop."""
        with contextlib.suppress(RobotError, OSError):
            self.driver.stop()

    def close(self) -> None:
        """Stop and disconnect."""
        self.driver.close()
