"""`metaclass=ABCMeta`, for class statements: called with data it makes no class by any names."""

from __future__ import annotations

import abc
from typing import Any

from cap.checker.attributes import DATA_MODEL
from cap.program.private_names import TABLES, is_special
from cap.sandbox.worker.builtin_function import shown_as

_OF_EVERY_CLASS = frozenset(
    ["__annotations__", "__classcell__", "__doc__", "__module__", "__qualname__"]
)


class _AbstractKind:
    """Stand in for `abc.ABCMeta`."""

    __slots__ = ("__name__", "__qualname__")

    def __init__(self) -> None:
        """Take its name."""
        self.__name__ = self.__qualname__ = "ABCMeta"

    def __call__(self, name: str, bases: Any, space: Any) -> type:
        """Make a class, if a program could have written it."""
        for key, value in space.items():
            known = key in DATA_MODEL or key in _OF_EVERY_CLASS
            if key in TABLES:
                entries = [value] if isinstance(value, str) else [*value]
                known = not any(is_special(entry) for entry in entries)
            if is_special(key) and not known:
                raise TypeError(f"a class with '{key}' is not available to programs")
        return abc.ABCMeta(name, bases, dict(space))

    def __mro_entries__(self, bases: Any) -> Any:
        """Refuse to be inherited from."""
        raise TypeError("a class of classes is not available to programs")

    def __repr__(self) -> str:
        """Return what Python would show."""
        return "<class 'abc.ABCMeta'>"


shown_as(_AbstractKind, "abc", "ABCMeta")
ABSTRACT_KIND = _AbstractKind()
"""What programs know as `ABCMeta`."""
