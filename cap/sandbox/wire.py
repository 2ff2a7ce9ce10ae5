"""What crosses between parent and worker: plain data as MessagePack, one value a frame.

What MessagePack has no kind for is an extension below; the values of numpy and shapely are in
`arrays`. Nothing that executes on arrival crosses (no pickle, no marshal).

The worker is hostile: `decode` builds nothing before it knows that its size is in proportion to
the bytes that arrived. Values are trees: shared parts are copied, cycles are refused.
"""

from __future__ import annotations

from collections.abc import Callable, Collection
from typing import Any

import msgpack

from cap.errors import ROBOT_ERRORS, LMPFailed
from cap.sandbox.frames import (
    MAX_ELEMENTS,
    MAX_FRAME_BYTES,
    DeadlinePassed,
    PeerClosed,
    WireError,
)

MAX_KEPT_BYTES = 32 << 20
"""Variables that stay between turns, together: each turn sends them there and back."""
MAX_DEPTH = 64
MAX_INT_BITS = 14_000
"""Python itself refuses to write out integers much longer than this."""
MAX_KEYS = 4096
"""Keys that are not text in one dictionary or set: if all of them collide, it takes 0.3 s to fill.
The hashes of texts are seeded, those of numbers are known to everybody."""
MAX_KEY_PARTS = 16
"""Values in one key that is a tuple or a frozen set; all keys have twice `MAX_KEYS` at most."""
MAX_KEY_BITS, MAX_KEY_CHARS = 128, 256
"""Of a number as a key, and of a text in one: keys that collide are compared with each other."""
MAX_KEPT_VALUES = MAX_ELEMENTS - 10_000
"""Values that stay between turns, in all variables together: the next program gets them at once."""
MESSAGE_CHARS = 2000
"""The longest exception message that crosses."""

RAISABLE: dict[str, type[Exception]] = {
    **ROBOT_ERRORS,
    **{error.__name__: error for error in (LMPFailed, TypeError, ValueError, IndexError, KeyError)},
}
"""The exceptions a primitive may raise inside a program, by name."""


def text(words: str) -> str:
    """Return words without what is not text (lone surrogates), which could not cross."""
    return words.encode("utf-8", "replace").decode()


def one_line(message: str, most_chars: int = MESSAGE_CHARS) -> str:
    """Return an exception's message as one line of bounded length."""
    return text(" ".join(message.split())[:most_chars])


# --- values

TUPLE, SET, FROZENSET, RANGE, COMPLEX, INT, ERROR = 2, 3, 4, 5, 6, 7, 11
"""Codes of extensions; those of arrays are in `arrays`."""
Packer = Callable[[Any], tuple[int, Any]]
"""Returns a value's code, and its bytes or the parts that are packed in their turn."""
_SMALL_BYTES = 4096
"""A frame up to this size cannot grow to much, whatever it holds."""
_TICKS = 256
"""Containers that are read between two calls of a watch."""
_CONTAINERS = frozenset([list, dict, tuple, set, frozenset])
_HASHED = frozenset([dict, set, frozenset])


def encode(value: Any) -> bytes:
    """Return a value as bytes.

    Raises:
        WireError: It holds something that is not plain data, is too deep, or too large.
    """
    count_values(value)
    data = _pack(value)
    if len(data) > MAX_FRAME_BYTES:
        raise WireError(f"{len(data)} bytes are too large to cross the sandbox")
    return data


def decode(data: bytes, watch: Callable[[], None] | None = None) -> Any:
    """Return the value of bytes from `encode`; arrays are fresh, writable copies.

    Args:
        data: The bytes.
        watch: Called now and then while it takes long; what it raises ends the reading.

    Raises:
        WireError: Not a well-formed value.
    """
    try:
        value = _Reader(watch).read(data)
    except (WireError, DeadlinePassed, PeerClosed):
        raise
    except Exception as error:  # msgpack and numpy raise many kinds on hostile bytes
        raise WireError(f"malformed frame: {type(error).__name__}") from None
    if len(data) > MAX_DEPTH:  # each level takes a byte at least
        count_values(value)
    return value


