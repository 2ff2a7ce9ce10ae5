r"""Sample files: one answer to a problem a line, in the form the official HumanEval scorer reads.

    {"task_id": "HumanEval/0", "completion": "    return ...\n"}
    {"task_id": "HumanEval/0", "solution": "def ...\n"}

A completion goes on where the problem ends; a solution is a whole program, and it is the one that
counts where both stand in a line, as EvalPlus has it. A task id may be a whole number, as MBPP's
are. More keys may stand in a line; they are written back beside the verdict.
"""

from __future__ import annotations

import hashlib
from collections import Counter
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import Any

from benchmarks import json_lines
from cap.errors import UsageError, did_you_mean

SAMPLES = "samples:"
"""What stands before a sample file's path in place of a model."""
GIVEN = "given"
"""The arm of samples from a file: nobody knows how they came about."""
_TEXTS = ("solution", "completion")
"""The keys of an answer; the first that holds text counts."""


@dataclass(frozen=True)
class Sample:
    """One answer to one problem."""

    task_id: str
    """The problem's."""
    text: str
    """The answer."""
    whole: bool
    """It is a whole program, and does not go on where the problem ends."""
    number: int
    """Which of the problem's samples, from 0, in the order of the file."""
    place: int
    """Which of all samples of the file, from 0."""
    values: Mapping[str, Any]
    """The line as it was."""


def read(path: Path, known: Collection[str]) -> tuple[Sample, ...]:
    """Read a sample file, packed or not.

    Args:
        path: The file.
        known: The problems' ids.

    Raises:
        UsageError: It cannot be read, a line is no sample or of no known problem (with its
            number), or it has none.
    """
    counts: Counter[str] = Counter()
    samples: list[Sample] = []
    for line, values in json_lines.read(path, "sample file"):
        task_id, name = _parts(values, f"{path}, line {line}", known)
        number = counts[task_id]
        samples.append(
            Sample(task_id, values[name], name == "solution", number, len(samples), values)
        )
        counts[task_id] += 1
    if not samples:
        raise UsageError(f"{path} holds no sample")
    return tuple(samples)


def digest(path: Path) -> str:
    """Return what identifies a sample file: a run goes on with the same one alone."""
    return hashlib.sha256(path.read_bytes()).hexdigest()[:12]


def of_problems(
    path: Path, found: Sequence[Sample], wanted: Sequence[str], *, incomplete: bool
) -> list[Sample]:
    """Return the samples of the problems that can judge somebody.

    Args:
        path: Where they were read, for messages.
        found: All of the file.
        wanted: The ids of those problems.
        incomplete: Accept that some of them have no sample.

    Raises:
        UsageError: One of them has no sample, or none of them has.
    """
    answered = {sample.task_id for sample in found}
    missing = [task_id for task_id in wanted if task_id not in answered]
    if missing and not incomplete:
        shown = ", ".join(missing[:3]) + (", ..." if len(missing) > 3 else "")
        raise UsageError(
            f"{path} has no sample of {len(missing)} of {len(wanted)} problems ({shown}); "
            "add them, or score those that are there with --incomplete"
        )
    if len(missing) == len(wanted):
        raise UsageError(f"{path} has samples only of problems that are left out; fix those")
    chosen = frozenset(wanted)
    return [sample for sample in found if sample.task_id in chosen]


def _parts(values: Mapping[str, Any], where: str, known: Collection[str]) -> tuple[str, str]:
    """Return a line's problem, and the key of its answer."""
    task_id = task_id_of(values)
    if task_id is None:
        raise UsageError(f"{where} is no sample: it needs text or a whole number as 'task_id'")
    name = next((name for name in _TEXTS if isinstance(values.get(name), str)), None)
    if name is None:
        raise UsageError(f"{where} is no sample: it needs text as 'completion' or 'solution'")
    if task_id not in known:
        hint = did_you_mean(task_id, known)
        raise UsageError(f"{where}: no problem is called '{task_id}'.{hint}")
    return task_id, name


def task_id_of(values: Mapping[str, Any]) -> str | None:
    """Return a line's task id as text; None if it has none."""
    task_id = values.get("task_id")
    return str(task_id) if type(task_id) in (str, int) else None


def unjudged(
    model: str, known: Collection[str], judged: Collection[tuple[str, int]]
) -> list[tuple[int, dict[str, Any]]]:
    """Return the lines of a run's sample file that have no verdict, each with its place.

    Args:
        model: The run's; of any other than a sample file there is none.
        known: The problems' ids.
        judged: Problems and numbers of the samples that have one.
    """
    if not model.startswith(SAMPLES):
        return []
    try:
        found = read(Path(model.removeprefix(SAMPLES)), known)
    except UsageError:  # it is gone since, or another
        return []
    verdict = {"result": "not judged", "passed": None}
    return [
        (sample.place, {**sample.values, **verdict})
        for sample in found
        if (sample.task_id, sample.number) not in judged
    ]


@lru_cache(maxsize=1)
def by_place(path: Path, known: tuple[str, ...]) -> Mapping[tuple[str, int], Sample]:
    """Return the samples of a file by problem and number, read once for each process."""
    found = read(path, known)
    return {(sample.task_id, sample.number): sample for sample in found}
