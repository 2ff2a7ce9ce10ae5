"""What stands for functions of the library that fetch or keep attributes by names in data."""

from __future__ import annotations

import functools
import itertools
import sys
import types
from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import Any

from cap.sandbox.worker.abstract import PROGRAM_NAMES
from cap.sandbox.worker.builtin_function import (
    BuiltinFunction,
    program_print,
    shown_as,
    undirected,
)
from cap.sandbox.worker.dispatch import is_of_program, singledispatch, singledispatchmethod
from cap.sandbox.worker.logs import STREAMS


def wraps(function: Callable[..., Any]) -> Callable[[Any], Any]:
    """Stand in for `functools.wraps`, which copies any attributes it is told to, to anything."""

    def decorate(wrapper: Any) -> Any:
        own = type(wrapper).__module__ in PROGRAM_NAMES
        if not own and not is_of_program(wrapper):
            raise TypeError("wraps() is put before a function of the program's own")
        if is_of_program(wrapper) and is_of_program(function):
            vars(wrapper).update(vars(function))
            wrapper.__annotations__ = dict(function.__annotations__)
        for name in ("__name__", "__qualname__", "__doc__"):
            value = getattr(function, name, None)
            if type(value) is str or name == "__doc__":
                setattr(wrapper, name, value)
        wrapper.__wrapped__ = function
        return wrapper

    return decorate


def update_wrapper(wrapper: Any, wrapped: Callable[..., Any]) -> Any:
    """Stand in for `functools.update_wrapper` likewise."""
    return wraps(wrapped)(wrapper)


def lru_cache(maxsize: Any = 128, typed: Any = False) -> Any:
    """Stand in for `functools.lru_cache`, which keeps classes among what it compares."""
    if callable(maxsize) or not typed:
        return functools.lru_cache(maxsize)

    return lambda function: _TypedCache(maxsize, function)


class _TypedCache:
    """A function whose answers are kept by the values and the classes of what it is given."""

    __slots__ = ("__dict__", "_cached")

    def __init__(self, maxsize: Any, function: Callable[..., Any]) -> None:
        def computed(kinds: tuple[int, ...], /, *args: Any, **named: Any) -> Any:
            return function(*args, **named)

        self._cached = functools.lru_cache(maxsize)(computed)
        functools.update_wrapper(self, function)

    def __call__(self, /, *args: Any, **named: Any) -> Any:
        kinds = tuple(id(type(value)) for value in (*args, *named.values()))
        return self._cached(kinds, *args, **named)

    def __get__(self, instance: Any, owner: type | None = None) -> Any:
        return self if instance is None else types.MethodType(self, instance)

    def cache_info(self) -> Any:
        """Tell how often an answer was there."""
        return self._cached.cache_info()

    def cache_clear(self) -> None:
        """Forget all answers."""
        self._cached.cache_clear()

    def cache_parameters(self) -> dict[str, Any]:
        """Tell how it was made."""
        return {**self._cached.cache_parameters(), "typed": True}


class cached_property:  # noqa: N801 programs know it by this name
    """Stand in for `functools.cached_property`, whose name for its value can be written over."""

    __slots__ = ("_function", "_name")

    def __init__(self, function: Callable[[Any], Any]) -> None:
        """Keep the method."""
        self._function = function
        self._name: str | None = None

    def __set_name__(self, owner: type, name: str) -> None:
        """Learn what the class calls it."""
        if self._name not in (None, name):
            raise TypeError(
                "Cannot assign the same cached_property to two different names "
                f"({self._name!r} and {name!r})."
            )
        self._name = name

    def __get__(self, instance: Any, owner: type | None = None) -> Any:
        """Return the value, computed once."""
        if instance is None:
            return self
        if self._name is None:
            raise TypeError("Cannot use cached_property instance without calling __set_name__")
        values = getattr(instance, "__dict__", None)
        if values is None:
            raise TypeError(
                f"No '__dict__' attribute on {type(instance).__name__!r} instance "
                f"to cache {self._name!r} property."
            )
        if self._name not in values:
            values[self._name] = self._function(instance)
        return values[self._name]

    @property
    def func(self) -> Callable[[Any], Any]:
        """The method."""
        return self._function

    @property
    def __doc__(self) -> str | None:  # type: ignore[override]
        """The method's text."""
        return self._function.__doc__

    @property
    def attrname(self) -> str | None:
        """What the class calls it."""
        return self._name


