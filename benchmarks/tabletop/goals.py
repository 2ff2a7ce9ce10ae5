"""What each instruction asks for, worked out on the scene before it.

A goal is plain data in the words of `benchmarks.tabletop.judge`. Each function takes the words of
an instruction and a scene, and returns None where that scene will not do: the words would be
ambiguous in it, or a place to be filled is not free. Every goal also says that objects the
instruction does not speak of stay where they are (to 1 cm), and so does what something is to be put
on or in (to 3 cm, since it may be touched).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from benchmarks.tabletop.attributes import CORNERS, MAGNITUDES_M
from benchmarks.tabletop.judge import IN_BOWL_M, ON_BLOCK_M, PLACE_M, PLACES, WAYS, Positions
from benchmarks.tabletop.scene_conditions import (
    Point,
    clear,
    clear_places,
    extreme,
    nth_from,
    of_kind,
    on_table,
    only_one_beside,
)

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
