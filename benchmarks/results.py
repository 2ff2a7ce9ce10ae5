"""A results folder: what was asked for, and one line for every trial that ended.

`header.json` says what ran, with what; `trials.jsonl` grows by whole lines and is never rewritten.
A run that was killed goes on from there: a last line without its end is cut off, and that trial
is run again.
"""

from __future__ import annotations

import json
import os
from collections.abc import Iterator, Mapping
from dataclasses import asdict, dataclass, fields
from pathlib import Path
from typing import Any

from benchmarks.suites import Outcome, Settings, Suite, Trial
from cap.errors import UsageError
from cap.trace import plain, versions

FORMAT_VERSION = 1
_SAME = ("format_version", "suite", "suite_version", "settings")
"""What two runs must share to be one."""


@dataclass(frozen=True)
class Line:
    """One trial with how it ended."""

    trial: Trial
    """Which."""
    outcome: Outcome
    """How."""


class Results:
    """A folder open for more trials."""

    def __init__(self, folder: Path, done: frozenset[Trial]) -> None:
        """Open the file; `begin` makes sure that it is the right one."""
        self.folder = folder
        self.done = done
        """Trials that ended in an earlier run."""
        self._file = os.open(folder / "trials.jsonl", os.O_WRONLY | os.O_APPEND | os.O_CREAT, 0o666)

    def add(self, trial: Trial, outcome: Outcome) -> None:
        """Write down one trial, in a single write.

        Raises:
            UsageError: The disk is full; what was written before is untouched.
        """
        line = json.dumps({**asdict(trial), **plain(asdict(outcome))}, ensure_ascii=False) + "\n"
        data = line.encode("utf-8", "replace")
        before = os.fstat(self._file).st_size
        try:
            written = os.write(self._file, data)
            why = "the disk is full" if written < len(data) else ""
        except OSError as error:
            why = error.strerror or str(error)
        if why:
            os.ftruncate(self._file, before)
            raise UsageError(
                f"cannot write {self.folder / 'trials.jsonl'}: {why}; make room and use --resume"
            )

    def close(self) -> None:
        """Close the file."""
        os.close(self._file)


def begin(folder: Path, suite: Suite, settings: Settings, *, resume: bool) -> Results:
    """Open a folder for a run.

    Args:
        folder: Where; made if need be.
        suite: What is run.
        settings: With what.
        resume: Go on with what is there; otherwise nothing may be there.

    Raises:
        UsageError: It holds another run, or one and `resume` is not said, or cannot be written.
    """
    header = {
        "format_version": FORMAT_VERSION,
        "suite": suite.name,
        "suite_version": suite.version,
        "settings": json.loads(json.dumps(plain(asdict(settings)))),
        "versions": versions(),
    }
    if (folder / "header.json").exists():
        if not resume:
            raise UsageError(f"{folder} already holds a run; go on with --resume or use another")
        _check_same(folder, read_header(folder), header)
        _cut_half_line(folder / "trials.jsonl")
        return Results(folder, frozenset(line.trial for line in read_lines(folder)))
    try:
        folder.mkdir(parents=True, exist_ok=True)
        text = json.dumps(header, indent=2, ensure_ascii=False) + "\n"
        (folder / "header.json").write_text(text, encoding="utf-8")
    except OSError as error:
        raise UsageError(f"cannot write to {folder}: {error.strerror or error}") from None
    return Results(folder, frozenset())


def _check_same(folder: Path, there: Mapping[str, Any], asked: Mapping[str, Any]) -> None:
    for name in _SAME:
        if there.get(name) != asked[name]:
            raise UsageError(
                f"{folder} is a run with another {name.replace('_', ' ')} "
                f"({_short(there.get(name))}, not {_short(asked[name])}); use another folder"
            )


def _short(value: Any) -> str:
    text = json.dumps(value, ensure_ascii=False)
    return text if len(text) <= 160 else text[:157] + "..."


def _cut_half_line(path: Path) -> None:
    """Cut off what a killed run left of its last line."""
    if not path.exists():
        return
    data = path.read_bytes()
    if whole := len(data) - (data.rfind(b"\n") + 1):
        os.truncate(path, len(data) - whole)


def read_header(folder: Path) -> dict[str, Any]:
    """Return what a folder's run was asked for.

    Raises:
        UsageError: There is none, or it is damaged.
    """
    path = folder / "header.json"
    try:
        header = json.loads(path.read_text(encoding="utf-8"))
    except FileNotFoundError:
        raise UsageError(f"{folder} is no results folder: it has no header.json") from None
    except (OSError, ValueError) as error:
        raise UsageError(f"cannot read {path}: {error}") from None
    if not isinstance(header, dict):
        raise UsageError(f"cannot read {path}: not a JSON object")
    return header


_TRIAL = tuple(entry.name for entry in fields(Trial))
_OUTCOME = tuple(entry.name for entry in fields(Outcome))


def read_lines(folder: Path) -> Iterator[Line]:
    """Yield the trials of a folder; a last line without its end is left out.

    Raises:
        UsageError: A line in between is damaged; with its number.
    """
    path = folder / "trials.jsonl"
    if not path.exists():
        return
    with path.open(encoding="utf-8") as file:
        for number, text in enumerate(file, 1):
            if not text.endswith("\n"):
                return
            try:
                values = json.loads(text)
                yield Line(
                    Trial(**{name: values[name] for name in _TRIAL}),
                    Outcome(**{name: values[name] for name in _OUTCOME}),
                )
            except (ValueError, KeyError, TypeError):
                raise UsageError(
                    f"{path}, line {number} is no trial; remove it and use --resume"
                ) from None
