"""`cap bench score`: judge the samples of a file, whoever wrote them."""

from __future__ import annotations

from pathlib import Path

import click

from cap.cli.bench.trials import RunnerOptions, carry_out
from cap.cli.options import with_options


@click.command("score")
@click.argument("file", type=click.Path(path_type=Path), metavar="FILE")
@click.option("--incomplete", is_flag=True, help="Problems may have no sample.")
@click.option(
    "--timeout",
    "limit_s",
    type=click.FloatRange(0.05, 3600),
    default=3.0,
    show_default=True,
    metavar="S",
    help="Longest time for one sample.",
)
@with_options(RunnerOptions, "runner_options")
def command(file: Path, incomplete: bool, limit_s: float, runner_options: RunnerOptions) -> int:
    """Judge a HumanEval samples.jsonl in the sandbox: pass@k, and why samples fail."""
    from benchmarks.humaneval import samples
    from benchmarks.humaneval.problems import official
    from benchmarks.humaneval.suite import SAMPLES, HumanEvalSuite
    from benchmarks.suite import Settings
    from cap.cli.bench.report import show_report

    found = HumanEvalSuite()
    trials = found.given(samples.read(file, official(), incomplete=incomplete))
    model = f"{SAMPLES}{file.resolve()}"
    settings = Settings(suite=found.name, model=model, prompts="", options={"limit_s": limit_s})
    show_report(carry_out(found, trials, settings, runner_options, file.stem))
    return 0
