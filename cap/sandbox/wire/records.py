"""Named records: frozen dataclasses and named tuples that cross as a name and their fields.

A robot registers its record types in the parent. The worker imports no robot's code, so there a
record of an unknown name is a `Record`: its fields by name and in order. On the way back the
registered type is built anew, and its own checks run.

Example:
    @register
    @dataclass(frozen=True)
    class Pose:
        position: np.ndarray
        yaw: float
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import fields, is_dataclass
from typing import Any, TypeVar

from cap.sandbox.wire.errors import WireError

T = TypeVar("T", bound=type)
_RECORDS: dict[str, type] = {}


def register(record: T) -> T:
    """Let a frozen dataclass or named tuple cross; two types of one name cannot.

    Raises:
        TypeError: It is neither, or the name is taken.
    """
    frozen = is_dataclass(record) and record.__dataclass_params__.frozen  # type: ignore[attr-defined]
    if not frozen and not (issubclass(record, tuple) and hasattr(record, "_fields")):
        raise TypeError(f"'{record.__name__}' is neither a frozen dataclass nor a named tuple")
    if _RECORDS.setdefault(record.__name__, record) is not record:
        raise TypeError(f"a record named '{record.__name__}' is registered already")
    TYPES.add(record)
    return record


class Record(tuple[Any, ...]):
    """A record whose type is not known at this end: its values in order, and by name."""

    record_name: str
    field_names: tuple[str, ...]

    def __getattr__(self, name: str) -> Any:
        """Return a field."""
        names = self.__dict__.get("field_names", ())
        if name not in names:
            raise AttributeError(f"{self.record_name} has no field '{name}'")
        return self[names.index(name)]

    def __repr__(self) -> str:
        """Return it as it would be written."""
        parts = (f"{name}={value!r}" for name, value in zip(self.field_names, self, strict=True))
        return f"{self.record_name}({', '.join(parts)})"


TYPES: set[type] = {Record}
"""Every type that crosses as a record."""


def fields_of(value: Any) -> tuple[str, dict[str, Any]] | None:
    """Return a record's name and its fields, or None of what is no record."""
    kind = type(value)
    if kind is Record:
        return value.record_name, dict(zip(value.field_names, value, strict=True))
    if kind not in TYPES:
        return None
    names = [field.name for field in fields(kind)] if is_dataclass(kind) else kind._fields
    return kind.__name__, {name: getattr(value, name) for name in names}


def build(name: str, values: Mapping[str, Any]) -> Any:
    """Return the record of a name: of its registered type, or a `Record`.

    Raises:
        WireError: A name is not one, or the fields are not the type's.
    """
    if not all(type(word) is str and _is_field(word) for word in (name, *values)):
        raise WireError("malformed record")
    kind = _RECORDS.get(name)
    if kind is not None:
        try:
            return kind(**values)
        except Exception as error:  # its own checks may raise anything
            raise WireError(f"not a {name}: {type(error).__name__}") from None
    record = Record(values.values())
    record.record_name, record.field_names = name, tuple(values)
    return record


def _is_field(word: str) -> bool:
    return word.isidentifier() and not word.startswith("_")
