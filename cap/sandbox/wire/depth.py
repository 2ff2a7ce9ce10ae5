"""How deep a value that crosses may be nested."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from cap.sandbox.wire import records
from cap.sandbox.wire.errors import WireError

MAX_DEPTH = 64
TOO_DEEP = f"a value nested deeper than {MAX_DEPTH} levels cannot cross the sandbox"
_CONTAINERS = frozenset([list, tuple, set, frozenset, dict])


def check_depth(value: Any) -> None:
    """Refuse what is nested so deep that reading or showing it would exhaust the stack."""
    level = [value]
    for _ in range(MAX_DEPTH + 1):
        level = [
            child
            for entry in level
            for child in _parts(entry)
            if type(child) in _CONTAINERS or type(child) in records.TYPES
        ]
        if not level:
            return
    raise WireError(TOO_DEEP)


def _parts(value: Any) -> Iterable[Any]:
    kind = type(value)
    if kind is dict:
        return (*value, *value.values())
    if kind in _CONTAINERS:
        return value  # type: ignore[no-any-return]
    record = records.fields_of(value)
    return () if record is None else record[1].values()
