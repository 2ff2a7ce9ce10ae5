"""Rebinding: the code of an aligned template with the new instruction's values in its holes."""

from __future__ import annotations

import ast
from collections.abc import Mapping

from cap.models.nearest.template import Hole, Template, rewrite

Value = str | float
"""A slot's words, or its number in metres, degrees or as counted."""


def rebind(template: Template, values: Mapping[int, Value]) -> str:
    """Return the template's code with `values` by slot number put in."""

    def fill(node: ast.AST) -> ast.AST | None:
        hole: object = node.value if isinstance(node, ast.Constant) else None
        if not isinstance(hole, Hole):
            return None
        return _number(hole, values) if hole.number else _text(hole, values)

    return ast.unparse(rewrite(template.tree, fill))


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
