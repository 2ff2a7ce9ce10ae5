"""RoboCodeGen's own table: each arm by family and by kind of generalisation, the paper's beside.

The paper's values are in percent of its 37 problems; its problems are not these. Of each arm there
is what the released notebook counts for four models, and Table I, which says Flat and Hierarchical;
of the families what the notebook counts for code-davinci-002, where that is known.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from benchmarks import published
from benchmarks.pass_at_k import mean_pass_at_k
from benchmarks.problems.problem import GENERALISATIONS, ProblemSet
from benchmarks.report.tables import CellTally
from benchmarks.results import Line, read_lines
from benchmarks.samples import GIVEN
from benchmarks.statistics import percent
from benchmarks.suite import Outcome

LIBRARY = "shared-library"
"""The task of a pass over all problems."""
OTHERS = (
    "37 of this project's own, in the families of the paper's; the published values are for the "
    "paper's 37, which are others: compare arms, not values"
)
"""What stands beside the published values."""


@dataclass(frozen=True)
class GroupTally:
    """The result of a group of problems in one arm."""

    arm: str
    """Which."""
    group: str
    """Such as `family: numpy`, or `all`."""
    tally: CellTally
    """Its samples."""
    ks: Sequence[int]
    """The k of pass@k."""
    published: Mapping[str, float]
    """The paper's values by model, percent."""
    refused: int
    """Samples that the check refused."""

    @property
    def row(self) -> dict[str, Any]:
        """The group for a person."""
        found = mean_pass_at_k(self.tally.clusters, self.ks)
        return {
            "arm": self.arm,
            "problems": self.group,
            "solved %, 95 %": self.tally.rate,
            "clustered 95 %": percent(self.tally.clustered),
            "n": self.tally.n,
            "refused": self.refused or "",
            **{f"pass@{k} %": f"{100 * found[k]:.1f}" if k in found else "" for k in self.ks},
            "published %": ", ".join(f"{name} {rate:g}" for name, rate in self.published.items()),
        }

    @property
    def numbers(self) -> dict[str, Any]:
        """The group for a program: rates from 0 to 1."""
        tally, (low, high) = self.tally, self.tally.interval
        clustered = tally.clustered or (None, None)
        found = mean_pass_at_k(tally.clusters, self.ks)
        return {
            "arm": self.arm,
            "problems": self.group,
            "n": tally.n,
            "successes": tally.successes,
            "refused": self.refused,
            "rate": tally.successes / tally.n,
            "low": low,
            "high": high,
            "clusters": len(tally.clusters),
            "clustered_low": clustered[0],
            "clustered_high": clustered[1],
            "pass_at_k": {str(k): p for k, p in found.items()},
            "published_percent": dict(self.published),
        }


def tallies(
    folder: Path, problems: ProblemSet, *, papers: bool, ks: Sequence[int] = ()
) -> list[GroupTally]:
    """Return each arm's groups of problems that have a sample, and all of them.

    Args:
        folder: Of the run.
        problems: What was run.
        papers: Whether the paper's values stand beside: they are for problems like these.
        ks: The k of pass@k.
    """
    found = [part for line in read_lines(folder) for part in parts(line)]
    groups = _groups(problems)
    table = []
    for arm in dict.fromkeys(line.trial.split for line in found):
        for group, names in groups.items():
            tally, refused = CellTally(), 0
            for line in found:
                if line.trial.split == arm and line.trial.task in names:
                    tally.add(line)
                    refused += bool(line.outcome.extra.get("refused"))
            beside = published.rates(__file__, group, arm) if papers and arm != GIVEN else {}
            if tally.n:
                table.append(GroupTally(arm, group, tally, ks, beside, refused))
    return table


def summarize(found: Sequence[GroupTally]) -> list[dict[str, Any]]:
    """Return a row for each group; a column that none has anything in is left out."""
    table = [tally.row for tally in found]
    rare = ("clustered 95 %", "published %", "refused")
    empty = [name for name in rare if not any(row[name] for row in table)]
    return [{name: row[name] for name in row if name not in empty} for row in table]


def parts(line: Line) -> Iterator[Line]:
    """Yield the problems of a pass as trials of their own; any other trial as it is."""
    whole = line.outcome.extra.get("problems")
    if line.trial.task != LIBRARY or not isinstance(whole, dict):
        yield line
        return
    for name, part in whole.items():
        yield Line(replace(line.trial, task=name), Outcome(**part))


def _groups(problems: ProblemSet) -> dict[str, set[str]]:
    """Return the problems of each group, by what the group is called."""
    every = problems.problems.items()
    groups = {
        f"family: {family}": {name for name, problem in every if problem.family == family}
        for family in dict.fromkeys(problem.family for _, problem in every)
    }
    groups |= {
        f"generalisation: {kind}": {name for name, one in every if one.generalisation == kind}
        for kind in GENERALISATIONS
    }
    return {**groups, "all": set(problems.problems)}
