"""Where a motion leads the fingertips, pose by pose, known before the first of them is sent."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

from shapely.geometry import LineString

from robots.arm.gripper import Grip
from robots.arm.motion import PARK, TABLE, Pose
from robots.arm.strokes import Array
from robots.ravens import route
from robots.ravens.scene import Scene
from robots.ravens.transfer import Transfer
from robots.tabletop.arm_state import TcpPose
from robots.tabletop.limits import straight_down

APPROACH_M = 0.04
"""The last part of the way down to an object, and the first up from it."""
APPROACH_MPS = 0.05
"""Speed there, at most."""
TOUCHDOWN_M = 0.001
"""Height above its support at which an object is let go."""
_SAME_M = 1e-3
_SIMPLER_M = 0.001
"""A path may be this far from its points: fewer stops."""


@dataclass(frozen=True)
class Waypoint:
    """A pose to be moved to on a straight line."""

    pose: TcpPose
    """In the table frame."""
    speed_mps: float | None = None
    """Greatest speed on the way there; None for the limits' own."""


Way = tuple[Waypoint, ...]


@dataclass(frozen=True)
class TransferWay:
    """A transfer in its parts: between the first two, and the last two, the fingers move."""

    to_pick: Way
    """From where the fingertips are to the grip."""
    lift: Way
    """From there up."""
    to_place: Way
    """From there to where the object is let go."""
    away: Way
    """From there to where the gripper waits."""

    @property
    def whole(self) -> Way:
        """All of it."""
        return (*self.to_pick, *self.lift, *self.to_place, *self.away)


def of_transfer(start: TcpPose, planned: Transfer, scene: Scene) -> TransferWay:
    """Return the way of a transfer over a scene."""
    high = planned.travel_z
    lifted = _up(planned.pick, high)
    placed = _let_go_at(planned)
    return TransferWay(
        _down(start, planned.pick, high),
        lifted,
        _down(lifted[-1].pose, placed, high),
        _away(placed, high, scene.moved(planned.result)),
    )


def of_put_down(start: TcpPose, planned: Transfer, scene: Scene) -> TransferWay:
    """Return the way of what `transfer.put_down` planned: the object is in the gripper already."""
    placed, high = _let_go_at(planned), planned.travel_z
    x, y, z = placed.tip
    if planned.pick.tip[:2] == planned.place.tip[:2]:
        to_place: Way = (Waypoint(straight_down(x, y, z, placed.yaw), APPROACH_MPS),)
    else:
        to_place = _down(start, placed, high)
    return TransferWay((), (), to_place, _away(placed, high, scene.moved(planned.result)))


def to_point(start: TcpPose, xy: Sequence[float], scene: Scene) -> Way:
    """Return the way to a point over the table, clear of all that stands there."""
    height = route.height_m(scene)
    return _across(start, route.pose_over(xy, height), height)


def along(start: TcpPose, path: Array, speed_mps: float, scene: Scene) -> Way:
    """Return the way to a path's first corner, and from there through all others."""
    height, corners = route.height_m(scene), corners_of(path)
    poses = (straight_down(x, y, height, PARK.yaw) for x, y in corners[1:])
    return (*to_point(start, corners[0], scene), *(Waypoint(pose, speed_mps) for pose in poses))


def corners_of(path: Array) -> Sequence[Sequence[float]]:
    """Return where a path bends, without what hardly does: the arm stops at each corner."""
    corners: Sequence[Sequence[float]] = LineString(path).simplify(_SIMPLER_M).coords
    return corners


def _let_go_at(planned: Transfer) -> Grip:
    x, y, z = planned.place.tip
    return replace(planned.place, tip=(x, y, z + TOUCHDOWN_M))


def _down(start: TcpPose, grip: Grip, high: float) -> Way:
    """Go over to a grip at a height, then down to it, the last part slowly."""
    x, y, z = grip.tip
    over = _across(start, Pose(x, y, min(high, z + APPROACH_M), grip.yaw), high)
    return (*over, Waypoint(straight_down(x, y, z, grip.yaw), APPROACH_MPS))


def _across(start: TcpPose, end: Pose, high: float) -> Way:
    """Rise to a height, go to a pose at that height, and down to it."""
    height = max(start[2], high)
    ways = []
    if height > start[2] + _SAME_M:
        ways.append(Waypoint((*start[:2], height, *start[3:])))
    ways.append(Waypoint(straight_down(end.x, end.y, height, end.yaw)))
    if height > end.z + _SAME_M:
        ways.append(Waypoint(straight_down(end.x, end.y, end.z, end.yaw)))
    return tuple(ways)


def _up(grip: Grip, high: float) -> Way:
    """Rise from a grip to a height, the first part slowly."""
    x, y, z = grip.tip
    near = min(high, z + APPROACH_M)
    slowly = Waypoint(straight_down(x, y, near, grip.yaw), APPROACH_MPS)
    if high <= near:
        return (slowly,)
    return (slowly, Waypoint(straight_down(x, y, high, grip.yaw)))


def _away(grip: Grip, high: float, scene: Scene) -> Way:
    """Rise from a grip, and wait where the arm hides nothing from a camera above the table."""
    risen = _up(grip, high)
    height = max(PARK.z, scene.top() + TABLE.lift)
    return (*risen, *_across(risen[-1].pose, replace(PARK, z=height), height))
