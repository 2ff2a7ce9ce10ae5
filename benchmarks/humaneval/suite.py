"""HumanEval as a suite: 164 problems, three arms, samples drawn or greedy, judged here.

A trial is one sample of one problem in one arm. Models beside those of `cap.models`: `oracle`
(the canonical solutions), `no-op` (a body of `pass`), and `samples:FILE`, which asks nobody.
"""

from __future__ import annotations

import time
from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from functools import cache
from pathlib import Path
from typing import Any

from benchmarks.humaneval import samples
from benchmarks.humaneval.completions import ARMS, WrittenSample, write
from benchmarks.humaneval.judge import TIMEOUT_S, SampleVerdict, Scorer
from benchmarks.humaneval.pass_at_k import KS, mean_pass_at_k
from benchmarks.humaneval.problems import HumanEvalProblem, official
from benchmarks.models import MODEL_OPTIONS, Meter, NoModel, model_for
from benchmarks.results import Line, read_header, read_lines
from benchmarks.suite import (
    BASELINES,
    BaseSuite,
    Outcome,
    Settings,
    Trial,
    check_count,
    check_names,
    check_options,
)
from cap.errors import ModelError
from cap.models.base import Model

SAMPLES = "samples:"
"""What stands before a sample file's path in place of a model."""
GIVEN = "given"
"""The arm of samples from a file: nobody knows how they came about."""
OPTIONS = (
    "limit_s",
    "max_tokens",
    "memory_mib",
    *MODEL_OPTIONS,
)
"""What `Settings.options` may hold; `limit_s` is the longest time for judging one sample."""
PAPER: Mapping[str, Mapping[str, float]] = {
    "flat": {"greedy": 45.7, "pass@1": 34.9, "pass@10": 75.1, "pass@100": 90.9},
    "hierarchical": {"greedy": 53.0, "pass@1": 39.8, "pass@10": 80.6, "pass@100": 95.7},
}
"""The paper's values, percent, with code-davinci-002; sampled at temperature 0.8."""


class HumanEvalSuite(BaseSuite):
    """The official problems in three arms, and samples from a file."""

    name = "humaneval"
    about = "the official problems, by pass@k, or samples from a file"
    version = "2"
    usual_n = 1
    takes = ("prompts",)

    def check(self, settings: Settings) -> None:
        """Refuse what no trial could be run with, before the first one.

        Raises:
            UsageError: The settings name a model or an option that does not exist.
            MissingKey: The model needs a key and none is set.
        """
        check_options(settings, OPTIONS)
        _model(replace(settings, options={**settings.options, "ledger": None}))

    def conditions(self) -> Mapping[str, str]:
        """Return what the verdicts depend on beside the settings: who refuses a sample, and what.

        Raises:
            SandboxError: The sandbox cannot be started.
        """
        scorer = _scorer(TIMEOUT_S, 1 << 30)
        by = "the check, text by text" if scorer.checks else "the sandbox's walls, as it runs"
        return {"sandbox": scorer.sandbox.level, "refused by": by}

    def cells(self) -> tuple[tuple[str, str], ...]:
        """Return every problem with its arm, arm by arm."""
        return tuple((task, arm) for arm in (*ARMS, GIVEN) for task in official())

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
        check_count(n, "samples")
        known = tuple(official())
        check_names("problem", tasks, known)
        check_names("arm", splits, ARMS)
        return tuple(
            Trial(task, arm, 0, number)
            for arm in (splits or ARMS)
            for task in (tasks or known)
            for number in range(seed, seed + n)
        )

    def given(self, found: Iterable[samples.Sample]) -> tuple[Trial, ...]:
        """Return the trials of a sample file."""
        return tuple(Trial(sample.task_id, GIVEN, 0, sample.number) for sample in found)

    def run(self, trial: Trial, settings: Settings) -> Outcome:
        """Have one sample written, and judge it.

        Raises:
            UsageError: The settings name a model, prompts or an option that does not exist.
            MissingKey: The model needs a key and none is set.
        """
        start_s = time.perf_counter()
        check_options(settings, OPTIONS)
        problem = official()[trial.task]
        meter = Meter(_model(settings, trial))
        try:
            written = _written(trial, problem, meter, settings)
        except ModelError as error:
            verdict = SampleVerdict(False, f"{type(error).__name__}: {error}", "model")
            written = WrittenSample("")
        else:
            timeout_s = float(settings.options.get("limit_s", TIMEOUT_S))
            memory_bytes = int(settings.options.get("memory_mib", 1024)) << 20
            verdict = _scorer(timeout_s, memory_bytes).score(problem, written.completion)
        outcome = _outcome(problem, written, verdict, meter)
        return meter.settled(replace(outcome, seconds=time.perf_counter() - start_s))

    def summary(self, folder: Path) -> list[dict[str, Any]]:
        """Write each arm's samples in the official form; return pass@k by arm.

        Raises:
            UsageError: The folder holds no run, or cannot be written.
        """
        greedy = read_header(folder)["settings"]["options"].get("temperature", 0.0) == 0
        arms: dict[str, list[Line]] = defaultdict(list)
        for line in read_lines(folder):
            arms[line.trial.split].append(line)
        rows = []
        for arm in (arm for arm in (*ARMS, GIVEN) if arm in arms):
            lines = sorted(arms[arm], key=_order())
            official_form = [
                {
                    "task_id": line.trial.task,
                    "completion": line.outcome.extra.get("completion", ""),
                    "result": line.outcome.extra.get("result", line.outcome.failure),
                    "passed": line.outcome.success,
                }
                for line in lines
            ]
            samples.write(folder / f"{arm}.samples.jsonl", official_form)
            rows.append(_row(arm, lines, greedy=greedy))
        return rows


