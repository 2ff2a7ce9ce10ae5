"""Values of numpy and shapely as bytes and back, checked before anything is built."""

from __future__ import annotations

import math
import struct
from collections.abc import Callable
from typing import Any

import msgpack
import numpy as np
import shapely

from cap.sandbox.frames import MAX_ELEMENTS, WireError

ARRAY, SCALAR, GEOMETRY, ENTRIES, TEXT = 0, 1, 8, 9, 10
"""Codes of extensions; those of Python's own values are in `wire`."""
FROM_BYTES = (ARRAY, SCALAR, TEXT)
"""Those whose content is bytes; that of the others is a packed list of parts."""
MAX_DIMENSIONS = 32
_DTYPES = {
    np.dtype(order + code).str: np.dtype(order + code)
    for code in np.typecodes["AllInteger"] + np.typecodes["AllFloat"] + "?"
    for order in "<>"
}
"""Every dtype that may cross, in both byte orders, by its short name."""
_HEAD = struct.Struct("<4sB")
_SIMPLE_WKB = (1, 2, 3)
"""Codes of point, line and polygon: those that hold no other geometry."""
_PADDED = 1 << 16
"""Characters that an array of texts may be padded with in any case."""
_COLLECTIONS: dict[str, Callable[[Any], Any]] = {
    "MultiPoint": shapely.multipoints,
    "MultiLineString": shapely.multilinestrings,
    "MultiPolygon": shapely.multipolygons,
    "GeometryCollection": shapely.geometrycollections,
}


def _array_bytes(array: np.ndarray) -> bytes:
    if array.dtype.str not in _DTYPES:
        raise WireError(f"an array of dtype '{array.dtype}' cannot cross the sandbox")
    head = _HEAD.pack(array.dtype.str.encode(), array.ndim)
    return head + struct.pack(f"<{array.ndim}Q", *array.shape) + array.tobytes()


def _pack_array(array: np.ndarray) -> tuple[int, Any]:
    if array.ndim > MAX_DIMENSIONS:
        most = f"{MAX_DIMENSIONS} is the most"
        raise WireError(f"an array of {array.ndim} dimensions cannot cross the sandbox; {most}")
    if array.dtype.kind not in "USO":
        return ARRAY, _array_bytes(array)
    if array.size > MAX_ELEMENTS:
        raise WireError(f"an array of more than {MAX_ELEMENTS} texts or geometries cannot cross")
    entries = array.ravel().tolist()
    _check_padding(array.dtype.kind, entries)
    if array.dtype.kind == "O" and not _are_geometries(entries):
        raise WireError("an array of objects that are no geometries cannot cross the sandbox")
    return ENTRIES, [array.dtype.kind, list(array.shape), entries]


def _read_array(data: bytes) -> np.ndarray:
    name, dimensions = _HEAD.unpack_from(data)
    dtype = _DTYPES.get(name.rstrip(b"\0").decode("ascii", "replace"))
    start = _HEAD.size + 8 * dimensions
    if dtype is None or dimensions > MAX_DIMENSIONS or start > len(data):
        raise WireError("malformed array")
    shape = struct.unpack_from(f"<{dimensions}Q", data, _HEAD.size)
    if _size(shape) * dtype.itemsize != len(data) - start:
        raise WireError("an array whose shape does not fit its contents")
    array = np.frombuffer(data, dtype, offset=start).reshape(shape)
    # a truth value of another byte than 0 and 1 would be neither
    return array.view(np.uint8) != 0 if dtype.kind == "b" else array.copy()


def _size(shape: Any) -> int:
    """Return how many elements an array of this shape has.

    Raises:
        WireError: Not a shape, or one of nothing that would be endless to list.
    """
    if len(shape) > MAX_DIMENSIONS or not all(type(n) is int and n >= 0 for n in shape):
        raise WireError("malformed shape")
    if 0 in shape and math.prod(n or 1 for n in shape) > MAX_ELEMENTS:
        raise WireError("an empty array of too many rows")
    return math.prod(shape)


def _read_entries(kind: str, shape: list[int], entries: list[Any]) -> np.ndarray:
    """Read an array of texts, bytes or geometries."""
    if _size(shape) != len(entries):
        raise WireError("an array whose shape does not fit its contents")
    if kind == "O" and _are_geometries(entries):
        array = np.empty(len(entries), dtype=object)
        array[:] = entries
        return array.reshape(shape)
    if kind not in ("U", "S") or not all(type(entry) in (str, bytes) for entry in entries):
        raise WireError("malformed array of texts or geometries")
    _check_padding(kind, entries)
    return np.array(entries, dtype=kind).reshape(shape)


def _check_padding(kind: str, entries: list[Any]) -> None:
    """Refuse texts that are padded to many times their length: to the longest of them.

    Raises:
        WireError: They are.
    """
    lengths = [len(entry) for entry in entries] if kind in ("U", "S") else []
    if max(lengths, default=0) * len(lengths) > 16 * sum(lengths) + _PADDED:
        raise WireError("an array of one long text and many short ones cannot cross; use a list")


def _are_geometries(entries: list[Any]) -> bool:
    return all(entry is None or isinstance(entry, shapely.Geometry) for entry in entries)


def _pack_geometry(value: Any) -> tuple[int, list[Any]]:
    """Pack a geometry as its type and contents; a collection's parts cross one by one."""
    if hasattr(value, "geoms"):
        return GEOMETRY, [value.geom_type, list(value.geoms)]
    return GEOMETRY, [value.geom_type, shapely.to_wkb(value)]


def _read_geometry(name: str, content: Any) -> Any:
    """Read a geometry; collections came in parts, as GEOS nests without a bound."""
    if name in _COLLECTIONS and isinstance(content, list):
        return _COLLECTIONS[name](np.array(content, dtype=object))
    (code,) = struct.unpack("<I" if content[0] else ">I", content[1:5])
    if (code & 0x1FFFFFFF) % 1000 not in _SIMPLE_WKB:
        raise WireError("malformed geometry")
    geometry = shapely.from_wkb(content)
    # WKB has no ring type: a LinearRing would come back as a LineString.
    return shapely.LinearRing(geometry.coords) if name == "LinearRing" else geometry


def _read_text(data: bytes) -> Any:
    words = msgpack.unpackb(data, max_array_len=0, max_map_len=0, max_ext_len=0)
    if type(words) not in (str, bytes):
        raise WireError("malformed extension")
    return np.str_(words) if type(words) is str else np.bytes_(words)


_TEXTS: tuple[type, ...] = (np.str_, np.bytes_)
_GEOMETRIES = (
    *(shapely.Point, shapely.LineString, shapely.LinearRing, shapely.Polygon),
    *(getattr(shapely, name) for name in _COLLECTIONS),
)
PACKERS: dict[type, Callable[[Any], tuple[int, Any]]] = {
    np.ndarray: _pack_array,
    **{
        kind: lambda value: (SCALAR, _array_bytes(np.asarray(value)))
        for kind in {*np.sctypeDict.values()}
    },
    **dict.fromkeys(_TEXTS, lambda value: (TEXT, msgpack.packb(value.item()))),
    **dict.fromkeys(_GEOMETRIES, _pack_geometry),
}
READERS: dict[int, Callable[[Any], Any]] = {
    ARRAY: _read_array,
    SCALAR: lambda data: _read_array(data).reshape(())[()],
    TEXT: _read_text,
    GEOMETRY: lambda parts: _read_geometry(*parts),
    ENTRIES: lambda parts: _read_entries(*parts),
}
"""As the tables of `wire`."""
