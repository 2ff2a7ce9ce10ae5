"""Values of numpy and shapely as bytes, and back, checked before anything is built."""

from __future__ import annotations

import math
import struct
from collections.abc import Callable
from typing import Any

import msgpack
import numpy as np
import shapely

from cap.sandbox.wire.errors import WireError
from cap.sandbox.wire.extensions import (
    ARRAY,
    ENTRIES,
    FLOAT,
    GEOMETRY,
    SCALAR,
    TEXT,
    VECTOR,
    Packer,
)
from cap.sandbox.wire.frames import MAX_ELEMENTS, MAX_FRAME_BYTES

MAX_DIMENSIONS = 32
_DTYPES = {
    np.dtype(order + code).str: np.dtype(order + code)
    for code in np.typecodes["AllInteger"] + np.typecodes["AllFloat"] + "?"
    for order in "<>"
}
"""Every dtype that may cross, in both byte orders, by its short name."""
_FLOAT64 = np.dtype(np.float64)
_DOUBLE = struct.Struct("<d")
_ENTRY_KINDS = "USO"
"""Kinds of dtypes whose arrays cross entry by entry: texts, bytes, geometries."""
_HEAD = struct.Struct("<4sB")
_SIMPLE_WKB = (1, 2, 3)
"""Codes of point, line and polygon: those that hold no other geometry."""
_COLLECTIONS = ("MultiPoint", "MultiLineString", "MultiPolygon", "GeometryCollection")


def array_bytes(array: np.ndarray) -> bytes:
    """Return an array of numbers or truth values: dtype, shape and contents.

    Raises:
        WireError: Its dtype may not cross.
    """
    if array.dtype.str not in _DTYPES:
        raise WireError(f"an array of dtype '{array.dtype}' cannot cross the sandbox")
    head = _HEAD.pack(array.dtype.str.encode(), array.ndim)
    return head + struct.pack(f"<{array.ndim}Q", *array.shape) + array.tobytes()


def read_array(data: bytes) -> np.ndarray:
    """Read `array_bytes`; the array owns its memory and may be written.

    Raises:
        WireError: Not a well-formed array.
    """
    name, dimensions = _HEAD.unpack_from(data)
    dtype = _DTYPES.get(name.rstrip(b"\0").decode("ascii", "replace"))
    start = _HEAD.size + 8 * dimensions
    if dtype is None or dimensions > MAX_DIMENSIONS or start > len(data):
        raise WireError("malformed array")
    shape = struct.unpack_from(f"<{dimensions}Q", data, _HEAD.size)
    if check_shape(shape) * dtype.itemsize != len(data) - start:
        raise WireError("an array whose shape does not fit its contents")
    array = np.frombuffer(data, dtype, offset=start).reshape(shape)
    # a truth value of another byte than 0 and 1 would be neither
    return array.view(np.uint8) != 0 if dtype.kind == "b" else array.copy()


def check_shape(shape: Any) -> int:
    """Return how many elements an array of this shape has.

    Raises:
        WireError: Not a shape, or one of nothing that would be endless to list.
    """
    if len(shape) > MAX_DIMENSIONS or not all(type(n) is int and n >= 0 for n in shape):
        raise WireError("malformed shape")
    if 0 in shape and math.prod(n or 1 for n in shape) > MAX_ELEMENTS:
        raise WireError("an empty array of too many rows")
    return math.prod(shape)


def _pack_array(array: np.ndarray) -> tuple[int, Any]:
    if array.dtype is _FLOAT64 and array.ndim == 1:  # the commonest by far
        return VECTOR, array.tobytes()
    if array.ndim > MAX_DIMENSIONS:
        most = f"{MAX_DIMENSIONS} is the most"
        raise WireError(f"an array of {array.ndim} dimensions cannot cross the sandbox; {most}")
    if array.dtype.kind in _ENTRY_KINDS:
        kind, entries = array.dtype.kind, array.ravel().tolist()
        if kind == "O" and not _are_geometries(entries):
            raise WireError("an array of objects that are no geometries cannot cross the sandbox")
        return ENTRIES, [kind, list(array.shape), entries]
    return ARRAY, array_bytes(array)


def read_entries(kind: str, shape: list[int], entries: list[Any]) -> np.ndarray:
    """Read an array of one of `_ENTRY_KINDS`.

    Raises:
        WireError: Not a well-formed array, or one that would grow too large.
    """
    if kind == "O" and _are_geometries(entries):
        if check_shape(shape) != len(entries):
            raise WireError("an array whose shape does not fit its contents")
        array = np.empty(len(entries), dtype=object)
        array[:] = entries
        return array.reshape(shape)
    if kind not in ("U", "S") or not all(type(text) in (str, bytes) for text in entries):
        raise WireError("malformed array of texts or geometries")
    if max(map(len, entries), default=0) * len(entries) > MAX_FRAME_BYTES:  # padded to the longest
        raise WireError("a text array that grows too large")
    check_shape(shape)
    return np.array(entries, dtype=kind).reshape(shape)


def _are_geometries(entries: list[Any]) -> bool:
    """Tell whether each entry is a geometry, or None where there is none."""
    return all(entry is None or isinstance(entry, shapely.Geometry) for entry in entries)


def geometry_parts(value: Any) -> list[Any]:
    """Return a geometry as its type and contents; a collection's parts cross one by one."""
    if hasattr(value, "geoms"):
        return [value.geom_type, list(value.geoms)]
    return [value.geom_type, shapely.to_wkb(value)]


def read_geometry(name: str, data: Any) -> Any:
    """Read `geometry_parts`; collections came in parts, as GEOS nests without a bound."""
    if name in _COLLECTIONS and isinstance(data, list):
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


def _pack_text(value: Any) -> tuple[int, bytes]:
    return TEXT, msgpack.packb(value.item())


def _read_text(data: bytes) -> Any:
    text = msgpack.unpackb(data, max_array_len=0, max_map_len=0, max_ext_len=0)
    if type(text) not in (str, bytes):
        raise WireError("malformed extension")
    return np.str_(text) if type(text) is str else np.bytes_(text)


_GEOMETRIES = (
    *(shapely.Point, shapely.LineString, shapely.LinearRing, shapely.Polygon),
    *(getattr(shapely, name) for name in _COLLECTIONS),
)
PACKERS: dict[type, Packer] = {
    np.ndarray: _pack_array,
    **{
        kind: lambda value: (SCALAR, array_bytes(np.asarray(value)))
        for kind in {*np.sctypeDict.values()}
    },
    np.float64: lambda value: (FLOAT, _DOUBLE.pack(value)),
    np.str_: _pack_text,
    np.bytes_: _pack_text,
    **dict.fromkeys(_GEOMETRIES, lambda value: (GEOMETRY, geometry_parts(value))),
}
READERS: dict[int, Callable[[bytes], Any]] = {
    VECTOR: lambda data: np.frombuffer(data).copy(),
    TEXT: _read_text,
    FLOAT: lambda data: np.float64(_DOUBLE.unpack(data)[0]),
    ARRAY: read_array,
    SCALAR: lambda data: read_array(data).reshape(())[()],
}
BUILDERS: dict[int, Callable[[Any], Any]] = {
    GEOMETRY: lambda parts: read_geometry(*parts),
    ENTRIES: lambda parts: read_entries(*parts),
}
"""As the tables of `extensions`."""
