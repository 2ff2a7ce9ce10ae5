"""What crosses between parent and worker: frames of plain data, both ways.

A frame is a 4-byte little-endian length and a MessagePack value. Everything else that may cross
has an extension code below; nothing that executes on arrival (no pickle, no marshal) does.
"""

from __future__ import annotations

import os
import select
import struct
import time
from typing import Any

import msgpack
import numpy as np

MAX_FRAME_BYTES = 64 << 20
MAX_DEPTH = 64
_LENGTH = struct.Struct("<I")
_ARRAY, _SCALAR, _TUPLE, _SET, _FROZENSET, _RANGE, _COMPLEX, _INT, _GEOMETRY, _TEXTS = range(10)
_DTYPE_KINDS = frozenset("biufc")


class WireError(Exception):
    """A value that may not cross, or a frame that cannot be read."""


class PeerClosed(Exception):
    """The other end closed the pipe."""


class DeadlinePassed(Exception):
    """No whole frame arrived in time."""


def encode(value: Any) -> bytes:
    """Return a value as bytes.

    Raises:
        WireError: It holds something that is not plain data, is too deep, or too large.
    """
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
    try:
        return msgpack.unpackb(data, ext_hook=_extension, strict_map_key=False)
    except WireError:
        raise
    except Exception as error:  # msgpack raises many kinds on hostile bytes
        raise WireError(f"malformed frame: {type(error).__name__}") from None


def _default(value: Any) -> Any:
    kind = type(value)
    if kind is np.ndarray:
        return _pack_array(value)
    if isinstance(value, np.str_):
        return str(value)
    if isinstance(value, np.generic):
        return msgpack.ExtType(_SCALAR, _array_bytes(np.asarray(value)))
    if kind in _SEQUENCES:
        return msgpack.ExtType(_SEQUENCES[kind], encode(list(value)))
    if kind is range:
        return msgpack.ExtType(_RANGE, encode([value.start, value.stop, value.step]))
    if kind is complex:
        return msgpack.ExtType(_COMPLEX, encode([value.real, value.imag]))
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
        return msgpack.ExtType(_TEXTS, encode([list(array.shape), array.ravel().tolist()]))
    raise WireError(f"an array of dtype '{array.dtype}' cannot cross the sandbox")


def _array_bytes(array: np.ndarray) -> bytes:
    return encode([array.dtype.str, list(array.shape)]) + b"\0" + array.tobytes()


def _pack_geometry(value: Any) -> bytes:
    import shapely

    if not isinstance(value, shapely.Geometry):
        raise WireError(f"a value of type '{type(value).__name__}' cannot cross the sandbox")
    return encode([value.geom_type, shapely.to_wkb(value)])


def _extension(code: int, data: bytes) -> Any:
    if code in (_ARRAY, _SCALAR):
        array = _read_array(data)
        return array if code == _ARRAY else array.reshape(())[()]
    if code == _INT:
        return int(data, 16)
    if code == _GEOMETRY:
        return _read_geometry(decode(data))
    parts = decode(data)
    if not isinstance(parts, list):
        raise WireError("malformed extension")
    if code == _TEXTS:
        shape, texts = parts
        return np.array(texts).reshape(shape)
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


def _read_geometry(parts: Any) -> Any:
    import shapely

    name, data = parts
    geometry = shapely.from_wkb(data)
    # WKB has no ring type: a LinearRing would come back as a LineString.
    return shapely.LinearRing(geometry.coords) if name == "LinearRing" else geometry


def send(descriptor: int, data: bytes) -> None:
    """Write one frame."""
    frame = memoryview(_LENGTH.pack(len(data)) + data)
    while frame:
        frame = frame[os.write(descriptor, frame) :]


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
            _await(descriptor, deadline_s)
        part = os.read(descriptor, min(count, 1 << 20))
        if not part:
            raise PeerClosed
        parts.append(part)
        count -= len(part)
    return b"".join(parts)


def _await(descriptor: int, deadline_s: float) -> None:
    """Wait until the pipe can be read. `poll`, unlike `select`, has no largest descriptor."""
    left_s = deadline_s - time.monotonic()
    poller = select.poll()
    poller.register(descriptor, select.POLLIN)
    if left_s <= 0 or not poller.poll(max(1, round(left_s * 1000))):
        raise DeadlinePassed
