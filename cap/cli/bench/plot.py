"""`cap bench plot`: what a suite can draw of a results folder, written into it."""

from __future__ import annotations

from pathlib import Path

import click


@click.command("plot", short_help="Draw the episodes of a results folder as SVG.")
@click.argument("folder", type=click.Path(path_type=Path), metavar="DIR")
def command(folder: Path) -> int:
    """Draw the episodes of a results folder into it as SVG; needs the extra `report`.

    \b
    cap bench plot runs/...
    """  # noqa: D301
    from benchmarks.results import read_header
    from benchmarks.suite import suite

    found = suite(read_header(folder)["settings"]["suite"])
    for path in found.plot(folder):
        click.echo(f"plot: {path}")
    return 0
