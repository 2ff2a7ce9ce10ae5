"""Values as source text: assignments that make variables again, exactly as they are."""

from __future__ import annotations

import ast
import math
from collections.abc import Mapping
from typing import Any

import numpy as np

from cap.program.program import parsed

_MOST_CHARS = 10_000
"""The longest text of one value; a program has its limit too."""
_PLAIN = "biufcU"
"""Kinds of numpy's types whose values Python's own can tell: truth values, numbers, texts."""
_BRACKETS: Mapping[type, tuple[str, str]] = {
    list: ("[", "]"),
    tuple: ("(", ")"),
    set: ("{", "}"),
    frozenset: ("frozenset({", "})"),
}
_EMPTY: Mapping[type, str] = {set: "set()", frozenset: "frozenset()"}


class NoLiteral(Exception):
    """A value has no literal form; the message says why."""


def assignments(source: str, variables: Mapping[str, Any]) -> str:
    """Return assignments of those variables that a program reads; "" if it reads none.

    Args:
        source: The program.
        variables: Plain data by name.
    """
    reads = _read(parsed(source)) if variables else set()
    writer = _Writer()
    lines = [writer.assignment(name, value) for name, value in variables.items() if name in reads]
    return "\n".join(["# Variables that were there before.", *lines, "\n"]) if lines else ""


def _read(tree: ast.Module) -> set[str]:
    """Return every name that is read somewhere, also where it is bound too."""
    found = set()
    for node in ast.walk(tree):
        if isinstance(node, ast.AugAssign) and isinstance(node.target, ast.Name):
            found.add(node.target.id)
        elif isinstance(node, ast.Name) and not isinstance(node.ctx, ast.Store):
            found.add(node.id)
    return found


class _Writer:
    """Writes values one after the other; one that is shared is written once, then by its name."""

    def __init__(self) -> None:
        self._names: dict[int, str] = {}
        self._seen: set[int] = set()

    def assignment(self, name: str, value: Any) -> str:
        """Return `name = literal`, or a comment that says why there is none."""
        try:
            text = self.literal(value)
            if len(text) > _MOST_CHARS:
                raise NoLiteral(f"it takes {len(text)} characters to write")
        except (NoLiteral, ValueError, RecursionError) as error:  # no repr of a very long integer
            return f"# {name}: its value cannot be written here ({error})"
        self._names.setdefault(id(value), name)
        return f"{name} = {text}"

    def literal(self, value: Any) -> str:
        """Return an expression that gives the value.

        Raises:
            NoLiteral: There is none.
        """
        kind = type(value)
        if value is None or kind in (bool, int, str, bytes, range):
            return repr(value)
        if kind is float:
            return repr(value) if math.isfinite(value) else f"float({str(value)!r})"
        if kind is complex and math.isfinite(value.real) and math.isfinite(value.imag):
            return repr(value)
        if isinstance(value, np.generic) and value.dtype.kind in _PLAIN:
            item = value.item()
            if not isinstance(item, np.generic):  # as a longer float than Python's is
                return f"np.{kind.__name__}({self.literal(item)})"
        if hasattr(value, "geom_type"):
            return self._geometry(value)
        if kind is dict or kind is np.ndarray or kind in _BRACKETS:
            return self._names.get(id(value)) or self._container(value)
        raise NoLiteral(f"a value of type '{kind.__name__}'")

    def _container(self, value: Any) -> str:
        if id(value) in self._seen and type(value) in (list, dict, set, np.ndarray):
            raise NoLiteral("a part of it stands in several places")
        self._seen.add(id(value))
        if isinstance(value, dict):
            entries = (f"{self.literal(key)}: {self.literal(value[key])}" for key in value)
            return f"{{{', '.join(entries)}}}"
        if isinstance(value, np.ndarray):
            if value.dtype.kind not in _PLAIN:
                raise NoLiteral(f"an array of dtype '{value.dtype}'")
            listed = value.tolist()
            again = np.array(listed)
            dtype = "" if again.dtype == value.dtype else f", dtype={value.dtype.str!r}"
            shape = "" if again.shape == value.shape else f".reshape({value.shape!r})"
            return f"np.array({_Writer().literal(listed)}{dtype}){shape}"
        if not value and type(value) in _EMPTY:
            return _EMPTY[type(value)]
        begin, end = _BRACKETS[type(value)]
        comma = "," if type(value) is tuple and len(value) == 1 else ""
        return f"{begin}{', '.join(map(self.literal, value))}{comma}{end}"

    def _geometry(self, value: Any) -> str:
        if value.is_empty:
            return f"{value.geom_type}()"
        if value.geom_type == "Polygon":
            holes = [list(ring.coords) for ring in value.interiors]
            shell = _Writer().literal(list(value.exterior.coords))
            return f"Polygon({shell}, {_Writer().literal(holes)})"
        if hasattr(value, "geoms"):
            return f"{value.geom_type}([{', '.join(map(self._geometry, value.geoms))}])"
        return f"{value.geom_type}({_Writer().literal(list(value.coords))})"
