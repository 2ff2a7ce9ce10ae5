"""Household tasks: names, reference plans in the usual house, and what must be true in the end."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Literal

import msgspec

from benchmarks import task_file
from benchmarks.planning.kitchen_tasks import plain


class HouseholdTask(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """One task."""

    name: str
    """What is to be done, in everyday words."""
    split: Literal["demonstration", "test", "generalise"]
    """What it is for."""
    steps: tuple[str, ...]
    """The reference plan, `done` left out."""
    goals: tuple[str, ...]
    """Sentences that must be true in the end."""


TASKS = task_file.load(Path(__file__).with_suffix(".toml"), HouseholdTask)
BY_WORDS = {plain(task.name): task for task in TASKS}
"""Every task by its plain words."""
DEMONSTRATIONS = tuple(task for task in TASKS if task.split == "demonstration")
TRIED = tuple(task for task in TASKS if task.split != "demonstration")


def lcs(first: Sequence[str], second: Sequence[str]) -> float:
    """Return the longest common subsequence of two plans as a share of the longer one."""
    row = [0] * (len(second) + 1)
    for step in first:
        before = 0
        for at, other in enumerate(second, start=1):
            above = row[at]
            row[at] = before + 1 if step == other else max(above, row[at - 1])
            before = above
    return row[-1] / (max(len(first), len(second)) or 1)
