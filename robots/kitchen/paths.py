"""Where the base can go: the shortest path around what stands on the floor, and what blocks one.

The base is a disc, so furniture grown by its radius leaves the places where its middle may be, and
so do things that lie on the floor. A shortest path turns near corners of that.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

import numpy as np
import shapely
from numpy.typing import NDArray
from shapely.geometry import LineString, Polygon
from shapely.geometry import Point as ShapelyPoint

from cap.errors import Unreachable
from robots.kitchen.room import (
    BASE_R,
    ROOM_X,
    ROOM_Y,
    Drawers,
    Point,
    Room,
    obstacles,
)
from robots.kitchen.state import KitchenState
from robots.simulation.shortest_path import search

Array = NDArray[np.float64]
CLEAR_M = 0.02
"""Room the base keeps around itself, metres."""
_CORNER_M = 0.01
"""How far from what is in the way a path turns."""
_TOUCH_M = 1e-6
_ROUNDED_M = 0.01


@dataclass(frozen=True)
class Ground:
    """The room for one setting of the drawers, ready for paths."""

    grown: tuple[tuple[str, Polygon], ...]
    """What the middle of the base must keep out of, by name."""
    blocked: Any
    """All of it as one prepared geometry."""
    free: Any
    """Where the middle of the base may be."""
    corners: Array
    """Where paths may turn, shape (n, 2), metres."""


def ground(state: KitchenState) -> Ground:
    """Return the room for the drawers and the things on the floor as they are."""
    floor = []
    for thing in state.on_floor():
        keep_m = thing.girth_m / 2 + BASE_R + CLEAR_M
        # What came to lie nearer than that holds nobody captive.
        keep_m = min(keep_m, math.dist(thing.xy, state.base.xy) - _CORNER_M / 2)
        if keep_m > _TOUCH_M:
            floor.append((thing.name, thing.xy, keep_m))
    return _ground(state.room, state.drawers, tuple(floor))


@lru_cache(maxsize=64)
def _ground(room: Room, drawers: Drawers, floor: tuple[tuple[str, Point, float], ...]) -> Ground:
    standing = obstacles(room, drawers)
    things = [(name, ShapelyPoint(xy).buffer(keep_m)) for name, xy, keep_m in floor]
    grown = (
        *((name, shape.buffer(BASE_R + CLEAR_M, quad_segs=6)) for name, shape in standing),
        *things,
    )
    blocked = shapely.union_all([shape.buffer(-_TOUCH_M) for _, shape in grown])
    shapely.prepare(blocked)
    r = BASE_R + CLEAR_M - _TOUCH_M
    outer = shapely.box(ROOM_X[0] + r, ROOM_Y[0] + r, ROOM_X[1] - r, ROOM_Y[1] - r)
    free = shapely.difference(outer, blocked)
    shapely.prepare(free)
    away_m = BASE_R + CLEAR_M + _CORNER_M
    turns = [shape.buffer(away_m, join_style="mitre") for _, shape in standing]
    turns += [  # octagons around circles
        ShapelyPoint(xy).buffer((keep_m + _CORNER_M) / math.cos(math.pi / 8), quad_segs=2)
        for _, xy, keep_m in floor
    ]
    found = np.vstack([np.array(shape.exterior.coords)[:-1] for shape in turns])
    return Ground(grown, blocked, free, found[shapely.covers(free, shapely.points(found))])


def check_free(around: Ground, points: Sequence[Point], what: str) -> None:
    """Refuse points where the base cannot be.

    Raises:
        Unreachable: One is off the floor, or too close to what stands there.
    """
    for point in points:
        x, y = point
        place = ShapelyPoint(point)
        if shapely.covers(around.free, place):
            continue
        name = next((n for n, s in around.grown if s.buffer(-_TOUCH_M).contains(place)), None)
        roomy = shapely.buffer(around.free, -_ROUNDED_M)  # so that what is printed is free, too
        nearest = shapely.shortest_line(roomy, place).coords[0]
        reason = f"is in or too close to '{name}'" if name else "is in or behind a wall"
        raise Unreachable(
            f"{what} ({x:.2f}, {y:.2f}) m {reason}; the nearest place for the base is "
            f"({nearest[0]:.2f}, {nearest[1]:.2f})"
        )


def blocker(around: Ground, points: Sequence[Point]) -> str | None:
    """Return what a polyline leads through: its name in quotes, or a wall; None if it is free."""
    line = LineString(points)
    if shapely.covers(around.free, line):
        return None
    names = [name for name, shape in around.grown if shape.buffer(-_TOUCH_M).intersects(line)]
    return f"'{names[0]}'" if names else "a wall"


def way(around: Ground, start: Point, goal: Point) -> list[Point] | None:
    """Return the shortest path of the base to a free point, both ends included, or None."""
    nodes = np.vstack([start, goal, around.corners])
    found = search(nodes, around.blocked)
    return None if found is None else [(x, y) for x, y in nodes[found].tolist()]


def route(around: Ground, start: Point, goal: Point) -> list[Point]:
    """Return `way`.

    Raises:
        Unreachable: The goal is not free, or no way leads to it.
    """
    check_free(around, [goal], "the goal")
    if (found := way(around, start, goal)) is None:
        raise Unreachable(f"no way leads to ({goal[0]:.2f}, {goal[1]:.2f}) m past what is there")
    return found


def length(points: Sequence[Point]) -> float:
    """Return how long a polyline is, metres."""
    return sum(math.dist(a, b) for a, b in itertools.pairwise(points))
