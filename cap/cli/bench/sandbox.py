"""`cap bench sandbox`: the sandbox beside other ways to run a program."""

from __future__ import annotations

import click

from cap.cli.bench.measurement import as_they_come, judged, require_own_benchmarks
from cap.errors import pip_install


@click.command("sandbox", short_help="Measure the sandbox beside other ways to run a program.")
@click.option("-n", "--runs", type=click.IntRange(min=3), default=40, show_default=True)
@click.option("--json", "as_json", is_flag=True, help="Print one JSON list.")
@click.option("--markdown", is_flag=True, help="Print the table as Markdown.")
def command(runs: int, as_json: bool, markdown: bool) -> int:
    """Measure the sandbox beside other ways to run a program; 1 if over a limit.

    \b
    cap bench sandbox --markdown
    """  # noqa: D301
    if markdown and as_json:
        raise click.UsageError("--markdown prints the table alone; leave out --json")
    require_own_benchmarks()
    from benchmarks.performance.sandbox.measure import conditions, installed, measure
    from benchmarks.performance.sandbox.table import as_data, as_lines, as_markdown
    from cap.cli.tables import PAGE, show

    lacking = {name: install for name, install in installed().items() if install is not None}
    for line in conditions():
        click.echo(line, err=as_json)
    for name, install in lacking.items():
        told = f"{name} is not installed; to compare with it: {pip_install(install)}"
        click.echo(told, err=as_json)
    names = [name for name in installed() if name not in lacking]
    rows = list(as_they_come(measure(runs, names)))
    if markdown:
        click.echo(as_markdown(rows))
    else:
        show(as_data(rows) if as_json else as_lines(rows), as_json, columns=PAGE)
    return judged(rows)
