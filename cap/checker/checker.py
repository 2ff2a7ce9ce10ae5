"""The check: what is wrong with a program, reported before it runs. Nothing is executed.

It is a filter with good messages; the boundary is the process the program runs in. Each finding
has a rule id, a line, a column and a reason, so that a user can cite it and a model fix it. Every
command, a session, a batch and a prompt's example go through `examine`: all say the same of the
same program, in the same scope, under the same policy.
"""

from __future__ import annotations

import ast
from dataclasses import dataclass

from cap.checker.policy import HOMES, MODULE_NAMES, Policy
from cap.checker.rules import CALL_RULE, Survey, Violation
from cap.checker.rules import RULES as _RULES
from cap.checker.undefined import Undefined, undefined
from cap.errors import CheckFailed
from cap.program.program import Program
from cap.program.scope import Scope

__all__ = ["RULES", "Examination", "Policy", "Violation", "check", "examine"]

RULES = {**_RULES, "CAP113": CALL_RULE}
"""Every rule by its id."""
_REAL = frozenset(["collections", "math", "numpy", "shapely", "typing"])
"""Modules that are what they are called: a prompt's hints import primitives from none of them."""


@dataclass(frozen=True)
class Examination:
    """What the check says of one program."""

    program: Program
    """It, without the imports of what is in scope already."""
    violations: tuple[Violation, ...]
    """What is wrong with it, in order of line."""
    undefined: tuple[Undefined, ...]
    """Names that it uses and nothing defines, in order of line; not looked for in a refused
    program.

    A function that is called, or handed to something that calls it, may be generated; any other is
    a fault of the program.
    """

    @property
    def missing(self) -> tuple[Undefined, ...]:
        """The undefined names that are no functions, and so cannot be generated."""
        return tuple(entry for entry in self.undefined if not entry.calls)

    @property
    def ok(self) -> bool:
        """True if it may run, once the functions it lacks are written."""
        return not self.violations and not self.missing


class ViolationsFound(CheckFailed):
    """The check refused a program."""

    def __init__(self, examined: Examination) -> None:
        first, *rest = examined.violations
        super().__init__("; ".join([first.reason, *map(str, rest[:4])]))
        self.violations = examined.violations
        self.line = first.line
        self.program = examined.program


def examine(
    program: Program, scope: Scope | None = None, policy: Policy | None = None
) -> Examination:
    """Return all that the check has to say of a program.

    Args:
        program: As a user or a model wrote it.
        scope: What it may use in addition to the library; nothing by default.
        policy: What to allow; a robot's by default.
    """
    scope, policy = scope or Scope(), policy or Policy()
    program = program.without(_needless_imports(program, scope, policy))
    violations = _violations(program, scope, policy)
    lacking = () if violations else undefined(program, scope.names() | policy.names())
    return Examination(program, tuple(violations), lacking)


def check(program: str | Program, policy: Policy | None = None) -> list[Violation]:
    """Return every violation in a program, in order of line, whatever its scope.

    Args:
        program: Its text, or parsed.
        policy: What to allow; a robot's by default.

    Raises:
        ProgramSyntaxError: The text is not valid Python.
    """
    parsed = Program.parse(program) if isinstance(program, str) else program
    return _violations(parsed, Scope(), policy or Policy())


def _violations(program: Program, scope: Scope, policy: Policy) -> list[Violation]:
    survey = Survey(program.tree, policy, scope)
    found = {
        Violation.at(node, name, reason)
        for name, rule in RULES.items()
        for node, reason in rule.find(survey)
    }
    return sorted(found, key=lambda violation: (violation.line, violation.column, violation.rule))


def _needless_imports(program: Program, scope: Scope, policy: Policy) -> list[ast.stmt]:
    """Return the imports that bind only what is in scope under that very name already.

    Such as `from robot import say`, or `from os import say`: it is the robot's all the same.
    Every chat model writes them. What a scope gives may be imported from anywhere: a prompt's hints
    name modules that are none. A library's names come from where they are at home, and a name of
    another module that happens to be a builtin's as well, such as numpy's `sum`, is something else.
    """
    found: list[ast.stmt] = []
    if "import" not in program.source:  # the usual case, without a walk
        return found
    given = scope.names()
    for node in ast.walk(program.tree):
        if isinstance(node, ast.Import):
            known = []
            for alias in node.names:
                module = alias.name if alias.asname else alias.name.partition(".")[0]
                name = alias.asname or module
                library = policy.library and MODULE_NAMES.get(name) == module
                known.append(library or (name == module and name in given))
        elif isinstance(node, ast.ImportFrom):
            known = [
                alias.asname in (None, alias.name)
                and (
                    (alias.name in given and (node.module or "").split(".")[0] not in _REAL)
                    or (policy.library and node.module in HOMES.get(alias.name, ()))
                )
                for alias in node.names
            ]
        else:
            continue
        if all(known):
            found.append(node)
    return found
