"""Whether problems are fit to judge by: references right, and every mutant noticed."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from benchmarks.problems.judge import Exam, examine, judge
from benchmarks.problems.problem import Problem
from cap.errors import ProblemError
from cap.sandbox import wire as codec

LEAST_MUTANTS = 4
SEEDS = (0, 1)


@dataclass(frozen=True)
class ProblemFinding:
    """How fit one problem is."""

    problem: Problem
    """Which."""
    cases: int
    """With how many inputs it was tried, for each seed; 0 if there are none to be had."""
    rejected: int
    """Mutants that are noticed, with every seed."""
    faults: tuple[str, ...]
    """What is wrong with it; nothing if it is fit."""
    notes: tuple[str, ...] = ()
    """What nobody knows of it."""


def check_problem(problem: Problem, seeds: Sequence[int] = SEEDS) -> ProblemFinding:
    """Try one problem: its reference twice, its mutants, and a function that returns nothing."""
    try:
        exams = [examine(problem, seed) for seed in seeds]
        again = examine.__wrapped__(problem, seeds[0])
    except ProblemError as error:
        return ProblemFinding(problem, 0, 0, (str(error),))
    faults = []
    if _as_bytes(again) != _as_bytes(exams[0]):
        faults.append("its inputs or its reference's results differ from run to run")
    survived = [
        f"mutant '{mutant.what}' passes"
        for mutant in problem.mutants
        if any(judge(exam, mutant.source).right for exam in exams)
    ]
    if any(judge(exam, f"{problem.header}\n    return None\n").right for exam in exams):
        faults.append("a function that returns nothing passes")
    if 0 < len(problem.mutants) < LEAST_MUTANTS:
        faults.append(f"{len(problem.mutants)} mutants; give {LEAST_MUTANTS} or more")
    rejected = len(problem.mutants) - len(survived)
    return ProblemFinding(
        problem,
        len(exams[0].cases),
        rejected,
        (*faults, *survived),
        ()
        if problem.mutants
        else ("no mutants, so nobody knows whether its cases tell wrong ones",),
    )


def _as_bytes(exam: Exam) -> bytes:
    return codec.encode([list(exam.cases), list(exam.expected)])
