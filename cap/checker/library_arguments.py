"""Arguments of the library's users, checked against their declared types, with one-line errors."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import fields
from functools import cache
from numbers import Integral, Real
from pathlib import Path
from types import NoneType, UnionType
from typing import Any, Literal, Union, get_args, get_origin, get_type_hints

from cap.errors import UsageError, did_you_mean

_hints: Any = cache(get_type_hints)
_LONGEST = 80
"""Of a value that is shown."""
_WORDS: Mapping[Any, str] = {
    NoneType: "None",
    int: "a whole number, 0 or more",
    float: "a number, 0 or more",
    str: "text",
    bytes: "bytes",
    bool: "True or False",
    Path: "a path",
    Callable: "a function",
    Mapping: "a mapping by name",
    **dict.fromkeys((Sequence, Collection, tuple), "a list"),
}


def require(what: str, value: object, kind: Any) -> None:
    """Refuse a value that is not of a kind.

    Args:
        what: What it is called.
        value: What was given.
        kind: A type as in an annotation. Numbers are not negative; without end is `math.inf`.

    Raises:
        UsageError: It is of another kind.
    """
    if not _fits(value, kind):
        shown = " ".join(repr(value).split())[:_LONGEST]
        raise UsageError(f"{what} is {shown}; it must be {_in_words(kind)}")


def check_values(settings: Any) -> None:
    """Hold each field of a dataclass against its annotation.

    Raises:
        UsageError: One is of another kind.
    """
    kinds = _hints(type(settings))
    for entry in fields(settings):
        require(entry.name, getattr(settings, entry.name), kinds[entry.name])


class CheckedValues:
    """Base of dataclasses that raise `UsageError` if a value is not of its field's type."""

    def __post_init__(self) -> None:
        """Check the values."""
        check_values(self)


def check_fields(what: str, kind: type[Any], given: Mapping[str, Any]) -> None:
    """Refuse names that are no fields of a dataclass.

    Raises:
        UsageError: There is one.
    """
    known = [entry.name for entry in fields(kind)]
    for name in given:
        if name not in known:
            hint = did_you_mean(str(name), known) or f" Known: {', '.join(known)}"
            raise UsageError(f"there is no {what} {name!r}.{hint}")


def _fits(value: Any, kind: Any) -> bool:
    if kind is Any:
        return True
    if kind in (int, float):
        number = isinstance(value, Integral if kind is int else Real)
        return number and not isinstance(value, bool) and value >= 0  # NaN is no number here
    origin, inner = get_origin(kind), get_args(kind)
    if origin is None:
        return isinstance(value, kind)
    if origin in (Union, UnionType):
        return any(_fits(value, one) for one in inner)
    if origin is Literal:
        return value in inner
    if origin is Callable:
        return callable(value)
    if not isinstance(value, origin) or isinstance(value, str | bytes):
        return False
    if issubclass(origin, Mapping):
        return all(_fits(key, inner[0]) and _fits(entry, inner[1]) for key, entry in value.items())
    if origin is tuple and inner[-1] is not Ellipsis:
        return len(value) == len(inner) and all(map(_fits, value, inner))
    return all(_fits(entry, inner[0]) for entry in value)


def _in_words(kind: Any) -> str:
    origin, inner = get_origin(kind), get_args(kind)
    if origin in (Union, UnionType):
        return " or ".join(map(_in_words, inner))
    if origin is Literal:
        return " or ".join(map(repr, inner))
    found = _WORDS.get(origin or kind, getattr(origin or kind, "__name__", str(kind)))
    return f"{found} of {_in_words(inner[0])}" if found == "a list" else found
