"""The tabletop's plans, carried out by a real arm, one straight move after the other."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray
from shapely.geometry import LineString

from cap.errors import NotGrasped, RobotError
from robots.arm.gripper import OPEN_GAP_M, Grip
from robots.arm.motion import Pose
from robots.arm.strokes import Stroke, stroke_of
from robots.ravens import route, transfer
from robots.ravens.instant import draw_top_view
from robots.ravens.scene import Scene
from robots.ravens.transfer import PARK, Transfer
from robots.ravens.world import MAX_PATHS, Joints, WorldState
from robots.simulation.world import WorldOwner
from robots.tabletop.limits import straight_down, yaw_of
from robots.tabletop.observation import Sight
from robots.tabletop.safety_guard import GuardedArm

APPROACH_M = 0.04
"""The last part of the way down to an object, and the first up from it."""
APPROACH_MPS = 0.05
"""Speed there, at most."""
_TOUCHDOWN_M = 0.001
"""Height above its support at which an object is let go."""
_SIMPLER_M = 0.001
"""A path may be this far from its points: fewer stops."""


class HardwareWorld:
    """Carries plans out with an arm behind its limits; see `robots.ravens.world.TabletopWorld`."""

    def __init__(self, host: WorldOwner, arm: GuardedArm, sight: Sight) -> None:
        """Use an arm that is connected."""
        self._host = host
        self._arm = arm
        self._sight = sight
        self._carrying: Transfer | None = None
        self._paths: tuple[Stroke, ...] = ()

    @property
    def state(self) -> WorldState:
        """What is known now: the scene as seen, the arm as measured."""
        scene = self._sight.scene()
        held = self._carrying.name if self._carrying else None
        return WorldState(scene, self._joints(), OPEN_GAP_M, held, paths=self._paths)

    @state.setter
    def state(self, state: WorldState) -> None:
        raise RobotError("a real table cannot be put back; move the objects there")

    def transfer(self, planned: Transfer, *, slips: bool = False) -> None:
        """Pick an object up and put it down."""
        self._arm.gripper(closed=False)
        self._reach(planned.pick, planned.travel_z)
        if self._arm.gripper(closed=True) is False:
            self._arm.gripper(closed=False)
            self._rise(planned.pick, planned.travel_z)
            raise NotGrasped(f"the gripper closed on nothing at {planned.name!r}; look where it is")
        self._carrying = planned
        self._rise(planned.pick, planned.travel_z)
        x, y, z = planned.place.tip
        self._reach(replace(planned.place, tip=(x, y, z + _TOUCHDOWN_M)), planned.travel_z)
        self._let_go()
        self._sight.placed(planned.result)
        self._rise(planned.place, planned.travel_z)
        self._park()

    def recover(self) -> None:
        """Put down what a stopped motion left in the gripper, straight below it."""
        if (carried := self._carrying) is None:
            return
        x, y, z, *_ = self._arm.pose()
        rest = Scene(tuple(self._sight.scene().others(carried.name)))
        below = transfer.height_over(rest, (x, y, z), (x, y, z))
        hang = carried.pick.tip[2] - min(body.bottom for body in carried.result[:1])
        tip = (x, y, min(z, below + abs(hang) + _TOUCHDOWN_M))
        self._arm.move(straight_down(*tip, carried.place.yaw), APPROACH_MPS)
        self._let_go()
        self._rise(replace(carried.place, tip=tip), z)
        self._park()

    def point(self, xy: tuple[float, float]) -> None:
        """Hold the gripper over a point of the table, metres."""
        self._over(xy, route.height_m(self._sight.scene()))
        self._host.frame()

    def follow(self, path: NDArray[np.float64], speed_mps: float) -> None:
        """Take the gripper to a path's first point, then along the path, above all objects.

        The arm stops for a moment at each corner.
        """
        height = route.height_m(self._sight.scene())
        corners = LineString(path).simplify(_SIMPLER_M).coords
        self._over(corners[0], height)
        poses = [straight_down(x, y, height, PARK.yaw) for x, y in corners[1:]]
        self._arm.path(poses, speed_mps)
        self._paths = (*self._paths, stroke_of(np.array(corners)))[-MAX_PATHS:]
        self._host.frame()

    def _over(self, xy: Sequence[float], height: float) -> None:
        self._across(route.pose_over(xy, height), height)

    def _joints(self) -> Joints:
        """Return the joint angles with which the simulated arm holds its fingertips there."""
        pose = self._arm.last_pose()
        return Pose(*pose[:3], yaw_of(pose)).joints()

    def render(self, width: int, height: int) -> Any:
        """Return what is known of the table, seen from above, as a PIL image."""
        return draw_top_view(self.state, width, height)

    def close(self) -> None:
        """Disconnect."""
        self._arm.close()
        self._sight.close()

    def _reach(self, grip: Grip, travel_z: float) -> None:
        """Go over to a grip at a height, then down to it."""
        x, y, z = grip.tip
        self._across(Pose(x, y, min(travel_z, z + APPROACH_M), grip.yaw), travel_z)
        self._arm.move(straight_down(x, y, z, grip.yaw), APPROACH_MPS)
        self._host.frame()

    def _across(self, end: Pose, travel_z: float) -> None:
        """Rise to a height where the arm is, and go to a pose at that height."""
        x, y, z, *turn = self._arm.pose()
        height = max(z, travel_z)
        ways = [(x, y, height, turn[0], turn[1], turn[2])] if height > z + 1e-3 else []
        over = straight_down(end.x, end.y, height, end.yaw)
        down = [straight_down(end.x, end.y, end.z, end.yaw)] if height > end.z + 1e-3 else []
        self._arm.path([*ways, over, *down])
        self._host.check_stop()

    def _rise(self, grip: Grip, height: float) -> None:
        x, y, z = grip.tip
        near = min(height, z + APPROACH_M)
        self._arm.move(straight_down(x, y, near, grip.yaw), APPROACH_MPS)
        if height > near:
            self._arm.move(straight_down(x, y, height, grip.yaw))

    def _let_go(self) -> None:
        self._arm.gripper(closed=False)
        self._carrying = None
        self._host.frame()

    def _park(self) -> None:
        """Wait where the arm hides nothing from a camera above the table."""
        height = max(PARK.z, self._sight.scene().top() + transfer.LIFT)
        self._across(replace(PARK, z=height), height)
