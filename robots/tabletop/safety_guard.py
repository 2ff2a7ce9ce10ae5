"""The arm behind its limits: what every motion passes, whichever driver carries it out."""

from __future__ import annotations

import contextlib
import math
import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from cap.errors import LimitExceeded, NotConnected, RobotError, Unreachable
from robots.arm import rotations, ur5e
from robots.tabletop import arm_state
from robots.tabletop.arm_state import ArmState, TcpPose, raised, require_ready, turn
from robots.tabletop.controller import ControllerDriver
from robots.tabletop.dry_run import DryDriver
from robots.tabletop.limits import TOOL_TOLERANCE_M, TOOL_TOLERANCE_RAD, MotionLimits
from robots.tabletop.waypoints import Waypoint

_AT_REST_S = 3.0
"""How long an arm that brakes is waited for."""
_POLL_S = 0.02


@dataclass
class GuardedArm:
    """Checks the controller's state and the limits before each motion, and stops after a failure.

    Poses are in the table frame: that of the controller's base, the base frame, with z from the
    table top.
    """

    driver: ControllerDriver | DryDriver
    """Carries the motions out."""
    limits: MotionLimits
    """What it may be asked for."""
    table_z_m: float = 0.0
    """Height of the table top in the base frame."""
    tool_m: float | None = None
    """Flange to fingertips, which the controller's tool centre point must agree with."""
    tool_turn_rad: float = 0.0
    """Turn of the tool centre point's x axis, along which the fingers close, from the flange's."""

    def connect(self) -> None:
        """Connect and make sure that the arm could move.

        Raises:
            NotConnected: The controller does not answer, or is not ready to move.
            ProtectiveStop: The safety controller has stopped the arm.
            LimitExceeded: The arm stands outside the workspace box, or its tool is not as said.
            RobotError: The gripper holds something from before.
        """
        self.driver.connect()
        try:
            self._check_tool(self.check_state())
            self.limits.check_start(self.pose())
            self.require_empty()
        except BaseException:
            self.driver.close()
            raise

    def require_empty(self) -> None:
        """Make sure that the gripper holds nothing from before.

        Raises:
            RobotError: It does, or may.
            NotConnected: The gripper is not reached.
        """
        if self.driver.holding() is not False:
            raise RobotError(
                "the gripper is closed and holds something, or may, and nobody here knows "
                "what: take it out by hand, open the fingers on the pendant, and start again"
            )

    def begin(self) -> None:
        """Make ready for an action: a stop is over, the connection stands, the arm is at rest.

        A connection that was lost is made again, and the tool is looked at each time: somebody may
        have set another one on the pendant.

        Raises:
            NotConnected, ProtectiveStop, LimitExceeded: As `connect`.
            RobotError: Something else moves the arm.
        """
        self.driver.clear_stop()
        try:
            state = self.check_state()
        except NotConnected:
            self.driver.connect()
            state = self.check_state()
        until = time.monotonic() + _AT_REST_S
        while state.moving:
            if time.monotonic() > until:
                raise RobotError(
                    "something else moves the arm, or a program runs on the controller: end it "
                    "there; one program at a time may have the arm"
                )
            time.sleep(_POLL_S)
            state = self.check_state()
        self._check_tool(state)

    def _check_tool(self, state: ArmState) -> None:
        """Compare the controller's tool centre point with where the fingertips must be.

        Raises:
            LimitExceeded: They are apart, or turned: every grip would be wrong by that.
        """
        if self.tool_m is None:
            return
        apart_m, turned_rad = self.tool_error(state, self.tool_m)
        if apart_m > TOOL_TOLERANCE_M:
            raise LimitExceeded(
                f"the controller's tool centre point is {100 * apart_m:.1f} cm from the tips of a "
                f"{100 * self.tool_m:.1f} cm tool on a UR5e; set it on the pendant, or give the "
                "tool's length, such as -R tool_m=0.163"
            )
        if turned_rad > TOOL_TOLERANCE_RAD:
            raise LimitExceeded(
                f"the controller's tool centre point is turned {math.degrees(turned_rad):.0f} "
                "degrees from where its z axis must be along the fingers and its x axis the way "
                "they close; set it on the pendant, or say how the gripper is mounted, such as "
                "-R tool_turn_deg=90"
            )

    def tool_error(self, state: ArmState, tool_m: float) -> tuple[float, float]:
        """Return how far (m, rad) the controller's tool centre point is from where it must be."""
        tip = ur5e.forward(state.joints)
        expected = tip[:3, 3] + tip[:3, 2] * (tool_m - ur5e.TOOL_LENGTH)
        mounted = tip[:3, :3] @ rotations.rotation_of((0.0, 0.0, self.tool_turn_rad))
        turned_rad = turn(rotations.rotation_vector(mounted).tolist(), state.tcp_pose[3:])
        return math.dist(expected, state.tcp_pose[:3]), turned_rad

    def check_state(self) -> ArmState:
        """Return the controller's state if it lets the arm be moved.

        Raises:
            NotConnected: It does not; the message says what to do on the pendant.
            ProtectiveStop: The safety controller has stopped the arm.
        """
        state = self.driver.state()
        require_ready(state)
        if state.age_s > arm_state.STALE_S:
            raise NotConnected(
                f"the controller's newest state is {state.age_s:.1f} s old; check the network"
            )
        return state

    def last_pose(self) -> TcpPose:
        """Return where the fingertips are, or were when the controller last said so."""
        try:
            return self.pose()
        except RobotError:
            if self.driver.heard is None:
                raise
            return self._on_table(self.driver.heard.tcp_pose)

    def heard_pose(self) -> TcpPose | None:
        """Return where the fingertips were when the controller last said so; it is not asked."""
        heard = self.driver.heard
        return None if heard is None else self._on_table(heard.tcp_pose)

    def pose(self) -> TcpPose:
        """Return where the fingertips are, in the table frame."""
        return self._on_table(self.driver.tcp_pose())

    def reach(self) -> None:
        """Connect again if the connection is lost; nothing moves.

        Raises:
            NotConnected: The controller does not answer.
        """
        try:
            self.driver.state()
        except NotConnected:
            self.driver.connect()
            self.driver.state()

    def _on_table(self, pose: TcpPose) -> TcpPose:
        """Return a pose of the base frame in the table frame."""
        return raised(pose, -self.table_z_m)

    def check(self, way: Sequence[Waypoint]) -> None:
        """Make sure that the limits allow every pose of a way from here; nothing moves.

        Raises:
            LimitExceeded: They do not.
        """
        start = self.pose()
        self.limits.check_start(start)
        self.limits.check_way([waypoint.pose for waypoint in way], start)

    def require_allowed(self, way: Sequence[Waypoint]) -> None:
        """Have the controller say whether it would go the whole way, where it can be asked.

        Raises:
            Unreachable: It would not.
        """
        self.check(way)
        refused = self.driver.refused([self._in_base(waypoint.pose) for waypoint in way])
        if refused is not None:
            x, y, z = refused[:3]
            raise Unreachable(
                f"the controller does not allow ({x:.3f}, {y:.3f}, {z - self.table_z_m:.3f}) m on "
                "the way: it is out of reach, or outside the safety limits set on the pendant; "
                "nothing moved"
            )

    def _in_base(self, pose: TcpPose) -> TcpPose:
        """Return a pose of the table frame in the base frame."""
        return raised(pose, self.table_z_m)

    def path(self, way: Sequence[Waypoint]) -> None:
        """Move through waypoints, all of them checked before the first.

        A speed above the limit is lowered to it.

        Raises:
            LimitExceeded: The limits forbid it; nothing was sent.
            NotConnected, ProtectiveStop, Timeout, RobotError: As the driver; the arm was stopped.
        """
        with self._stopping():
            self.check_state()
            self.check(way)
            for waypoint in way:
                self.check_state()
                self.driver.move_linear(
                    self._in_base(waypoint.pose),
                    speed_mps=min(self.limits.speed_mps, waypoint.speed_mps or math.inf),
                    acceleration_mps2=self.limits.acceleration_mps2,
                )

    def gripper(self, gap_m: float) -> bool | None:
        """Drive the fingers to a distance (m); see `ControllerDriver.gripper`."""
        with self._stopping():
            self.check_state()
            return self.driver.gripper(gap_m)

    def holding(self) -> bool | None:
        """Return whether the fingers hold something; see `ControllerDriver.holding`."""
        with self._stopping():
            return self.driver.holding()

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
