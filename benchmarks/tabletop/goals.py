"""What each instruction asks for, worked out on the scene before it.

A goal is plain data in the words of `benchmarks.tabletop.judge`. Each function takes the words of
an instruction and a scene, and returns None where that scene will not do: the words would be
ambiguous in it, or a place to be filled is not free. Every goal also says that objects the
instruction does not speak of stay where they are (to 1 cm), and so does what something is to be put
on or in (to 3 cm, since it may be touched).

Conditions under which an instruction means one thing in a scene, can be done, and is not done yet
look only at where things stand, never at what a program would make of it.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations, pairwise
from typing import Any

from benchmarks.tabletop.judge import IN_BOWL_M, ON_BLOCK_M, PLACE_M, WAYS, Positions
from robots.table.geometry import PLACES

CORNERS = ("top left corner", "top right corner", "bottom left corner", "bottom right corner")
SIDES = ("top side", "right side", "bottom side", "left side")


NTH: Mapping[str, int] = {"first": 1, "second": 2, "third": 3, "fourth": 4}
MAGNITUDES_M: Mapping[str, tuple[float, float]] = {"a little": (0.05, 0.15), "a lot": (0.15, 0.60)}
"""Centre to centre along the direction, metres: least and most."""


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


Words = Mapping[str, str]
Goal = Mapping[str, Any]

EDGE_M = 0.03
"""What is to be put beside a bowl fits on the table with this margin."""
REACH_M: Mapping[str, float] = {"a little": 0.12, "a lot": 0.20}
"""How far from a bowl, in the direction asked for, the table must be free."""
LINE_GAP_M = 0.11
"""Spacing of the spots of which a line must be free."""
DIAGONAL = 0.5**0.5
LINES: Mapping[str, tuple[tuple[float, float], ...]] = {
    "horizontal": ((1.0, 0.0),),
    "vertical": ((0.0, 1.0),),
    "diagonal": ((DIAGONAL, DIAGONAL), (DIAGONAL, -DIAGONAL)),
}
"""How a line may run."""


@dataclass(frozen=True)
class Near:
    """How near an object's centre must be to that of what it was put on, metres."""

    block: float = ON_BLOCK_M
    """On a block."""
    bowl: float = IN_BOWL_M
    """In a bowl."""
    place: float = PLACE_M
    """At a corner, a side or the middle."""

    def on(self, name: str) -> float:
        """Return the limit for an object or a place."""
        if name in PLACES:
            return self.place
        return self.bowl if name.endswith("bowl") else self.block


def put_on(words: Words, scene: Positions, near: Near) -> Goal:
    """Put one block on another, or in a bowl."""
    block, target = words["block"], words["target"]
    pairs = [[block, target, near.on(target)]]
    return {"on": pairs, "moved_only": [block, target], "kept": [target]}


def stack(words: Words, scene: Positions, near: Near) -> Goal:
    """Stack the blocks, in any order and anywhere."""
    blocks = of_kind(scene, "block")
    return {"stacked": blocks, "moved_only": blocks}


def all_at_place(words: Words, scene: Positions, near: Near) -> Goal | None:
    """Put every block at a place, side by side or stacked."""
    place, blocks = words["place"], of_kind(scene, "block")
    if not clear_places(scene, place):
        return None
    return {"place": [[name, place, near.place] for name in blocks], "moved_only": blocks}


def all_in_bowl(words: Words, scene: Positions, near: Near) -> Goal:
    """Put every block in one bowl."""
    bowl, blocks = words["bowl"], of_kind(scene, "block")
    pairs = [[name, bowl, near.bowl] for name in blocks]
    return {"on": pairs, "moved_only": [*blocks, bowl], "kept": [bowl]}


def matching(words: Words, scene: Positions, near: Near) -> Goal:
    """Put every block in the bowl of its colour."""
    pairs = {name: name.replace("block", "bowl") for name in of_kind(scene, "block")}
    wanted = [[name, bowl, near.bowl] for name, bowl in pairs.items()]
    bowls = list(pairs.values())
    return {"on": wanted, "moved_only": [*pairs, *bowls], "kept": bowls}


