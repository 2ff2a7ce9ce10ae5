"""`cap bench score`: judge the samples of a file, whoever wrote them; and what judging costs."""

from __future__ import annotations

from pathlib import Path

import click

from cap.cli.bench.trials import Manner, carry_out, runner_options


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
@runner_options
def score(file: Path, incomplete: bool, limit_s: float, manner: Manner) -> int:
    """Judge a HumanEval samples.jsonl in the sandbox: pass@k, and why samples fail."""
    from benchmarks.humaneval import samples
    from benchmarks.humaneval.problems import official
    from benchmarks.humaneval.suite import SAMPLES, HumanEvalSuite
    from benchmarks.suite import Settings
    from cap.cli.bench.run import tell

    found = HumanEvalSuite()
    trials = found.given(samples.read(file, official(), incomplete=incomplete))
    model = f"{SAMPLES}{file.resolve()}"
    settings = Settings(suite=found.name, model=model, prompts="", options={"limit_s": limit_s})
    tell(carry_out(found, trials, settings, manner, file.stem))
    return 0


def speed_of_scoring(runs: int, as_json: bool) -> int:
    """Print what judging costs here and in the official scorer; 1 if over a limit."""
    from benchmarks.performance.scoring import conditions, measure
    from cap.cli.tables import show

    click.echo(conditions(), err=as_json)
    rows = list(measure(runs))
    table = [
        {
            "what": row.what,
            "here ms": f"{1e3 * row.ours_s:.2f}",
            "min-max": "-".join(f"{1e3 * value:.2f}" for value in row.ours_range_s),
            "official ms": f"{1e3 * row.official_s:.2f}",
            "official min-max": "-".join(f"{1e3 * value:.2f}" for value in row.official_range_s),
            "times faster": f"{1 / row.share:.1f}",
            "at least": f"{1 / row.most:g}",
            "n": row.runs,
        }
        for row in rows
    ]
    show(table, as_json)
    over = [row.what for row in rows if not row.ok]
    if over:
        click.echo(f"over the limit: {', '.join(over)}", err=True)
    return 1 if over else 0
