"""What a robot's world looks like, as plain data: shapes by name, and where each one is now.

A viewer in three dimensions, or from above, needs to know no robot.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Literal, Protocol, runtime_checkable

Rgb = tuple[int, int, int]
"""Red, green and blue, 0 to 255."""
Placement = tuple[float, float, float, float, float, float, float]
"""x, y, z in metres, and a unit quaternion x, y, z, w."""
ORIGIN: Placement = (0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 1.0)


@dataclass(frozen=True)
class Shape:
    """One solid in one colour."""

    kind: Literal["box", "cylinder", "lathe"]
    """A box; a cylinder along z; or a profile turned about z, such as a bowl's."""
    color: Rgb
    """Its colour."""
    size: tuple[float, ...] = ()
    """Of a box its three edges, of a cylinder radius and height, metres."""
    at: Placement = ORIGIN
    """Where its middle is in the body it belongs to."""
    profile: tuple[tuple[float, float], ...] = ()
    """Of a lathe: radius and z of each corner, metres; all around, the outside first."""


@dataclass(frozen=True)
class Polyline:
    """A line on a surface: ink, or a path."""

    points: tuple[tuple[float, float, float], ...]
    """xyz, metres."""
    color: Rgb
    """Its colour."""
    width_m: float
    """Its width, metres."""


@dataclass(frozen=True)
class Appearance:
    """How a world is at one moment."""

    placements: Mapping[str, Placement]
    """Where each body is; the name begins with what it is part of, such as `objects/red block`."""
    lines: tuple[Polyline, ...] = ()
    """Ink and paths."""


@runtime_checkable
class Viewable(Protocol):
    """A robot whose world can be drawn by others."""

    def shapes(self) -> Mapping[str, Sequence[Shape]]:
        """Return what each body is made of, by name; objects are `objects/NAME`."""

    def view(self) -> Appearance:
        """Return where each body is at this moment, in the middle of a motion too.

        To be called on the thread that moves the robot, as `on_frame` is, or while nothing moves.
        """


@dataclass
class ViewLog:
    """What was reported of a world's looks already, so that only what is new is reported."""

    _told: dict[str, Any] = field(default_factory=dict)
    _shapes: set[str] = field(default_factory=set)
    _lines: tuple[Polyline, ...] = ()

    def news(self, robot: Viewable) -> dict[str, Any]:
        """Return what is different from when it was last asked, as plain data; maybe nothing."""
        view = robot.view()
        news: dict[str, Any] = {}
        if new := view.placements.keys() - self._shapes:
            self._shapes |= new
            news["shapes"] = {
                name: [_described(shape) for shape in shapes]
                for name, shapes in robot.shapes().items()
                if name in new
            }
        now = {name: _rounded(placement) for name, placement in view.placements.items()}
        moved = {name: place for name, place in now.items() if self._told.get(name) != place}
        if moved:
            news["placements"] = moved
        if gone := sorted(self._told.keys() - now.keys()):
            news["gone"] = gone
        if view.lines != self._lines:
            news["lines"] = [_described(line) for line in view.lines]
        self._told, self._lines = now, view.lines
        return news


def _described(part: Shape | Polyline) -> dict[str, Any]:
    """Return a shape or a line as plain data, without what is as usual."""
    fields = vars(part).items()
    return {name: _rounded(value) for name, value in fields if value not in ((), ORIGIN)}


def _rounded(value: Any) -> Any:
    """Return a value with its numbers rounded to a tenth of a millimetre, and lists for tuples."""
    if isinstance(value, tuple):
        return [_rounded(entry) for entry in value]
    return round(value, 4) if isinstance(value, float) else value


_SEGMENTS = 32
Mesh = tuple[list[tuple[float, float, float]], list[tuple[int, int, int]]]
"""Vertices, and triangles by the numbers of their corners."""


def lathe_mesh(profile: Sequence[tuple[float, float]]) -> Mesh:
    """Return the surface that a profile turned about z has: vertices and triangles."""
    vertices: list[tuple[float, float, float]] = []
    faces: list[tuple[int, int, int]] = []
    for segment in range(_SEGMENTS):
        angle = 2 * math.pi * segment / _SEGMENTS
        c, s = math.cos(angle), math.sin(angle)
        vertices += [(radius * c, radius * s, z) for radius, z in profile]
    rows = len(profile)
    for segment in range(_SEGMENTS):
        here, there = segment * rows, (segment + 1) % _SEGMENTS * rows
        for row in range(rows):  # the last corner joins the first
            up = (row + 1) % rows
            faces.append((here + row, there + row, there + up))
            faces.append((here + row, there + up, here + up))
    return vertices, faces
