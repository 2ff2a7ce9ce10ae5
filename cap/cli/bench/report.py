"""`cap bench report|compare`: what results folders hold, as tables, pages and numbers."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import click

from cap.cli.options import PATH, json_option, option
from cap.cli.output import PAGE, is_json, print_json, remark, show
from cap.errors import UsageError
from cap.messages import printable

_MOST_TASKS = 100
_MOST_REASONS = 10
_MOST_CHARS = 160
_MOST_DIFFERING = 20


def show_report(folder: Path) -> Any:
    """Write a folder's report, and print it, as JSON too; return it, None if no trial has ended."""
    report = _written(folder)
    if report is not None and is_json():
        print_json([report.as_json])
    return report


def _written(folder: Path) -> Any:
    """Write a folder's report and, where no JSON is wanted, print it; the headline comes first.

    Of many tasks only the sums are shown.

    Returns:
        The report; None if no trial has ended.
    """
    from benchmarks.report import tables as reports
    from benchmarks.report.page import write
    from benchmarks.results import read_beside, read_lines

    if next(read_lines(folder), None) is None:
        if (beside := read_beside(folder)).requests:
            remark(f"no trial has ended; {reports.cost_beside(beside)}")
        return None
    report = reports.read(folder)
    markdown, page = write(folder)
    if not is_json():
        for line in (report.title, *report.headline):
            click.echo(printable(line))
        click.echo("")
        keys = ["task", "split", "success %, 95 %", "clustered 95 %", "n", "measured", "failed by"]
        if report.models:  # the papers' tables
            keys = [*keys[:-1], "rung", "published %"]
        tasks = report.tasks if len(report.tasks) <= _MOST_TASKS else ()
        found = reports.rows_of([*report.sums, *tasks])
        show([{key: row[key] for key in keys if key in row} for row in found], columns=PAGE)
        _show_reasons(report)
    click.echo(f"report: {markdown} and {page.name}")
    return report


def _show_reasons(report: Any) -> None:
    """Print a line for each distinct reason of failure, the most frequent first."""
    from benchmarks.report.tables import failures, reasons, said

    found = reasons([line for _, lines in failures(report) for line in lines])
    if found:
        click.echo("\nfailed:")
    for reason in found[:_MOST_REASONS]:
        such = ", such as" if len({said(line) for line in reason.lines}) > 1 else ""
        text = f"{len(reason.lines)} x {reason.cause}{such}: {reason.first}"
        whole = len(text) <= _MOST_CHARS
        cut = text if whole else f"{text[:_MOST_CHARS].rpartition(' ')[0]} ..."
        click.echo(printable(f"  {cut} ({_named(reason.lines[0].trial)})"))
    if len(found) > _MOST_REASONS:
        click.echo(f"  and {len(found) - _MOST_REASONS} more reasons, in the report")


def _named(trial: Any) -> str:
    where = " ".join(filter(None, (trial.task, trial.split)))
    return f"{where} seed {trial.seed} sample {trial.sample}"


@click.command("report")
@click.argument("folders", nargs=-1, required=True, type=PATH, metavar="DIR...")
@json_option
@option("junit", "Write a JUnit XML report for a single DIR.")
def report(folders: tuple[Path, ...], junit: Path | None) -> int:
    """Write report.md and report.html to each results folder, and print the tables.

    \b
    cap bench report runs/...
    cap bench report runs/... --junit results.xml
    """  # noqa: D301
    from benchmarks.report import junit as xml
    from benchmarks.report.tables import read

    if junit is not None and len(folders) > 1:
        raise UsageError("--junit writes one file for one folder; name a single DIR")
    found = []
    for number, folder in enumerate(folders):
        if number and not is_json():
            click.echo("")
        found.append(_written(folder) or read(folder))  # which says why there is none
    if is_json():
        print_json([one.as_json for one in found])
    if junit is not None:
        xml.write(folders[0], junit)
    return 0


@click.command("compare")
@click.argument("first", type=PATH)
@click.argument("second", type=PATH)
@json_option
def compare(first: Path, second: Path) -> int:
    """Compare two results folders on the trials that both contain.

    \b
    cap bench compare first second

    The p-value comes from McNemar's exact two-sided test; the interval for the difference is the
    adjusted Wald interval for paired proportions. Neither the p-value nor the interval corrects for
    comparisons of many tasks or for similarity among samples of the same problem. If problems have
    several samples, a second interval, computed over all trials with clustering by problem,
    accounts for this similarity.
    """  # noqa: D301
    from benchmarks.report.comparison import compare as compared

    for folder in (first, second):
        if not folder.is_dir():
            raise UsageError(f"no results folder {folder}")
    found = compared(first, second)
    if is_json():
        print_json(found.as_json)
        return 0
    reports = ("1st", found.first), ("2nd", found.second)
    for (name, one), title in zip(reports, found.titles, strict=True):
        click.echo(printable(f"{name}: {title} ({one.folder})"))
        if lost := one.total.unjudged:
            click.echo(
                f"{name}: of its {one.total.n} trials, not judged and counted as failed: {lost}"
            )
    click.echo("")
    show(found.rows, columns=PAGE)
    if (clustered := found.total.clustered) is not None:
        low, high = (100 * end for end in clustered)
        units = f"clustered by problem or scene ({len(found.total.clusters)})"
        click.echo(f"\n2nd - 1st of all, 95 % {units}: {low:+.1f} to {high:+.1f}")
    if any(found.unshared):
        click.echo(
            f"left out: {found.unshared[0]} trials only in the 1st, "
            f"{found.unshared[1]} only in the 2nd"
        )
    if found.differing:
        click.echo(f"\ntrials that differ: {len(found.differing)}")
    for trial, won in found.differing[:_MOST_DIFFERING]:
        click.echo(printable(f"  {_named(trial)}: only the {'1st' if won else '2nd'}"))
    if len(found.differing) > _MOST_DIFFERING:
        click.echo(f"  and {len(found.differing) - _MOST_DIFFERING} more: --json lists all")
    return 0
