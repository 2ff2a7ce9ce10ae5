"""Conditions under which an instruction means one thing in a scene, can be done, and is not done.

They look only at where things stand, never at what a program would make of it.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from itertools import combinations, pairwise

from benchmarks.tabletop.attributes import NTH
from benchmarks.tabletop.judge import PLACES, WAYS, Positions

CLEAR_M = 0.13
"""A place to be filled starts with no object this near its centre: bowl and gripper fit beside."""
ORDER_M = 0.025
"""Neighbours in a count from left to right differ at least by this."""
NEARER_M = 0.03
"""The nearest (farthest) beats the second by at least this."""
BESIDE_M = 0.05
"""What lies in a direction does so by at least this; what does not stays back as far."""
APART_M = 0.15
"""Least distance of any two objects in Inner Monologue's scenes."""

Point = tuple[float, float]


def of_kind(names: Iterable[str], kind: str) -> list[str]:
    """Return the `block`s or `bowl`s among some names."""
    return [name for name in names if name.endswith(kind)]


def gap(first: Sequence[float], second: Sequence[float]) -> float:
    """Return the distance of two points seen from above, metres."""
    return math.dist(first[:2], second[:2])


def clear(scene: Positions, spots: Iterable[Point], ignore: Sequence[str] = ()) -> bool:
    """Tell whether nothing, `ignore` apart, stands within `CLEAR_M` of any of some points."""
    standing = [where for name, where in scene.items() if name not in ignore]
    return all(gap(where, spot) >= CLEAR_M for spot in spots for where in standing)


def clear_places(scene: Positions, *names: str) -> bool:
    """Tell whether these corners or sides are free."""
    return clear(scene, [PLACES[name] for name in names])


def apart(scene: Positions) -> bool:
    """Tell whether every two objects keep Inner Monologue's distance."""
    return all(gap(a, b) >= APART_M for a, b in combinations(scene.values(), 2))


def along(where: Sequence[float], way: str) -> float:
    """Return how far out a point is in a direction, metres from the origin."""
    x, y = WAYS[way]
    return x * where[0] + y * where[1]


def nth_from(scene: Positions, names: Iterable[str], ordinal: str, way: str) -> str | None:
    """Return the n-th of some objects counted from a side; None if two are nearly level."""
    order = sorted(names, key=lambda name: -along(scene[name], way))
    level = any(along(scene[a], way) - along(scene[b], way) < ORDER_M for a, b in pairwise(order))
    return None if level or len(order) < NTH[ordinal] else order[NTH[ordinal] - 1]


def extreme(points: Mapping[str, Sequence[float]], distance: str, at: Point) -> str | None:
    """Return the name `closest to` or `farthest from` a point; None if two are about as far."""
    order = sorted(points, key=lambda name: gap(points[name], at))
    if distance.startswith("farthest"):
        order.reverse()
    if len(order) > 1 and abs(gap(points[order[0]], at) - gap(points[order[1]], at)) < NEARER_M:
        return None
    return order[0]


def only_one_beside(
    scene: Positions, names: Iterable[str], way: str, of: Sequence[float]
) -> str | None:
    """Return the one object that lies in a direction from a point; None unless there is just one.

    It is more in that direction than across it, and all others stay back behind the point.
    """
    ahead = {name: along(scene[name], way) - along(of, way) for name in names}
    found = [name for name, distance in ahead.items() if distance > -BESIDE_M]
    if len(found) != 1 or ahead[found[0]] < BESIDE_M:
        return None
    across = math.sqrt(max(0.0, gap(scene[found[0]], of) ** 2 - ahead[found[0]] ** 2))
    return found[0] if across <= ahead[found[0]] else None


def on_table(spot: Sequence[float], margin: float) -> bool:
    """Tell whether a point is on the table, a margin (m) from its edge."""
    return abs(spot[0]) <= 0.3 - margin and abs(spot[1] + 0.5) <= 0.3 - margin
