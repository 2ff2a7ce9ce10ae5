"""Values as source text: assignments that make variables again."""

from __future__ import annotations

import ast
import math
from collections.abc import Mapping
from typing import Any

import numpy as np

from cap.program.program import parsed

_MOST_CHARS = 10_000
"""The longest text of one value; a program has its limit too."""


class NoLiteral(Exception):
    """A value has no literal form; the message says why."""


def assignments(source: str, variables: Mapping[str, Any]) -> str:
    """Return assignments of those variables that a program reads; "" if it reads none.

    Args:
        source: The program.
        variables: Plain data by name.
    """
    if not variables:
        return ""
    reads = set()
    for node in ast.walk(parsed(source)):
        if isinstance(node, ast.AugAssign) and isinstance(node.target, ast.Name):
            reads.add(node.target.id)
        elif isinstance(node, ast.Name) and not isinstance(node.ctx, ast.Store):
            reads.add(node.id)
    lines = [_assignment(name, value) for name, value in variables.items() if name in reads]
    return "\n".join(["# Variables that were there before.", *lines, "\n"]) if lines else ""


def _assignment(name: str, value: Any) -> str:
    """Return `name = literal`, or a comment that says why there is none."""
    try:
        text = _literal(value)
        if len(text) > _MOST_CHARS:
            raise NoLiteral(f"it takes {len(text)} characters to write")
    except (NoLiteral, ValueError, RecursionError) as error:  # no repr of a very long integer
        return f"# {name}: its value cannot be written here ({error})"
    return f"{name} = {text}"


def _literal(value: Any) -> str:
    kind = type(value)
    if isinstance(value, np.ndarray):
        return f"np.array({_literal(value.tolist())})"
    if isinstance(value, np.generic):
        return _literal(value.item())
    if isinstance(value, float) and not math.isfinite(value):
        return f"float({str(value)!r})"
    if value is None or kind in (bool, int, float, str, bytes, range, complex):
        return repr(value)
    if kind is dict:
        entries = (f"{_literal(key)}: {_literal(entry)}" for key, entry in value.items())
        return f"{{{', '.join(entries)}}}"
    if kind in (list, tuple, set, frozenset):
        inside = ", ".join(map(_literal, value))
        return f"[{inside}]" if kind is list else f"{kind.__name__}([{inside}])"
    if hasattr(value, "geom_type"):
        return _geometry(value)
    raise NoLiteral(f"a value of type '{kind.__name__}'")


def _geometry(value: Any) -> str:
    if value.is_empty:
        return f"{value.geom_type}()"
    if value.geom_type == "Polygon":
        holes = [list(ring.coords) for ring in value.interiors]
        return f"Polygon({list(value.exterior.coords)!r}, {holes!r})"
    if hasattr(value, "geoms"):
        return f"{value.geom_type}([{', '.join(map(_geometry, value.geoms))}])"
    return f"{value.geom_type}({list(value.coords)!r})"
