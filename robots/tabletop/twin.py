"""The simulated table in which programs for a real arm are rehearsed: it has the arm's limits."""

from __future__ import annotations

import contextlib
import math
from collections.abc import Mapping
from functools import partial
from typing import Any

from cap.errors import MissingExtra
from robots.arm.gripper import Fingers
from robots.arm.motion import Pose
from robots.arm.strokes import Array
from robots.ravens.robot import RavensRobot
from robots.ravens.state import WorldState
from robots.ravens.transfer import Transfer
from robots.ravens.world import TabletopWorld
from robots.simulation import engines
from robots.tabletop import waypoints
from robots.tabletop.arm_state import TcpPose
from robots.tabletop.limits import MotionLimits, straight_down
from robots.tabletop.waypoints import Way


def make_twin(state: WorldState, fingers: Fingers, limits: MotionLimits) -> RavensRobot:
    """Return a simulated table in a state: with dynamics, where an engine is installed."""
    make = TabletopWorld
    with contextlib.suppress(MissingExtra):
        engines.choose(None)
        from robots.ravens.physics import PhysicsTabletop

        make = PhysicsTabletop

    limited: Any = type("LimitedTabletop", (LimitedWorld, make), {"limits": limits})
    mode = "instant" if make is TabletopWorld else "physics"
    twin = Twin((), 0, mode, partial(limited, fingers=fingers))
    twin.restore((state, ()))
    return twin


class Twin(RavensRobot):
    """A simulated table that also knows how its gripper is turned."""

    def condition(self) -> Mapping[str, Any]:
        """Return what the table reports, and the direction the fingers close in: x and y."""
        yaw = Pose.of_joints(self._world.state.joints).yaw
        return {**super().condition(), "gripper closes along": (math.cos(yaw), math.sin(yaw))}


class LimitedWorld(TabletopWorld):
    """A simulated table whose gripper goes only where a real arm's limits let it.

    The class that moves it comes behind this one.
    """

    limits: MotionLimits

    def transfer(self, planned: Transfer, *, slips: bool = False) -> None:
        """Pick an object up and put it down, where the limits allow the whole way."""
        self._check(waypoints.of_transfer(self._start(), planned, self.state.scene).whole)
        super().transfer(planned, slips=slips)

    def recover(self) -> None:
        """Put down what a stopped motion left in the gripper, where the limits allow the way."""
        if self.state.held is not None:
            planned = self.state.put_down(self.fingers)
            self._check(waypoints.of_put_down(self._start(), planned, self.state.scene).whole)
        super().recover()

    def point(self, xy: tuple[float, float]) -> None:
        """Hold the gripper over a point of the table, metres."""
        self._check(waypoints.to_point(self._start(), xy, self.state.scene))
        super().point(xy)

    def follow(self, path: Array, speed_mps: float) -> None:
        """Take the gripper along a path, where the limits allow all of it."""
        self._check(waypoints.along(self._start(), path, speed_mps, self.state.scene))
        super().follow(path, speed_mps)

    def _start(self) -> TcpPose:
        hand = Pose.of_joints(self.state.joints)
        return straight_down(hand.x, hand.y, hand.z, hand.yaw)

    def _check(self, way: Way) -> None:
        self.limits.check_way([waypoint.pose for waypoint in way], self._start())
