"""What a results folder says, per task and per split: rates with their intervals, and why not."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from statistics import median
from typing import Any

from benchmarks.results import Line, read_header, read_lines
from benchmarks.statistics import wilson_interval
from benchmarks.suite import REPAIRED, SUITES, BaseSuite, suite
from cap.errors import UsageError

CAUSES = ("model", "program", "robot", "task", "infrastructure", "recording")
ALL = "all"
"""Stands for the task in the rows that sum up a split."""


@dataclass
class CellTally:
    """What came of one cell's trials."""

    n: int = 0
    """Trials."""
    successes: int = 0
    """Those whose goal was reached."""
    unrepaired: int = 0
    """Those of them whose first program reached it."""
    repairs: int = 0
    """Trials in which a program was written again."""
    causes: Counter[str] = field(default_factory=Counter)
    """Why the others failed."""
    calls: int = 0
    """Calls of primitives."""
    requests: int = 0
    """Questions to the model."""
    tokens: int = 0
    """Tokens read and written."""
    cost_usd: float | None = 0.0
    """Dollars; None if a price is not known."""
    seconds: float = 0.0
    """Wall time of all trials."""
    measured: dict[str, list[float | None]] = field(default_factory=dict)
    """What the suite measured in each trial, by name; None where there was nothing to measure."""

    def add(self, line: Line) -> None:
        """Count one trial."""
        outcome = line.outcome
        self.n += 1
        self.successes += outcome.success
        repaired = outcome.extra.get(REPAIRED) is True
        self.repairs += repaired
        self.unrepaired += outcome.success and not repaired
        if not outcome.success:
            self.causes[outcome.cause] += 1
        self.calls += outcome.calls
        self.requests += outcome.requests
        self.tokens += outcome.prompt_tokens + outcome.completion_tokens
        known = self.cost_usd is not None and outcome.cost_usd is not None
        self.cost_usd = (self.cost_usd or 0.0) + (outcome.cost_usd or 0.0) if known else None
        self.seconds += outcome.seconds
        measured = outcome.extra.get("measured")
        for name, value in measured.items() if isinstance(measured, dict) else ():
            number = value if type(value) in (int, float) else None
            self.measured.setdefault(name, []).append(number)

    @property
    def medians(self) -> str:
        """Median, least and most of what was measured, with how often there was nothing."""
        words = []
        for name, values in self.measured.items():
            found = [value for value in values if value is not None]
            if not found:
                words.append(f"{name} none")
                continue
            lacking = f", {len(values) - len(found)} none" if len(found) < len(values) else ""
            span = f"{min(found):.3g} to {max(found):.3g}"
            words.append(f"{name} {median(found):.3g} ({span}{lacking})")
        return "; ".join(words)

    @property
    def interval(self) -> tuple[float, float]:
        """The Wilson 95 % interval of the rate, 0 to 1."""
        return wilson_interval(self.successes, self.n)

    @property
    def rate(self) -> str:
        """The rate with its interval, percent."""
        low, high = self.interval
        return f"{100 * self.successes / self.n:.1f} ({100 * low:.1f}-{100 * high:.1f})"

    @property
    def why(self) -> str:
        """How many failed by whom, such as `model 2, task 1`."""
        known = [*CAUSES, *sorted(set(self.causes) - set(CAUSES))]
        return ", ".join(f"{cause} {self.causes[cause]}" for cause in known if self.causes[cause])


@dataclass(frozen=True)
class Cell:
    """One task under one split, or all tasks of a split."""

    task: str
    """The task, or `all`."""
    split: str
    """The split; "" where there are none."""
    tally: CellTally
    """What came of it."""
    published: Mapping[str, float]
    """Published values by method, percent."""


