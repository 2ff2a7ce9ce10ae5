"""RoboCodeGen's own table: each arm by family and by kind of generalisation, the paper's beside.

The paper's values are in percent of its 37 problems; its problems are not these. Of each arm there
is what the released notebook counts for four models, and Table I, which says Flat and Hierarchical;
of the families what the notebook counts for code-davinci-002, where it can be told.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import replace
from operator import itemgetter
from pathlib import Path
from typing import Any

from benchmarks.pass_at_k import mean_pass_at_k
from benchmarks.problems.problem import GENERALISATIONS, ProblemSet
from benchmarks.results import Line, read_header, read_lines
from benchmarks.samples import GIVEN, unjudged
from benchmarks.statistics import clustered_interval, percent, wilson_interval
from benchmarks.suite import Outcome

LIBRARY = "shared-library"
"""The task of a pass over all problems."""
OTHERS = (
    "37 of this project's own, in the families of the paper's; the published values are for the "
    "paper's 37, which are others: compare arms, not values"
)
"""What stands beside the published values."""
_PROBLEMS = 37
_COUNTS: Mapping[str, Mapping[str, int]] = {
    "hierarchical-recursive": {
        "code-davinci-002": 36,
        "code-cushman-001": 21,
        "text-davinci-002": 31,
        "text-curie-001": 2,
    },
    "flat-recursive": {
        "code-davinci-002": 32,
        "code-cushman-001": 21,
        "text-davinci-002": 28,
        "text-curie-001": 1,
    },
    "hierarchical-single": {
        "code-davinci-002": 26,
        "code-cushman-001": 20,
        "text-davinci-002": 26,
        "text-curie-001": 2,
    },
    "flat-single": {
        "code-davinci-002": 30,
        "code-cushman-001": 22,
        "text-davinci-002": 25,
        "text-curie-001": 1,
    },
}
_TABLE_I: Mapping[str, Mapping[str, float]] = {
    "hierarchical-recursive": {
        "Table I davinci": 95,
        "Table I cushman": 57,
        "Table I GPT-3 175B": 84,
        "Table I GPT-3 6.7B": 5,
    },
    "flat-single": {
        "Table I davinci": 81,
        "Table I cushman": 54,
        "Table I GPT-3 175B": 68,
        "Table I GPT-3 6.7B": 3,
    },
}
_FAMILIES: Mapping[tuple[str, str], tuple[int, int]] = {
    ("numpy", "flat-single"): (15, 16),
    ("control", "flat-single"): (3, 4),
    ("geometry", "flat-single"): (9, 10),
    ("scene", "flat-single"): (3, 7),
    ("numpy", "hierarchical-single"): (14, 16),
    ("control", "hierarchical-single"): (3, 4),
    ("geometry", "hierarchical-single"): (9, 10),
    ("scene", "hierarchical-single"): (0, 7),
    ("control", "hierarchical-recursive"): (4, 4),
    ("scene", "hierarchical-recursive"): (7, 7),
}
"""How many of how many code-davinci-002 solved."""


def given_form(folder: Path, known: Collection[str]) -> list[dict[str, Any]]:
    """Return the samples of a file in its order, each with all that stood in its line."""
    given = [line for line in read_lines(folder) if line.trial.split == GIVEN]
    judged = {(line.trial.task, line.trial.sample) for line in given}
    forms = unjudged(read_header(folder)["settings"]["model"], known, judged)
    for line in given:
        extra, outcome = line.outcome.extra, line.outcome
        told = {"result": outcome.failure or "passed", "passed": outcome.success}
        forms.append((extra.get("place", 0), {**extra.get("line", {}), **told}))
    return [form for _, form in sorted(forms, key=itemgetter(0))]


def summarize(
    folder: Path, problems: ProblemSet, *, published: bool, ks: Sequence[int] = ()
) -> list[dict[str, Any]]:
    """Return one row for each arm and group of problems that has a sample, and one for all.

    Args:
        folder: Of the run.
        problems: What was run.
        published: Whether the paper's values stand beside: they are for problems like these.
        ks: For which k pass@k is told.
    """
    found = [part for line in read_lines(folder) for part in parts(line)]
    table = []
    for arm in dict.fromkeys(line.trial.split for line in found):
        own = [line for line in found if line.trial.split == arm]
        for group, names in _groups(problems).items():
            won = [line for line in own if line.trial.task in names]
            if won:
                table.append(_row(arm, group, won, published, ks))
    if not any(row["clustered 95 %"] for row in table):
        table = [{key: row[key] for key in row if key != "clustered 95 %"} for row in table]
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


def _row(
    arm: str, group: str, lines: Sequence[Line], published: bool, ks: Sequence[int]
) -> dict[str, Any]:
    counts: dict[str, tuple[int, int]] = {}
    for line in lines:
        n, right = counts.get(line.trial.task, (0, 0))
        counts[line.trial.task] = n + 1, right + line.outcome.success
    won, n = sum(right for _, right in counts.values()), len(lines)
    several = 1 < len(counts) < n
    found = mean_pass_at_k(counts, ks)
    row = {
        "arm": arm,
        "problems": group,
        "solved %, 95 %": f"{100 * won / n:.1f} ({percent(wilson_interval(won, n))})",
        "clustered 95 %": percent(clustered_interval(counts.values())) if several else "",
        "n": n,
        **{f"pass@{k} %": f"{100 * found[k]:.1f}" if k in found else "" for k in ks},
    }
    if published and arm != GIVEN:
        rates = published_rates(group, arm)
        row["published %"] = ", ".join(f"{name} {value:g}" for name, value in rates.items())
    return row


def published_rates(task: str, split: str) -> Mapping[str, float]:
    """Return the paper's values for all problems of an arm, or for a family of them."""
    if task == "all":
        counted = _COUNTS.get(split, {})
        notebook = {name: round(100 * n / _PROBLEMS, 1) for name, n in counted.items()}
        return {**notebook, **_TABLE_I.get(split, {})}
    solved, n = _FAMILIES.get((task.removeprefix("family: "), split), (0, 0))
    return {"code-davinci-002": round(100 * solved / n, 1)} if n else {}
