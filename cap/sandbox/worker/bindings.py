"""What a program leaves bound, for a session: its data, and which definition made each function.

A function or class is kept as the source of its definition, so what is bound must be what that
source says: not a lambda under its name, nor another function, a wrapped or a changed one.
"""

from __future__ import annotations

import types
from collections.abc import Callable
from typing import Any

from cap.program.private_names import is_special
from cap.sandbox.wire import codec
from cap.sandbox.worker.abstract import build_class

PROGRAM = "<program>"
"""The file name of a program's code."""
_Attributes = dict[str, tuple[Any, bytes | None]]


class Bindings:
    """The names of one program: as they were before it, and how its classes were made."""

    def __init__(self, space: dict[str, Any]) -> None:
        """Note what every program has, and note each class that is made from now on.

        Args:
            space: The names of the program, still without variables and definitions.
        """
        self._given = dict(space)
        self._before: dict[str, Any] = {}
        self._classes: dict[type, tuple[types.CodeType, _Attributes]] = {}
        space["__builtins__"] = {**space["__builtins__"], "__build_class__": self._build_class}

    def begin(self, space: dict[str, Any]) -> None:
        """Note what the kept definitions made; the program comes next."""
        self._before = dict(space)

    def left(self, space: dict[str, Any]) -> dict[str, Any]:
        """Return what is bound now: data, lines of definitions, and names that are not kept.

        A line is that of the definition in the program, 0 of what was kept before and still is.
        """
        variables: dict[str, Any] = {}
        defined: dict[str, int] = {}
        lost = []
        for name, value in space.items():
            if is_special(name) or not name.strip("_"):
                continue
            if name in self._given and value is self._given[name]:
                continue
            if not isinstance(value, types.FunctionType | type):
                if name.startswith("_"):  # the program's own business, and told so if asked for
                    lost.append(name)
                else:
                    variables[name] = value
            elif (line := self._line(name, value)) is None:
                own = value.__module__ == space["__name__"]
                if own or self._before.get(name) is not value:
                    lost.append(name)
            else:
                defined[name] = line
        data, dropped, oversized = codec.encode_variables(variables)
        # What a kept definition imports for itself, the program neither set nor lost.
        lost += [name for name in dropped if self._before.get(name, self) is not space[name]]
        return {"variables": data, "defined": defined, "dropped": lost, "oversized": oversized}

    def _line(self, name: str, value: types.FunctionType | type) -> int | None:
        """Return the line of the definition that a function or class is; None if it is none."""
        if isinstance(value, types.FunctionType):
            code = value.__code__
            plain = types.FunctionType(code, {}, closure=value.__closure__)
            texts = ("__name__", "__qualname__", "__doc__")
            changed = any(getattr(value, name) != getattr(plain, name) for name in texts)
            changed = changed or bool(vars(value))
        elif value in self._classes:
            code, made = self._classes[value]
            changed = value.__name__ != code.co_name or not _same(made, _attributes(value))
        else:
            return None
        if changed:
            return None
        if self._before.get(name) is value:
            return 0
        own = code.co_filename == PROGRAM and code.co_name == name
        return code.co_firstlineno if own else None

    def _build_class(
        self, body: Callable[[], Any], name: str, /, *bases: Any, **options: Any
    ) -> Any:
        """Stand in for what a `class` statement calls."""
        made = build_class(body, name, *bases, **options)
        if type(made) is type:
            self._classes[made] = body.__code__, _attributes(made)
        return made


def _attributes(kind: type) -> _Attributes:
    """Return a class's own attributes: each itself, and as bytes where it is data."""
    found: _Attributes = {}
    for name, value in vars(kind).items():
        try:
            found[name] = value, codec.encode(value)
        except codec.WireError:  # no data
            found[name] = value, None
    return found


def _same(made: _Attributes, now: _Attributes) -> bool:
    """Tell whether attributes are the same objects with the same data."""
    return made.keys() == now.keys() and all(
        value is now[name][0] and data == now[name][1] for name, (value, data) in made.items()
    )
