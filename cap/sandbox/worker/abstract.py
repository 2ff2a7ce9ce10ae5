"""`metaclass=ABCMeta`, for class statements alone: called with data it makes no class."""

from __future__ import annotations

import abc
import builtins
import sys
from collections.abc import Callable
from typing import Any

from cap.program.private_names import TOLD
from cap.sandbox.worker.builtin_function import shown_as

PROGRAM_NAMES = ("__main__", "program")
"""What a program is called: one that is run, and one that is imported, as tests do."""


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

    def __reduce__(self) -> str:
        """Say that a copy of it is itself."""
        return self.__name__

    def __repr__(self) -> str:
        """Return what Python would show."""
        return "<class 'abc.ABCMeta'>"


shown_as(_AbstractKind, "abc", "ABCMeta")
ABSTRACT_KIND = _AbstractKind()
"""What programs know as `ABCMeta`."""


class _Nothing:
    """An attribute that no object has, whatever its own dictionary holds."""

    __slots__ = ()

    def __get__(self, instance: Any, owner: Any = None) -> Any:
        """Say that there is none."""
        raise AttributeError("a program's object has no memory to be told of")

    def __set__(self, instance: Any, value: Any) -> None:
        """Refuse to be another."""
        raise AttributeError("a program's object has no memory to be told of")


_NOTHING = _Nothing()
_MEMORY = ("__array_interface__", "__array_struct__")
"""How numpy asks an object, and a class, where its memory is."""


def without_memory(kind: type) -> None:
    """Have no object of a class tell numpy of any memory.

    Args:
        kind: A class that a program writes, or makes objects of with names of its own.
    """
    for name in _MEMORY:
        type.__setattr__(kind, name, _NOTHING)


def build_class(body: Callable[[], Any], name: str, /, *bases: Any, **options: Any) -> Any:
    """Stand in for what a `class` statement calls."""
    if options:
        if options != {"metaclass": ABSTRACT_KIND}:
            raise TypeError(f"class '{name}' has keywords; write plain base classes, such as ABC")
        options = {"metaclass": abc.ABCMeta}
    made = builtins.__build_class__(body, name, *bases, **options)
    if isinstance(made, type):
        without_memory(made)
    if options and "register" not in {entry for base in made.__mro__ for entry in vars(base)}:
        made.register = register
    return made


@classmethod  # type: ignore[misc]
def register(owner: Any, kind: Any) -> Any:
    """Stand in for `register` of abstract classes: it takes a program's own classes alone."""
    frame: Any = sys._getframe(1)
    while frame is not None and TOLD not in frame.f_builtins:
        frame = frame.f_back
    if frame is not None and getattr(kind, "__module__", None) not in PROGRAM_NAMES:
        raise TypeError("register() takes classes of the program's own")
    return abc.ABCMeta.register(owner, kind)
