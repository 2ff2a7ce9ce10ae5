"""`cap bench score`: judge the samples of a file, whoever wrote them."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import click


@click.command("score")
@click.argument("file", type=click.Path(path_type=Path), metavar="FILE")
@click.option("--incomplete", is_flag=True, help="Problems may have no sample.")
@click.option(
    "--timeout",
    "timeout_s",
    type=click.FloatRange(0.05, 3600),
    default=3.0,
    show_default=True,
    metavar="S",
    help="Longest time for one sample.",
)
@click.option("--jobs", type=click.IntRange(min=1), default=2, show_default=True)
@click.option("--out", type=click.Path(path_type=Path), metavar="DIR", help="Results folder.")
@click.option("--resume", is_flag=True, help="Go on with what --out holds.")
def score(file: Path, incomplete: bool, timeout_s: float, **given: Any) -> int:
    """Judge a HumanEval samples.jsonl in the sandbox: pass@k, and why samples fail."""
    from benchmarks.humaneval import samples
    from benchmarks.humaneval.problems import official
    from benchmarks.humaneval.suite import SAMPLES, HumanEvalSuite
    from benchmarks.suites import Settings
    from cap.cli.bench_run import carry_out

    found = HumanEvalSuite()
    trials = found.given(samples.read(file, official(), incomplete=incomplete))
    settings = Settings(
        suite=found.name,
        model=f"{SAMPLES}{file.resolve()}",
        options={"timeout_s": timeout_s},
    )
    return carry_out(settings, found, trials, {**given, "engine": "local", "ray_address": None})
