"""The tasks: words that mean the same to every robot, what they ask for, an oracle."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from benchmarks.drawing import judge
from benchmarks.embodiments.embodiment import Skill
from benchmarks.embodiments.judge import Figure, Placement, circle, line, regular

Array = NDArray[np.float64]
Rng = np.random.Generator
Where = Callable[[str], Array]
"""Returns the xy of a thing or a place, metres."""
BOWL = "bowl"
"""What the one bowl there is is called, whatever its name."""
_ABSENT = "yellow block"
CORNERS = ("top left", "top right", "bottom left", "bottom right")
_SHORT_M = 0.05
"""An oracle's line between two things ends so far from either."""


@dataclass(frozen=True)
class Wish:
    """What a person asks for."""

    instructions: tuple[str, ...]
    """In one session."""
    steps: tuple[str, ...]
    """Of an oracle, one for each instruction: what binds `pts` to what the tool is to follow, or
    does it."""
    figures: Callable[[Where], Sequence[Figure]] = field(default=lambda where: ())
    """What the tool should trace, given where everything is; of two instructions, the first asks
    for the first of them."""
    placements: tuple[Placement, ...] = ()
    """Where things should be in the end; the bowl is called `BOWL`."""
    first: tuple[Placement, ...] = ()
    """Where things should be after the first of two instructions."""
    says: tuple[str, ...] = ()
    """Things that should be named, and no others."""
    answer: bool | None = None
    """Whether yes or no should be said; None where nobody asked for it."""


@dataclass(frozen=True)
class SharedTask:
    """A task for every robot."""

    name: str
    """As reports show it."""
    skill: Skill
    """What a robot needs for it."""
    wish: Callable[[Rng, Sequence[str]], Wish]
    """Makes the wish of a random generator about things; the same numbers, the same words."""


PRELUDE = """\
def at(name):
    return np.array(get_obj_pos(name))[:2]

def ring(center, radius, corners):
    angles = np.linspace(0, 2 * np.pi, corners + 1)
    return np.array(center) + radius * np.stack([np.cos(angles), np.sin(angles)], axis=1)

"""


TASKS: list[SharedTask] = []
"""In report order, that of this file."""
_MakeWish = Callable[[Rng, Sequence[str]], Wish]


def _shared_task(name: str, skill: Skill = "trace") -> Callable[[_MakeWish], _MakeWish]:
    """Put what makes a task's wishes into the list, under the task's name."""

    def add(wish: _MakeWish) -> _MakeWish:
        TASKS.append(SharedTask(name, skill, wish))
        return wish

    return add


def _cm(rng: Rng, low: int, high: int) -> int:
    return int(rng.integers(low, high + 1))


def _pick(rng: Rng, things: Sequence[str]) -> str:
    return str(things[int(rng.integers(len(things)))])


def _pair(rng: Rng, things: Sequence[str]) -> tuple[str, str]:
    first, second = (things[int(i)] for i in rng.permutation(len(things))[:2])
    return first, second


@_shared_task("circle-around")
def _circle(rng: Rng, things: Sequence[str]) -> Wish:
    r, name = _cm(rng, 5, 8), _pick(rng, things)
    return Wish(
        (f"trace a {r} cm radius circle around the {name}",),
        (f"pts = ring(at('{name}'), {r / 100}, 64)",),
        lambda where: [circle(where(name), r / 100)],
    )


@_shared_task("square-around")
def _square(rng: Rng, things: Sequence[str]) -> Wish:
    side, name = 2 * _cm(rng, 5, 7), _pick(rng, things)
    return Wish(
        (f"trace a {side} cm square around the {name}",),
        (
            f"corners = np.array([[-1, -1], [1, -1], [1, 1], [-1, 1], [-1, -1]])\n"
            f"pts = at('{name}') + {side / 200} * corners",
        ),
        lambda where: [_square_at(where(name), side / 100)],
    )


