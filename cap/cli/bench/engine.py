"""`cap bench engine`: what the engine adds to a model's own time."""

from __future__ import annotations

import click

from cap.cli.bench.measurement import as_they_come, figures, judged, require_own_benchmarks


@click.command("engine", short_help="Measure what the engine adds to a model's own time.")
@click.option("-n", "--runs", type=click.IntRange(min=3), default=10, show_default=True)
@click.option("--json", "as_json", is_flag=True, help="Print one JSON list.")
def command(runs: int, as_json: bool) -> int:
    """Measure what the engine adds to a model's own time; 1 if a limit is broken.

    \b
    cap bench engine
    """  # noqa: D301
    from cap.cli.tables import PAGE, show

    require_own_benchmarks()
    from benchmarks.performance.engine import measure

    rows = list(as_they_come(measure(runs), quiet=as_json))
    table = [
        {
            "what": row.what,
            "median": f"{row.median:.3f}",
            "unit": row.unit,
            "min-max": f"{row.low:.3f}-{row.high:.3f}",
            "n": row.runs,
            "limit": f"{'>=' if row.at_least else '<='} {row.limit}",
            "holds": "yes" if row.ok else "no",
        }
        for row in rows
    ]
    show(figures(rows) if as_json else table, as_json, columns=PAGE)
    return judged(rows, "limit broken")
