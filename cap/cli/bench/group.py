"""`cap bench`: its commands, one file each."""

from __future__ import annotations

import click

from cap.cli.bench import problems, score, suites
from cap.cli.bench.report import compare, plot, report
from cap.cli.bench.run import oracle, run
from cap.cli.options import CommandGroup


@click.group("bench", cls=CommandGroup)
def command() -> None:
    """Run benchmarks, compare models.

    \b
    cap bench list
    cap bench run tabletop -m nearest -n 1 --mode instant
    """  # noqa: D301


for _command in (
    *(suites.command, run, oracle, report, compare, plot),
    *(problems.command, score.command),
):
    command.add_command(_command)
