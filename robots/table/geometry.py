"""The table frame, its places, and what is measured in it: points, turns, rectangles.

Frame: metres, origin at the robot's base on the table top, x right, y away from the front edge
(towards the robot), z up. Angles are radians, counter-clockwise seen from above.
"""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Self, TypeVar

import shapely

XY = tuple[float, float]
Vec3 = tuple[float, float, float]
Quat = tuple[float, float, float, float]
"""x, y, z, w."""
Rectangle = tuple[float, float, float, float, float]
"""Centre x, centre y, half length, half width (metres) and yaw of the length (radians)."""
Axes = tuple[Vec3, Vec3, Vec3]
"""Rows of a rotation matrix."""

TABLE_X = (-0.3, 0.3)
TABLE_Y = (-0.8, -0.2)
EDGE_INSET = 0.02
"""An object's centre must stay this far from the table's edge, or a block would tip over it."""

CORNERS: Mapping[str, XY] = {
    "top left corner": (-0.25, -0.25),
    "top right corner": (0.25, -0.25),
    "bottom left corner": (-0.25, -0.75),
    "bottom right corner": (0.25, -0.75),
}
SIDES: Mapping[str, XY] = {
    "top side": (0.0, -0.25),
    "right side": (0.25, -0.5),
    "bottom side": (0.0, -0.75),
    "left side": (-0.25, -0.5),
}
PLACES: Mapping[str, XY] = {**CORNERS, **SIDES, "middle": (0.0, -0.5)}


@dataclass(frozen=True)
class Solid(ABC):
    """An object and its pose, as planners and names need it."""

    name: str
    """Such as `red block`."""
    position: Vec3
    """Its middle, metres: of a bowl, of its axis at half its height."""
    quaternion: Quat = (0.0, 0.0, 0.0, 1.0)
    """How it is turned: x, y, z, w."""

    @property
    @abstractmethod
    def half_height(self) -> float:
        """From its middle to its top or its bottom, metres."""

    @property
    @abstractmethod
    def radius(self) -> float:
        """Radius of the circle around it seen from above, metres."""

    @property
    @abstractmethod
    def outline(self) -> Rectangle | None:
        """What a box covers seen from above; None of what is round."""

    @property
    @abstractmethod
    def outer_r(self) -> float:
        """Radius of what is round, metres."""

    @abstractmethod
    def inner_r(self, z: float) -> float:
        """Return the radius of what is hollow, inside, at a height, metres; 0 of what is not."""

    @property
    def xy(self) -> XY:
        """Its middle seen from above, metres."""
        return self.position[:2]

    @property
    def top(self) -> float:
        """Height of its highest part, metres."""
        return self.position[2] + self.half_height

    @property
    def bottom(self) -> float:
        """Height of its lowest part, metres."""
        return self.position[2] - self.half_height

    @property
    def axes(self) -> Axes:
        """The x, y and z of its own axes in the world."""
        return axes_of(self.quaternion)

    def at(self, position: Vec3) -> Self:
        """Return it elsewhere, turned as it is."""
        return replace(self, position=position)


AnySolid = TypeVar("AnySolid", bound=Solid)


def moved(solids: Iterable[AnySolid], changes: Iterable[AnySolid]) -> tuple[AnySolid, ...]:
    """Return solids, those as they are in the changes that are among them, by name."""
    new = {solid.name: solid for solid in changes}
    return tuple(new.get(solid.name, solid) for solid in solids)


def axes_of(quaternion: Sequence[float]) -> Axes:
    """Return the x, y and z in the world of a body's own axes; the quaternion's length is 1."""
    x, y, z, w = quaternion
    return (
        (1 - 2 * (y * y + z * z), 2 * (x * y - z * w), 2 * (x * z + y * w)),
        (2 * (x * y + z * w), 1 - 2 * (x * x + z * z), 2 * (y * z - x * w)),
        (2 * (x * z - y * w), 2 * (y * z + x * w), 1 - 2 * (x * x + y * y)),
    )


def nearest_place(xy: Sequence[float], places: Mapping[str, XY]) -> str:
    """Return the name of the place closest to a point."""
    return min(places, key=lambda name: math.dist((xy[0], xy[1]), places[name]))


def yaw_quaternion(yaw: float) -> Quat:
    """Return the rotation by `yaw` about the vertical."""
    return (0.0, 0.0, math.sin(yaw / 2), math.cos(yaw / 2))


def carried_point(point: Vec3, start: Vec3, end: Vec3, turn: float) -> Vec3:
    """Return where a point comes to that is fixed to what is moved and turned.

    Args:
        point: Where it is, metres.
        start: Where what it is fixed to is.
        end: Where that goes.
        turn: By how much it turns about the vertical on the way, radians.
    """
    dx, dy, dz = point[0] - start[0], point[1] - start[1], point[2] - start[2]
    c, s = math.cos(turn), math.sin(turn)
    return (end[0] + c * dx - s * dy, end[1] + s * dx + c * dy, end[2] + dz)


def corners(rectangle: Rectangle) -> Iterator[XY]:
    """Yield the four corners."""
    x, y, length, width, yaw = rectangle
    c, s = math.cos(yaw), math.sin(yaw)
    for a in (-length, length):
        for b in (-width, width):
            yield (x + a * c - b * s, y + a * s + b * c)


def point_in(rectangle: Rectangle, along: float, across: float) -> XY:
    """Return the point so far from the centre, along a rectangle's length and along its width."""
    x, y, _, _, yaw = rectangle
    c, s = math.cos(yaw), math.sin(yaw)
    return (x + c * along - s * across, y + s * along + c * across)


def polygon(rectangle: Rectangle) -> shapely.Polygon:
    """Return a rectangle as a shapely polygon."""
    return shapely.MultiPoint(list(corners(rectangle))).convex_hull


def distance(rectangle: Rectangle, point: XY) -> float:
    """Return the distance from a point to a rectangle, 0 inside."""
    along, across = _from_centre(rectangle, point)
    return math.hypot(max(0.0, along - rectangle[2]), max(0.0, across - rectangle[3]))


def inside(rectangle: Rectangle, point: XY, margin_m: float = 0.0) -> bool:
    """Return whether a point lies in a rectangle, at least so far from its edge."""
    along, across = _from_centre(rectangle, point)
    return along <= rectangle[2] - margin_m and across <= rectangle[3] - margin_m


def _from_centre(rectangle: Rectangle, point: XY) -> tuple[float, float]:
    """Return how far from a rectangle's centre a point is, along its length and its width."""
    x, y, _, _, yaw = rectangle
    dx, dy = point[0] - x, point[1] - y
    along = abs(dx * math.cos(yaw) + dy * math.sin(yaw))
    return along, abs(dy * math.cos(yaw) - dx * math.sin(yaw))


def overlap(first: Rectangle, second: Rectangle) -> bool:
    """Return whether two rectangles overlap, by the separating axis theorem."""
    for yaw in (first[4], first[4] + math.pi / 2, second[4], second[4] + math.pi / 2):
        c, s = math.cos(yaw), math.sin(yaw)
        a = [x * c + y * s for x, y in corners(first)]
        b = [x * c + y * s for x, y in corners(second)]
        if max(a) <= min(b) or max(b) <= min(a):
            return False
    return True
