r"""Sample files: one answer to a problem a line, in the form the official HumanEval scorer reads.

    {"task_id": "HumanEval/0", "completion": "    return ...\n"}
    {"task_id": "HumanEval/0", "solution": "def ...\n"}

A completion goes on where the problem ends; a solution is a whole program. More keys may stand in a
line; they are written back beside the verdict.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Mapping
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
_TEXTS = ("completion", "solution")


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


def read(path: Path, known: Collection[str], *, incomplete: bool = False) -> tuple[Sample, ...]:
    """Read a sample file, packed or not.

    Args:
        path: The file.
        known: The problems' ids.
        incomplete: Accept that problems have no sample.

    Raises:
        UsageError: It cannot be read, a line is no sample or of no known problem (with its
            number), it has none, or problems have none.
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
    missing = [task_id for task_id in known if task_id not in counts]
    if missing and not incomplete:
        shown = ", ".join(missing[:3]) + (", ..." if len(missing) > 3 else "")
        raise UsageError(
            f"{path} has no sample of {len(missing)} of {len(known)} problems ({shown}); "
            "add them, or score those that are there with --incomplete"
        )
    return tuple(samples)


def _parts(values: Mapping[str, Any], where: str, known: Collection[str]) -> tuple[str, str]:
    """Return a line's problem, and the key of its answer."""
    task_id = values.get("task_id")
    if not isinstance(task_id, str):
        raise UsageError(f"{where} is no sample: it needs text as 'task_id'")
    name = next((name for name in _TEXTS if isinstance(values.get(name), str)), None)
    if name is None:
        raise UsageError(f"{where} is no sample: it needs text as 'completion' or 'solution'")
    if task_id not in known:
        hint = did_you_mean(task_id, known)
        raise UsageError(f"{where}: no problem is called '{task_id}'.{hint}")
    return task_id, name


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
        found = read(Path(model.removeprefix(SAMPLES)), known, incomplete=True)
    except UsageError:  # it is gone since, or another
        return []
    told = {"result": "not judged", "passed": None}
    return [
        (sample.place, {**sample.values, **told})
        for sample in found
        if (sample.task_id, sample.number) not in judged
    ]


@lru_cache(maxsize=1)
def by_place(path: Path, known: tuple[str, ...]) -> Mapping[tuple[str, int], Sample]:
    """Return the samples of a file by problem and number, read once for each process."""
    found = read(path, known, incomplete=True)
    return {(sample.task_id, sample.number): sample for sample in found}
