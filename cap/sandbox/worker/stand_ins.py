"""What stands for functions of the library that fetch or keep attributes by names in data."""

from __future__ import annotations

import functools
import itertools
from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import Any


def wraps(function: Callable[..., Any]) -> Callable[[Any], Any]:
    """Stand in for `functools.wraps`, which copies any attributes it is told to."""
    return functools.wraps(function)


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
        values = instance.__dict__
        if self._name not in values:
            values[self._name] = self._function(instance)
        return values[self._name]


def batched(values: Iterable[Any], n: int) -> Iterator[tuple[Any, ...]]:
    """Stand in for `itertools.batched`, which Python has since 3.12."""
    if n < 1:
        raise ValueError("n must be at least one")
    rest = iter(values)
    return iter(lambda: tuple(itertools.islice(rest, n)), ())


ITERTOOLS: Mapping[str, Any] = {"batched": getattr(itertools, "batched", batched)}
"""What stands for names of `itertools`."""
FUNCTOOLS: Mapping[str, Any] = {"cached_property": cached_property, "wraps": wraps}
"""What stands for names of `functools`."""
