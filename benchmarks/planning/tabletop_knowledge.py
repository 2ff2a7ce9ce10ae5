"""What is right to do next on the tabletop, by a dialogue alone, for the say models."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence

import numpy as np

from benchmarks.planning.kitchen_tasks import plain
from benchmarks.planning.tabletop_skills import put
from cap.planners.dialogue import DialogueLine
from cap.planners.loop import DONE
from cap.planners.stand_in_models import Advice, Knowledge
from robots.table.geometry import PLACES

_WAYS = (
    "pick up the {} and put it on the {}",
    "put the {} on the {}",
    "place the {} onto the {}",
    "take the {}, then set it down on the {}",
)
Pairs = Sequence[tuple[str, str]]
SEEN = "Scene: there is "
_ASIDE = ("middle", "top side", "bottom side", "left side", "right side")
_PUT = re.compile(r"pick up the (.+) and put it on the (.+)")


class TabletopKnowledge(Knowledge):
    """Knows what must be on what for some instructions, in the order it can be done."""

    def __init__(self, pairs: Mapping[str, Pairs], names: Sequence[str] = ()) -> None:
        """Know instructions by their words, and the objects, where no dialogue names them."""
        self._names = tuple(names)
        self._pairs = {plain(words): tuple(found) for words, found in pairs.items()}

    def advice(self, lines: Sequence[DialogueLine]) -> Advice | None:
        """Return what is right after the lines of an episode; None for an unknown instruction."""
        pairs: Pairs | None = None
        for line in lines:
            if line.kind == "person":
                pairs = self._pairs.get(plain(line.text), pairs)
        if pairs is None:
            return None
        reached = _reached(lines, pairs)
        missing = [pair for pair in pairs if pair not in reached]
        goals = tuple(f"{first} on {second}" for first, second in pairs)
        others = tuple(put(a, b).text for a, b in _others(lines, self._names))
        if not missing:
            return Advice(((DONE.text,),), goals, others=others)
        first, goal = missing[0]
        inside = [a for a, b in reached if b == goal and goal.endswith("bowl")]
        steps = [(put(first, inside[-1] if inside else goal).text,)]  # a bowl holds a pile
        above = [a for a, b in reached if b == first]
        if above:  # what stands on it is in the way; which places are free is not known
            said = [line.text for line in lines]
            away = [step for place in _ASIDE if (step := put(above[0], place).text) not in said]
            steps.insert(0, (away[0] if away else put(above[0], _ASIDE[0]).text,))
        steps += [(put(*pair).text,) for pair in missing[1:]]
        return Advice(tuple(steps), goals, others=tuple(set(others) - {steps[0][0]}))

    def worded(self, step: str, generator: np.random.Generator) -> str:
        """Return a step in free words."""
        match = _PUT.fullmatch(step)
        if match is None:
            return step
        return str(generator.choice(_WAYS)).format(match[1], match[2])

    def program(self, step: str) -> str:
        """Return a step as a line of a program for the robot."""
        match = _PUT.fullmatch(step)
        return f"put_first_on_second({match[1]!r}, {match[2]!r})" if match else ""


def _others(lines: Sequence[DialogueLine], known: Sequence[str]) -> Pairs:
    """Return what could be put on what, by the objects that were named."""
    named = [line.text for line in lines if line.kind == "feedback" and line.text.startswith(SEEN)]
    names = named[0].removeprefix(SEEN).rstrip(".").split(", ") if named else list(known)
    blocks = [name for name in names if name.endswith("block")]
    return [(a, b) for a in blocks for b in (*names, *PLACES) if a != b]


def _reached(lines: Sequence[DialogueLine], pairs: Pairs) -> list[tuple[str, str]]:
    """Return what is believed to be done: by the last feedback, else by the steps taken."""
    reached: list[tuple[str, str]] = []
    for number, line in enumerate(lines):
        if line.kind == "feedback" and line.text.startswith("Reached: "):
            names = [name.strip() for name in line.text.removeprefix("Reached: ").split(";")]
            reached = [pair for pair in pairs if f"{pair[0]} on {pair[1]}" in names]
        match = _PUT.fullmatch(line.text) if line.kind == "step" else None
        if match is None:
            continue
        later = lines[number + 1 : number + 3]
        failed = any(
            e.kind == "feedback" and re.search("success: no", e.text, re.I) for e in later[:1]
        )
        reached = [pair for pair in reached if pair[0] != match[1]]
        if not failed:
            within = dict(reached).get(match[2], "")
            where = within if within.endswith("bowl") else match[2]
            reached.append((match[1], where))
    return reached
