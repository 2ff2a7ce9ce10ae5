"""Kinds of puzzles, and the expert trajectories in them from which Can and Pay are learned.

SayCanPay's four are Hanoi, blocks in bowls, BabyAI and the household. Each has problems to train
on, to test, and to generalise to: other colours, more disks, blocks or rooms, ways of doing things
that were never shown. The tabletop's tasks as puzzles of what was put where, without distances or
noise, are only learned from.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from functools import cache, partial
from itertools import pairwise

import numpy as np

from benchmarks.planning import babyai
from benchmarks.planning.household import (
    OBJECTS,
    TASKS,
    HouseholdTask,
    after,
    bank,
    parsed,
    refusal,
    scene,
)
from benchmarks.planning.kitchen_skills import with_article
from benchmarks.planning.puzzles import Part, Puzzle, State
from benchmarks.planning.tabletop_knowledge import SEEN, Pairs, TabletopKnowledge
from benchmarks.planning.tabletop_skills import goals_of, put
from benchmarks.tabletop.inner_monologue import TASKS_IM
from benchmarks.tabletop.tasks import EVERY
from benchmarks.tabletop.trial_sampler import prepare
from cap.planners.dialogue import DialogueLine
from cap.planners.loop import DONE, Action
from cap.planners.saycanpay import LabelledStep, PlanContext, TrainedScores, train
from robots.table.geometry import PLACES

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
    moves = {
        f"move the {color} disk to {name}": (number, place)
        for number, color in enumerate(disks)
        for place, name in enumerate(RODS)
    }
    start = tuple(RODS.index(rod) for _ in disks)
    size, goal = disks.index(disk), RODS.index(target)

    def after(state: State, text: str) -> State | None:
        if text not in moves:
            return None
        moved, to = moves[text]
        smaller = state[:moved]
        if state[moved] == to or state[moved] in smaller or to in smaller:
            return None
        return (*smaller, to, *state[moved + 1 :])

    return Puzzle(
        f"move the {disk} disk to {target}", opening, tuple(moves), start,
        after, lambda state: state[size] == goal, (*disks, *RODS),
    )  # fmt: skip


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
    free = len(targets) + 1
    moves = {
        f"put the {a} in the {b}": (thing, place)
        for thing, a in enumerate(things)
        for place, b in enumerate(places[:free])
    }
    moves |= {f"put the {a} on the table": (thing, free) for thing, a in enumerate(things)}
    start = tuple(0 if occupied and thing in others else free for thing in things)
    opening = f"There are {', '.join(things)}, {', '.join(places[:-1])}."
    opening += f" The {others[0]} is in the {targets[0]}." if occupied else ""

    def after(state: State, text: str) -> State | None:
        if text not in moves:
            return None
        thing, place = moves[text]
        if state[thing] == place or (place != free and place in state):
            return None
        return (*state[:thing], place, *state[thing + 1 :])

    def solved(state: State) -> bool:
        return all(place < len(targets) for place in state[:count])

    goal = f"put every {colors[0]} block in {with_article(colors[1])} bowl, one in each"
    return Puzzle(goal, opening, tuple(moves), start, after, solved, tuple(colors))


# --- the household


def household(task: HouseholdTask) -> Puzzle:
    """Return a task in the usual house as a problem, measured against its reference plan."""
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
    return Puzzle(
        task.name, opening, moves, scene(0), _house_after,
        lambda house: _reached(task, house),
        tuple(OBJECTS), partial(_left, task.name),
    )  # fmt: skip


@cache
def _steps() -> tuple[Action, ...]:
    """Return the steps of all tasks with things of their kinds put in: some hundred of them."""
    known = {step for task in TASKS for step in task.steps}
    return tuple(step for step in bank() if step.text in known)


def _reached(task: HouseholdTask, house: State) -> bool:
    return all(house.holds(goal) for goal in task.goals)


@cache
def _house_after(house: State, text: str) -> State | None:
    step = parsed(text)
    return None if step is None or refusal(house, step) else after(house, step)


@cache
def _left(name: str, state: State) -> tuple[str, ...] | None:
    """Return what is left of a reference plan, from its last step whose effect is there."""
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


_FIRST_SEED = 50_000
"""Scenes to learn from; those that are tried are before it."""


def right_after(goal: str, pairs: Pairs, steps: Sequence[str]) -> str:
    """Return the step that is right after some others."""
    lines = [DialogueLine("person", goal), *(DialogueLine("step", step) for step in steps)]
    advice = TabletopKnowledge({goal: pairs}).advice(lines)
    assert advice is not None
    return advice.steps[0][0]


def tabletop_puzzle(number: int) -> Puzzle:
    """Return one problem to learn from; its states are the steps so far."""
    setup = prepare(TASKS_IM[number % len(TASKS_IM)], EVERY, "IM", _FIRST_SEED + number)
    names = list(setup.before)
    blocks = [name for name in names if name.endswith("block")]
    moved = {put(a, b).text: (a, b) for a in blocks for b in (*names, *PLACES) if a != b}
    pairs = goals_of(setup.goal)

    def after(state: State, text: str) -> State | None:
        if text not in moved:
            return None
        on = dict(moved[step] for step in state)
        covered = moved[text][0] in on.values() or on.get(moved[text][1]) == moved[text][0]
        return None if covered else (*state, text)

    def solved(state: State) -> bool:
        return right_after(setup.instruction, pairs, state) == DONE.text

    def plan(state: State) -> tuple[str, ...] | None:
        steps = list(state)
        for _ in range(len(moved)):
            step = right_after(setup.instruction, pairs, steps)
            if step == DONE.text:
                return tuple(steps[len(state) :])
            steps.append(step)
        return None

    return Puzzle(
        setup.instruction, f"{SEEN}{', '.join(names)}.", tuple(moved), (), after, solved,
        tuple(dict.fromkeys(name.split()[0] for name in names)), plan,
    )  # fmt: skip


STRAYED = 0.5
"""So many trajectories begin with a step that is not the expert's, which then has to go on."""
MOST_OTHERS = 24
"""Steps that are not the expert's, of one moment; of more than these some are drawn."""


