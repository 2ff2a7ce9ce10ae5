"""`cap bench list`: the suites there are; and the help of the commands that take one."""

from __future__ import annotations

import click

from cap.cli.options import Command, json_option


class SuiteCommand(Command):
    """A command that takes a suite: its help names them."""

    def format_epilog(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """Write the suites' names, unless somebody else's package hides them."""
        from cap.robot.registry import shadowed

        if shadowed("benchmarks") is None:
            from benchmarks.suite import names

            with formatter.section("Suites"):
                formatter.write_text(f"{', '.join(names())}; or a Python file with a suite()")


@click.command("list")
@json_option
def command(as_json: bool) -> int:
    """List the suites that `cap bench run` and `cap bench oracle` take.

    \b
    cap bench list
    """  # noqa: D301
    from benchmarks.suite import SUITES, names, suite
    from cap.cli.tables import PAGE, show
    from cap.errors import CapError, MissingExtra
    from cap.messages import printable

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
        except Exception as error:  # a plug-in may fail in any way
            if name in SUITES:
                raise
            why = printable(" ".join(f"{type(error).__name__}: {error}".split()))
            click.echo(
                f"warning: suite '{name}' cannot list its tasks: {why}; it is left out", err=True
            )
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
