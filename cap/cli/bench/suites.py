"""`cap bench list`: the suites there are."""

from __future__ import annotations

import click


@click.command("list")
@click.option("--json", "as_json", is_flag=True, help="Print one JSON list.")
def command(as_json: bool) -> int:
    """List the suites that `cap bench run` and `cap bench oracle` take."""
    from benchmarks.suite import SUITES, suite
    from cap.cli.tables import PAGE, show
    from cap.errors import MissingExtra

    rows = []
    for name in SUITES:
        found = suite(name)
        try:
            cells = found.cells()
        except MissingExtra:  # what its tasks are is in a package that is not there
            cells = ()
        if name == "batch":  # that one comes from a file: cap batch
            continue
        splits = [split for split in dict.fromkeys(split for _, split in cells) if split]
        rows.append(
            {
                "suite": name,
                "tasks": len({task for task, _ in cells}) or None,
                "what": found.about,
                "splits": splits if as_json else ", ".join(splits),
            }
        )
    show(rows, as_json, columns=PAGE)
    if not as_json:
        click.echo("A suite of your own: a Python file with a function suite(); cap robots new")
    return 0