def _square_at(center: Array, side: float) -> Figure:
    corners = np.array([[-1, -1], [1, -1], [1, 1], [-1, 1], [-1, -1]])
    return Figure(center + side / 2 * corners, symmetry=4)


@_shared_task("triangle")
def _triangle(rng: Rng, things: Sequence[str]) -> Wish:
    side = _cm(rng, 8, 16)
    radius = side / 100 / 3**0.5
    return Wish(
        (f"trace an equilateral triangle with {side} cm sides around the middle",),
        (f"pts = ring(at('middle'), {side / 100} / np.sqrt(3), 3)",),
        lambda where: [regular(where("middle"), radius, 3)],
    )


@_shared_task("hexagon")
def _hexagon(rng: Rng, things: Sequence[str]) -> Wish:
    r = _cm(rng, 5, 10)
    return Wish(
        (f"trace a {r} cm radius hexagon around the middle",),
        (f"pts = ring(at('middle'), {r / 100}, 6)",),
        lambda where: [regular(where("middle"), r / 100, 6)],
    )


@_shared_task("corner-to-middle")
def _from_corner(rng: Rng, things: Sequence[str]) -> Wish:
    corner = f"{_pick(rng, CORNERS)} corner"
    return Wish(
        (f"trace a line from the {corner} to the middle",),
        (f"pts = np.array([at('{corner}'), at('middle')])",),
        lambda where: [line(where(corner), where("middle"))],
    )


@_shared_task("diagonal")
def _diagonal(rng: Rng, things: Sequence[str]) -> Wish:
    side = _pick(rng, ("left", "right"))
    other = "right" if side == "left" else "left"
    ends = f"bottom {side} corner", f"top {other} corner"
    return Wish(
        (f"trace a line from the {ends[0]} to the {ends[1]}",),
        (f"pts = np.array([at('{ends[0]}'), at('{ends[1]}')])",),
        lambda where: [line(where(ends[0]), where(ends[1]))],
    )


@_shared_task("line-through-middle")
def _through_middle(rng: Rng, things: Sequence[str]) -> Wish:
    length, across = 2 * _cm(rng, 5, 10), bool(rng.integers(2))
    word, along = ("horizontal", [1, 0]) if across else ("vertical", [0, 1])
    half = length / 200 * np.array(along)
    return Wish(
        (f"trace a {length} cm {word} line through the middle",),
        (f"pts = at('middle') + {length / 200} * np.array([[-1], [1]]) * {along}",),
        lambda where: [line(where("middle") - half, where("middle") + half)],
    )


@_shared_task("line-between")
def _between(rng: Rng, things: Sequence[str]) -> Wish:
    first, second = _pair(rng, things)
    return Wish(
        (f"trace a line from the {first} to the {second}",),
        (
            f"a, b = at('{first}'), at('{second}')\n"
            "along = (b - a) / np.linalg.norm(b - a)\n"
            f"pts = np.array([a + {_SHORT_M} * along, b - {_SHORT_M} * along])",
        ),
        lambda where: [line(where(first), where(second), judge.SPARE_M)],
    )


@_shared_task("circle-halfway")
def _halfway(rng: Rng, things: Sequence[str]) -> Wish:
    r, (first, second) = _cm(rng, 3, 5), _pair(rng, things)
    return Wish(
        (f"trace a {r} cm radius circle halfway between the {first} and the {second}",),
        (f"pts = ring((at('{first}') + at('{second}')) / 2, {r / 100}, 64)",),
        lambda where: [circle((where(first) + where(second)) / 2, r / 100)],
    )


@_shared_task("circle-and-square")
def _two(rng: Rng, things: Sequence[str]) -> Wish:
    r, side, name = _cm(rng, 4, 8), 2 * _cm(rng, 5, 7), _pick(rng, things)
    return Wish(
        (
            f"trace a {r} cm radius circle around the middle",
            f"also trace a {side} cm square around the {name}",
        ),
        (
            f"pts = ring(at('middle'), {r / 100}, 64)",
            f"corners = np.array([[-1, -1], [1, -1], [1, 1], [-1, 1], [-1, -1]])\n"
            f"pts = at('{name}') + {side / 200} * corners",
        ),
        lambda where: [circle(where("middle"), r / 100), _square_at(where(name), side / 100)],
    )


