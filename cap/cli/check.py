"""`cap check FILE.py`: what the check says of a program; nothing runs."""

from __future__ import annotations

import ast
from dataclasses import asdict, replace
from pathlib import Path

import click

from cap.checker.checker import RULES, Violation, examine
from cap.checker.policy import Policy
from cap.checker.undefined import why_undefined
from cap.cli.options import PATH, json_option, option
from cap.cli.output import print_result
from cap.cli.run import read_source
from cap.engine.lmp import unhinted
from cap.errors import CheckFailed
from cap.program.program import Program
from cap.robot import observation
from cap.session.session import Session

_MOST_HINTS = 5
"""Suggestions for names that are not defined: to find one takes long."""


@click.command("check")
@click.argument("file", type=PATH, required=False)
@option("robot", "Robot that the program is for.", default="ravens", show_default=True)
@click.option("--rules", is_flag=True, help="List the rules that programs must follow.")
@click.option(
    "--benchmark", is_flag=True, help="Also allow the imports that benchmark programs may use."
)
@json_option
def command(file: Path | None, robot: str, rules: bool, benchmark: bool) -> int:
    """Check a program (FILE, or - for standard input); exit with code 3 if it would be refused.

    \b
    cap check program.py
    cap check program.py -r kitchen --json
    cap check --rules
    """  # noqa: D301  (the backspace is click's mark for lines to leave alone)
    if rules:
        fields = ("meaning", "reason", "refuses", "accepts")
        found = [
            {"rule": name, **{field: getattr(rule, field) for field in fields}}
            for name, rule in RULES.items()
        ]
        lines = [f"{name}  {rule.meaning}\n        {rule.reason}" for name, rule in RULES.items()]
        print_result(found, lines)
        return 0
    if file is None:
        raise click.UsageError("name a file, or use --rules")
    source, policy = read_source(file), Policy.benchmark() if benchmark else Policy()
    with Session.open(robot, mode="instant", skills=None) as session:
        refused, generated = faults(session, source, policy)
    violations = [asdict(violation) for violation in refused]
    asked = "is not defined; a model would be asked to write it"
    lines = [
        *(f"{file}: {violation}" for violation in refused),
        *(f"{file}: '{name}' {asked}" for name in generated),
        "refused" if refused else "ok",
    ]
    result = {"ok": not refused, "violations": violations, "to_generate": generated}
    print_result(result, lines)
    return 3 if refused else 0


def faults(session: Session, source: str, policy: Policy) -> tuple[list[Violation], list[str]]:
    """Return why a program is refused in a session, and the functions that would be generated.

    What is not Python is of the rule `syntax`, a name that is defined nowhere of `undefined`.
    """
    try:
        program = Program.parse(source)
    except CheckFailed as error:
        line, column = error.line or 1, getattr(error, "column", None) or 1
        return [Violation("syntax", line, column, str(error))], []
    variables = {**observation.facts(session.robot), **session.state.variables}
    state = replace(session.state, variables=variables)
    scope = session.engine.scope(unhinted(session.prompt), state)
    examined = examine(program, scope, policy)
    found = list(examined.violations)
    generated, hints = [], 0
    known = scope.names() | policy.names()
    for entry in examined.undefined:
        functions = scope.primitives if entry.calls else {}
        reason = why_undefined(entry, known if hints < _MOST_HINTS else (), functions)
        if reason is None:
            generated.append(entry.name)
            continue
        hints += 1
        uses = (
            node.col_offset
            for node in ast.walk(examined.program.tree)
            if isinstance(node, ast.Name) and (node.id, node.lineno) == (entry.name, entry.line)
        )
        found.append(Violation("undefined", entry.line, min(uses, default=0) + 1, reason))
    return found, generated
