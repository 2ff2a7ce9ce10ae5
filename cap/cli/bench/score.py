"""`cap bench score`: judge the samples of a file, whoever wrote them."""

from __future__ import annotations

from collections import Counter
from operator import itemgetter
from pathlib import Path
from typing import Any

import click

from cap.cli import completion
from cap.cli.bench.suites import SuiteCommand
from cap.cli.bench.trials import Interrupted, RunnerOptions, carry_out, tell_left_out
from cap.cli.options import whole_numbers, with_options
from cap.errors import UsageError


@click.command(
    "score", cls=SuiteCommand, short_help="Judge the answers in a file, whoever wrote them."
)
@click.argument("suite_name", metavar="SUITE", shell_complete=completion.suites)
@click.argument("file", type=click.Path(path_type=Path), metavar="FILE")
@click.option("--incomplete", is_flag=True, help="Problems may have no sample.")
@click.option(
    "--timeout",
    "limit_s",
    type=click.FloatRange(0.05, 3600),
    metavar="S",
    help="Longest time for one sample; the suite's own by default.",
)
@click.option(
    "-k", "ks", callback=whole_numbers, metavar="K,...", help="For pass@k, such as 1,5,20."
)
@click.option(
    "--problem-file",
    type=click.Path(path_type=Path),
    metavar="FILE",
    help="HumanEval: problems in its form, such as MBPP's or EvalPlus's.",
)
@click.option(
    "--problems",
    type=click.Path(path_type=Path),
    multiple=True,
    metavar="FILE",
    help="RoboCodeGen: your own; may be repeated.",
)
@click.option(
    "--json", "as_json", is_flag=True, help="Print the report as one JSON list, numbers as numbers."
)
@with_options(RunnerOptions, "runner_options")
def command(
    suite_name: str,
    file: Path,
    incomplete: bool,
    limit_s: float | None,
    ks: list[int],
    problem_file: Path | None,
    problems: tuple[Path, ...],
    as_json: bool,
    runner_options: RunnerOptions,
) -> int:
    """Judge the answers in FILE to the problems of SUITE, humaneval or robocodegen.

    \b
    cap bench score humaneval samples.jsonl -k 1,10

    FILE has one JSON object a line: task_id, and completion or solution. The verdicts are written
    beside, in the order of the file and with all else that stands in its lines. Exit code 0
    whatever the rate is, 1 if no sample could be judged.
    """  # noqa: D301
    from benchmarks.samples import SAMPLES
    from benchmarks.suite import OWN_PROMPTS, Settings, suite
    from cap.cli.bench.report import show_report

    options: dict[str, Any] = {
        "k": ks,
        "limit_s": limit_s,
        "problem_file": None if problem_file is None else str(problem_file.resolve()),
        "problems": [str(path.resolve()) for path in problems],
    }
    options = {name: value for name, value in options.items() if value}
    found = suite(suite_name, options)
    if not found.judges_samples:
        raise UsageError(f"'{suite_name}' has no samples to judge; humaneval and robocodegen have")
    prompts = OWN_PROMPTS.get(suite_name, "")
    model = f"{SAMPLES}{file.resolve()}"
    settings = Settings(suite=suite_name, model=model, prompts=prompts, options=options)
    found.check(settings)
    trials = found.given(file, incomplete=incomplete)
    tell_left_out(found)
    counts = Counter(trial.task for trial in trials)
    if ks and ks[-1] > min(counts.values()):
        most = ks[-1]
        task, fewest = min(counts.items(), key=itemgetter(1))
        note = f"no pass@{most}: of '{task}' there are {fewest} samples; give {most} of each"
        click.echo(f"note: {note}", err=True)
    try:
        folder = carry_out(found, trials, settings, runner_options, file.stem)
    except Interrupted as stop:
        show_report(stop.folder, as_json)
        raise
    tally = show_report(folder, as_json).total.tally
    return 1 if tally.unjudged == tally.n else 0
