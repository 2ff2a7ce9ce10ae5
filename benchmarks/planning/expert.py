"""What Can and Pay learn from: expert trajectories, and what could be done along them."""

from __future__ import annotations

from collections.abc import Iterator
from functools import cache

import numpy as np

from benchmarks.planning.puzzle_domains import DISCOUNTS, TRAINED_ON, puzzle
from benchmarks.planning.puzzles import Puzzle
from cap.planners.loop import DONE
from cap.planners.saycanpay import LabelledStep, PlanContext, TrainedScores, train

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
