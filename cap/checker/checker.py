"""The check: an allow-list over a program's syntax tree. Pure; nothing is ever executed.

It is a filter with good messages; the boundary is the process the program runs in. Each finding
has a rule id, a line, a column and a reason, so that a person can cite it and a model mend it.
The rules are in `rules`, what they say of each kind of syntax in `node_rules`.
"""

from __future__ import annotations

import ast
from dataclasses import dataclass

from cap.checker.node_rules import HARMLESS, RULES_BY_NODE
from cap.checker.policy import Policy
from cap.checker.rules import RULES
from cap.checker.survey import DATA_MODEL, Facts

__all__ = ["DATA_MODEL", "RULES", "Policy", "Violation", "check"]


@dataclass(frozen=True)
class Violation:
    """One finding of the check."""

    rule: str
    """Rule id, such as `CAP103`."""
    line: int
    """1-based."""
    column: int
    """1-based."""
    reason: str
    """What was found, and what to do instead."""

    def __str__(self) -> str:
        """Return it as one line."""
        return f"{self.rule} line {self.line}: {self.reason}"


_REASON_CHARS = 300
_PARTS: dict[type[ast.AST], tuple[str, ...]] = {
    ast.Name: (),
    ast.Constant: (),
    ast.Attribute: ("value",),
    ast.Subscript: ("value", "slice"),
    ast.Call: ("func", "args", "keywords"),
    ast.keyword: ("value",),
    ast.Assign: ("targets", "value"),
    ast.List: ("elts",),
    ast.Tuple: ("elts",),
    ast.FormattedValue: ("value", "format_spec"),
}
"""Where the commonest nodes have others below them; all fields but the context of use."""


def check(
    tree: ast.Module, policy: Policy | None = None, reserved: frozenset[str] = frozenset()
) -> list[Violation]:
    """Return every violation in a program, in order of line.

    Args:
        tree: The parsed program.
        policy: What to allow; a robot's by default.
        reserved: Names the program may not bind: its primitives.
    """
    policy = policy or Policy()
    nodes = _nodes(tree, policy)
    if nodes is None:
        limit = f"{policy.max_nodes} nodes, {policy.max_depth} levels"
        return [Violation("CAP107", 1, 1, f"the program is too large or too deep (limit {limit})")]
    facts = Facts.of(nodes, policy.modules, policy.builtins, policy.private, reserved)
    found = []
    for node in nodes:
        kind = type(node)
        if kind in RULES_BY_NODE:
            for rule, reason in RULES_BY_NODE[kind](node, facts):
                found.append(_violation(node, rule, reason))
        elif kind not in HARMLESS:
            found.append(_violation(node, "CAP101", f"{kind.__name__} is not allowed in a program"))
    return sorted(found, key=lambda violation: (violation.line, violation.column, violation.rule))


def _violation(node: ast.AST, rule: str, reason: str) -> Violation:
    line, column = getattr(node, "lineno", 1), getattr(node, "col_offset", 0)
    if len(reason) > _REASON_CHARS:  # a name may be as long as the program
        reason = f"{reason[:_REASON_CHARS]}..."
    return Violation(rule, line, column + 1, reason)


def _nodes(tree: ast.Module, policy: Policy) -> list[ast.AST] | None:
    """Return every node, without recursion; None if there are too many."""
    level: list[ast.AST] = [tree]
    nodes: list[ast.AST] = []
    for _ in range(policy.max_depth):
        if not level:
            return nodes
        nodes += level
        below: list[ast.AST] = []
        for node in level:
            for name in _PARTS.get(type(node), node._fields):
                value = getattr(node, name, None)
                if type(value) is list:
                    for part in value:
                        if isinstance(part, ast.AST):
                            below.append(part)
                elif isinstance(value, ast.AST):
                    below.append(value)
        if len(nodes) + len(below) > policy.max_nodes:
            return None
        level = below
    return nodes if not level else None
