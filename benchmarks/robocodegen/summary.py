"""RoboCodeGen's own table: each arm by family and by kind of generalisation, the paper's beside."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

from benchmarks.problems.problem import GENERALISATIONS, ProblemSet
from benchmarks.results import Line, read_lines
from benchmarks.robocodegen.published import published_rates
from benchmarks.statistics import wilson_interval
from benchmarks.suite import Outcome

LIBRARY = "shared-library"
"""The task of a pass over all problems."""


def summarize(folder: Path, problems: ProblemSet) -> list[dict[str, Any]]:
    """Return one row for each arm and group of problems that has a sample, and one for all."""
    found = [part for line in read_lines(folder) for part in parts(line)]
    table = []
    for arm in dict.fromkeys(line.trial.split for line in found):
        own = [line for line in found if line.trial.split == arm]
        for group, names in _groups(problems).items():
            won = [line.outcome.success for line in own if line.trial.task in names]
            if won:
                table.append(_row(arm, group, won))
    return table


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


def _row(arm: str, group: str, won: list[bool]) -> dict[str, Any]:
    low, high = wilson_interval(sum(won), len(won))
    published = published_rates(group, arm)
    return {
        "arm": arm,
        "problems": group,
        "solved %, 95 %": f"{100 * sum(won) / len(won):.1f} ({100 * low:.1f}-{100 * high:.1f})",
        "n": len(won),
        "published %": ", ".join(f"{name} {value:g}" for name, value in published.items()),
    }