def cells(folder: Path) -> list[Cell]:
    """Return every cell of a folder in the suite's order, then each split as a whole.

    Raises:
        UsageError: Not a results folder, or without a trial.
    """
    found = _suite_of(read_header(folder))
    tallies = _tallies(read_lines(folder), lambda line: (line.trial.task, line.trial.split))
    if not tallies:
        raise UsageError(f"{folder} holds no trial yet")
    known = found.cells() if found else ()
    order = [cell for cell in known if cell in tallies]
    order += [cell for cell in tallies if cell not in known]
    table = [
        Cell(*cell, tallies[cell], found.reference(*cell) if cell in known and found else {})
        for cell in order
    ]
    whole = _tallies(read_lines(folder), lambda line: (ALL, line.trial.split))
    return table + [Cell(*cell, tally, {}) for cell, tally in whole.items()]


def _suite_of(header: Mapping[str, Any]) -> BaseSuite | None:
    """Return the suite a run was of, if it is one of ours."""
    name = header["suite"]
    return suite(name, header["settings"]["options"]) if name in SUITES else None


def _tallies(
    lines: Iterable[Line], cell_of: Callable[[Line], tuple[str, str]]
) -> dict[tuple[str, str], CellTally]:
    tallies: dict[tuple[str, str], CellTally] = {}
    for line in lines:
        tallies.setdefault(cell_of(line), CellTally()).add(line)
    return tallies


def rows(folder: Path) -> list[dict[str, Any]]:
    """Return one row for each task and split, and one for each split.

    Raises:
        UsageError: Not a results folder, or without a trial.
    """
    return rows_of(cells(folder))


def summary(folder: Path) -> list[dict[str, Any]]:
    """Return the rows of the suite's own table, if it has one."""
    found = _suite_of(read_header(folder))
    return found.summary(folder) if found else []


def rows_of(found: Sequence[Cell]) -> list[dict[str, Any]]:
    """Return the rows of some cells; a column that no cell has anything in is left out."""
    table = [_row(cell) for cell in found]
    rare = ("without repair %", "measured", "published %")
    empty = [name for name in rare if not any(row[name] for row in table)]
    return [{name: row[name] for name in row if name not in empty} for row in table]


def _row(cell: Cell) -> dict[str, Any]:
    tally = cell.tally
    return {
        "task": cell.task,
        "split": cell.split,
        "success %, 95 %": tally.rate,
        "without repair %": f"{100 * tally.unrepaired / tally.n:.1f}" if tally.repairs else "",
        "n": tally.n,
        # What several tasks measure has no common median.
        "measured": "" if cell.task == ALL else tally.medians,
        "failed by": tally.why,
        "calls": round(tally.calls / tally.n, 1),
        "requests": tally.requests,
        "tokens": tally.tokens,
        "cost $": "?" if tally.cost_usd is None else f"{tally.cost_usd:.4f}",
        "s": round(tally.seconds / tally.n, 2),
        "published %": ", ".join(f"{name} {value:g}" for name, value in cell.published.items()),
    }


def compare(first: Path, second: Path) -> list[dict[str, Any]]:
    """Return one row for each cell both folders have: rates, and how paired trials differ.

    Raises:
        UsageError: They share no trial.
    """
    left, right = (
        {line.trial: line.outcome.success for line in read_lines(folder)}
        for folder in (first, second)
    )
    shared = [trial for trial in left if trial in right]
    if not shared:
        raise UsageError(f"{first} and {second} share no trial")
    pairs: dict[tuple[str, str], Counter[str]] = {}
    for trial in shared:
        counts = pairs.setdefault((trial.task, trial.split), Counter())
        counts["n"] += 1
        counts["first"] += left[trial]
        counts["second"] += right[trial]
        counts["only first"] += left[trial] and not right[trial]
        counts["only second"] += right[trial] and not left[trial]
    return [
        {
            "task": task,
            "split": split,
            "n, paired": c["n"],
            "first %": round(100 * c["first"] / c["n"], 1),
            "second %": round(100 * c["second"] / c["n"], 1),
            "only first": c["only first"],
            "only second": c["only second"],
        }
        for (task, split), c in pairs.items()
    ]