def count_values(value: Any) -> int:
    """Return how many values one holds: each container, and each of its parts.

    Raises:
        WireError: It is too deep, holds too many values, or has too many or too large keys.
    """
    count = 1
    level = [value]
    for _ in range(MAX_DEPTH + 2):
        below: list[Any] = []
        for entry in level:
            kind = type(entry)
            if kind not in _CONTAINERS:
                continue
            parts: Collection[Any] = entry
            if kind in _HASHED:
                check_keys(entry)
            if kind is dict:
                parts = [*entry.keys(), *entry.values()]
            count += len(parts)
            below += [part for part in parts if type(part) in _CONTAINERS]
            if count > MAX_ELEMENTS:
                raise WireError(
                    f"more than {MAX_ELEMENTS} values cannot cross the sandbox; use an array"
                )
        if not below:
            return count
        level = below
    raise WireError(f"a value nested deeper than {MAX_DEPTH} levels cannot cross the sandbox")


def check_keys(keys: Collection[Any]) -> None:
    """Refuse keys that would take long to put into one dictionary or set.

    Raises:
        WireError: They are too many, or one of them is too large.
    """
    others = [key for key in keys if type(key) is not str and type(key) is not bytes]
    if len(others) > MAX_KEYS:
        raise WireError(f"more than {MAX_KEYS} keys that are not text cannot cross the sandbox")
    left_in_all = 2 * MAX_KEYS
    for key in others:
        left, parts = MAX_KEY_PARTS, [key]
        for part in parts:  # grows meanwhile
            left -= 1
            if left < -1:
                raise WireError(f"a key of more than {MAX_KEY_PARTS} values cannot cross")
            if type(part) is int and part.bit_length() > MAX_KEY_BITS:
                raise WireError(f"a key of more than {MAX_KEY_BITS} bits cannot cross the sandbox")
            if type(part) in (str, bytes) and len(part) > MAX_KEY_CHARS:
                raise WireError(
                    f"a text of more than {MAX_KEY_CHARS} characters in a key cannot cross"
                )
            parts += part if type(part) in _CONTAINERS else ()
        left_in_all -= len(parts) - 1
    if left_in_all < 0:
        raise WireError(f"keys of more than {2 * MAX_KEYS} values in all cannot cross the sandbox")


def _pack(value: Any) -> bytes:
    try:
        return bytes(msgpack.Packer(default=_extension, strict_types=True).pack(value))
    except (TypeError, ValueError, OverflowError, RecursionError) as error:
        raise WireError(f"cannot cross the sandbox: {error}") from None


def _extension(value: Any) -> msgpack.ExtType:
    """Return what is not MessagePack's own as an extension."""
    kind = type(value)
    packer = _PACKERS.get(kind) or _library().PACKERS.get(kind)
    if packer is None:
        raise WireError(f"a value of type '{kind.__name__}' cannot cross the sandbox")
    code, content = packer(value)
    return msgpack.ExtType(code, content if type(content) is bytes else _pack(content))


def _library() -> Any:
    """Return the tables for numpy's and shapely's values, which few programs meet."""
    from cap.sandbox import arrays

    return arrays


def _pack_int(value: int) -> tuple[int, bytes]:
    if value.bit_length() > MAX_INT_BITS:
        raise WireError("an integer of more than 4000 digits cannot cross the sandbox")
    return INT, hex(value).encode()


def _checked_range(value: range) -> range:
    """Return a range, unless it is longer than a list may be."""
    if value and (value[-1] - value.start) // value.step >= MAX_ELEMENTS:
        raise WireError(f"a range of more than {MAX_ELEMENTS} values cannot cross the sandbox")
    return value


def _pack_range(value: range) -> tuple[int, list[int]]:
    _checked_range(value)
    return RANGE, [value.start, value.stop, value.step]


