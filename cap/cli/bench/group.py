"""`cap bench`: its commands, one file each."""

from __future__ import annotations

import click

from cap.cli.bench import plot, problems, score, suites
from cap.cli.bench.report import compare, report
from cap.cli.bench.run import oracle, run
from cap.cli.options import CommandGroup


@click.group("bench", cls=CommandGroup)
def command() -> None:
    """Run benchmarks, compare models.

    \b
    cap bench list
    cap bench run tabletop -m nearest -n 1 --mode instant
    """  # noqa: D301


for _module in (plot, problems, score, suites):
    command.add_command(_module.command)
for _command in (run, oracle, report, compare):
    command.add_command(_command)
