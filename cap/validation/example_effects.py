"""The effects that an example states, in lines `#= ` and `#? `, judged by the world it leaves.

A line `#= ` has the words in which later prompts show the effect of a turn
(`cap.engine.effect.Effect.line`); a line `#? ` has more of them, which no model is sent. A line has
clauses, parted by semicolons:

    moved red block, blue block     these are elsewhere, in this order, and nothing else is
    moved red block from blue bowl to blue block    the same, with what it was and is in or on
    moved                           something is elsewhere
    nothing moved                   all is as it was
    holds apple; drove; drew; ...   the other words of a turn's effect
    inside blue bowl                what moved is within its rim, and was not before
    on blue block                   what moved stands on it, and did not before
    at top right corner             what moved is within 6 cm of that place or object, and was not
    near middle                     the same within 10 cm
    beside blue bowl                what moved is close to it and not in it, and was not before
    not on blue block               what moved is not, now
    said no mug                     an utterance has these words; `said`: something was said
    changed top drawer              the robot's condition of that name is another
    drove 0.2 m right               it is that far in that direction: right, left, up
                                    (away from the front edge) or down
    as named before                 nothing: the program uses names that only earlier turns know

An effect that held before the example ran counts as none: what would be so anyway shows nothing.
"""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from cap.engine.effect import Effect
from cap.errors import CapError, PromptError
from cap.prompt.examples import RECALLED
from cap.robot.observation import Observation
from cap.robot.protocol import Xyz

_ON_M, _AT_M, _NEAR_M, _ROOM_M = 0.04, 0.06, 0.10, 0.15
_DROVE_M = 0.03
_DRIVE = re.compile(r"drove ([\d.]+) m (right|left|up|down)")
_DIRECTIONS = {"right": (1, 0), "left": (-1, 0), "up": (0, 1), "down": (0, -1)}
_PLACES = ("get_obj_pos", "get_loc_pos")
"""Primitives that know where a named place is."""


@dataclass(frozen=True)
class Seen:
    """What an example's effects are judged on."""

    robot: Any
    """The robot; its `inside_m` is how far from a vessel's middle what is in it may be."""
    before: Observation
    """Its world before the example ran."""
    after: Observation
    """Its world now."""
    effect: Effect
    """What it did."""


def missed(line: str, seen: Seen) -> str | None:
    """Return which clause of a line is not so, and why; None if all are.

    Raises:
        PromptError: A clause names what is not there.
    """
    clauses = [" ".join(clause.split()) for clause in line.split(";")]
    for words in clauses:
        if why := _missed(words, seen):
            return f"'{words}': {why}"
    stated, moved = (
        [one for one in some if one.startswith("moved ")] for some in (clauses, seen.effect.clauses)
    )
    return f"'{'; '.join(stated)}': {'; '.join(moved)}" if stated and stated != moved else None


def _missed(clause: str, seen: Seen) -> str:
    """Return why a clause is not so, "" if it is."""
    verb, _, rest = clause.partition(" ")
    moved, clauses = seen.effect.moved, seen.effect.clauses
    if clause == RECALLED or clause in clauses or (clause == "moved" and moved):
        return ""
    if verb == "said":
        if any(rest.lower() in words.lower() for words in seen.effect.said):
            return ""
        return f"said {', '.join(map(repr, seen.effect.said)) or 'nothing'}"
    if verb == "changed":
        now = seen.after.condition.get(rest)
        return f"{rest} is {now}, as before" if now == seen.before.condition.get(rest) else ""
    if drive := _DRIVE.fullmatch(clause):
        ends = [view.condition.get("robot") or (0.0, 0.0) for view in (seen.before, seen.after)]
        way = [b - a for a, b in zip(*ends, strict=True)][:2]
        wanted = [float(drive[1]) * part for part in _DIRECTIONS[drive[2]]]
        off_m = math.dist(way, wanted)
        return f"it drove ({way[0]:+.2f}, {way[1]:+.2f}) m" if off_m > _DROVE_M else ""
    if verb == "not":
        relation, _, other = rest.partition(" ")
        there = [name for name in moved if _holds(relation, name, other, seen, seen.after)]
        return f"{', '.join(there)} is" if there else ""
    if verb not in _RELATIONS:
        return "; ".join(clauses)
    subjects = [name for name in moved if name != rest]
    for name in subjects:
        if not _holds(verb, name, rest, seen, seen.after):
            x, y, z = seen.after.positions[name]
            return f"{name} is at ({x:.3f}, {y:.3f}, {z:.3f})"
        if _holds(verb, name, rest, seen, seen.before):
            return f"{name} was there before"
    return "" if subjects else "nothing moved"


def _holds(relation: str, name: str, other: str, seen: Seen, world: Observation) -> bool:
    there = _where(other, seen.robot, world.positions)
    inside_m = float(getattr(seen.robot, "inside_m", _AT_M))
    return _RELATIONS[relation](world.positions[name], there, inside_m)


def _where(name: str, robot: Any, positions: Mapping[str, Xyz]) -> Sequence[float]:
    """Return where an object or a place is: xy or xyz, metres."""
    if name in positions:
        return positions[name]
    primitives = robot.primitives()
    for asked in _PLACES:
        if asked in primitives:
            try:
                return [float(value) for value in primitives[asked].function(name)]
            except CapError:
                continue
    raise PromptError(f"an effect names {name!r}, and no object or place has that name")


def _apart(one: Sequence[float], other: Sequence[float]) -> float:
    return math.dist(one[:2], other[:2])


_RELATIONS: Mapping[str, Callable[[Xyz, Sequence[float], float], bool]] = {
    "inside": lambda one, other, inside_m: _apart(one, other) <= inside_m,
    "on": lambda one, other, _: _apart(one, other) <= _ON_M and one[2] > other[-1],
    "at": lambda one, other, _: _apart(one, other) <= _AT_M,
    "near": lambda one, other, _: _apart(one, other) <= _NEAR_M,
    "beside": lambda one, other, inside_m: inside_m < _apart(one, other) <= inside_m + _ROOM_M,
}
