"""What crosses between parent and worker: frames of plain data, both ways.

A frame is a 4-byte little-endian length and a MessagePack value. Everything else that may cross
has an extension code below; nothing that executes on arrival (no pickle, no marshal) does.
"""

from __future__ import annotations

import functools
import os
import select
import struct
import time
from typing import Any

import msgpack
import numpy as np

from cap.errors import ROBOT_ERRORS, LMPFailed

MAX_FRAME_BYTES = 64 << 20
MAX_DEPTH = 64
_TOO_DEEP = f"a value nested deeper than {MAX_DEPTH} levels cannot cross the sandbox"
_CONTAINERS = frozenset([list, tuple, set, frozenset, dict])
_LENGTH = struct.Struct("<I")
_ARRAY, _SCALAR, _TUPLE, _SET, _FROZENSET, _RANGE, _COMPLEX, _INT, _GEOMETRY, _TEXTS = range(10)
_DTYPE_KINDS = frozenset("biufc")
_SIMPLE_WKB = (1, 2, 3)
"""Codes of point, line and polygon: those that hold no other geometry."""


RAISABLE: dict[str, type[Exception]] = {
    **ROBOT_ERRORS,
    **{error.__name__: error for error in (LMPFailed, TypeError, ValueError, IndexError, KeyError)},
}
"""The exceptions a primitive may raise inside a program, by name."""
MESSAGE_CHARS = 2000
"""The longest exception message that crosses."""


class WireError(Exception):
    """A value that may not cross, or a frame that cannot be read."""


class PeerClosed(Exception):
    """The other end closed the pipe."""


class DeadlinePassed(Exception):
    """No whole frame arrived in time."""


def text(words: str) -> str:
    """Return words without what is not text (lone surrogates), which could not cross."""
    return words.encode("utf-8", "replace").decode()


def one_line(message: str) -> str:
    """Return an exception's message as it crosses, either way."""
    return text(" ".join(message.split())[:MESSAGE_CHARS])


def encode(value: Any) -> bytes:
    """Return a value as bytes.

    Raises:
        WireError: It holds something that is not plain data, is too deep, or too large.
    """
    data = _pack(value)
    if len(data) > MAX_DEPTH:  # each level takes a byte at least
        _check_depth(value)
    return data


def _pack(value: Any) -> bytes:
    try:
        data: bytes = msgpack.packb(value, default=_default, strict_types=True)
    except WireError:
        raise
    except (TypeError, ValueError, OverflowError, RecursionError) as error:
        raise WireError(f"cannot cross the sandbox: {error}") from None
    if len(data) > MAX_FRAME_BYTES:
        raise WireError(f"{len(data)} bytes are too large to cross the sandbox")
    return data


def decode(data: bytes) -> Any:
    """Read bytes from `encode`; arrays are fresh, writable copies.

    Raises:
        WireError: Not a well-formed value.
    """
    value = _decode(data, 0)
    if len(data) > MAX_DEPTH:  # each level takes a byte at least
        _check_depth(value)
    return value


def _decode(data: bytes, level: int) -> Any:
    """Read one value; each level of extensions takes some 40 kB of the C stack."""
    if level > MAX_DEPTH:
        raise WireError(_TOO_DEEP)
    hook = functools.partial(_extension, level + 1)
    try:
        return msgpack.unpackb(data, ext_hook=hook, strict_map_key=False)
    except WireError:
        raise
    except Exception as error:  # msgpack raises many kinds on hostile bytes
        raise WireError(f"malformed frame: {type(error).__name__}") from None


def _check_depth(value: Any) -> None:
    """Refuse what is nested so deep that reading or showing it would exhaust the stack."""
    level = [value] if type(value) in _CONTAINERS else []
    for _ in range(MAX_DEPTH):
        if not level:
            return
        level = [
            child
            for entry in level
            for child in ((*entry, *entry.values()) if type(entry) is dict else entry)
            if type(child) in _CONTAINERS
        ]
    if level:
        raise WireError(_TOO_DEEP)


def _default(value: Any) -> Any:
    kind = type(value)
    if kind is np.ndarray:
        return _pack_array(value)
    if isinstance(value, np.str_):
        return str(value)
    if isinstance(value, np.bytes_):
        return bytes(value)
    if isinstance(value, np.generic) and value.dtype.kind in _DTYPE_KINDS:
        return msgpack.ExtType(_SCALAR, _array_bytes(np.asarray(value)))
    if kind in _SEQUENCES:
        return msgpack.ExtType(_SEQUENCES[kind], _pack(list(value)))
    if kind is range:
        return msgpack.ExtType(_RANGE, _pack([value.start, value.stop, value.step]))
    if kind is complex:
        return msgpack.ExtType(_COMPLEX, _pack([value.real, value.imag]))
    if kind is int:
        return msgpack.ExtType(_INT, hex(value).encode())
    if hasattr(value, "geom_type"):
        return msgpack.ExtType(_GEOMETRY, _pack_geometry(value))
    raise WireError(f"a value of type '{kind.__name__}' cannot cross the sandbox")


_SEQUENCES: dict[type, int] = {tuple: _TUPLE, set: _SET, frozenset: _FROZENSET}


def _pack_array(array: np.ndarray) -> Any:
    if array.dtype.kind in _DTYPE_KINDS:
        return msgpack.ExtType(_ARRAY, _array_bytes(array))
    if array.dtype.kind in "US":
        parts = [array.dtype.kind, list(array.shape), array.ravel().tolist()]
        return msgpack.ExtType(_TEXTS, _pack(parts))
    raise WireError(f"an array of dtype '{array.dtype}' cannot cross the sandbox")


