"""The tasks of `tasks.toml`: words that mean the same to every robot, and what they ask for."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any, cast

import msgspec
import numpy as np
from numpy.typing import NDArray

from benchmarks import task_file
from benchmarks.drawing import judge
from benchmarks.embodiments.embodiment import Skill
from benchmarks.embodiments.judge import Figure, Placement, circle, line, regular
from benchmarks.suite_folder import filled

Array = NDArray[np.float64]
Where = Callable[[str], Array]
"""Returns the xy of a thing or a place, metres."""
BOWL = "bowl"
"""What the one bowl there is is called, whatever its name."""
_ABSENT = "yellow block"
PRELUDE = """\
def at(name):
    return np.array(get_obj_pos(name))[:2]

def ring(center, radius, corners):
    angles = np.linspace(0, 2 * np.pi, corners + 1)
    return np.array(center) + radius * np.stack([np.cos(angles), np.sin(angles)], axis=1)

"""


@dataclass(frozen=True)
class Wish:
    """What a person asks for."""

    instructions: tuple[str, ...]
    """In one session."""
    steps: tuple[str, ...]
    """Of an oracle, one for each instruction: what binds `pts` to what the tool is to follow, or
    does it."""
    figures: Callable[[Where], Sequence[Figure]]
    """What the tool should trace, given where everything is; of two instructions, the first asks
    for the first of them."""
    placements: tuple[Placement, ...]
    """Where things should be in the end; the bowl is called `BOWL`."""
    first: tuple[Placement, ...]
    """Where things should be after the first of two instructions."""
    says: tuple[str, ...]
    """Things that should be named, and no others."""
    answer: bool | None
    """Whether yes or no should be said; None where nobody asked for it."""


class Length(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """A whole number of centimetres, both ends included, times another."""

    least: int
    most: int
    times: int = 1


class FigureTable(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """A figure to be traced."""

    kind: str
    """`circle`, `square`, `triangle`, `hexagon`, `line`, `line between` things, or a `horizontal`
    or `vertical` line."""
    at: tuple[str, ...]
    """Its middle, in the middle of several; or the ends of a line."""
    size: str = ""
    """The word that is its radius, side or length."""


class SharedStep(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """One instruction."""

    say: str
    program: str
    places: tuple[tuple[str, ...], ...] = ()
    """Where things should be then: a thing (or `all`), `in`, `beside` or `between`, the others."""


class SharedTask(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """A task for every robot."""

    name: str
    """As reports show it."""
    steps: tuple[SharedStep, ...]
    skill: Skill = "trace"
    """What a robot needs for it."""
    draw: dict[str, Length | str | list[str | dict[str, str]]] = {}
    figures: tuple[FigureTable, ...] = ()
    says_all: bool = False
    """Whether all things should be named."""
    answers: str = ""
    """The thing of which yes or no should be said."""

    def wish(self, rng: np.random.Generator, things: Sequence[str]) -> Wish:
        """Return the wish of a random generator about things; the same numbers, the same words."""
        words: dict[str, Any] = {"things": list(things)}
        shuffled: list[str] = []
        for name, spec in self.draw.items():
            if isinstance(spec, Length):
                words[name] = spec.times * int(rng.integers(spec.least, spec.most + 1))
                words |= {f"{name}_m": words[name] / 100, f"{name}_half_m": words[name] / 200}
            elif spec in ("things", ""):  # several, each another one
                order = rng.permutation(len(things)) if spec else ()
                shuffled = [things[int(place)] for place in order] or shuffled
                words[name] = shuffled.pop(0)
            else:
                known = {"a thing": things, "a thing, or none": [_ABSENT, *things]}
                offered = known[spec] if isinstance(spec, str) else spec
                chosen = offered[int(rng.integers(len(offered)))]
                words |= chosen if isinstance(chosen, dict) else {name: chosen}
        places = [tuple(_placements(step, words)) for step in self.steps]
        return Wish(
            tuple(filled(step.say, words) for step in self.steps),
            tuple(filled(step.program, words) for step in self.steps),
            partial(_figures, self.figures, words),
            placements=places[-1],
            first=places[0] if len(places) > 1 else (),
            says=tuple(things) if self.says_all else (),
            answer=filled(self.answers, words) in things if self.answers else None,
        )


def _placements(step: SharedStep, words: Mapping[str, Any]) -> list[Placement]:
    found = []
    for thing, relation, *others in step.places:
        names = words["things"] if thing == "all" else [filled(thing, words)]
        where = tuple(filled(other, words) for other in others)
        found += [Placement(name, cast(Any, relation), where) for name in names]
    return found


def _figures(tables: Sequence[FigureTable], words: Mapping[str, Any], where: Where) -> list[Figure]:
    return [_figure(table, words, where) for table in tables]


def _figure(table: FigureTable, words: Mapping[str, Any], where: Where) -> Figure:
    kind = filled(table.kind, words)
    places = [where(filled(name, words)) for name in table.at]
    if kind in ("line", "line between"):
        start, end = places
        return line(start, end, judge.SPARE_M if kind == "line between" else 0.0)
    center, size_m = np.mean(places, axis=0), words[table.size] / 100
    match kind:
        case "circle":
            return circle(center, size_m)
        case "triangle":
            return regular(center, size_m / 3**0.5, 3)
        case "hexagon":
            return regular(center, size_m, 6)
        case "square":
            corners = np.array([[-1, -1], [1, -1], [1, 1], [-1, 1], [-1, -1]])
            return Figure(center + size_m / 2 * corners, symmetry=4)
    half = size_m / 2 * np.array([1, 0] if kind == "horizontal" else [0, 1])
    return line(center - half, center + half)


TASKS = task_file.load(Path(__file__).with_suffix(".toml"), SharedTask)
"""In report order, that of the file."""
