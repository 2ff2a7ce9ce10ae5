"""The simulated table in which programs for a real arm are rehearsed: it has the arm's limits."""

from __future__ import annotations

import contextlib
import math
from collections.abc import Mapping
from typing import Any

from cap.errors import MissingExtra
from robots.arm.gripper import Fingers, Grip
from robots.arm.motion import Pose
from robots.arm.strokes import Array
from robots.ravens import transfer
from robots.ravens.instant import InstantTabletop
from robots.ravens.robot import RavensRobot
from robots.ravens.transfer import Transfer
from robots.ravens.world import Layout, TabletopWorld, WorldState
from robots.simulation import engines
from robots.simulation.turn_history import TurnHistory
from robots.simulation.world import WorldOwner
from robots.tabletop import waypoints
from robots.tabletop.driver import TcpPose
from robots.tabletop.limits import MotionLimits, straight_down
from robots.tabletop.waypoints import Way


def make_twin(state: WorldState, fingers: Fingers, limits: MotionLimits) -> RavensRobot:
    """Return a simulated table in a state: with dynamics, where an engine is installed."""
    make: Any = InstantTabletop
    with contextlib.suppress(MissingExtra):
        engines.choose(None)
        from robots.ravens.physics import PhysicsTabletop

        make = PhysicsTabletop

    def world(owner: WorldOwner, state: WorldState) -> TabletopWorld:
        return LimitedWorld(make(owner, state, fingers), limits)

    twin = Twin((), 0, "instant" if make is InstantTabletop else "physics", world)
    twin.restore((state, ()))
    return twin


class Twin(RavensRobot):
    """A simulated table that also knows how its gripper is turned."""

    def condition(self) -> Mapping[str, Any]:
        """Return what the table reports, and the direction the fingers close in: x and y."""
        yaw = Pose.of_joints(self._world.state.joints).yaw
        return {**super().condition(), "gripper closes along": (math.cos(yaw), math.sin(yaw))}


class LimitedWorld:
    """A simulated table whose gripper goes only where a real arm's limits let it."""

    def __init__(self, world: TabletopWorld, limits: MotionLimits) -> None:
        """Hold a world to limits."""
        self._world = world
        self._limits = limits

    @property
    def state(self) -> WorldState:
        """How everything is between motions."""
        return self._world.state

    @state.setter
    def state(self, state: WorldState) -> None:
        self._world.state = state

    @property
    def fingers(self) -> Fingers:
        """How far the gripper opens."""
        return self._world.fingers

    def remember(self, turns: TurnHistory[Layout]) -> None:
        """Keep where everything was before the last turns."""
        self._world.remember(turns)

    def begin(self) -> None:
        """Begin an action."""
        self._world.begin()

    def transfer(self, planned: Transfer, *, slips: bool = False) -> None:
        """Pick an object up and put it down, where the limits allow the whole way."""
        self._check(waypoints.of_transfer(self._start(), planned, self.state.scene).whole)
        self._world.transfer(planned, slips=slips)

    def recover(self) -> None:
        """Put down what a stopped motion left in the gripper, where the limits allow the way."""
        state = self.state
        if state.held is not None:
            start = self._start()
            held = (state.scene[state.held], *transfer.resting_on(state.scene, state.held))
            yaw = Pose.of_joints(state.joints).yaw
            opened = Grip(start[:3], yaw, self.fingers.opened(state.gap_m))
            planned = transfer.put_down(state.scene, held, opened)
            self._check(waypoints.of_put_down(start, planned, state.scene).whole)
        self._world.recover()

    def point(self, xy: tuple[float, float]) -> None:
        """Hold the gripper over a point of the table, metres."""
        self._check(waypoints.to_point(self._start(), xy, self.state.scene))
        self._world.point(xy)

    def follow(self, path: Array, speed_mps: float) -> None:
        """Take the gripper along a path, where the limits allow all of it."""
        self._check(waypoints.along(self._start(), path, speed_mps, self.state.scene))
        self._world.follow(path, speed_mps)

    def now(self) -> WorldState:
        """Return how everything is at this moment."""
        return self._world.now()

    def render(self, width: int, height: int) -> Any:
        """Return a picture as a PIL image."""
        return self._world.render(width, height)

    def close(self) -> None:
        """Release what the world holds."""
        self._world.close()

    def _start(self) -> TcpPose:
        hand = Pose.of_joints(self.state.joints)
        return straight_down(hand.x, hand.y, hand.z, hand.yaw)

    def _check(self, way: Way) -> None:
        self._limits.check_way([waypoint.pose for waypoint in way], self._start())
