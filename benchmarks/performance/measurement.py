"""What was measured several times, with the limit it must hold: a line of a table."""

from __future__ import annotations

import statistics
from collections.abc import Sequence
from dataclasses import dataclass


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
    limit: float
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
        limit: float,
        *,
        at_least: bool = False,
        original: float | None = None,
    ) -> Measurement:
        """Return the measurement that some values make."""
        middle, low, high = statistics.median(values), min(values), max(values)
        return cls(what, unit, middle, low, high, len(values), limit, at_least, original)

    @property
    def ok(self) -> bool:
        """True if the limit holds: for the median, or for every run where more is better."""
        return self.low >= self.limit if self.at_least else self.median <= self.limit
