"""A robot's snapshot as plain data that can be written down, and back.

What `snapshot` returns is said by its own annotation: dataclasses, tuples, lists and mappings of
plain data. So nothing in a file decides which types are built.
"""

from __future__ import annotations

import types
import typing
from collections.abc import Mapping
from dataclasses import MISSING, Field, fields, is_dataclass
from functools import cache
from typing import Any

from cap.robot.protocol import Rewindable


class NotPlain(TypeError):
    """A value is not what its annotation says, or that is nothing that can be written."""


def kind_of(robot: Rewindable) -> Any:
    """Return the annotation of what a robot's `snapshot` returns."""
    return _returned(type(robot))


def pack(value: Any, kind: Any) -> Any:
    """Return a value as plain data: dataclasses as dictionaries, tuples as lists.

    Raises:
        NotPlain: It is not of that kind.
    """
    if _is_record(kind):
        known = _fields(kind)
        if type(value) is not _class(kind):  # what a subclass adds would be lost
            raise NotPlain(f"expected {_name(kind)}, got {type(value).__name__}")
        return {name: pack(getattr(value, name), inner) for name, inner in known.items()}
    origin, inside = typing.get_origin(kind), typing.get_args(kind)
    if (chosen := _optional(origin, inside)) is not None:
        return None if value is None else pack(value, chosen)
    if origin in (tuple, list):
        _expect(value, origin)
        kinds = _kinds(origin, inside, len(value))
        return [pack(entry, inner) for entry, inner in zip(value, kinds, strict=True)]
    if _is_mapping(origin):
        _expect(value, Mapping)
        return {pack(key, inside[0]): pack(entry, inside[1]) for key, entry in value.items()}
    return _leaf(value, kind, origin, inside)


def _has_default(field: Field[Any]) -> bool:
    lacking = MISSING
    return field.default is not lacking or field.default_factory is not lacking


def unpack(plain: Any, kind: Any) -> Any:
    """Return what `pack` was given.

    Raises:
        NotPlain: The data is not of that kind.
    """
    if _is_record(kind):
        _expect(plain, dict)
        known = _fields(kind)
        needed = {entry.name for entry in fields(_class(kind)) if not _has_default(entry)}
        if not needed <= set(plain) <= set(known):  # an earlier version's may lack what is new
            raise NotPlain(f"{_name(kind)} has other fields: {sorted(map(str, plain))[:8]}")
        return kind(**{name: unpack(plain[name], known[name]) for name in plain})
    origin, inside = typing.get_origin(kind), typing.get_args(kind)
    if (chosen := _optional(origin, inside)) is not None:
        return None if plain is None else unpack(plain, chosen)
    if origin in (tuple, list):
        _expect(plain, list)
        kinds = _kinds(origin, inside, len(plain))
        return origin(unpack(entry, inner) for entry, inner in zip(plain, kinds, strict=True))
    if _is_mapping(origin):
        _expect(plain, dict)
        return {unpack(key, inside[0]): unpack(entry, inside[1]) for key, entry in plain.items()}
    return _leaf(plain, kind, origin, inside)


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


def _class(kind: Any) -> Any:
    """Return `X` of `X[...]`."""
    return typing.get_origin(kind) or kind


def _is_record(kind: Any) -> bool:
    return is_dataclass(_class(kind)) and isinstance(_class(kind), type)


@cache
def _fields(kind: Any) -> dict[str, Any]:
    """Return a dataclass's fields with their annotations resolved."""
    made = _class(kind)
    hints = typing.get_type_hints(made)
    variables = getattr(made, "__parameters__", ())
    stands_for = dict(zip(variables, typing.get_args(kind), strict=False))
    return {e.name: _filled(hints[e.name], stands_for) for e in fields(made) if e.init}


def _leaf(value: Any, kind: Any, origin: Any, inside: tuple[Any, ...]) -> Any:
    if is_dataclass(value):
        raise NotPlain(f"'{type(value).__name__}' stands where the annotation says {_name(kind)}")
    if origin is typing.Literal:
        if value not in inside:
            raise NotPlain(f"expected one of {inside}, got {value!r}")
    elif isinstance(kind, type) and kind is not Any:
        _expect(value, (int, float) if kind is float else kind)
    return value


def _kinds(origin: Any, inside: tuple[Any, ...], count: int) -> tuple[Any, ...]:
    """Return the annotation of each of so many entries."""
    if origin is list or inside[1:] == (...,):
        return inside[:1] * count
    if len(inside) != count:
        raise NotPlain(f"expected {len(inside)} values, got {count}")
    return inside


def _optional(origin: Any, inside: tuple[Any, ...]) -> Any:
    """Return X of `X | None`, else None."""
    others = [entry for entry in inside if entry is not type(None)]
    union = origin in (typing.Union, types.UnionType)
    return others[0] if union and len(others) == 1 < len(inside) else None


def _is_mapping(origin: Any) -> bool:
    return isinstance(origin, type) and issubclass(origin, Mapping)


def _expect(value: Any, kind: Any) -> None:
    if not isinstance(value, kind):
        raise NotPlain(f"expected {_name(kind)}, got {type(value).__name__}")


def _name(kind: Any) -> str:
    return getattr(kind, "__name__", str(kind))
