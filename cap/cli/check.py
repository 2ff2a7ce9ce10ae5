"""`cap check FILE.py`: what the check says of a program; nothing runs."""

from __future__ import annotations

import json
from pathlib import Path

import click

from cap.cli.exec import read_source

_MOST_HINTS = 5
"""Suggestions for names that are not defined: to find one takes long."""


@click.command("check")
@click.argument("file", type=click.Path(path_type=Path), required=False)
@click.option("-r", "--robot", default="ravens", show_default=True, metavar="NAME")
@click.option("--rules", is_flag=True, help="List the rules.")
@click.option("--markdown", is_flag=True, help="With --rules: as a page, with examples.")
@click.option("--benchmark", is_flag=True, help="Allow what programs of benchmarks may import.")
@click.option("--json", "as_json", is_flag=True, help="Print one JSON object.")
def command(
    file: Path | None, robot: str, rules: bool, markdown: bool, benchmark: bool, as_json: bool
) -> int:
    """Check a program, or standard input (-); exit code 3 if it would be refused."""
    if rules:
        _show_rules(markdown)
        return 0
    if file is None:
        raise click.UsageError("name a file, or use --rules")
    refused, generated = _examine(read_source(file), robot, benchmark)
    if as_json:
        found = {"ok": not refused, "violations": refused, "to_generate": generated}
        click.echo(json.dumps(found))
    else:
        for line in refused:
            click.echo(f"{file}: {line}")
        for name in generated:
            click.echo(f"{file}: '{name}' is defined nowhere; a model would be asked to write it")
        click.echo("refused" if refused else "ok")
    return 3 if refused else 0


def _show_rules(markdown: bool) -> None:
    from cap.checker.rules import RULES, rules_page

    if markdown:
        click.echo(rules_page(), nl=False)
        return
    for name, rule in RULES.items():
        click.echo(f"{name}  {rule.meaning}")


def _examine(source: str, robot: str, benchmark: bool) -> tuple[list[str], list[str]]:
    """Return why a program is refused, as lines, and the functions that would be generated."""
    from cap.checker.checker import Policy, examine
    from cap.engine.engine import Engine, State, unhinted
    from cap.errors import CheckFailed, did_you_mean
    from cap.models.nearest import Nearest
    from cap.program.program import Program
    from cap.robot import registry, robot_facts
    from cap.sandbox.sandbox import Sandbox
    from cap.session.session import TOP
    from cap.trace.trace import Trace

    try:
        program = Program.parse(source)
    except CheckFailed as error:
        line = getattr(error, "line", None)
        return [f"syntax{f' line {line}' if line else ''}: {error}"], []
    prompts = registry.robot_prompts(robot)
    body = registry.make_robot(robot, mode="instant")
    functions = registry.function_prompt()
    engine = Engine(body, Nearest(), prompts, functions, sandbox=Sandbox(), trace=Trace())
    scope = engine.scope(unhinted(prompts[TOP]), State(variables=robot_facts.facts(body)))
    body.close()
    policy = Policy.benchmark() if benchmark else Policy()
    examined = examine(program, scope, policy)
    lines = [str(violation) for violation in examined.violations]
    known = scope.names() | policy.names()
    for number, entry in enumerate(examined.missing):
        hint = did_you_mean(entry.name, known) if number < _MOST_HINTS else ""
        lines.append(f"undefined line {entry.line}: name '{entry.name}' is not defined.{hint}")
    return lines, [entry.name for entry in examined.undefined if entry.calls]