def _order() -> Any:
    places = {task: place for place, task in enumerate(official())}
    return lambda line: (places[line.trial.task], line.trial.sample)


def _row(arm: str, lines: Sequence[Line], *, greedy: bool) -> dict[str, Any]:
    counts: dict[str, tuple[int, int]] = {}
    for line in lines:
        n, correct = counts.get(line.trial.task, (0, 0))
        counts[line.trial.task] = n + 1, correct + line.outcome.success
    found = mean_pass_at_k(counts)
    refused = sum(bool(line.outcome.extra.get("refused")) for line in lines)
    paper = PAPER.get(arm, {})
    theirs = ("greedy",) if greedy else tuple(f"pass@{k}" for k in KS)
    shown = [f"{name} {paper[name]:g}" for name in theirs if name in paper]
    return {
        "arm": arm,
        "problems": len(counts),
        "samples": len(lines),
        **{f"pass@{k} %": f"{100 * found[k]:.1f}" if k in found else "" for k in KS},
        "refused": refused,
        "official would pass": f"at most {refused} more" if refused else "the same",
        "paper %": ", ".join(shown) if arm != GIVEN else "",
    }


def _written(
    trial: Trial, problem: HumanEvalProblem, model: Meter, settings: Settings
) -> WrittenSample:
    if settings.model == "oracle":
        return WrittenSample(problem.canonical_solution)
    if settings.model == "no-op":
        return WrittenSample("    pass\n")
    if settings.model.startswith(SAMPLES):
        path = Path(settings.model.removeprefix(SAMPLES))
        return WrittenSample(samples.by_place(path, tuple(official()))[trial.task, trial.sample])
    options = settings.options
    return write(
        problem,
        trial.split,
        model,
        prompts=None if settings.prompts in ("", Settings.prompts) else Path(settings.prompts),
        temperature=float(options.get("temperature", 0.0)),
        max_tokens=int(options.get("max_tokens", 512)),
        sample=trial.sample,
    )


def _outcome(
    problem: HumanEvalProblem, written: WrittenSample, verdict: SampleVerdict, meter: Meter
) -> Outcome:
    """Return the outcome; `seconds` is still to come."""
    usage = meter.usage
    return Outcome(
        success=verdict.passed,
        cause=verdict.cause,
        instruction=problem.entry_point,
        program=f"{problem.prompt}{written.completion}",
        failure="" if verdict.passed else verdict.result,
        calls=0,
        requests=meter.requests,
        prompt_tokens=usage.prompt_tokens,
        completion_tokens=usage.completion_tokens,
        cost_usd=usage.cost_usd,
        seconds=0.0,
        extra={
            "completion": written.completion,
            "result": verdict.result,
            "refused": verdict.refused,
            "generated": list(written.generated),
            "note": written.note,
        },
    )


def _model(settings: Settings, trial: Trial | None = None) -> Model:
    """Return the model of some settings, the same one within a process."""
    if settings.model in BASELINES or settings.model.startswith(SAMPLES):
        return NoModel()
    return model_for(settings.model, settings.options, trial)


@cache
def _scorer(timeout_s: float, memory_bytes: int) -> Scorer:
    return Scorer(timeout_s, memory_bytes)
