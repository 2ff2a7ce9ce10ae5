"""`cap bench`: its commands, and the list of suites."""

from __future__ import annotations

import click

from cap.cli.bench import problems
from cap.cli.bench.report import compare, plot, report
from cap.cli.bench.run import oracle, run, score
from cap.cli.options import CommandGroup, json_option
from cap.cli.output import PAGE, show
from cap.errors import CapError, MissingExtra
from cap.messages import printable


@click.group("bench", cls=CommandGroup)
def command() -> None:
    """Run benchmarks and compare models.

    \b
    cap bench list
    cap bench run tabletop -m nearest -n 1 --mode instant
    """  # noqa: D301


for _command in (run, oracle, score, report, compare, plot, problems.command):
    command.add_command(_command)


@command.command("list")
@json_option
def list_suites(as_json: bool) -> None:
    """List the suites for cap bench run and cap bench oracle.

    \b
    cap bench list
    """  # noqa: D301
    from benchmarks.suite import names, suite

    rows = []
    for name in names():
        try:
            found = suite(name)
            try:
                cells = found.cells()
            except MissingExtra:  # what its tasks are is in a package that is not there
                cells = ()
        except CapError as error:
            click.echo(f"warning: {printable(str(error))}; it is left out", err=True)
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
        click.echo("To write your own suite, define suite() in a Python file; see cap robots new")
