"""`cap bench perception`: what is seen in pictures alone, beside the truth."""

from __future__ import annotations

import click

from cap.cli.bench.measurement import figures, only_physics, require_own_benchmarks
from cap.errors import MissingExtra


@click.command("perception", short_help="Compare what cameras see with the truth.")
@click.option("-n", "--scenes", type=click.IntRange(min=1), default=60, show_default=True)
@click.option("--json", "as_json", is_flag=True, help="Print one JSON list.")
def command(scenes: int, as_json: bool) -> int:
    """Names and places from pictures alone, beside the truth; 1 if a limit is broken.

    \b
    cap bench perception -n 10
    """  # noqa: D301
    from cap.cli.tables import PAGE, show

    require_own_benchmarks()
    from benchmarks.performance.perception import MEDIAN_LIMIT_M, NAMES_LIMIT, measure

    try:
        seen = list(measure(scenes))
    except MissingExtra as missing:
        raise MissingExtra(only_physics(missing)) from None
    table = [
        {
            "camera": row.camera,
            "scenes": row.scenes,
            "names right": f"{row.right}/{row.n}",
            "95 %": "{:.3f}-{:.3f}".format(*row.interval),
            "limit": f">= {NAMES_LIMIT}",
            "median error": f"{1e3 * row.median_m:.2f} mm",
            "greatest": f"{1e3 * max(row.errors_m, default=0.0):.2f} mm",
            "median limit": f"<= {1e3 * MEDIAN_LIMIT_M:g} mm",
        }
        for row in seen
    ]
    show(figures(seen) if as_json else table, as_json, columns=PAGE)
    return 0 if all(row.ok for row in seen) else 1
