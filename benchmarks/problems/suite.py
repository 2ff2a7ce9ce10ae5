"""What suites of problems share: arms, samples of a file, problems that judge nobody."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import cached_property
from operator import itemgetter
from pathlib import Path
from typing import Any

from benchmarks import json_lines, samples
from benchmarks.results import Line, read_header, read_lines
from benchmarks.samples import GIVEN
from benchmarks.suite import BaseSuite, Trial, check_count, check_names
from cap.errors import ProblemError


class ProblemSuite(BaseSuite):
    """Functions to be written, each with tests; a trial is one sample in one arm."""

    usual_n = 1
    """A model at temperature 0 answers the same again."""
    judges_samples = True
    takes = ("prompts",)
    arms: Sequence[str]
    """The splits of what a model is asked for; `given` is that of a file's samples."""
    written: Sequence[str] = (GIVEN,)
    """The splits whose samples are written into the results folder."""

    def __init__(self) -> None:
        """Begin without a sample file."""
        self.sample_digest: dict[str, str] = {}
        """What identifies the samples of a file, for `conditions`."""

    @property
    def problems(self) -> Mapping[str, Any]:
        """By name, in report order."""
        raise NotImplementedError

    def fault(self, name: str) -> str:
        """Return why a problem judges nobody; "" if it does, as the suite's own do."""
        raise NotImplementedError

    @cached_property
    def left_out(self) -> Mapping[str, str]:
        """Problems that judge nobody, with the reason."""
        return {name: why for name in self.problems if (why := self.fault(name))}

    def fit(self) -> list[str]:
        """Return the problems that can judge somebody.

        Raises:
            ProblemError: There is none.
        """
        fit = [name for name in self.problems if name not in self.left_out]
        if not fit:
            raise ProblemError(next(iter(self.left_out.values())))
        return fit

    def cells(self) -> tuple[tuple[str, str], ...]:
        """Return every problem with every arm, arm by arm."""
        return tuple((name, arm) for arm in (*self.arms, GIVEN) for name in self.problems)

    def chosen(
        self, n: int, tasks: Sequence[str] | None, splits: Sequence[str] | None
    ) -> tuple[list[str], list[str]]:
        """Return the problems and the arms that are asked for, in report order.

        Raises:
            UsageError: No samples or too many, or an unknown problem or arm.
            ProblemError: A problem that is asked for, or all of them, judge nobody.
        """
        check_count(n, "samples")
        check_names("problem", tasks, list(self.problems))
        check_names("arm", splits, list(self.arms))
        fit = self.fit()
        for name in tasks or ():
            if name in self.left_out:
                raise ProblemError(self.left_out[name])
        arms = [arm for arm in self.arms if not splits or arm in splits]
        return [name for name in fit if not tasks or name in tasks], arms

    def given(self, path: Path, *, incomplete: bool) -> tuple[Trial, ...]:
        """Return one trial for each sample of a file, whatever model wrote them.

        Raises:
            UsageError: It cannot be used.
        """
        found = samples.read(path, self.problems)
        self.sample_digest = {"samples": samples.digest(path)}
        chosen = samples.of_problems(path, found, self.fit(), incomplete=incomplete)
        return tuple(Trial(sample.task_id, GIVEN, 0, sample.number) for sample in chosen)

    def sample_of(self, model: str, trial: Trial) -> samples.Sample:
        """Return the sample of a file that a trial is about."""
        path = Path(model.removeprefix(samples.SAMPLES))
        return samples.by_place(path, tuple(self.problems))[trial.task, trial.sample]

    def write_files(self, folder: Path) -> None:
        """Write samples as the official scorer reads them; a file's in its order.

        Raises:
            UsageError: The folder holds no run, or cannot be written.
        """
        arms: dict[str, list[Line]] = {arm: [] for arm in self.written}
        for line in read_lines(folder):
            if line.trial.split in arms:
                arms[line.trial.split].append(line)
        places = {task: place for place, task in enumerate(self.problems)}
        model = read_header(folder)["settings"]["model"]
        for arm, lines in arms.items():
            if not lines:
                continue
            judged = {(line.trial.task, line.trial.sample) for line in lines}
            forms = samples.unjudged(model, self.problems, judged)
            for line in sorted(lines, key=lambda one: (places[one.trial.task], one.trial.sample)):
                extra, outcome = line.outcome.extra, line.outcome
                own = {"task_id": line.trial.task, "completion": extra.get("completion", "")}
                result = extra.get("result") or outcome.failure or "passed"
                verdict = {"result": result, "passed": outcome.success}
                forms.append((extra.get("place", 0), {**(extra.get("line") or own), **verdict}))
            ordered = (form for _, form in sorted(forms, key=itemgetter(0)))
            json_lines.write(folder / f"{arm}.samples.jsonl", ordered)