def _pack_error(value: Exception) -> tuple[int, list[str]]:
    words = value.args[0] if value.args and type(value.args[0]) is str else str(value)
    return ERROR, [type(value).__name__, one_line(words)]


_PACKERS: dict[type, Packer] = {
    tuple: lambda value: (TUPLE, list(value)),
    set: lambda value: (SET, list(value)),
    frozenset: lambda value: (FROZENSET, list(value)),
    int: _pack_int,
    range: _pack_range,
    complex: lambda value: (COMPLEX, [value.real, value.imag]),
    **dict.fromkeys(RAISABLE.values(), _pack_error),
}
"""By exact class: a subclass does not cross."""


def _read_int(data: bytes) -> int:
    if len(data) > MAX_INT_BITS // 4 + 3:
        raise WireError("an integer of more than 4000 digits cannot cross the sandbox")
    return int(data, 16)


def _read_set(parts: list[Any]) -> set[Any]:
    check_keys(parts)
    return set(parts)


def _read_error(parts: list[Any]) -> Exception:
    name, words = parts
    if type(words) is not str:
        raise WireError("malformed exception")
    return RAISABLE[name](words)


_READERS: dict[int, Callable[[Any], Any]] = {
    TUPLE: tuple,
    SET: _read_set,
    FROZENSET: lambda parts: frozenset(_read_set(parts)),
    RANGE: lambda parts: _checked_range(range(*parts)),
    COMPLEX: lambda parts: complex(*parts),
    ERROR: _read_error,
    INT: _read_int,
}


class _Reader:
    """Reads one frame, and counts: nothing may grow to much more than its bytes."""

    def __init__(self, watch: Callable[[], None] | None) -> None:
        self._watch = watch
        self._ticks = 0
        self._level = 0
        self._left_bytes = 2 * MAX_FRAME_BYTES
        self._left_elements = MAX_ELEMENTS

    def read(self, data: bytes) -> Any:
        """Read one value; each level of extensions takes some 40 kB of the C stack."""
        self._level += 1
        self._left_bytes -= len(data)
        if self._level > MAX_DEPTH or self._left_bytes < 0:
            raise WireError("values that are nested too deeply cannot cross the sandbox")
        if len(data) <= _SMALL_BYTES:
            value = msgpack.unpackb(data, ext_hook=self._extension, strict_map_key=False)
        else:
            # Skipping builds nothing and needs every element to be there; only then are the sizes
            # that containers claim worth believing.
            whole = msgpack.Unpacker(max_buffer_size=len(data))
            whole.feed(data)
            whole.skip()
            most = min(len(data), 2 * MAX_ELEMENTS)
            value = msgpack.unpackb(
                data,
                ext_hook=self._extension,
                list_hook=self._list,
                object_pairs_hook=self._pairs,
                strict_map_key=False,
                max_array_len=most,
                max_map_len=most,
            )
        self._level -= 1
        return value

    def _list(self, entries: list[Any]) -> list[Any]:
        self._count(len(entries))
        return entries

    def _pairs(self, pairs: list[tuple[Any, Any]]) -> dict[Any, Any]:
        self._count(2 * len(pairs))
        check_keys([key for key, _ in pairs])
        return dict(pairs)

    def _count(self, elements: int) -> None:
        self._ticks += 1
        if self._watch is not None and self._ticks % _TICKS == 0:
            self._watch()
        self._left_elements -= elements + 1
        if self._left_elements < 0:
            raise WireError(
                f"more than {MAX_ELEMENTS} values cannot cross the sandbox; use an array"
            )

    def _extension(self, code: int, data: bytes) -> Any:
        self._count(0)
        read = _READERS.get(code) or _library().READERS.get(code)
        if read is None:
            raise WireError("malformed extension")
        if code == INT or (code not in _READERS and code in _library().FROM_BYTES):
            return read(data)
        parts = self.read(data)
        if type(parts) is not list:
            raise WireError("malformed extension")
        return read(parts)
