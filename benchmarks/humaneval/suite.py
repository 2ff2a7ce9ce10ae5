"""HumanEval as a suite: 164 problems, three arms, samples drawn or greedy, judged here.

A trial is one sample of one problem in one arm. Models beside those of `cap.models`: `oracle`
(the canonical solutions), `no-op` (a body of `pass`), and `samples:FILE`, which asks nobody.
"""

from __future__ import annotations

import hashlib
from collections.abc import Mapping, Sequence
from functools import cache
from pathlib import Path
from typing import Any

from benchmarks import published, samples
from benchmarks.humaneval.completions import ARMS, WrittenSample, write
from benchmarks.humaneval.judge import TIMEOUT_S, SampleVerdict, Scorer
from benchmarks.humaneval.problems import HumanEvalProblem, load, official
from benchmarks.models import MODEL_OPTIONS, Meter, check_model_of, model_of
from benchmarks.noisy_oracle import is_noisy
from benchmarks.problems.suite import ProblemSuite
from benchmarks.suite import Outcome, Settings, Trial, check_options
from cap.errors import ModelError, UsageError
from cap.models.base import Request

OPTIONS = (
    "k",
    "limit_s",
    "problem_file",
    *MODEL_OPTIONS,
)
"""What `Settings.options` may hold: of how many samples one is to be right, the longest time for
judging one, problems in place of the official ones, and more."""


class HumanEvalSuite(ProblemSuite):
    """The official problems, or those of a file in their form, in three arms; and samples."""

    name = "humaneval"
    about = "the official problems, by pass@k, or samples from a file"
    version = "3"
    arms = ARMS
    written = (*ARMS, samples.GIVEN)

    def __init__(
        self,
        problem_file: str | None = None,
        limit_s: float = TIMEOUT_S,
    ) -> None:
        """Read the problems of a file, if one is named.

        Args:
            problem_file: In the official form, in place of the official problems.
            limit_s: The longest time for judging one sample.

        Raises:
            UsageError: The file cannot be used.
        """
        super().__init__()
        self._limit_s = limit_s
        self._file = problem_file
        if problem_file is not None:
            digest = hashlib.sha256(repr(sorted(self.problems.items())).encode()).hexdigest()
            self.version = f"3-{digest[:12]}"

    def adjusted(self, options: Mapping[str, Any]) -> HumanEvalSuite:
        """Return the suite as options ask for it."""
        limit_s = float(options.get("limit_s", TIMEOUT_S))
        return HumanEvalSuite(options.get("problem_file"), limit_s)

    @property
    def problems(self) -> Mapping[str, HumanEvalProblem]:
        """By task id.

        Raises:
            UsageError: The file cannot be used.
            MissingExtra: The official package is not installed.
        """
        if self._file is None:
            return official()
        path = Path(self._file)
        return _loaded(path, path.stat().st_mtime_ns if path.exists() else 0)

    def check(self, settings: Settings) -> None:
        """Refuse what no trial could be run with, before the first one.

        Raises:
            UsageError: The settings name a model or an option that does not exist.
            MissingKey: The model needs a key and none is set.
        """
        check_options(settings, OPTIONS)
        check_model_of(settings)

    def fault(self, name: str) -> str:
        """Return why a problem of a file judges nobody: its own solution fails."""
        if self._file is None:
            return ""
        problem = self.problems[name]
        try:
            verdict = _scorer(self._limit_s).score(problem, problem.canonical_solution)
        except UsageError as error:
            return str(error)
        return "" if verdict.passed else f"'{name}': its canonical solution: {verdict.result}"

    def conditions(self) -> Mapping[str, str]:
        """Return what the verdicts depend on beside the settings: who refuses a sample, and what.

        Raises:
            SandboxError: The sandbox cannot be started.
        """
        scorer = _scorer(self._limit_s)
        by = "the check, text by text" if scorer.checks else "the sandbox's walls, as it runs"
        own = {} if self._file is None else {"problems": f"{len(self.problems)} of a file"}
        level = scorer.sandbox.level
        return {"sandbox": level, "refused by": by, **own, **self.sample_digest}

    def trials(
        self,
        n: int,
        seed: int,
        tasks: Sequence[str] | None = None,
        splits: Sequence[str] | None = None,
    ) -> tuple[Trial, ...]:
        """Return `n` samples of every problem in every arm asked for, from sample `seed` on.

        Raises:
            UsageError: No samples or too many, or an unknown problem or arm.
        """
        names, arms = self.chosen(n, tasks, splits)
        return tuple(
            Trial(name, arm, 0, number)
            for arm in (splits or arms)
            for name in (tasks or names)
            for number in range(seed, seed + n)
        )

    def run(self, trial: Trial, settings: Settings) -> Outcome:
        """Have one sample written, and judge it.

        Raises:
            UsageError: The settings name a model or prompts that do not exist.
            MissingKey: The model needs a key and none is set.
        """
        problem = self.problems[trial.task]
        right = f"{problem.prompt}{problem.canonical_solution}"
        meter = Meter(model_of(settings, trial, {"": right}))
        place: dict[str, Any] = {}
        try:
            if settings.model.startswith(samples.SAMPLES):
                sample = self.sample_of(settings.model, trial)
                written = WrittenSample(sample.text, whole=sample.whole)
                place = {"place": sample.place, "line": sample.values}
            else:
                written = _written(trial, problem, meter, settings)
        except ModelError as error:
            verdict = SampleVerdict(False, f"{type(error).__name__}: {error}", "model")
            written = WrittenSample("")
        else:
            verdict = _scorer(self._limit_s).score(problem, written.completion, whole=written.whole)
        whole = written.completion if written.whole else f"{problem.prompt}{written.completion}"
        outcome = Outcome(
            success=verdict.passed,
            cause=verdict.cause,
            instruction=problem.entry_point,
            program=whole,
            failure="" if verdict.passed else verdict.result,
            extra={
                "completion": written.completion,
                "result": verdict.result,
                "refused": verdict.refused,
                "generated": list(written.generated),
                "note": written.note,
                **place,
            },
        )
        return meter.settled(outcome)

    def reference(self, task: str, split: str) -> Mapping[str, float]:
        """Return the paper's values of an arm, in percent."""
        return published.rates(__file__, task, split) if self._file is None else {}


@cache
def _loaded(path: Path, changed_ns: int) -> Mapping[str, HumanEvalProblem]:
    return load(path)


def _written(
    trial: Trial, problem: HumanEvalProblem, model: Meter, settings: Settings
) -> WrittenSample:
    if settings.model == "oracle":
        return WrittenSample(problem.canonical_solution)
    if settings.model == "no-op":
        return WrittenSample("    pass\n")
    if is_noisy(settings.model):  # it writes the whole function
        return WrittenSample(model.complete(Request(problem.prompt)).text, whole=True)
    own = settings.prompts in ("", Settings.prompts)
    return write(problem, trial.split, model, None if own else Path(settings.prompts))


@cache
def _scorer(timeout_s: float) -> Scorer:
    return Scorer(timeout_s)
