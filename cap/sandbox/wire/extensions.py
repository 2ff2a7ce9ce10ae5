"""What MessagePack has no kind for: a code each, how it is packed and how it is read.

Here are Python's own values. Those of numpy and shapely are in `payloads`, which is loaded with
the first of them: few programs that name neither library meet one.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from cap.sandbox.wire.errors import RAISABLE, WireError, one_line
from cap.sandbox.wire.frames import MAX_ELEMENTS

(
    ARRAY, SCALAR, TUPLE, SET, FROZENSET, RANGE, COMPLEX, INT, GEOMETRY, ENTRIES,
    VECTOR, FLOAT, TEXT, ERROR,
) = range(14)  # fmt: skip
MAX_INT_BITS = 14_000
"""Python itself refuses to write out integers much longer than this."""
Packer = Callable[[Any], tuple[int, Any]]
"""Returns a value's code, and its bytes or the parts that are packed in their turn."""


def _int(value: int) -> tuple[int, bytes]:
    if value.bit_length() > MAX_INT_BITS:
        raise WireError("an integer of more than 4000 digits cannot cross the sandbox")
    return INT, hex(value).encode()


def _range(value: range) -> tuple[int, list[int]]:
    _check_range(value)
    return RANGE, [value.start, value.stop, value.step]


def _check_range(value: range) -> range:
    """Return a range, if what is read of it as a list is no more than may cross as one."""
    if value and (value[-1] - value.start) // value.step >= MAX_ELEMENTS:
        raise WireError(f"a range of more than {MAX_ELEMENTS} values cannot cross the sandbox")
    return value


def _error(value: Exception) -> tuple[int, list[str]]:
    words = value.args[0] if value.args and type(value.args[0]) is str else str(value)
    return ERROR, [type(value).__name__, one_line(words)]


PACKERS: dict[type, Packer] = {
    tuple: lambda value: (TUPLE, list(value)),
    set: lambda value: (SET, list(value)),
    frozenset: lambda value: (FROZENSET, list(value)),
    int: _int,
    range: _range,
    complex: lambda value: (COMPLEX, [value.real, value.imag]),
    **dict.fromkeys(RAISABLE.values(), _error),
}
"""By class, which is never a subclass of another in the table."""


def _read_int(data: bytes) -> int:
    if len(data) > MAX_INT_BITS // 4 + 3:
        raise WireError("an integer of more than 4000 digits cannot cross the sandbox")
    return int(data, 16)


def _read_error(parts: list[Any]) -> Exception:
    name, words = parts
    if type(words) is not str:
        raise WireError("malformed exception")
    return RAISABLE[name](words)


READERS: dict[int, Callable[[bytes], Any]] = {INT: _read_int}
"""Of what is bytes."""
BUILDERS: dict[int, Callable[[list[Any]], Any]] = {
    TUPLE: tuple,
    SET: set,
    FROZENSET: frozenset,
    RANGE: lambda parts: _check_range(range(*parts)),
    COMPLEX: lambda parts: complex(*parts),
    ERROR: _read_error,
}
"""Of what has parts, once they are read."""
