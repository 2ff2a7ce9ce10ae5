"""What is right to do next in the house by the steps so far, and how people would say it."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence

import numpy as np

from benchmarks.planning.household_actions import SAID
from benchmarks.planning.household_tasks import BY_WORDS, TASKS
from benchmarks.planning.kitchen_tasks import plain
from cap.planners.dialogue import DialogueLine
from cap.planners.loop import DONE
from cap.planners.stand_in_models import Advice, Knowledge

SYNONYMS: Mapping[str, str] = {
    **{way: usual for usual, ways in SAID.ways.items() for way in ways},
    **{way: usual for usual, ways in SAID.names.items() for way in ways if way != "book"},
}
"""What people say and what it is called here; a translator may know most of it."""
_OTHERS = tuple(sorted({step for task in TASKS for step in task.steps} | {DONE.text}))


class HouseholdKnowledge(Knowledge):
    """Knows the reference plans by the names of their tasks."""

    def advice(self, lines: Sequence[DialogueLine]) -> Advice | None:
        """Return the steps that are left of the plan; None for a task it does not know."""
        words = next((line.text for line in lines if line.kind == "person"), "")
        task = BY_WORDS.get(plain(words))
        if task is None:
            return None
        left = list(task.steps)
        for line in lines:
            if line.kind == "step" and left and line.text == left[0]:
                left.pop(0)
        return Advice(
            tuple((step,) for step in (*left, DONE.text)),
            task.goals,
            others=tuple(step for step in _OTHERS if not left or step != left[0]),
        )

    def worded(self, step: str, generator: np.random.Generator) -> str:
        """Return a step in free words: the usual ones now and then."""
        for usual, ways in SAID.ways.items():
            if step.startswith(usual + " "):
                way = str(generator.choice([usual, *ways]))
                step = way + step.removeprefix(usual)
                break
        for usual, ways in SAID.names.items():
            name = rf"\bthe {usual}\b"  # a cupboard is no cup
            if re.search(name, step):
                step = re.sub(name, f"the {generator.choice([usual, *ways])}", step)
        return step
