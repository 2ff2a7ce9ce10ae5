"""A measured quantity beside its limit, and the main function that every measuring script has."""

from __future__ import annotations

import argparse
import os
import statistics
import sys
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass

from cap.cli.output import print_json, show
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
    values: Sequence[float]
    """Of each run."""
    limit: float | None = None
    """What the median must not pass; where more is better, what every run must reach."""
    at_least: bool = False
    """True where more is better."""

    @property
    def median(self) -> float:
        """The median of the runs."""
        return float(statistics.median(self.values))

    @property
    def ok(self) -> bool:
        """True if the limit is kept: by the median, or by every run where more is better."""
        if self.limit is None:
            return True
        return min(self.values) >= self.limit if self.at_least else self.median <= self.limit


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
    table: list[dict[str, object]] = [
        {
            "what": row.what,
            "median": row.median if given.json else f"{row.median:.4g}",
            "unit": row.unit,
            "min-max": f"{min(row.values):.4g} to {max(row.values):.4g}",
            "n": len(row.values),
            "limit": "" if row.limit is None else f"{'>=' if row.at_least else '<='} {row.limit:g}",
        }
        for row in rows
    ]
    if given.json:
        print_json(table)
    else:
        show(table, columns=_COLUMNS)
    over = [row.what for row in rows if not row.ok]
    if over:
        sys.stderr.write(f"over the limit: {', '.join(over)}\n")
    sys.exit(1 if over else 0)
