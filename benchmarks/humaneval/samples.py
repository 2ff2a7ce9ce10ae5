r"""Sample files: one completion a line, in the form the official scorer reads and writes.

    {"task_id": "HumanEval/0", "completion": "    return ...\n"}

More keys may stand in a line; they are left alone.
"""

from __future__ import annotations

import gzip
import json
from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Mapping
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import Any

from cap.errors import UsageError, did_you_mean


@dataclass(frozen=True)
class Sample:
    """One completion of one problem."""

    task_id: str
    """The problem's."""
    completion: str
    """What follows the problem's prompt."""
    number: int
    """Which of the problem's samples, from 0, in the order of the file."""


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
    samples = []
    for number, values in _lines(path):
        task_id, completion = _parts(values, f"{path}, line {number}", known)
        samples.append(Sample(task_id, completion, counts[task_id]))
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


def _parts(values: Any, where: str, known: Collection[str]) -> tuple[str, str]:
    if not isinstance(values, Mapping):
        raise UsageError(f"{where} is no JSON object")
    for name in ("task_id", "completion"):
        if not isinstance(values.get(name), str):
            raise UsageError(f"{where} is no sample: it needs text as '{name}'")
    task_id = values["task_id"]
    if task_id not in known:
        hint = did_you_mean(task_id, known)
        raise UsageError(f"{where}: no problem is called '{task_id}'.{hint}")
    return task_id, values["completion"]


def _lines(path: Path) -> Iterator[tuple[int, Any]]:
    """Yield each line that is not empty, parsed, with its number."""
    try:
        data = path.read_bytes()
        text = (gzip.decompress(data) if path.suffix == ".gz" else data).decode()
    except (OSError, EOFError, UnicodeDecodeError) as error:
        raise UsageError(f"cannot read sample file {path}: {error}") from None
    for number, line in enumerate(text.split("\n"), 1):
        if line.strip():
            try:
                yield number, json.loads(line)
            except (ValueError, RecursionError) as error:
                raise UsageError(f"{path}, line {number} is not JSON: {error}") from None


@lru_cache(maxsize=1)
def by_place(path: Path, known: tuple[str, ...]) -> Mapping[tuple[str, int], str]:
    """Return the completions of a file by problem and number, read once for each process."""
    found = read(path, known, incomplete=True)
    return {(sample.task_id, sample.number): sample.completion for sample in found}


def write(path: Path, lines: Iterable[Mapping[str, Any]]) -> None:
    """Write lines, all or none of them.

    Raises:
        UsageError: It cannot be written.
    """
    half = path.with_name(f"{path.name}.half")
    try:
        half.write_text("".join(json.dumps(dict(line)) + "\n" for line in lines), "utf-8")
        half.replace(path)
    except OSError as error:
        raise UsageError(f"cannot write {path}: {error.strerror or error}") from None
