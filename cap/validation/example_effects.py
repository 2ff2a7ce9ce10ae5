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
    as named before                 nothing: the program uses names that only earlier turns know

An effect that held before the example ran counts as none: what would be so anyway shows nothing.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from typing import Any

from cap.engine.effect import Effect
from cap.errors import CapError, PromptError
from cap.prompt.examples import RECALLED
from cap.robot.observation import Observation
from cap.robot.protocol import Xyz

ON_M, AT_M, NEAR_M, BESIDE_M = 0.04, 0.06, 0.10, 0.15
"""How far apart two things are at most, seen from above; `beside` from the rim on."""
RELATIONS = ("inside", "on", "at", "near", "beside")
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
    if verb == "not":
        relation, _, other = rest.partition(" ")
        there = [name for name in moved if _holds(relation, name, other, seen, seen.after)]
        return f"{', '.join(there)} is" if there else ""
    if verb not in RELATIONS:
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
    at, there = world.positions[name], _where(other, seen.robot, world.positions)
    apart_m, rim_m = math.dist(at[:2], there[:2]), float(getattr(seen.robot, "inside_m", AT_M))
    match relation:
        case "inside":
            return apart_m <= rim_m
        case "on":
            return apart_m <= ON_M and at[2] > there[-1]
        case "beside":
            return rim_m < apart_m <= rim_m + BESIDE_M
    return apart_m <= (AT_M if relation == "at" else NEAR_M)


def _where(name: str, robot: Any, positions: Mapping[str, Xyz]) -> Sequence[float]:
    """Return where an object or a place is: xy or xyz, metres."""
    if name in positions:
        return positions[name]
    primitives = robot.primitives()
    for asked in _PLACES:
        if asked in primitives:
            with suppress(CapError):
                return [float(value) for value in primitives[asked].function(name)]
    raise PromptError(f"an effect names {name!r}, and no object or place has that name")
