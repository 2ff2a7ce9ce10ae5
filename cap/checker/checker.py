"""The check: what is wrong with a program, told before it runs. Pure; nothing is ever executed.

It is a filter with good messages; the boundary is the process the program runs in. Each finding
has a rule id, a line, a column and a reason, so that a person can cite it and a model mend it.
Every door goes through `examine`: a command, a session, a batch and a prompt's example are told
the same of the same program, in the same scope, under the same policy.

What it says of each kind of syntax is in `rules`, what does not fit its call in `signatures`, which
names nobody defines in `undefined`; `rules_page` tells people each rule, by its id.
"""

from __future__ import annotations

import ast
from dataclasses import dataclass

from cap.checker.allowlist import HOMES
from cap.checker.declared_types import require
from cap.checker.policy import Policy
from cap.checker.rules import Violation, rule_violations
from cap.checker.signatures import misfits
from cap.checker.survey import survey
from cap.checker.undefined import Undefined, undefined
from cap.program.expansion import expands
from cap.program.program import Program
from cap.program.scope import Scope

_MODULES = (("np", "numpy"), ("numpy", "numpy"), ("math", "math"))
"""Names of the library that are modules."""
_REAL = frozenset(["collections", "math", "numpy", "shapely", "typing"])
"""Modules that are what they are called: a prompt's hints import primitives from none of them."""
__all__ = ["Examination", "Policy", "Violation", "check", "examine"]


@dataclass(frozen=True)
class Examination:
    """What the check says of one program."""

    program: Program
    """It, without the imports of what is in scope already."""
    violations: tuple[Violation, ...]
    """What is wrong with it, in order of line."""
    undefined: tuple[Undefined, ...]
    """Names that it uses and nobody defines, in order of line; not looked for in a refused program.

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


def examine(
    program: Program, scope: Scope | None = None, policy: Policy | None = None
) -> Examination:
    """Look at a program once and say all there is to say of it.

    Args:
        program: As a person or a model wrote it.
        scope: What it may use besides the library; nothing by default.
        policy: What to allow; a robot's by default.
    """
    scope, policy = scope or Scope(), policy or Policy()
    known = known_names(scope, policy)
    program = program.without(_needless_imports(program, scope, policy))
    violations = _violations(program.tree, scope, policy, expands=program.expands)
    lacking = () if violations else undefined(program, known)
    return Examination(program, tuple(violations), lacking)


def _needless_imports(program: Program, scope: Scope, policy: Policy) -> list[ast.stmt]:
    """Return the imports that bind only what is in scope under that very name already.

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
                library = policy.library and (name, module) in _MODULES
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


def check(
    program: str | ast.Module,
    policy: Policy | None = None,
    reserved: frozenset[str] = frozenset(),
) -> list[Violation]:
    """Return every violation in a program, in order of line, whatever its scope.

    Args:
        program: Its text, or parsed.
        policy: What to allow; a robot's by default.
        reserved: Names the program may not bind: its primitives.

    Raises:
        ProgramSyntaxError: The text is not valid Python.
        UsageError: It is neither.
    """
    require("the program", program, str | ast.Module)
    tree = Program.parse(program).tree if isinstance(program, str) else program
    too_large = expands(tree)
    if not too_large:
        try:  # of a tree that no parser made nothing can be told; nothing is executed
            compile(tree, "<program>", "exec", dont_inherit=True)
        except SyntaxError:
            pass
        except (TypeError, ValueError, RecursionError) as error:
            return [Violation("CAP101", 1, 1, f"this is no syntax tree of Python: {error}")]
    return _violations(tree, Scope(), policy or Policy(), reserved, expands=too_large)


def known_names(scope: Scope, policy: Policy) -> frozenset[str]:
    """Return every name a program of this scope may read."""
    return scope.names() | policy.names()


def _violations(
    tree: ast.Module,
    scope: Scope,
    policy: Policy,
    reserved: frozenset[str] = frozenset(),
    *,
    expands: bool,
) -> list[Violation]:
    seen = None if expands else survey(tree, policy, scope, reserved)
    found = rule_violations(seen, policy)
    if seen is not None and policy.signatures:
        found += misfits(seen, scope)
    return sorted(found, key=lambda violation: (violation.line, violation.column, violation.rule))
