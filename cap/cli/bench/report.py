"""`cap bench report|compare`: what results folders hold, as tables and pages."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import click

from cap.errors import UsageError


def show_report(folder: Path) -> list[dict[str, Any]]:
    """Write a folder's report, and print its table as far as there is one."""
    from benchmarks.report import tables as reports
    from benchmarks.report.page import write
    from benchmarks.results import read_lines
    from cap.cli.tables import show

    if next(read_lines(folder), None) is None:
        return []
    table, own = reports.rows(folder), reports.summary(folder)
    markdown, page = write(folder)
    keys = ("task", "split", "success %, 95 %", "n", "measured", "failed by")
    shown = [row for row in table if not own or row["task"] == reports.ALL]
    show([{key: row[key] for key in keys if key in row} for row in shown])
    if own:
        show(own)
    click.echo(f"report: {markdown} and {page.name}")
    return table


@click.command("report")
@click.argument(
    "folders", nargs=-1, required=True, type=click.Path(path_type=Path), metavar="DIR..."
)
@click.option("--json", "as_json", is_flag=True, help="Print one JSON list.")
def report(folders: tuple[Path, ...], as_json: bool) -> int:
    """Write report.md and report.html into results folders, and print the tables."""
    from benchmarks.report import tables as reports
    from benchmarks.report.page import write
    from cap.cli.tables import show

    for folder in folders:
        show(reports.rows(folder), as_json)
        markdown, page = write(folder)
        click.echo(f"report: {markdown} and {page.name}", err=as_json)
    return 0


@click.command("compare")
@click.argument("first", type=click.Path(path_type=Path))
@click.argument("second", type=click.Path(path_type=Path))
@click.option("--json", "as_json", is_flag=True, help="Print one JSON list.")
def compare(first: Path, second: Path, as_json: bool) -> int:
    """Compare two results folders, trial by trial."""
    from benchmarks.report import tables as reports
    from cap.cli.tables import show

    for folder in (first, second):
        if not folder.is_dir():
            raise UsageError(f"no results folder {folder}")
    show(reports.compare(first, second), as_json)
    return 0
