"""`cap check FILE.py`: what the check and the name analysis say of a program; nothing runs."""

from __future__ import annotations

import json
from pathlib import Path

import click

from cap.cli.exec import read_source


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
    """Check a program; exit code 3 if it would be refused."""
    if rules:
        _show_rules(markdown)
        return 0
    if file is None:
        raise click.UsageError("name a file, or use --rules")
    violations, generated = _examine(read_source(file), robot, benchmark)
    if as_json:
        found = {"ok": not violations, "violations": violations, "to_generate": generated}
        click.echo(json.dumps(found))
    else:
        for line in violations:
            click.echo(f"{file}: {line}")
        for name in generated:
            click.echo(f"{file}: '{name}' is defined nowhere; a model would be asked to write it")
        click.echo("refused" if violations else "ok")
    return 3 if violations else 0


def _show_rules(markdown: bool) -> None:
    from cap.checker.rules import RULES, rules_page

    if markdown:
        click.echo(rules_page(), nl=False)
        return
    for name, rule in RULES.items():
        click.echo(f"{name}  {rule.meaning}")


def _examine(source: str, robot: str, benchmark: bool) -> tuple[list[str], list[str]]:
    """Return violations as lines, and the functions that would be generated."""
    from cap.checker.checker import Policy, check
    from cap.checker.undefined import undefined
    from cap.errors import CheckFailed, did_you_mean
    from cap.program.program import Program
    from cap.robot import registry

    body = registry.make_robot(robot, mode="instant")
    lmps = [n for n, p in registry.robot_prompts(robot).items() if p.header.returns is not None]
    reserved = frozenset([*body.primitives(), *lmps])
    policy = Policy.benchmark() if benchmark else Policy()
    known = reserved | frozenset(body.context()) | policy.names()
    body.close()
    try:
        program = Program.parse(source).without_imports(known)
    except CheckFailed as error:
        line = getattr(error, "line", None)
        return [f"syntax{f' line {line}' if line else ''}: {error}"], []
    lines = [str(violation) for violation in check(program.tree, policy, reserved)]
    if lines:
        return lines, []
    missing = undefined(program, known)
    for entry in missing:
        if not entry.calls:
            hint = did_you_mean(entry.name, known)
            lines.append(f"undefined line {entry.line}: name '{entry.name}' is not defined.{hint}")
    return lines, [entry.name for entry in missing if entry.calls]
