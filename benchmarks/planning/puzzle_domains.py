"""Four kinds of puzzles, as SayCanPay has them: Hanoi, blocks in bowls, BabyAI, the household.

Each has problems to train on, to test, and to generalise to: other colours, more disks, blocks or
rooms, ways of doing things that were never shown.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from functools import cache, partial
from itertools import pairwise

import numpy as np

from benchmarks.planning import babyai
from benchmarks.planning.household_actions import OBJECTS, bank, parsed
from benchmarks.planning.household_tasks import TASKS, HouseholdTask
from benchmarks.planning.household_world import House, after, refusal, scene
from benchmarks.planning.kitchen_skills import with_article
from benchmarks.planning.puzzles import Part, Puzzle, State
from benchmarks.planning.tabletop_puzzle import tabletop_puzzle
from cap.planners.loop import Action

TABLETOP = "tabletop"
"""The tabletop robot's tasks: only learned from here, and tried on the robot."""
DOMAINS = ("hanoi", "blocks", "babyai", "household")
DISCOUNTS: Mapping[str, float] = {
    "hanoi": 0.3,
    "blocks": 0.3,
    "babyai": 0.6,
    "household": 0.9,
    TABLETOP: 0.6,
}
"""The seed's discount of what is still far from the goal."""
TRAINED_ON: Mapping[str, int] = {
    "hanoi": 400,
    "blocks": 300,
    "babyai": 300,
    "household": 60,
    TABLETOP: 240,
}
"""Expert trajectories."""
COLORS = ("red", "blue", "green", "yellow", "orange", "gray")
OTHER_COLORS = ("pink", "cyan", "brown", "purple", "white", "tan")
RODS = ("rod 1", "rod 2", "rod 3")
_PARTS: Mapping[Part, int] = {"train": 1, "test": 2, "generalise": 3}


def puzzle(domain: str, part: Part, number: int) -> Puzzle:
    """Return one problem; the same numbers give the same."""
    if domain == TABLETOP:
        return tabletop_puzzle(number)
    generator = np.random.default_rng([DOMAINS.index(domain), _PARTS[part], number])
    colors = OTHER_COLORS if part == "generalise" else COLORS
    drawn = [str(color) for color in generator.permutation(colors)]
    if domain == "hanoi":
        disks = 4 if part == "generalise" else int(generator.integers(2, 4))
        rods = [str(rod) for rod in generator.permutation(RODS)]
        return hanoi(drawn[:disks], rods[0], drawn[int(generator.integers(disks))], rods[1])
    if domain == "blocks":
        more = part == "generalise"
        count = int(generator.integers(3, 5) if more else generator.integers(2, 4))
        return blocks(drawn, count, count + int(generator.integers(2)),
                      bool(generator.random() < 0.5))  # fmt: skip
    if domain == "babyai":
        return babyai.puzzle(part, number)
    wanted = {"train": "demonstration"}.get(part, part)
    tasks = [task for task in TASKS if task.split == wanted]
    return household(tasks[number % len(tasks)])


# --- Hanoi


def hanoi(disks: Sequence[str], rod: str, disk: str, target: str) -> Puzzle:
    """Return the problem of getting one disk to a rod; all begin on one, the smallest first."""
    tower = ", ".join(
        f"the {above} disk is on top of the {below} disk" for above, below in pairwise(disks)
    )
    opening = f"{tower}; all are on {rod}. There are {' and '.join(RODS)}."
    moves = tuple(f"move the {color} disk to {name}" for color in disks for name in RODS)
    start = tuple(RODS.index(rod) for _ in disks)
    size, goal = disks.index(disk), RODS.index(target)
    return Puzzle(
        f"move the {disk} disk to {target}", opening, moves, start,
        partial(_hanoi_after, moves), lambda state: state[size] == goal,  # type: ignore[index]
        (*disks, *RODS),
    )  # fmt: skip


def tower(disks: int) -> Puzzle:
    """Return the whole tower's problem: every disk to the third rod, in 2^n - 1 moves."""
    colors = [*COLORS, *OTHER_COLORS][:disks]
    found = hanoi(colors, RODS[0], colors[-1], RODS[2])
    return Puzzle(found.goal, found.opening, found.moves, found.start, found.after,
                  lambda state: set(state) == {2})  # type: ignore[call-overload]  # fmt: skip