def mismatched(words: Words, scene: Positions, near: Near) -> Goal:
    """Put every block in a bowl of another colour; two blocks may share one."""
    blocks, bowls = of_kind(scene, "block"), of_kind(scene, "bowl")
    rule = {"names": blocks, "to": "bowl", "mismatched": True, "tol": near.bowl}
    return {"each": rule, "moved_only": [*blocks, *bowls], "kept": bowls}


def corners(words: Words, scene: Positions, near: Near) -> Goal | None:
    """Put every block in a corner of its own."""
    blocks = of_kind(scene, "block")
    if not clear_places(scene, *CORNERS):
        return None
    rule = {"names": blocks, "to": "corner", "distinct": True, "tol": near.place}
    return {"each": rule, "moved_only": blocks}


def stack_at_place(words: Words, scene: Positions, near: Near) -> Goal | None:
    """Stack the blocks at a place."""
    goal = all_at_place(words, scene, near)
    return None if goal is None else {**goal, "stacked": goal["moved_only"]}


def beside_bowl(words: Words, scene: Positions, near: Near) -> Goal | None:
    """Move the one block on that side of the bowl to a place."""
    blocks = of_kind(scene, "block")
    found = only_one_beside(scene, blocks, words["direction"], scene[words["bowl"]])
    return _one_at_place(found, words["place"], scene, near)


def by_distance(words: Words, scene: Positions, near: Near) -> Goal | None:
    """Move the block closest to, or farthest from, the bowl to a place."""
    blocks = {name: scene[name] for name in of_kind(scene, "block")}
    x, y, _ = scene[words["bowl"]]
    found = extreme(blocks, words["distance"], (x, y))
    return _one_at_place(found, words["place"], scene, near)


def nth(words: Words, scene: Positions, near: Near) -> Goal | None:
    """Move the n-th block counted from a side to a place."""
    blocks = of_kind(scene, "block")
    found = nth_from(scene, blocks, words["ordinal"], words["direction"])
    return _one_at_place(found, words["place"], scene, near)


def _one_at_place(name: str | None, place: str, scene: Positions, near: Near) -> Goal | None:
    if name is None or not clear_places(scene, place):
        return None
    return {"place": [[name, place, near.place]], "moved_only": [name]}


def away_from_bowl(words: Words, scene: Positions, near: Near) -> Goal | None:
    """Put the block some way from the bowl in a direction."""
    block, bowl, way = words["block"], words["bowl"], words["direction"]
    x, y, _ = scene[bowl]
    reach = REACH_M[words["magnitude"]]
    spot = (x + reach * WAYS[way][0], y + reach * WAYS[way][1])
    if not on_table(spot, EDGE_M) or not clear(scene, [spot], (block, bowl)):
        return None
    low, high = MAGNITUDES_M[words["magnitude"]]
    return {"direction": [[block, way, bowl, low, high]], "moved_only": [block]}


def corner_by_distance(words: Words, scene: Positions, near: Near) -> Goal | None:
    """Put the block in the corner closest to, or farthest from, the bowl."""
    x, y, _ = scene[words["bowl"]]
    found = extreme({name: PLACES[name] for name in CORNERS}, words["distance"], (x, y))
    if found is None or not clear_places(scene, found):
        return None
    block = words["block"]
    return {"place": [[block, found, near.place]], "moved_only": [block]}


def in_line(words: Words, scene: Positions, near: Near) -> Goal | None:
    """Put the blocks in a line that runs as asked, each on a spot of its own."""
    blocks = of_kind(scene, "block")
    lines = [_line(way, shift, len(blocks)) for way in LINES[words["line"]] for shift in _SHIFTS]
    if not any(clear(scene, line, blocks) for line in lines):
        return None
    axis = {"horizontal": "x", "vertical": "y", "diagonal": "diagonal"}[words["line"]]
    return {"line": {"names": blocks, "axis": axis}, "moved_only": blocks}


_SHIFTS = (0.0, -0.1, 0.1, -0.2, 0.2)


def _line(way: tuple[float, float], shift: float, count: int) -> Sequence[Point]:
    """Return evenly spaced spots on a line, `shift` metres beside the middle of the table."""
    x, y = PLACES["middle"]
    steps = [LINE_GAP_M * (i - (count - 1) / 2) for i in range(count)]
    return [(x + way[0] * s - way[1] * shift, y + way[1] * s + way[0] * shift) for s in steps]
