"""Two results folders, trial by trial: which is better, by how much, and whether that is chance."""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from benchmarks.report.tables import ALL, Report, Where, read
from benchmarks.results import read_lines
from benchmarks.statistics import clustered_difference, mcnemar_exact, paired_difference
from benchmarks.suite import Trial
from cap.errors import UsageError


@dataclass
class PairTally:
    """The trials of a cell that both folders have."""

    task: str
    """The task, the family, or `all`."""
    split: str
    """The split; "" where there are none, or for all of them."""
    n: int = 0
    """Pairs."""
    first: int = 0
    """Of which the first succeeded."""
    second: int = 0
    """Of which the second did."""
    only_first: int = 0
    """Of which only the first did."""
    only_second: int = 0
    """Of which only the second did."""
    clusters: dict[tuple[str, int], tuple[int, int]] = field(default_factory=dict)
    """By task and seed, pairs and the sum of their differences."""

    def add(self, trial: Trial, first: bool, second: bool) -> None:
        """Count one pair."""
        self.n += 1
        pairs, differences = self.clusters.get((trial.task, trial.seed), (0, 0))
        self.clusters[trial.task, trial.seed] = pairs + 1, differences + second - first
        self.first += first
        self.second += second
        self.only_first += first and not second
        self.only_second += second and not first

    @property
    def clustered(self) -> tuple[float, float] | None:
        """The interval of the difference between clusters.

        None if no cluster has several trials, or where all differ alike.
        """
        several = 1 < len(self.clusters) < self.n
        low, high = clustered_difference(self.clusters.values()) if several else (0.0, 0.0)
        return (low, high) if low < high else None

    @property
    def row(self) -> dict[str, Any]:
        """The cell for a person."""
        found = self.numbers
        difference, low, high = (100 * found[name] for name in ("difference", "low", "high"))
        return {
            "task": self.task,
            "split": self.split,
            "n": self.n,
            "1st %": round(100 * self.first / self.n, 1),
            "2nd %": round(100 * self.second / self.n, 1),
            "2nd - 1st, 95 %": f"{difference:+.1f} ({low:+.1f} to {high:+.1f})",
            "only": f"{self.only_first}:{self.only_second}",
            "p": f"{found['p']:.2g}",
        }

    @property
    def numbers(self) -> dict[str, Any]:
        """The cell for a program: rates from 0 to 1."""
        low, high = paired_difference(self.only_first, self.only_second, self.n)
        between = self.clustered or (None, None)
        return {
            **vars(self),
            "clusters": len(self.clusters),
            "difference": (self.second - self.first) / self.n,
            "low": low,
            "high": high,
            "clustered_low": between[0],
            "clustered_high": between[1],
            "p": mcnemar_exact(self.only_first, self.only_second),
        }


@dataclass(frozen=True)
class Comparison:
    """What two folders say of the trials they share."""

    first: Report
    """One folder's report."""
    second: Report
    """The other's."""
    total: PairTally
    """All pairs."""
    families: tuple[PairTally, ...]
    """Those of each split, and of its families."""
    tasks: tuple[PairTally, ...]
    """Those of each task."""
    differing: tuple[tuple[Trial, bool], ...]
    """Trials that differ, with whether it was the first that succeeded."""
    unshared: tuple[int, int]
    """Trials that only the first has, and only the second."""

    @property
    def rows(self) -> list[dict[str, Any]]:
        """The table for a person: everything, then families, then tasks."""
        # Where everything is one split, or a split one task, one row says it.
        sums = [pairs for pairs in self.families if len(self.families) > 1 or pairs.task != ALL]
        table = [pairs.row for pairs in (self.total, *sums, *self.tasks)]
        if any(row["split"] for row in table):
            return table
        return [{name: row[name] for name in row if name != "split"} for row in table]

    @property
    def titles(self) -> tuple[str, str]:
        """Both titles, each with the settings that the other has not."""
        first, second = (
            ", ".join([one.title, *(text for text in one.settings if text not in other.settings)])
            for one, other in ((self.first, self.second), (self.second, self.first))
        )
        return first, second

    @property
    def as_json(self) -> dict[str, Any]:
        """The comparison for a program."""
        return {
            "first": {"folder": str(self.first.folder), "title": self.titles[0]},
            "second": {"folder": str(self.second.folder), "title": self.titles[1]},
            "total": self.total.numbers,
            "families": [pairs.numbers for pairs in self.families],
            "tasks": [pairs.numbers for pairs in self.tasks],
            "differing": [
                {**vars(trial), "succeeded": "first" if won else "second"}
                for trial, won in self.differing
            ],
            "only_in_first": self.unshared[0],
            "only_in_second": self.unshared[1],
        }


def compare(first: Path, second: Path) -> Comparison:
    """Compare two folders by the trials that both have.

    Raises:
        UsageError: They share no trial, or one is no results folder.
    """
    reports = read(first), read(second)
    left, right = (
        {line.trial: line.outcome.success for line in sorted(read_lines(one.folder), key=one.order)}
        for one in reports
    )
    shared = [trial for trial in left if trial in right]
    if not shared:
        raise UsageError(
            f"{first} and {second} share no trial; run the same tasks, splits and seeds"
        )
    total = PairTally(ALL, "")
    sums: dict[Where, PairTally] = {}
    tasks: dict[Where, PairTally] = {}
    for trial in shared:
        families = reports[0].suite.families(trial.task) if reports[0].suite else ()
        outcomes = left[trial], right[trial]
        total.add(trial, *outcomes)
        for table, name in ((tasks, trial.task), *((sums, one) for one in (ALL, *families))):
            where = name, trial.split
            table.setdefault(where, PairTally(*where)).add(trial, *outcomes)
    return Comparison(
        *reports,
        total=total,
        families=tuple(sums.values()),
        tasks=tuple(tasks.values()),
        differing=tuple((one, left[one]) for one in shared if left[one] != right[one]),
        unshared=(len(left) - len(shared), len(right) - len(shared)),
    )
