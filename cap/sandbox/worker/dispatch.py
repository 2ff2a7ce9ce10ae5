"""Functions chosen by the class of their argument, whose hints are looked up, never evaluated."""

from __future__ import annotations

import functools
import types
from collections.abc import Callable
from types import MappingProxyType
from typing import Any

from cap.program.private_names import MARK, TOLD
from cap.sandbox.worker.abstract import PROGRAM_NAMES

_MOST_DECORATORS = 100


def singledispatch(function: Callable[..., Any]) -> Any:
    """Stand in for `functools.singledispatch`, which evaluates hints that are texts."""
    choice: Any = functools.singledispatch(function)
    shown: dict[Any, Any] = {object: function}  # whoever compares a proxy is given what is below

    def dispatch(kind: Any) -> Any:
        if not issubclass(type(kind), type):  # an object of the program would be compared with keys
            raise TypeError(f"{kind!r} is not a class")
        try:
            return choice.dispatch(kind)
        except RuntimeError as error:
            ambiguous = str(error)
        raise RuntimeError(ambiguous)  # what it was raised in the course of names the class itself

    def register(kind: Any, function: Any = None) -> Any:
        if function is None:
            if isinstance(kind, type | types.UnionType):
                return lambda given: register(kind, given)
            kind, function = _hinted(kind), kind
        choice.register(kind, function)
        shown.update(dict.fromkeys(getattr(kind, "__args__", (kind,)), function))
        return function

    name = getattr(function, "__name__", "singledispatch function")

    def call(*args: Any, **named: Any) -> Any:
        if not args:
            raise TypeError(f"{name} requires at least 1 positional argument")
        return dispatch(args[0].__class__)(*args, **named)

    for entry in ("__module__", "__name__", "__qualname__", "__doc__"):
        if type(text := getattr(function, entry, None)) is str:
            setattr(call, entry, text)
    made: Any = call
    if is_of_program(function):
        vars(made).update(vars(function))
        made.__annotations__ = dict(function.__annotations__)
    made.dispatch, made.register, made.registry = dispatch, register, MappingProxyType(shown)
    made.__wrapped__ = function
    return made


def is_of_program(function: Any) -> bool:
    """Tell whether a program wrote a function: the names it finds are a program's.

    Those that `dataclasses` writes for its classes find Python's own.
    """
    builtins: Any = getattr(function, "__builtins__", ())
    return isinstance(function, types.FunctionType) and TOLD in builtins


def of_program(function: Any) -> Any:
    """Return what of the program's own a function is, or was put before; None of another's."""
    for _ in range(_MOST_DECORATORS):
        if is_of_program(function) or type(function).__module__ in PROGRAM_NAMES:
            return function
        function = getattr(function, "__wrapped__", None)
    return None


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
    if type(hint) is str and MARK not in hint:  # as under `from __future__ import annotations`
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

    def __get__(self, instance: Any, owner: type | None = None) -> Any:
        """Return what chooses the method and calls it on an object."""

        def method(*args: Any, **named: Any) -> Any:
            chosen = self._choice.dispatch(args[0].__class__)
            return chosen.__get__(instance, owner)(*args, **named)

        made: Any = method
        made.__name__ = made.__qualname__ = self._choice.__name__
        made.register = self.register
        return made
