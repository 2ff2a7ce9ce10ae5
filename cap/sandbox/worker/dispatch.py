"""Functions chosen by the class of their argument, whose hints are looked up, never evaluated."""

from __future__ import annotations

import functools
import types
from collections.abc import Callable, Mapping
from typing import Any

from cap.program.private_names import TOLD


class singledispatch:  # noqa: N801 programs know it by this name
    """Stand in for `functools.singledispatch`, which evaluates hints that are texts."""

    def __init__(self, function: Callable[..., Any]) -> None:
        """Take the function for every class that none is registered for."""
        self._choice = functools.singledispatch(function)
        self.__name__: str = getattr(function, "__name__", "singledispatch function")
        self.__doc__ = function.__doc__

    def __call__(self, /, *args: Any, **named: Any) -> Any:
        """Call the function for the class of the first argument."""
        if not args:
            raise TypeError(f"{self.__name__} requires at least 1 positional argument")
        return self.dispatch(args[0].__class__)(*args, **named)

    def dispatch(self, kind: type) -> Callable[..., Any]:
        """Return the function for a class."""
        found: Callable[..., Any] = self._choice.dispatch(kind)
        return found

    def register(self, kind: Any, function: Any = None) -> Any:
        """Register a function for a class, or for the class its first hint names."""
        if function is None:
            if isinstance(kind, type | types.UnionType):
                return lambda given: self.register(kind, given)
            kind, function = _hinted(kind), kind
        self._choice.register(kind, function)
        return function

    @property
    def registry(self) -> Mapping[Any, Any]:
        """The functions by class."""
        return self._choice.registry


def is_of_program(function: Any) -> bool:
    """Tell whether a program wrote a function: the names it finds are a program's.

    Those that `dataclasses` writes for its classes find Python's own.
    """
    builtins: Any = getattr(function, "__builtins__", ())
    return isinstance(function, types.FunctionType) and TOLD in builtins


def _hinted(function: Any) -> Any:
    """Return the class in a function's first hint."""
    inner: Any = function
    if isinstance(function, classmethod | staticmethod):
        inner = function.__func__
    hints = inner.__annotations__ if is_of_program(inner) else {}
    if not hints:
        raise TypeError(
            f"Invalid first argument to `register()`: {function!r}. "
            "Use either `@register(some_class)` or plain `@register` on an annotated function."
        )
    name, hint = next(iter(hints.items()))
    if isinstance(hint, str):  # as under `from __future__ import annotations`
        known = {**inner.__builtins__, **inner.__globals__}
        hint = known.get(hint, hint)
    if not isinstance(hint, type | types.UnionType):
        raise TypeError(f"Invalid annotation for {name!r}. {hint!r} is not a class.")
    return hint


class singledispatchmethod:  # noqa: N801 programs know it by this name
    """Stand in for `functools.singledispatchmethod`."""

    def __init__(self, function: Any) -> None:
        """Take the method for every class that none is registered for."""
        self._choice = singledispatch(function)
        self._function = function

    def register(self, kind: Any, method: Any = None) -> Any:
        """Register a method for a class."""
        return self._choice.register(kind, method)

    def __get__(self, instance: Any, owner: type | None = None) -> Callable[..., Any]:
        """Return what chooses the method and calls it on an object."""

        def method(*args: Any, **named: Any) -> Any:
            chosen = self._choice.dispatch(args[0].__class__)
            return chosen.__get__(instance, owner)(*args, **named)

        method.__name__ = method.__qualname__ = self._choice.__name__
        return method
