"""A robot's snapshot as plain data that can be written down, and back.

What `snapshot` returns is said by its own annotation: dataclasses, tuples, lists and mappings of
plain data, and arrays. So nothing in a file decides which types are built.
"""

from __future__ import annotations

import typing
from collections.abc import Mapping
from functools import cache
from typing import Any

import msgspec
import numpy as np

from cap.robot.protocol import Rewindable


class NotPlain(TypeError):
    """A value is not what its annotation says, or that is nothing that can be written."""


def kind_of(robot: Rewindable) -> Any:
    """Return the annotation of what a robot's `snapshot` returns."""
    return _returned(type(robot))


def pack(value: Any, kind: Any) -> Any:
    """Return a value as plain data: dataclasses as dictionaries, arrays as lists.

    Raises:
        NotPlain: It is not of that kind.
    """
    try:
        plain = msgspec.to_builtins(value, builtin_types=(bytes,), enc_hook=_listed)
    except (TypeError, ValueError, RecursionError) as error:
        raise NotPlain(str(error)) from None
    back = unpack(plain, kind)
    try:
        same = bool(back == value)
    except ValueError:  # it holds arrays
        same = type(back) is type(value)
    if not same:
        raise NotPlain(f"a '{type(value).__name__}' is not what the annotation says: {kind}")
    return plain


def unpack(plain: Any, kind: Any) -> Any:
    """Return what `pack` was given.

    Raises:
        NotPlain: The data is not of that kind.
    """
    try:
        return msgspec.convert(plain, kind, builtin_types=(bytes,), dec_hook=_made)
    except (msgspec.ValidationError, TypeError, ValueError) as error:
        raise NotPlain(str(error)) from None


def _listed(value: Any) -> Any:
    if isinstance(value, np.ndarray | np.generic):
        return value.tolist()
    raise TypeError(f"a '{type(value).__name__}' cannot be written down")


def _made(kind: Any, value: Any) -> Any:
    if kind is np.ndarray:
        return np.array(value)
    raise TypeError(f"nothing is made of '{kind}'")


@cache
def _returned(robot: Any) -> Any:
    """Return what a class's `snapshot` returns; its base may leave that to the class."""
    kind = typing.get_type_hints(robot.snapshot).get("return", Any)
    stands_for: dict[Any, Any] = {}
    for owner in robot.__mro__:
        for base in getattr(owner, "__orig_bases__", ()):
            variables = getattr(typing.get_origin(base), "__parameters__", ())
            stands_for |= dict(zip(variables, typing.get_args(base), strict=False))
    return _filled(kind, stands_for)


def _filled(kind: Any, stands_for: Mapping[Any, Any]) -> Any:
    """Return an annotation with what its type variables stand for."""
    if isinstance(kind, typing.TypeVar):
        return stands_for.get(kind, Any)
    variables = getattr(kind, "__parameters__", ())
    return kind[tuple(stands_for.get(entry, Any) for entry in variables)] if variables else kind
