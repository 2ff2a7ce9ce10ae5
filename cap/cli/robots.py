"""`cap robots list|show|new|check|camera`."""

from __future__ import annotations

import json
from pathlib import Path

import click

from cap.cli import camera
from cap.cli.options import Named
from cap.cli.session_options import ask_person
from cap.errors import UsageError


@click.group("robots")
def command() -> None:
    """List robots and what they can do."""


@command.command("list")
@click.option("--json", "as_json", is_flag=True, help="Print one JSON list.")
def list_robots(as_json: bool) -> None:
    """List every registered robot."""
    from cap.cli.tables import show
    from cap.robot import registry

    rows = [{"robot": entry.name, "from": entry.target} for entry in registry.robots().values()]
    show(rows, as_json)


@command.command("show")
@click.argument("name")
@click.option("--json", "as_json", is_flag=True, help="Print one JSON object.")
def show_robot(name: str, as_json: bool) -> None:
    """Show a robot's primitives as a model reads them: signature, units, failures."""
    import inspect
    import textwrap

    from cap.robot import registry

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


@command.command("new")
@click.argument("name")
@click.option("--out", type=Named(path_type=Path), metavar="DIR", help="Folder; NAME if none.")
def new_robot(name: str, out: Path | None) -> None:
    """Write a working robot to begin with: class, prompts, task, oracle, test."""
    from cap.robot.skeleton import write

    folder = Path(name) if out is None else out
    for path in write(name, folder):
        click.echo(f"wrote {path}")
    click.echo(f'try: cap run "move the red marker to the left" -r {folder / "robot.py"}')


@command.command("check")
@click.argument("robot", metavar="NAME|FILE")
@click.option("--ask", is_flag=True, help="Ask before each example that moves a real robot.")
@click.option("--yes", is_flag=True, help="Execute those examples, and ask nobody.")
@click.option("--json", "as_json", is_flag=True, help="Print one JSON list.")
def check(robot: str, ask: bool, yes: bool, as_json: bool) -> int:
    """Check a robot: types, units in docs, same bits for a seed, prompts; 1 if something is wrong.

    A FILE is executed: check only what you trust. A real robot (simulated is False) is moved by
    nothing here without --ask or --yes: the examples that would are left out, and that is said.
    """
    from cap.models.providers import make_model
    from cap.validation.robots import check_robot

    if ask and yes:
        raise UsageError("--ask and --yes contradict each other; give one of them")
    approve = _shown_and_asked if ask else (lambda source: True) if yes else None
    findings = list(check_robot(robot, make_model("nearest"), approve))
    if as_json:
        click.echo(json.dumps([vars(finding) for finding in findings]))
    else:
        for finding in findings:
            click.echo(str(finding))
        if all(finding.skipped for finding in findings):
            click.echo(f"{robot}: nothing to find fault with")
    return 0 if all(finding.skipped for finding in findings) else 1


def _shown_and_asked(source: str) -> bool:
    """Show an example's program and ask whether it may run."""
    from cap.trace.terminal import printable

    for line in source.splitlines():
        click.echo(f"  {printable(line)}", err=True)
    return ask_person("Run this example on the real robot?")


command.add_command(camera.command)