def trajectory(
    found: Puzzle, discount: float, number: int, generator: np.random.Generator
) -> Iterator[LabelledStep]:
    """Yield the steps that could be said along an expert's way, with what is known of each."""
    state = found.start
    steps: tuple[str, ...] = ()
    strays = generator.random() < STRAYED
    while True:
        plan = found.plan(state)
        if plan is None:
            return
        right = (*plan, DONE.text)
        context = PlanContext(found.goal, found.opening, steps, found.names)
        others = [move for move in (*found.moves, DONE.text) if move != right[0]]
        if len(others) > MOST_OTHERS:
            others = [str(move) for move in generator.choice(others, MOST_OTHERS, replace=False)]
        for move in (right[0], *others):
            can = found.solved(state) if move == DONE.text else found.after(state, move) is not None
            pays = discount ** len(plan) if move == right[0] else 0.0
            yield LabelledStep(context, move, can, pays, number)
        possible = [move for move in others if found.after(state, move) is not None]
        taken = right[0]
        if strays and possible and generator.random() < STRAYED:
            taken, strays = str(generator.choice(possible)), False
        if taken == DONE.text:
            return
        following = found.after(state, taken)
        if following is None:  # the expert knows no better: it learns nothing further here
            return
        state, steps = following, (*steps, taken)


def labelled(domain: str, count: int) -> list[LabelledStep]:
    """Return all that is learned from in a domain."""
    rows: list[LabelledStep] = []
    for number in range(count):
        generator = np.random.default_rng([[*DISCOUNTS].index(domain), number, 5])
        rows += trajectory(puzzle(domain, "train", number), DISCOUNTS[domain], number, generator)
    return rows


@cache
def trained(domain: str, count: int = 0) -> TrainedScores:
    """Return Can and Pay of a domain, learned once in each process."""
    return train(labelled(domain, count or TRAINED_ON[domain]))
