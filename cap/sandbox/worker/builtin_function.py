"""Functions that stand in for Python's own, and show themselves as these do."""

from __future__ import annotations

import sys
import types
from collections.abc import Callable
from typing import Any, TypeVar

_Named = TypeVar("_Named", bound=Any)


def shown_as(thing: _Named, module: str, name: str) -> _Named:
    """Have a class or function show itself as Python's own that it stands for.

    Args:
        thing: The stand-in.
        module: Where Python keeps its own.
        name: What Python calls it.
    """
    thing.__module__, thing.__name__, thing.__qualname__ = module, name, name
    for method in vars(thing).values() if isinstance(thing, type) else ():
        if isinstance(method, types.FunctionType):
            method.__qualname__ = f"{name}.{method.__name__}"
    return thing


class BuiltinFunction:
    """A function under the name of one of Python's."""

    __slots__ = ("__name__", "_function")
    __name__: str
    _function: Callable[..., Any]

    def __init__(self, name: str, function: Callable[..., Any]) -> None:
        """Make one.

        Args:
            name: What Python calls it.
            function: What it does here.
        """
        object.__setattr__(self, "__name__", name)
        self._becomes(function)

    def __setattr__(self, name: str, value: Any) -> None:
        """Refuse to be another function."""
        raise AttributeError(f"'{self.__name__}' is provided; keep yours in a name of your own")

    def _becomes(self, function: Callable[..., Any]) -> None:
        object.__setattr__(self, "_function", function)

    def __call__(self, /, *args: Any, **named: Any) -> Any:
        """Do it."""
        return self._function(*args, **named)

    def __reduce__(self) -> str:
        """Say that a copy of it is itself."""
        return self.__name__

    def __mro_entries__(self, bases: Any) -> Any:
        """Refuse to be inherited from."""
        raise TypeError(f"'{self.__name__}' is a function; no class inherits from it")

    def __repr__(self) -> str:
        """Return what Python would show."""
        return f"<built-in function {self.__name__}>"


shown_as(BuiltinFunction, "builtins", "builtin_function_or_method")


def program_frame() -> Any:
    """Return the frame of the program that calls, be it by way of a library."""
    frame: Any = sys._getframe(1)
    while not isinstance(frame.f_builtins["print"], BuiltinFunction):
        frame = frame.f_back
    return frame


def program_print() -> BuiltinFunction:
    """Return the `print` of the program that calls."""
    found: BuiltinFunction = program_frame().f_builtins["print"]
    return found


def undirected(function: Callable[..., Any]) -> Callable[..., Any]:
    """Return what a program's `print` does when nothing is redirected."""
    return getattr(function, "undirected", function)
