"""The tabletop's tasks as puzzles of what was put where, to learn from; no distances, no noise."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

from benchmarks.planning.puzzles import Puzzle, State
from benchmarks.planning.tabletop_knowledge import SEEN, Pairs, TabletopKnowledge
from benchmarks.planning.tabletop_skills import goals_of, put
from benchmarks.tabletop.attributes import EVERY
from benchmarks.tabletop.inner_monologue import TASKS_IM
from benchmarks.tabletop.trial_sampler import prepare
from cap.planners.dialogue import DialogueLine
from cap.planners.loop import DONE
from robots.table.geometry import PLACES

_FIRST_SEED = 50_000
"""Scenes to learn from; those that are tried are before it."""


@dataclass(frozen=True)
class TabletopPuzzle(Puzzle):
    """A task whose states are the steps so far; the plan is what is right after them."""

    pairs: Pairs = field(default_factory=tuple)
    """What must be on what."""

    def plan(self, state: State) -> tuple[str, ...] | None:
        """Return the steps that are left."""
        assert isinstance(state, tuple)
        steps = list(state)
        for _ in range(len(self.moves)):
            step = right_after(self.goal, self.pairs, steps)
            if step == DONE.text:
                return tuple(steps[len(state) :])
            steps.append(step)
        return None


def right_after(goal: str, pairs: Pairs, steps: Sequence[str]) -> str:
    """Return the step that is right after some others."""
    lines = [DialogueLine("person", goal), *(DialogueLine("step", step) for step in steps)]
    advice = TabletopKnowledge({goal: pairs}).advice(lines)
    assert advice is not None
    return advice.steps[0][0]


def tabletop_puzzle(number: int) -> TabletopPuzzle:
    """Return one problem to learn from."""
    setup = prepare(TASKS_IM[number % len(TASKS_IM)], EVERY, "IM", _FIRST_SEED + number)
    names = list(setup.before)
    blocks = [name for name in names if name.endswith("block")]
    moved = {put(a, b).text: (a, b) for a in blocks for b in (*names, *PLACES) if a != b}
    pairs = goals_of(setup.goal)

    def after(state: State, text: str) -> State | None:
        assert isinstance(state, tuple)
        if text not in moved:
            return None
        on = dict(moved[step] for step in state)
        covered = moved[text][0] in on.values() or on.get(moved[text][1]) == moved[text][0]
        return None if covered else (*state, text)

    def solved(state: State) -> bool:
        assert isinstance(state, tuple)
        return right_after(setup.instruction, pairs, state) == DONE.text

    return TabletopPuzzle(
        setup.instruction, f"{SEEN}{', '.join(names)}.", tuple(moved), (), after, solved,
        tuple(dict.fromkeys(name.split()[0] for name in names)), pairs=pairs,
    )  # fmt: skip