def batched(values: Iterable[Any], n: int) -> Iterator[tuple[Any, ...]]:
    """Stand in for `itertools.batched`, which Python has since 3.12."""
    if n < 1:
        raise ValueError("n must be at least one")
    rest = iter(values)
    return iter(lambda: tuple(itertools.islice(rest, n)), ())


class attrgetter:  # noqa: N801 programs know it by this name
    """Stand in for `operator.attrgetter`, by a function that keeps to the rules of attributes."""

    __slots__ = ("_attribute", "_paths")

    def __init__(self, attribute: Callable[[Any, Any], Any], *paths: Any) -> None:
        """Keep the names, each with dots between its steps."""
        if not paths:
            raise TypeError("attrgetter expected at least 1 argument, got 0")
        if not all(isinstance(path, str) for path in paths):
            raise TypeError("attribute name must be a string")
        self._attribute = attribute
        self._paths = [path.split(".") for path in paths]

    def __call__(self, value: Any, /) -> Any:
        """Return the attribute, or a tuple of several."""
        found = tuple(functools.reduce(self._attribute, path, value) for path in self._paths)
        return found if len(found) > 1 else found[0]

    def __repr__(self) -> str:
        """Return what Python would show."""
        return f"operator.attrgetter({', '.join(repr('.'.join(path)) for path in self._paths)})"


class methodcaller:  # noqa: N801 programs know it by this name
    """Stand in for `operator.methodcaller`, by the same function."""

    __slots__ = ("_args", "_attribute", "_name", "_named")

    def __init__(
        self, attribute: Callable[[Any, Any], Any], name: str, /, *args: Any, **named: Any
    ) -> None:
        """Keep the method's name and its arguments."""
        self._attribute, self._name, self._args, self._named = attribute, name, args, named

    def __call__(self, value: Any, /) -> Any:
        """Call the method of a value."""
        return self._attribute(value, self._name)(*self._args, **self._named)

    def __repr__(self) -> str:
        """Return what Python would show."""
        given = [repr(value) for value in (self._name, *self._args)]
        given += [f"{name}={value!r}" for name, value in self._named.items()]
        return f"operator.methodcaller({', '.join(given)})"


class redirect_stdout:  # noqa: N801 programs know it by this name
    """Stand in for `contextlib.redirect_stdout`, by the program's own `print`."""

    __slots__ = ("_before", "_target")

    def __init__(self, new_target: Any) -> None:
        """Keep what is printed to."""
        self._target = new_target
        self._before: list[tuple[BuiltinFunction, Callable[..., Any]]] = []
        """What printed before, each time it was entered."""

    def __enter__(self) -> Any:
        """Print there from now on."""
        out = program_print()
        before, target = out._function, self._target
        plainly = undirected(before)

        def redirected(*values: Any, file: Any = None, **named: Any) -> None:
            where = target if file is None or file is STREAMS["stdout"] else file
            if where is STREAMS["stdout"]:
                before(*values, **named)
            elif where is STREAMS["stderr"]:
                plainly(*values, **named)
            elif where is not None:
                plainly(*values, file=where, **named)

        redirected.undirected = plainly  # type: ignore[attr-defined]
        self._before.append((out, before))
        out._becomes(redirected)
        return target

    def __exit__(self, *_: object) -> None:
        """Print as before."""
        out, before = self._before.pop()
        out._becomes(before)


MOST_DEEP = 20_000
"""The deepest recursion a program may ask for."""


def set_recursion_limit(limit: int, /) -> None:
    """Stand in for `sys.setrecursionlimit`; a stack that overflows ends the process."""
    sys.setrecursionlimit(min(limit, MOST_DEEP))


for _kind, _module in (
    *((cached_property, "functools"), (singledispatch, "functools")),
    *((singledispatchmethod, "functools"), (wraps, "functools"), (batched, "itertools")),
    *((update_wrapper, "functools"), (lru_cache, "functools")),
    *((attrgetter, "operator"), (methodcaller, "operator"), (redirect_stdout, "contextlib")),
):
    shown_as(_kind, _module, _kind.__name__)
shown_as(_TypedCache, "functools", "_lru_cache_wrapper")
shown_as(set_recursion_limit, "sys", "setrecursionlimit")
ITERTOOLS: Mapping[str, Any] = {"batched": getattr(itertools, "batched", batched)}
"""What stands for names of `itertools`."""
FUNCTOOLS: Mapping[str, Any] = {
    "cached_property": cached_property,
    "lru_cache": lru_cache,
    "singledispatch": singledispatch,
    "singledispatchmethod": singledispatchmethod,
    "update_wrapper": update_wrapper,
    "wraps": wraps,
}
"""What stands for names of `functools`."""
