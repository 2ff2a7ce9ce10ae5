"""`cap bench score`: judge the samples of a file."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field
from functools import partial
from operator import itemgetter
from pathlib import Path

import click

from cap.cli import completion
from cap.cli.bench.report import show_report
from cap.cli.bench.trials import SuiteCommand, given, run_trials, say_left_out
from cap.cli.options import MODEL_FIELDS, PATH, RunnerOptions, with_options
from cap.errors import UsageError


@dataclass(frozen=True)
class ScoreOptions(RunnerOptions):
    """Which problems the answers are to, and how they are judged."""

    incomplete: bool = False
    timeout: float | None = None
    k: list[int] = field(default_factory=list)
    problem_file: Path | None = None
    problems: tuple[Path, ...] = ()


@click.command("score", cls=SuiteCommand)
@click.argument("suite_name", metavar="SUITE", shell_complete=completion.suites)
@click.argument("file", type=PATH, metavar="FILE")
@with_options(ScoreOptions, hidden=MODEL_FIELDS)
def command(options: ScoreOptions, suite_name: str, file: Path) -> int:
    """Score the answers in FILE to the problems of SUITE (humaneval or robocodegen).

    \b
    cap bench score humaneval samples.jsonl -k 1,10

    FILE contains one JSON object per line, with task_id and either completion or solution. The
    lines of FILE are written to the results folder, in the same order, with their verdicts added
    and all other fields kept. The exit code is 1 if no sample could be judged; it does not depend
    on the success rate.
    """  # noqa: D301
    from benchmarks.samples import SAMPLES
    from benchmarks.suite import OWN_PROMPTS, Settings, suite

    ks, as_json = options.k, options.as_json
    settled = given(
        k=ks,
        limit_s=options.timeout,
        problem_file=options.problem_file,
        problems=options.problems,
    )
    found = suite(suite_name, settled)
    if not found.judges_samples:
        raise UsageError(f"'{suite_name}' cannot judge samples; use humaneval or robocodegen")
    prompts = OWN_PROMPTS.get(suite_name, "")
    model = f"{SAMPLES}{file.resolve()}"
    settings = Settings(suite=suite_name, model=model, prompts=prompts, options=settled)
    found.check(settings)
    trials = found.given(file, incomplete=options.incomplete)
    say_left_out(found)
    counts = Counter(trial.task for trial in trials)
    if ks and ks[-1] > min(counts.values()):
        most = ks[-1]
        task, fewest = min(counts.items(), key=itemgetter(1))
        note = (
            f"no pass@{most}: '{task}' has only {fewest} samples; provide {most} for each problem"
        )
        click.echo(f"note: {note}", err=True)
    show = partial(show_report, as_json=as_json)
    tally = run_trials(found, trials, settings, options, file.stem, show).total
    return 1 if tally.unjudged == tally.n else 0