def _hanoi_after(moves: Sequence[str], state: State, text: str) -> State | None:
    assert isinstance(state, tuple)
    if text not in moves:
        return None
    disk, rod = divmod(moves.index(text), len(RODS))
    if state[disk] == rod or any(state[smaller] in (state[disk], rod) for smaller in range(disk)):
        return None
    return (*state[:disk], rod, *state[disk + 1 :])


# --- blocks in bowls


def blocks(colors: Sequence[str], count: int, bowls: int, occupied: bool) -> Puzzle:
    """Return the problem of one colour's blocks in another's bowls, one in each.

    Args:
        colors: Of the blocks, of the bowls, and of what nobody asked for.
        count: Blocks to put in bowls.
        bowls: Bowls of the colour asked for.
        occupied: Whether another block is in the first of them.
    """
    wanted = [f"{colors[0]} block {n}" for n in range(1, count + 1)]
    others = [f"{colors[2]} block 1"]
    targets = [f"{colors[1]} bowl {n}" for n in range(1, bowls + 1)]
    places = [*targets, f"{colors[3]} bowl 1", "table"]
    things = [*wanted, *others]
    moves = tuple(f"put the {a} in the {b}" for a in things for b in places[:-1])
    moves += tuple(f"put the {a} on the table" for a in things)
    start = tuple(0 if occupied and thing in others else len(places) - 1 for thing in things)
    opening = f"There are {', '.join(things)}, {', '.join(places[:-1])}."
    opening += f" The {others[0]} is in the {targets[0]}." if occupied else ""
    free = len(places) - 1

    def after(state: State, text: str) -> State | None:
        assert isinstance(state, tuple)
        if text not in moves:
            return None
        at = moves.index(text)
        inside = at < len(things) * free
        thing, place = divmod(at, free) if inside else (at - len(things) * free, free)
        taken = place != free and place in state
        return None if taken or state[thing] == place else (*state[:thing], place,
                                                            *state[thing + 1 :])  # fmt: skip

    def solved(state: State) -> bool:
        assert isinstance(state, tuple)
        return all(place < len(targets) for place in state[:count])

    goal = f"put every {colors[0]} block in {with_article(colors[1])} bowl, one in each"
    return Puzzle(goal, opening, moves, start, after, solved, tuple(colors))


# --- the household


class TaskPuzzle(Puzzle):
    """A household task; its reference plan is what is measured against, not a search."""

    def plan(self, state: State) -> tuple[str, ...] | None:
        """Return what is left of the reference plan, from its last step whose effect is there."""
        return _left(self.goal, state)


def household(task: HouseholdTask) -> Puzzle:
    """Return a task in the usual house as a problem."""
    moves = tuple(step.text for step in _steps())
    where = [name for name in OBJECTS if re.search(rf"\b{name}\b", task.name)]
    where += [OBJECTS[name].home for name in where if OBJECTS[name].home in OBJECTS]
    facts = [
        f"the {name} is {'on' if 'surface' in getattr(OBJECTS.get(home), 'can', '') else 'in'} "
        f"the {home}"
        for name in where
        if (home := OBJECTS[name].home)
    ]
    opening = f"{', '.join(facts)}." if facts else "The house is as usual."
    return TaskPuzzle(
        task.name, opening, moves, scene(0), _house_after,
        lambda house: _reached(task, house),
        tuple(OBJECTS),
    )  # fmt: skip


@cache
def _steps() -> tuple[Action, ...]:
    """Return the steps of all tasks with things of their kinds put in: some hundred of them."""
    known = {step for task in TASKS for step in task.steps}
    return tuple(step for step in bank() if step.text in known)


def _reached(task: HouseholdTask, house: State) -> bool:
    assert isinstance(house, House)
    return all(house.holds(goal) for goal in task.goals)


@cache
def _house_after(house: State, text: str) -> State | None:
    assert isinstance(house, House)
    step = parsed(text)
    return None if step is None or refusal(house, step) else after(house, step)


@cache
def _left(name: str, state: State) -> tuple[str, ...] | None:
    task = next(task for task in TASKS if task.name == name)
    if _reached(task, state):
        return ()
    for begin in range(len(task.steps), -1, -1):  # the shortest end of it that still leads there
        tried: State | None = state
        for text in task.steps[begin:]:
            tried = None if tried is None else _house_after(tried, text)
        if tried is not None and _reached(task, tried):
            return task.steps[begin:]
    return None
