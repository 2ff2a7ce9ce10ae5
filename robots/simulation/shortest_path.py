"""The shortest way around regions of the table.

A shortest path among polygons bends only at their corners: the corners that see each other make a
graph, in which A* finds the way (a visibility graph). The same arguments give the same points.
"""

from __future__ import annotations

import heapq
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import shapely
from shapely.geometry import MultiPoint, Point, box
from shapely.geometry.base import BaseGeometry
from shapely.ops import unary_union

from cap.errors import LimitExceeded, Unreachable
from robots.arm.strokes import Array
from robots.table.geometry import TABLE_X, TABLE_Y, Solid
from robots.table.numbers import real_numbers
from robots.table.object_names import find

CLEARANCE_M = 0.03
"""How far the way keeps from the regions; less where an end is closer to one."""
MAX_REGIONS = 100
MAX_CORNERS = 4_000
_FARTHEST_M = 1000.0
_ARC = 6
"""Segments of a quarter turn around a region's corner."""
_SHARE = 0.98
"""Part of an end's distance from a region that counts as room."""
_TOUCH_M = 1e-6
"""An end closer to a region than this is in it; a way may touch what it keeps clear of by this."""


def regions_of(value: Any, objects: Sequence[Solid]) -> list[BaseGeometry]:
    """Return regions as shapely geometries, metres.

    Args:
        value: A list of geometries, of names of objects, or of corners of polygons, shape (n, 2).
        objects: Those that may be named.

    Raises:
        TypeError: It is no such list.
        NotFound: No object has that name.
        LimitExceeded: They are too many, or have too many corners.
    """
    if isinstance(value, str | BaseGeometry | Mapping) or not hasattr(value, "__len__"):
        raise TypeError(
            f"avoid_regions must be a list of regions; got a {type(value).__name__}: "
            "plan_path(start, goal, ['red block', polygon])"
        )
    if len(value) > MAX_REGIONS:
        raise LimitExceeded(f"{len(value)} regions are too many; use at most {MAX_REGIONS}")
    regions = [_region(entry, objects) for entry in value]
    corners = sum(int(shapely.get_num_coordinates(region)) for region in regions)
    if corners > MAX_CORNERS:
        raise LimitExceeded(f"the regions have {corners} corners; use at most {MAX_CORNERS}")
    if any(
        np.abs(shapely.get_coordinates(region)).max(initial=0) > _FARTHEST_M for region in regions
    ):
        raise LimitExceeded(f"a region reaches further than {_FARTHEST_M:g} m; cut it to the table")
    return [region for region in regions if not region.is_empty]


def _region(value: Any, objects: Sequence[Solid]) -> BaseGeometry:
    if isinstance(value, str):
        known = {each.name: each for each in objects}
        named = known[find(value, known)]
        return Point(named.xy).buffer(named.radius, quad_segs=_ARC)
    if isinstance(value, BaseGeometry):
        flat = shapely.force_2d(value)
        if not np.isfinite(shapely.get_coordinates(flat)).all():
            raise TypeError("a region has a corner that is not finite")
        return shapely.make_valid(flat)
    wanted = "a polygon, an object's name, or points of x and y"
    corners = real_numbers(value, "a region", wanted)
    if corners.ndim != 2 or corners.shape[1] != 2 or not np.isfinite(corners).all():
        raise TypeError(f"a region must be {wanted}; got a {type(value).__name__}")
    if len(corners) < 3:
        return MultiPoint(corners).convex_hull
    return shapely.make_valid(shapely.Polygon(corners))


def shortest(start: Array, goal: Array, regions: Sequence[BaseGeometry]) -> Array:
    """Return the shortest way over the table that keeps clear of regions.

    Args:
        start: x and y, metres, on the table.
        goal: x and y, metres, on the table.
        regions: What it goes around.

    Returns:
        Its corners, both ends included, shape (n, 2), metres; n is at least 2.

    Raises:
        Unreachable: An end is in a region, or there is no way.
    """
    grown = unary_union([_grown(region, start, goal) for region in regions])
    blocked = shapely.buffer(grown, -_TOUCH_M)
    shapely.prepare(blocked)
    corners = shapely.get_coordinates(grown)
    table = box(TABLE_X[0], TABLE_Y[0], TABLE_X[1], TABLE_Y[1])
    on_table = shapely.contains(table, shapely.points(corners))
    nodes = np.vstack([start, goal, np.unique(corners[on_table], axis=0)])
    way = search(nodes, blocked)
    if way is None:
        raise Unreachable(
            f"there is no way from ({start[0]:.2f}, {start[1]:.2f}) to ({goal[0]:.2f}, "
            f"{goal[1]:.2f}) m around the regions; avoid less, or clear the way"
        )
    return nodes[way]


def _grown(region: BaseGeometry, start: Array, goal: Array) -> BaseGeometry:
    """Return a region with its clearance around it."""
    room = CLEARANCE_M
    for what, end in (("start", start), ("goal", goal)):
        away = float(region.distance(Point(end)))
        if away < _TOUCH_M:
            raise Unreachable(
                f"the {what} ({end[0]:.2f}, {end[1]:.2f}) m is in a region that is to be avoided"
            )
        room = min(room, _SHARE * away)
    return shapely.buffer(region, room, quad_segs=_ARC)


def search(nodes: Array, blocked: BaseGeometry) -> list[int] | None:
    """Return the shortest way from the first of some points to the second, by their numbers.

    Args:
        nodes: Where it may turn, shape (n, 2), metres.
        blocked: What it must not cross; prepared, for speed.

    Returns:
        None where there is none.
    """
    ahead = np.linalg.norm(nodes - nodes[1], axis=1)
    length = np.full(len(nodes), np.inf)
    before = np.full(len(nodes), -1)
    done = np.zeros(len(nodes), dtype=bool)
    length[0] = 0.0
    queue = [(float(ahead[0]), 0)]
    while queue:
        _, here = heapq.heappop(queue)
        if here == 1:
            way = [1]
            while way[-1] != 0:
                way.append(int(before[way[-1]]))
            return way[::-1]
        if done[here]:
            continue
        done[here] = True
        seen = length[here] + np.linalg.norm(nodes - nodes[here], axis=1)
        closer = np.flatnonzero(~done & (seen < length - 1e-12))
        views = np.stack([np.broadcast_to(nodes[here], nodes[closer].shape), nodes[closer]], axis=1)
        free = closer[~shapely.intersects(blocked, shapely.linestrings(views))]
        length[free], before[free] = seen[free], here
        for node in free.tolist():
            heapq.heappush(queue, (float(length[node] + ahead[node]), node))
    return None
