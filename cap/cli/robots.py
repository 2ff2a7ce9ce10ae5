"""`cap robots list|show`."""

from __future__ import annotations

import json

import click


@click.group("robots")
def command() -> None:
    """List robots and what they can do."""


@command.command("list")
@click.option("--json", "as_json", is_flag=True, help="Print one JSON list.")
def list_robots(as_json: bool) -> None:
    """List every registered robot."""
    from cap import registry
    from cap.cli.tables import show

    rows = [{"robot": entry.name, "from": entry.target} for entry in registry.robots().values()]
    show(rows, as_json)


@command.command("show")
@click.argument("name")
@click.option("--json", "as_json", is_flag=True, help="Print one JSON object.")
def show_robot(name: str, as_json: bool) -> None:
    """Show a robot's primitives as a model reads them: signature, units, failures."""
    import inspect
    import textwrap

    from cap import registry

    robot = registry.make_robot(name, mode="instant")
    about = inspect.getdoc(type(robot)) or ""
    primitives = robot.primitives().values()
    if as_json:
        rows = [
            {"name": p.name, "kind": p.kind, "signature": str(p.signature), "doc": p.doc}
            for p in primitives
        ]
        click.echo(json.dumps({"robot": name, "about": about, "primitives": rows}))
        return
    click.echo(f"{name}: {about}")
    for primitive in primitives:
        click.echo(f"\n{primitive.name}{primitive.signature}    [{primitive.kind}]")
        click.echo(textwrap.indent(primitive.doc, "    "))
    robot.close()
