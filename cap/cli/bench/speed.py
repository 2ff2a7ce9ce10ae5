"""`cap bench speed`: what a turn, a run of trials or judging costs, beside its limits."""

from __future__ import annotations

import click

from cap.cli.bench.measurement import (
    as_they_come,
    figures,
    judged,
    only_physics,
    require_own_benchmarks,
)
from cap.errors import MissingExtra


@click.command("speed", short_help="Measure picking, resets, overhead and start-up.")
@click.option("-n", "--runs", type=click.IntRange(min=3), default=10, show_default=True)
@click.option(
    "--trials",
    type=click.IntRange(min=100, max=1_000_000),
    help="Instead: whether a suite's run of so many trials keeps its pace and memory (Linux).",
)
@click.option("--humaneval", is_flag=True, help="Instead: judging beside the official scorer.")
@click.option("--json", "as_json", is_flag=True, help="Print one JSON list.")
def command(runs: int, trials: int | None, humaneval: bool, as_json: bool) -> int:
    """Measure pick-and-place, reset, the engine's overhead and start-up; 1 if over a limit.

    \b
    cap bench speed --json
    """  # noqa: D301
    from cap.cli.tables import PAGE, show

    require_own_benchmarks()
    if humaneval:
        return _scoring(runs, as_json)
    from benchmarks.performance import growth
    from benchmarks.performance.measurement import Measurement
    from benchmarks.performance.speed import measure

    rows: list[Measurement] = []
    try:
        found = growth.measure(trials) if trials else measure(runs)
        for row in as_they_come(found, quiet=as_json):
            rows.append(row)
    except MissingExtra as missing:
        click.echo(f"note: the rows with physics are left out: {only_physics(missing)}", err=True)
    table = [
        {
            "what": row.what,
            "median": f"{row.median:.4f}",
            "unit": row.unit,
            "min-max": f"{row.low:.4f}-{row.high:.4f}",
            "n": row.runs,
            "limit": row.limit,
            "original": row.original,
        }
        for row in rows
    ]
    show(figures(rows) if as_json else table, as_json, columns=PAGE)
    return judged(rows)


def _scoring(runs: int, as_json: bool) -> int:
    """Print what judging costs here and in the official scorer; 1 if over a limit."""
    from benchmarks.performance.scoring import conditions, measure
    from cap.cli.tables import PAGE, show

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
    show(figures(rows) if as_json else table, as_json, columns=PAGE)
    over = [row.what for row in rows if not row.ok]
    if over:
        click.echo(f"over the limit: {', '.join(over)}", err=True)
    return 1 if over else 0
