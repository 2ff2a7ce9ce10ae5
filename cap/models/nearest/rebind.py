"""Rebinding: the code of an aligned template with the new instruction's values in its holes."""

from __future__ import annotations

import ast
import copy
from collections.abc import Mapping

from cap.models.nearest.template import Hole, Template

Value = str | float
"""A slot's words, or its number in metres, degrees or as counted."""


def rebind(template: Template, values: Mapping[int, Value]) -> str:
    """Return the template's code with `values` by slot number put in.

    Where nothing differs from the example its own text comes back, comments and all.
    """
    tree = _Fill(values).visit(copy.deepcopy(template.tree))
    if not template.derived:
        same = ast.dump(tree) == ast.dump(ast.parse(template.example.code))
        if same:
            return template.example.code
    return ast.unparse(ast.fix_missing_locations(tree))


class _Fill(ast.NodeTransformer):
    """Puts values into holes."""

    def __init__(self, values: Mapping[int, Value]) -> None:
        self.values = values

    def visit_Constant(self, node: ast.Constant) -> ast.expr:  # noqa: N802 - ast's own naming
        hole = node.value
        if isinstance(hole, Hole):
            return _number(hole, self.values) if hole.number else _text(hole, self.values)
        return node


def _text(hole: Hole, values: Mapping[int, Value]) -> ast.expr:
    words = [part if isinstance(part, str) else str(values[part]) for part in hole.parts]
    return ast.Constant("".join(words))


def _number(hole: Hole, values: Mapping[int, Value]) -> ast.expr:
    slot = hole.parts[0]
    value = float(values[int(slot)]) * hole.factor + hole.shift
    whole = hole.integer and value.is_integer()
    number = int(value) if whole else float(f"{value:.12g}")
    if number < 0:
        return ast.UnaryOp(ast.USub(), ast.Constant(-number))
    return ast.Constant(number)
