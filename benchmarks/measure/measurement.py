"""A measured quantity beside its limit, and the main function that every measuring script has."""

from __future__ import annotations

import argparse
import os
import statistics
import sys
from collections.abc import Callable, Iterable, Sequence
from dataclasses import asdict, dataclass

from cap.cli.output import show
from cap.errors import MissingExtra

_COLUMNS = 120
"""Of the table, where it goes into a file."""


@dataclass(frozen=True)
class Measurement:
    """One line of a table."""

    what: str
    """What was measured."""
    unit: str
    """What it is counted in, such as `CPU-s` or `s` (wall)."""
    median: float
    """Median over the runs."""
    low: float
    """Smallest."""
    high: float
    """Largest."""
    runs: int
    """How many were measured."""
    limit: float | None = None
    """What the median must not pass; where more is better, what every run must reach."""
    at_least: bool = False
    """True where more is better."""
    original: float | None = None
    """The same in the original release's notebook, measured on such a machine; None if none."""

    @classmethod
    def of(
        cls,
        what: str,
        unit: str,
        values: Sequence[float],
        limit: float | None = None,
        *,
        at_least: bool = False,
        original: float | None = None,
    ) -> Measurement:
        """Return the measurement that some values make."""
        numbers = [float(value) for value in values]
        middle, low, high = statistics.median(numbers), min(numbers), max(numbers)
        return cls(what, unit, middle, low, high, len(numbers), limit, at_least, original)

    @property
    def ok(self) -> bool:
        """True if the limit is kept: by the median, or by every run where more is better."""
        if self.limit is None:
            return True
        return self.low >= self.limit if self.at_least else self.median <= self.limit

    @property
    def row(self) -> dict[str, object]:
        """The line for a person."""
        sign = ">=" if self.at_least else "<="
        return {
            "what": self.what,
            "median": f"{self.median:.4g}",
            "unit": self.unit,
            "min-max": f"{self.low:.4g} to {self.high:.4g}",
            "n": self.runs,
            "limit": "" if self.limit is None else f"{sign} {self.limit:g}",
            "original": self.original,
        }


def run(measure: Callable[[int], Iterable[Measurement]], runs: int, words: str | None) -> None:
    """Measure, print the table and exit: 1 if a limit is passed.

    Args:
        measure: Measures with so many runs; what it yields before an extra is missing counts.
        runs: How many, where the command line does not say.
        words: What the script is for; its first line is the help.
    """
    parser = argparse.ArgumentParser(description=(words or "").split("\n", 1)[0])
    parser.add_argument("-n", "--runs", type=int, default=runs, help=f"by default {runs}")
    parser.add_argument("--json", action="store_true", help="print one JSON list")
    given = parser.parse_args()
    load = f"load average {os.getloadavg()[0]:.1f} on {os.cpu_count()} cores"
    sys.stderr.write(f"{load}: a busy machine makes every figure worse\n")
    rows: list[Measurement] = []
    try:
        rows.extend(measure(given.runs))
    except MissingExtra as missing:
        sys.stderr.write(f"note: the other rows are left out: {missing}\n")
    if given.json:
        show([{**asdict(row), "ok": row.ok} for row in rows], True)
    else:
        show([row.row for row in rows], columns=_COLUMNS)
    over = [row.what for row in rows if not row.ok]
    if over:
        sys.stderr.write(f"over the limit: {', '.join(over)}\n")
    sys.exit(1 if over else 0)
