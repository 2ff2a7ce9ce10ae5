"""What every suite asks of its settings: known names, limits, cells; and nobody for a model."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import fields
from typing import Any

from benchmarks.suite import Settings
from cap.errors import ModelError, UsageError, did_you_mean
from cap.models.base import Completion, Request
from cap.sandbox.limits import Limits

FLAGS: Mapping[str, str] = {
    name: f"--{name.replace('_', '-')}"
    for name in (
        "base_url",
        "disturbances",
        "mode",
        "model",
        "model_mode",
        "perception",
        "pictures",
        "problems",
        "prompts",
        "shared_library",
        "temperature",
    )
} | {"timeout_s": "--model-timeout"}
"""How a person says what `Settings` and their options hold."""
MOST_TRIALS = 100_000
"""Of one task or problem: the list of all trials is held in memory."""


class Nobody:
    """Stands where a baseline has no model."""

    name = "nobody"

    def complete(self, request: Request) -> Completion:
        """Refuse.

        Raises:
            ModelError: Always.
        """
        raise ModelError("a baseline asks no model; its program may not call LMPs")


def limits_of(given: Mapping[str, Any], usual: Limits | None = None) -> Limits:
    """Return the limits of every program.

    Raises:
        UsageError: A limit of that name does not exist.
    """
    known_or_refused("limit", list(given), [entry.name for entry in fields(Limits)])
    return Limits(**{**vars(usual or Limits()), **given})


def check_options(settings: Settings, known: Sequence[str]) -> None:
    """Refuse options a suite does not take.

    Raises:
        UsageError: With those it takes.
    """
    for name in sorted(set(settings.options) - set(known)):
        if name in FLAGS:
            raise UsageError(f"the suite '{settings.suite}' takes no {FLAGS[name]}; leave it out")
        known_or_refused("option", [name], known)


def known_or_refused(what: str, given: Sequence[str] | None, known: Sequence[str]) -> None:
    """Refuse a name that is not known.

    Raises:
        UsageError: With the nearest names and all of them.
    """
    for name in given or ():
        if name not in known:
            listed = ", ".join(dict.fromkeys(known))
            hint = did_you_mean(name, dict.fromkeys(known))
            raise UsageError(f"unknown {what} '{name}'.{hint} Known: {listed}")


def count_or_refused(n: int, what: str = "trials") -> None:
    """Refuse a number of trials that no run can have.

    Args:
        n: How many of each task.
        what: What they are called.

    Raises:
        UsageError: None, or more than `MOST_TRIALS`.
    """
    if not 1 <= n <= MOST_TRIALS:
        raise UsageError(f"cannot run {n} {what} of each task; ask for 1 to {MOST_TRIALS} with -n")


def chosen(
    cells: Sequence[tuple[str, str]],
    n: int,
    tasks: Sequence[str] | None,
    splits: Sequence[str] | None,
) -> list[tuple[str, str]]:
    """Return the cells asked for, in their order.

    Raises:
        UsageError: No trials are asked for or too many, an unknown task or split, or none in both.
    """
    count_or_refused(n)
    known_or_refused("task", tasks, [task for task, _ in cells])
    known_or_refused("split", splits, [split for _, split in cells])
    found = [
        (task, split)
        for task, split in cells
        if (not tasks or task in tasks) and (not splits or split in splits)
    ]
    if not found:
        raise UsageError(f"none of the tasks {tasks} is in the splits {splits}")
    return found