def _array_bytes(array: np.ndarray) -> bytes:
    return _pack([array.dtype.str, list(array.shape)]) + b"\0" + array.tobytes()


def _pack_geometry(value: Any) -> bytes:
    import shapely

    if not isinstance(value, shapely.Geometry):
        raise WireError(f"a value of type '{type(value).__name__}' cannot cross the sandbox")
    if hasattr(value, "geoms"):
        return _pack([value.geom_type, list(value.geoms)])
    return _pack([value.geom_type, shapely.to_wkb(value)])


def _extension(level: int, code: int, data: bytes) -> Any:
    if code in (_ARRAY, _SCALAR):
        array = _read_array(data)
        return array if code == _ARRAY else array.reshape(())[()]
    if code == _INT:
        return int(data, 16)
    parts = _decode(data, level)
    if not isinstance(parts, list):
        raise WireError("malformed extension")
    if code == _GEOMETRY:
        return _read_geometry(*parts)
    if code == _TEXTS:
        return _read_texts(*parts)
    if code not in _BUILDERS:
        raise WireError(f"unknown extension {code}")
    return _BUILDERS[code](parts)


_BUILDERS: dict[int, Any] = {
    _TUPLE: tuple,
    _SET: set,
    _FROZENSET: frozenset,
    _RANGE: lambda parts: range(*parts),
    _COMPLEX: lambda parts: complex(*parts),
}


def _read_array(data: bytes) -> np.ndarray:
    unpacker = msgpack.Unpacker()
    unpacker.feed(data[:512])
    name, shape = unpacker.unpack()
    start = unpacker.tell() + 1
    dtype = np.dtype(name)
    if dtype.kind not in _DTYPE_KINDS:
        raise WireError(f"dtype '{name}' may not cross")
    return np.frombuffer(data, dtype, offset=start).reshape(shape).copy()


def _read_texts(kind: str, shape: list[int], texts: list[Any]) -> np.ndarray:
    """Read an array of strings or bytes; numpy pads every entry to the longest."""
    if kind not in ("U", "S") or not all(type(text) in (str, bytes) for text in texts):
        raise WireError("malformed text array")
    if max(map(len, texts), default=0) * len(texts) > MAX_FRAME_BYTES:
        raise WireError("a text array that grows too large")
    return np.array(texts, dtype=kind).reshape(shape)


def _read_geometry(name: str, data: Any) -> Any:
    """Read a geometry; parts of collections came one by one, as GEOS nests without a bound."""
    import shapely

    if isinstance(data, list):
        build = {
            "MultiPoint": shapely.multipoints,
            "MultiLineString": shapely.multilinestrings,
            "MultiPolygon": shapely.multipolygons,
            "GeometryCollection": shapely.geometrycollections,
        }[name]
        return build(np.array(data, dtype=object))
    (code,) = struct.unpack("<I" if data[0] else ">I", data[1:5])
    if (code & 0x1FFFFFFF) % 1000 not in _SIMPLE_WKB:
        raise WireError("malformed geometry")
    geometry = shapely.from_wkb(data)
    # WKB has no ring type: a LinearRing would come back as a LineString.
    return shapely.LinearRing(geometry.coords) if name == "LinearRing" else geometry


def send(descriptor: int, data: bytes, deadline_s: float | None = None) -> None:
    """Write one frame.

    Args:
        descriptor: Write end of the pipe; non-blocking if there is a deadline.
        data: The frame's content.
        deadline_s: On the monotonic clock; None waits for ever.

    Raises:
        BrokenPipeError: The other end is gone.
        DeadlinePassed: The other end did not read it in time.
    """
    frame = memoryview(_LENGTH.pack(len(data)) + data)
    while frame:
        try:
            frame = frame[os.write(descriptor, frame) :]
        except BlockingIOError:
            _await(descriptor, select.POLLOUT, deadline_s)


def receive(descriptor: int, deadline_s: float | None = None) -> bytes:
    """Read one frame.

    Args:
        descriptor: Read end of the pipe.
        deadline_s: On the monotonic clock; None waits for ever.

    Raises:
        PeerClosed: The other end is gone.
        DeadlinePassed: The deadline came first.
        WireError: The frame is too large.
    """
    (length,) = _LENGTH.unpack(_read(descriptor, _LENGTH.size, deadline_s))
    if length > MAX_FRAME_BYTES:
        raise WireError(f"a frame of {length} bytes is too large")
    return _read(descriptor, length, deadline_s)


def _read(descriptor: int, count: int, deadline_s: float | None) -> bytes:
    parts: list[bytes] = []
    while count:
        if deadline_s is not None:
            _await(descriptor, select.POLLIN, deadline_s)
        part = os.read(descriptor, min(count, 1 << 20))
        if not part:
            raise PeerClosed
        parts.append(part)
        count -= len(part)
    return b"".join(parts)


def _await(descriptor: int, event: int, deadline_s: float | None) -> None:
    """Wait until the pipe is ready. `poll`, unlike `select`, has no largest descriptor."""
    poller = select.poll()
    poller.register(descriptor, event)
    if deadline_s is None:
        poller.poll()
        return
    left_s = deadline_s - time.monotonic()
    if left_s <= 0 or not poller.poll(max(1, round(left_s * 1000))):
        raise DeadlinePassed
