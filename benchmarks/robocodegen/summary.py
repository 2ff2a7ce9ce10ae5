"""RoboCodeGen's own table: each arm by family and by kind of generalisation, the paper's beside.

The paper's values are in percent of its 37 problems; its problems are not these. Of each arm there
is what the released notebook counts for four models, and Table I, which says Flat and Hierarchical;
of the families what the notebook counts for code-davinci-002, where that is known.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from benchmarks import published
from benchmarks.pass_at_k import mean_pass_at_k
from benchmarks.problems.problem import GENERALISATIONS, ProblemSet
from benchmarks.report.tables import Cell
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


@dataclass
class GroupCell(Cell):
    """The samples of a group of problems (`family: numpy`, or `all`) in one arm."""

    ks: Sequence[int] = ()
    """The k of pass@k."""
    refused: int = 0
    """Samples that the check refused."""

    def add(self, line: Line) -> None:
        """Count one sample."""
        super().add(line)
        self.refused += bool(line.outcome.extra.get("refused"))

    @property
    def row(self) -> dict[str, Any]:
        """The group for a person."""
        found = mean_pass_at_k(self.clusters, self.ks)
        return {
            "arm": self.split,
            "problems": self.task,
            "solved %, 95 %": self.rate,
            "clustered 95 %": percent(self.clustered),
            "n": self.n,
            "refused": self.refused or "",
            **{f"pass@{k} %": f"{100 * found[k]:.1f}" if k in found else "" for k in self.ks},
            "published %": ", ".join(f"{name} {rate:g}" for name, rate in self.published.items()),
        }

    @property
    def numbers(self) -> dict[str, Any]:
        """The group for a program: rates from 0 to 1."""
        return {
            "arm": self.split,
            "problems": self.task,
            "n": self.n,
            "successes": self.successes,
            "refused": self.refused,
            **self.rates,
            "clusters": len(self.clusters),
            "pass_at_k": {str(k): p for k, p in mean_pass_at_k(self.clusters, self.ks).items()},
            "published_percent": dict(self.published),
        }


def group_cells(
    folder: Path, problems: ProblemSet, *, papers: bool, ks: Sequence[int] = ()
) -> list[GroupCell]:
    """Return each arm's groups of problems that have a sample, and all of them.

    Args:
        folder: Of the run.
        problems: What was run.
        papers: Whether the paper's values are shown: they are for problems like these.
        ks: The k of pass@k.
    """
    found = [part for line in read_lines(folder) for part in parts(line)]
    cells = []
    for arm in dict.fromkeys(line.trial.split for line in found):
        for group, names in _groups(problems).items():
            shown = published.rates(__file__, group, arm) if papers and arm != GIVEN else {}
            cells.append(GroupCell(group, arm, published=shown, ks=ks))
            for line in found:
                if line.trial.split == arm and line.trial.task in names:
                    cells[-1].add(line)
    return [cell for cell in cells if cell.n]


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
