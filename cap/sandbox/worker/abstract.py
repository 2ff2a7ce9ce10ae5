"""`metaclass=ABCMeta`, for class statements alone: called with data it makes no class."""

from __future__ import annotations

import abc
import builtins
from collections.abc import Callable
from typing import Any

from cap.sandbox.worker.builtin_function import shown_as


class _AbstractKind:
    """Stand in for `abc.ABCMeta`."""

    __slots__ = ("__name__", "__qualname__")

    def __init__(self) -> None:
        """Take its name."""
        self.__name__ = self.__qualname__ = "ABCMeta"

    def __call__(self, /, *_: Any, **__: Any) -> Any:
        """Refuse to make a class of data."""
        raise TypeError("ABCMeta makes no class here; write `class A(metaclass=ABCMeta):`")

    def __mro_entries__(self, bases: Any) -> Any:
        """Refuse to be inherited from."""
        raise TypeError("a class of classes is not available to programs")

    def __repr__(self) -> str:
        """Return what Python would show."""
        return "<class 'abc.ABCMeta'>"


shown_as(_AbstractKind, "abc", "ABCMeta")
ABSTRACT_KIND = _AbstractKind()
"""What programs know as `ABCMeta`."""


def build_class(body: Callable[[], Any], name: str, /, *bases: Any, **options: Any) -> Any:
    """Stand in for what a `class` statement calls."""
    if options:
        if options != {"metaclass": ABSTRACT_KIND}:
            raise TypeError(f"class '{name}' has keywords; write plain base classes, such as ABC")
        options = {"metaclass": abc.ABCMeta}
    return builtins.__build_class__(body, name, *bases, **options)
