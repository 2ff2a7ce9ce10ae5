"""Rebinding: the code of an aligned template with the new instruction's values in its holes."""

from __future__ import annotations

import ast
from collections.abc import Mapping
from typing import Any

from cap.models.nearest.template import Hole, Template

Value = str | float
"""A slot's words, or its number in metres, degrees or as counted."""


def rebind(template: Template, values: Mapping[int, Value]) -> str:
    """Return the template's code with `values` by slot number put in."""
    return ast.unparse(_fill(template.tree, values))


def _fill(node: Any, values: Mapping[int, Value]) -> Any:
    """Return a tree without holes; it shares with the old one what has none."""
    if isinstance(node, list):
        items = [_fill(item, values) for item in node]
        return node if all(a is b for a, b in zip(items, node, strict=True)) else items
    if not isinstance(node, ast.AST):
        return node
    if isinstance(node, ast.Constant):
        hole: object = node.value
        if not isinstance(hole, Hole):
            return node
        return _number(hole, values) if hole.number else _text(hole, values)
    old = dict(ast.iter_fields(node))
    new = {name: _fill(value, values) for name, value in old.items()}
    if all(new[name] is old[name] for name in old):
        return node
    return ast.copy_location(type(node)(**new), node)


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
