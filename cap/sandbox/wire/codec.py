"""What crosses between parent and worker: plain data, both ways, in frames.

A frame holds one MessagePack value. Everything else that may cross has an extension code below;
nothing that executes on arrival (no pickle, no marshal) does, but for the job, which a worker
reads and the parent wrote. `encode` is for calls and their
results: quick, each value a tree. `encode_shared` is for a session's state: the same object in
two places stays one, and a list may hold itself. `decode` reads both.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import msgpack

from cap.sandbox.wire import graph
from cap.sandbox.wire.errors import (
    RAISABLE,
    DeadlinePassed,
    NoRoom,
    PeerClosed,
    WireError,
    one_line,
    text,
)
from cap.sandbox.wire.extensions import (
    BUILDERS,
    FROZENSET,
    MAX_INT_BITS,
    PACKERS,
    READERS,
    SET,
)
from cap.sandbox.wire.frames import MAX_ELEMENTS, MAX_FRAME_BYTES, receive, send
from cap.sandbox.wire.graph import MAX_DEPTH, TOO_DEEP, check_depth, check_size
from cap.sandbox.wire.keys import KeyBudget

__all__ = [
    "MAX_DEPTH",
    "MAX_ELEMENTS",
    "MAX_FRAME_BYTES",
    "MAX_INT_BITS",
    "RAISABLE",
    "TINY_BYTES",
    "DeadlinePassed",
    "PeerClosed",
    "WireError",
    "decode",
    "encode",
    "encode_shared",
    "one_line",
    "receive",
    "send",
    "text",
]

_SMALL_BYTES = 4096
"""Frames up to here cannot grow to much, whatever they hold."""
TINY_BYTES = 256
"""Frames up to here are kept as what they are: no value in them takes much memory."""
_VALUE_BYTES = 64
"""About the memory of a small container, the dearest of small values."""
_TICKS = 256
"""Parts that are read between two looks of a watch."""
_SHARED = b"\xc1"
"""Begins the bytes of `encode_shared`; no MessagePack value begins so."""


def encode(value: Any) -> bytes:
    """Return a value as bytes.

    Raises:
        WireError: It holds something that is not plain data, is too deep, or too large.
    """
    data = _pack(value)
    if len(data) > MAX_DEPTH:  # each level takes a byte at least
        check_depth(value)
    if len(data) > _SMALL_BYTES:
        check_size(value)
    return data


def encode_shared(value: Any) -> bytes:
    """Return a value as bytes in which shared objects and cycles survive.

    Raises:
        WireError: It holds something that is not plain data, is too deep, or too large.
    """
    if graph.shares_nothing(value):
        return encode(value)
    shared = graph.Graph(_pack)
    shared.add(value)
    return _SHARED + _pack(shared.nodes)


def encode_variables(variables: dict[str, Any]) -> tuple[bytes, list[str], list[str]]:
    """Return variables as bytes of one dictionary, and the names of those left out of it.

    Those that cannot cross come first, then those for which there is no room.
    """
    shared = graph.Graph(_pack)
    dropped, oversized = shared.add_each(variables)
    return _SHARED + _pack(shared.nodes), dropped, oversized


def decode(data: bytes, watch: Callable[[], None] | None = None) -> Any:
    """Read bytes from `encode` or `encode_shared`; arrays are fresh, writable copies.

    Args:
        data: The bytes.
        watch: Called now and then while it takes long; what it raises ends the reading.

    Raises:
        WireError: Not a well-formed value.
    """
    try:
        if data[:1] == _SHARED:
            reader = _Reader(watch)
            reader.left_elements *= 2  # each is a node, and a number in its container's
            return graph.rebuild(reader.read(data[1:]), reader.keys.check, reader.tick)
        if len(data) > _SMALL_BYTES:
            return _Reader(watch).read(data)
        value = msgpack.unpackb(data, ext_hook=_leaf, strict_map_key=False)
    except (WireError, DeadlinePassed, PeerClosed):
        raise
    except Exception as error:  # msgpack and numpy raise many kinds on hostile bytes
        raise WireError(f"malformed frame: {type(error).__name__}") from None
    if len(data) > MAX_DEPTH:  # each level takes a byte at least
        check_depth(value)
    return value


def kept_bytes(data: bytes, value: Any) -> int:
    """Return what a value counts that is kept: its bytes, or a quarter of the memory it takes.

    Args:
        data: As it crossed.
        value: What was read.
    """
    return max(len(data), graph.count_values(value) * _VALUE_BYTES // 4)


# --- out

_packers: list[msgpack.Packer] = []
"""Packers not in use: making one costs more than a small value, and none may be entered twice."""


def _pack(value: Any) -> bytes:
    try:
        packer = _packers.pop()
    except IndexError:
        packer = msgpack.Packer(default=_default, strict_types=True)
    try:
        data: bytes = packer.pack(value)
    except WireError:
        raise
    except (TypeError, ValueError, OverflowError, RecursionError) as error:
        raise WireError(f"cannot cross the sandbox: {error}") from None
    _packers.append(packer)  # not after an error, when it may hold half a value
    if len(data) > MAX_FRAME_BYTES:
        raise NoRoom(f"{len(data)} bytes are too large to cross the sandbox")
    return data


_Extension = msgpack.ExtType
_new: Callable[..., msgpack.ExtType] = tuple.__new__
"""Makes an `ExtType` past its own checks, which take longer than packing it."""


def _default(value: Any) -> msgpack.ExtType:
    """Return what is not MessagePack's own as an extension."""
    kind = type(value)
    packer = PACKERS.get(kind)
    if packer is None and not (_library_values() and (packer := PACKERS.get(kind))):
        raise WireError(f"a value of type '{kind.__name__}' cannot cross the sandbox")
    code, data = packer(value)
    return _new(_Extension, (code, data if type(data) is bytes else _pack(data)))