@_shared_task("in-the-bowl", "carry")
def _in_bowl(rng: Rng, things: Sequence[str]) -> Wish:
    name = _pick(rng, things)
    return Wish(
        (f"put the {name} in the bowl",),
        (f"put_in('{name}', bowl)",),
        placements=(Placement(name, "in", (BOWL,)),),
    )


@_shared_task("pick-up-and-put", "carry")
def _pick_up(rng: Rng, things: Sequence[str]) -> Wish:
    name = _pick(rng, things)
    return Wish(
        (f"pick up the {name} and put it in the bowl",),
        (f"put_in('{name}', bowl)",),
        placements=(Placement(name, "in", (BOWL,)),),
    )


@_shared_task("two-in-the-bowl", "carry")
def _two_in_bowl(rng: Rng, things: Sequence[str]) -> Wish:
    first, second = _pair(rng, things)
    return Wish(
        (f"put the {first} and the {second} in the bowl",),
        (f"put_in('{first}', bowl)\nput_in('{second}', bowl)",),
        placements=tuple(Placement(name, "in", (BOWL,)) for name in (first, second)),
    )


@_shared_task("all-in-the-bowl", "carry")
def _all_in_bowl(rng: Rng, things: Sequence[str]) -> Wish:
    return Wish(
        ("put the blocks in the bowl",),
        (f"for name in {list(things)}:\n    put_in(name, bowl)",),
        placements=tuple(Placement(name, "in", (BOWL,)) for name in things),
    )


@_shared_task("beside-the-bowl", "carry")
def _beside_bowl(rng: Rng, things: Sequence[str]) -> Wish:
    name = _pick(rng, things)
    return Wish(
        (f"put the {name} next to the bowl",),
        (f"put_beside('{name}', bowl)",),
        placements=(Placement(name, "beside", (BOWL,)),),
    )


@_shared_task("beside-a-block", "carry")
def _beside_block(rng: Rng, things: Sequence[str]) -> Wish:
    first, second = _pair(rng, things)
    return Wish(
        (f"put the {first} next to the {second}",),
        (f"put_beside('{first}', '{second}')",),
        placements=(Placement(first, "beside", (second,)),),
    )


@_shared_task("between-two", "carry")
def _between_two(rng: Rng, things: Sequence[str]) -> Wish:
    first, second, third = (things[int(i)] for i in rng.permutation(len(things))[:3])
    return Wish(
        (f"put the {first} between the {second} and the {third}",),
        (f"put_between('{first}', '{second}', '{third}')",),
        placements=(Placement(first, "between", (second, third)),),
    )


@_shared_task("in-and-out", "carry")
def _in_and_out(rng: Rng, things: Sequence[str]) -> Wish:
    name = _pick(rng, things)
    return Wish(
        (f"put the {name} in the bowl", "now put it next to the bowl"),
        (f"put_in('{name}', bowl)", f"put_beside('{name}', bowl)"),
        first=(Placement(name, "in", (BOWL,)),),
        placements=(Placement(name, "beside", (BOWL,)),),
    )


@_shared_task("what-is-seen", "look")
def _what_is_seen(rng: Rng, things: Sequence[str]) -> Wish:
    return Wish(
        ("say which blocks you see, separated by commas",),
        ("say(', '.join(name for name in seen() if 'block' in name))",),
        says=tuple(things),
    )


@_shared_task("is-it-seen", "look")
def _is_it_seen(rng: Rng, things: Sequence[str]) -> Wish:
    name = _pick(rng, [_ABSENT, *things])
    return Wish(
        (f"do you see a {name}? say yes or no",),
        (f"say('yes' if '{name}' in seen() else 'no')",),
        answer=name != _ABSENT,
    )