_loaded = False


def _library_values() -> bool:
    """Take in the tables for numpy's and shapely's values; False where neither can be loaded."""
    global _loaded
    if not _loaded:
        try:
            from cap.sandbox.wire import payloads
        except ImportError:  # in a worker for programs that name neither
            return False
        PACKERS.update(payloads.PACKERS)
        READERS.update(payloads.READERS)
        BUILDERS.update(payloads.BUILDERS)
        _loaded = True
    return True


# --- in


def _leaf(code: int, data: bytes) -> Any:
    """Read an extension of a small frame; only what nests needs a reader."""
    read = READERS.get(code)
    return _Reader().extension(code, data) if read is None else read(data)


class _Reader:
    """Reads what nests or is large, and counts: no frame may grow to much more than its bytes."""

    def __init__(self, watch: Callable[[], None] | None = None) -> None:
        self._watch = watch
        self._ticks = 0
        self.level = 0
        self.left_bytes = 2 * MAX_FRAME_BYTES
        self.left_elements = MAX_ELEMENTS
        self.keys = KeyBudget()

    def read(self, data: bytes) -> Any:
        """Read one value; each level of extensions takes some 40 kB of the C stack."""
        self.level += 1
        self.left_bytes -= len(data)
        if self.level > MAX_DEPTH:
            raise WireError(TOO_DEEP)
        if self.left_bytes < 0:
            raise WireError("nested values that are too large to cross the sandbox")
        if len(data) > _SMALL_BYTES:
            # Skipping builds nothing and needs every element to be there; only then are the sizes
            # that containers claim worth believing.
            whole = msgpack.Unpacker(max_buffer_size=len(data))
            whole.feed(data)
            whole.skip()
        most = min(len(data), 2 * MAX_ELEMENTS)
        value = msgpack.unpackb(
            data,
            ext_hook=self.extension,
            list_hook=self._list,
            object_pairs_hook=self._pairs,
            strict_map_key=False,
            max_array_len=most,
            max_map_len=most,
        )
        self.level -= 1
        if len(data) > MAX_DEPTH:
            check_depth(value)
        return value

    def tick(self) -> None:
        """Let the watch look, now and then."""
        self._ticks += 1
        if self._watch is not None and self._ticks % _TICKS == 0:
            self._watch()

    def _list(self, entries: list[Any]) -> list[Any]:
        self._count(len(entries) + 1)
        return entries

    def _pairs(self, pairs: list[tuple[Any, Any]]) -> dict[Any, Any]:
        self._count(2 * len(pairs) + 1)
        self.keys.check([key for key, _ in pairs])
        return dict(pairs)

    def _count(self, elements: int) -> None:
        self.tick()
        self.left_elements -= elements
        if self.left_elements < 0:
            raise WireError(
                f"more than {MAX_ELEMENTS} values cannot cross the sandbox; use an array"
            )

    def extension(self, code: int, data: bytes) -> Any:
        """Read an extension."""
        self.tick()
        if code not in READERS and code not in BUILDERS and not _library_values():
            raise WireError("malformed extension")
        if code in READERS:
            return READERS[code](data)
        parts = self.read(data)
        if code not in BUILDERS or type(parts) is not list:
            raise WireError("malformed extension")
        if code in (SET, FROZENSET):
            self.keys.check(parts)
        return BUILDERS[code](parts)
