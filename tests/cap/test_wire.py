import contextlib
import os
import struct
import time
from collections.abc import Iterator
from typing import Any

import msgpack
import numpy as np
import pytest
import shapely
from hypothesis import given, settings
from hypothesis import strategies as st
from shapely.geometry.base import BaseGeometry

from cap.sandbox import wire

FIXED = settings(max_examples=80, derandomize=True, database=None, deadline=None)
TEXT = st.text(max_size=8)
SCALARS = st.one_of(
    st.none(),
    st.booleans(),
    st.integers(),
    st.integers(min_value=-(2**80), max_value=2**80),
    st.floats(allow_nan=False),
    TEXT,
    st.binary(max_size=8),
    st.complex_numbers(allow_nan=False),
    st.builds(range, st.integers(-5, 5), st.integers(-5, 5), st.sampled_from([-2, 1, 3])),
)
VALUES = st.recursive(
    SCALARS,
    lambda inner: st.one_of(
        st.lists(inner, max_size=4),
        st.lists(inner, max_size=4).map(tuple),
        st.dictionaries(st.one_of(TEXT, st.integers(), st.tuples(TEXT, TEXT)), inner, max_size=4),
        st.frozensets(SCALARS, max_size=4),
        st.sets(SCALARS, max_size=4),
    ),
    max_leaves=12,
)


def round_trip(value: Any) -> Any:
    return wire.decode(wire.encode(value))


def same(left: Any, right: Any) -> bool:
    """Equal, and of equal types all the way down (1 is not True, nor 1.0)."""
    if type(left) is not type(right):
        return False
    if isinstance(left, list | tuple):
        return len(left) == len(right) and all(map(same, left, right))
    if isinstance(left, dict):
        return all(map(same, left, right)) and all(map(same, left.values(), right.values()))
    if isinstance(left, set | frozenset):
        return left == right and {type(item) for item in left} == {type(item) for item in right}
    return bool(left == right)


@FIXED
@given(VALUES)
def test_plain_data_comes_back_as_it_was(value: Any) -> None:
    assert same(round_trip(value), value)


@pytest.mark.parametrize(
    "value", [float("inf"), float("-inf"), 10**5000, -(10**40), 2**64, b""], ids=type
)
def test_the_edges_of_numbers_come_back(value: Any) -> None:
    assert same(round_trip(value), value)


def test_not_a_number_comes_back() -> None:
    assert np.isnan(round_trip(float("nan")))
    assert np.isnan(round_trip(np.array([np.nan]))).all()


ARRAYS = [
    np.arange(6.0).reshape(2, 3),
    np.zeros((0, 2)),
    np.zeros(0, dtype=int),
    np.array(3.5),
    np.array([True, False]),
    np.array([1, 2], dtype=">i4"),
    np.array([1 + 2j]),
    np.arange(4, dtype=np.uint8),
    np.array([1, 2], dtype=np.float16),
    np.asfortranarray(np.arange(6).reshape(2, 3)),
    np.arange(10)[::2],
    np.arange(24).reshape(2, 3, 4).transpose(2, 0, 1),
    np.array(["a", "bcd", ""]),
    np.array([["a"], ["b"]]),
    np.array([b"a", b"bc"]),
    np.array([], dtype="U3"),
    np.array([], dtype="S3"),
]


@pytest.mark.parametrize("array", ARRAYS, ids=lambda array: f"{array.dtype.str}{array.shape}")
def test_an_array_comes_back_with_dtype_and_shape(array: np.ndarray) -> None:
    back = round_trip(array)
    assert type(back) is np.ndarray
    assert back.shape == array.shape
    assert back.dtype == array.dtype or array.dtype.kind in "US"
    assert back.dtype.kind == array.dtype.kind
    assert back.tolist() == array.tolist()


def test_an_array_is_a_writable_copy() -> None:
    array = np.zeros(3)
    back = round_trip(array)
    back[0] = 1
    assert array[0] == 0


@pytest.mark.parametrize("value", [np.float32(1.5), np.int64(-3), np.bool_(True), np.complex64(1j)])
def test_a_numpy_scalar_keeps_its_type(value: np.generic) -> None:
    assert same(round_trip(value), value)


def test_numpy_text_becomes_text() -> None:
    assert same(round_trip([np.str_("a"), np.bytes_(b"b")]), ["a", b"b"])


GEOMETRIES = [
    shapely.Point(1, 2),
    shapely.Point(1, 2, 3),
    shapely.Point(),
    shapely.LineString([(0, 0), (1, 1)]),
    shapely.LinearRing([(0, 0), (1, 0), (0, 1)]),
    shapely.LinearRing(),
    shapely.Polygon(),
    shapely.box(0, 0, 1, 1),
    shapely.box(0, 0, 9, 9) - shapely.box(1, 1, 2, 2),
    shapely.MultiPoint([(0, 0), (1, 1)]),
    shapely.MultiPoint(),
    shapely.MultiLineString([[(0, 0), (1, 1)], [(2, 2), (3, 3)]]),
    shapely.MultiPolygon([shapely.box(0, 0, 1, 1), shapely.box(2, 2, 3, 3)]),
    shapely.GeometryCollection([shapely.Point(0, 0), shapely.box(0, 0, 1, 1)]),
    shapely.GeometryCollection([shapely.MultiPoint([(0, 0)]), shapely.GeometryCollection()]),
]


@pytest.mark.parametrize("geometry", GEOMETRIES, ids=str)
def test_a_geometry_keeps_its_type_and_coordinates(geometry: BaseGeometry) -> None:
    back = round_trip(geometry)
    assert type(back) is type(geometry)
    assert back.wkt == geometry.wkt


class Hidden(dict):  # type: ignore[type-arg]
    """Looks like plain data and is not."""


class Pretender:
    geom_type = "Point"


def nested(kind: type, levels: int) -> Any:
    value: Any = kind()
    for _ in range(levels):
        value = kind([value]) if kind is not dict else {0: value}
    return value


REFUSED = {
    "object": object(),
    "function": len,
    "lambda": lambda: 1,
    "module": os,
    "class": int,
    "exception": ValueError("x"),
    "generator": (i for i in range(3)),
    "subclass": Hidden(),
    "no geometry": Pretender(),
    "object array": np.array([None, 1]),
    "record array": np.zeros(1, dtype=[("a", "f8")]),
    "dates": np.array(["2020-01-01"], dtype="M8[D]"),
    "date": np.datetime64("2020-01-01"),
    "void": np.void(b"a"),
    "masked": np.ma.array([1]),
    "surrogate": "\ud800",
    "deep in a list": [1, (2, {"a": {3: object()}})],
    "nested lists": nested(list, 100),
    "nested tuples": nested(tuple, 100),
    "nested frozensets": nested(frozenset, 100),
    "nested dicts": nested(dict, 100),
    "very deep": nested(list, 5000),
}


@pytest.mark.parametrize("value", REFUSED.values(), ids=REFUSED)
def test_what_is_not_plain_data_may_not_cross(value: Any) -> None:
    with pytest.raises(wire.WireError, match="cross"):
        wire.encode(value)


def test_a_list_inside_itself_may_not_cross() -> None:
    value: list[Any] = []
    value.append(value)
    with pytest.raises(wire.WireError, match="cross"):
        wire.encode(value)


@pytest.mark.parametrize("kind", [list, tuple, frozenset, dict])
def test_what_crosses_one_way_crosses_the_other(kind: type) -> None:
    value = nested(kind, wire.MAX_DEPTH - 2)
    assert round_trip(value) == value


@FIXED
@given(st.binary(max_size=60))
def test_any_bytes_decode_or_are_a_wire_error(data: bytes) -> None:
    with contextlib.suppress(wire.WireError):
        wire.decode(data)


@FIXED
@given(st.integers(0, 12), st.binary(max_size=40))
def test_any_extension_decodes_or_is_a_wire_error(code: int, data: bytes) -> None:
    with contextlib.suppress(wire.WireError):
        wire.decode(msgpack.packb(msgpack.ExtType(code, data)))


@FIXED
@given(VALUES, st.data())
def test_a_truncated_value_is_a_wire_error(value: Any, data: st.DataObject) -> None:
    whole = wire.encode(value)
    cut = data.draw(st.integers(0, len(whole) - 1))
    with pytest.raises(wire.WireError):
        wire.decode(whole[:cut])


def extension(code: int, value: Any, tail: bytes = b"") -> bytes:
    return bytes(msgpack.packb(msgpack.ExtType(code, msgpack.packb(value) + tail)))


def deep_tuples(levels: int) -> bytes:
    data: bytes = msgpack.packb([])
    for _ in range(levels):
        data = msgpack.packb([msgpack.ExtType(wire._TUPLE, data)])
    return data


def deep_collections(levels: int) -> bytes:
    inner = struct.pack("<BII", 1, 7, 1) * levels + struct.pack("<BII", 1, 7, 0)
    return extension(wire._GEOMETRY, ["GeometryCollection", inner])


HOSTILE = {
    "empty": b"",
    "dtype object": extension(wire._ARRAY, ["|O", [1]], b"\0" + bytes(8)),
    "scalar object": extension(wire._SCALAR, ["|O", []], b"\0" + bytes(8)),
    "record dtype": extension(wire._ARRAY, [[["a", "|O"]], [1]], b"\0" + bytes(8)),
    "text dtype": extension(wire._ARRAY, ["<U900000000", [1]], b"\0"),
    "wrong shape": extension(wire._ARRAY, ["<f8", [3]], b"\0" + bytes(8)),
    "huge shape": extension(wire._ARRAY, ["<f8", [2**40, 2**40]], b"\0" + bytes(8)),
    "array of nothing": extension(wire._ARRAY, None),
    "unhashable in a set": extension(wire._SET, [[1]]),
    "range of nothing": extension(wire._RANGE, [1, 2, 0]),
    "complex of words": extension(wire._COMPLEX, ["a", "b"]),
    "integer of words": msgpack.packb(msgpack.ExtType(wire._INT, b"0xzz")),
    "no such code": extension(99, [1]),
    "texts that explode": extension(wire._TEXTS, ["U", [9000], ["a" * 30_000, *["b"] * 8999]]),
    "texts of objects": extension(wire._TEXTS, ["O", [1], ["a"]]),
    "texts of lists": extension(wire._TEXTS, ["U", [1], [["a"]]]),
    "unknown geometry": extension(wire._GEOMETRY, ["Circle", [1]]),
    "geometry of words": extension(wire._GEOMETRY, ["Point", "words"]),
    "geometry cut off": extension(wire._GEOMETRY, ["Point", b"\1\1\0\0\0"]),
    "geometry of numbers": extension(wire._GEOMETRY, ["MultiPoint", [1, 2]]),
    "tuples, 300 deep": deep_tuples(300),
    "tuples, 5000 deep": deep_tuples(5000),
    "lists, 1000 deep": b"\x91" * 1000 + b"\x90",
    "lists, a million deep": b"\x91" * 1_000_000 + b"\x90",
    "collections, 300 deep": deep_collections(300),
    "collections, a million deep": deep_collections(1_000_000),
    "big endian collections": extension(
        wire._GEOMETRY, ["Point", struct.pack(">BII", 0, 7, 1) * 100_000]
    ),
    "list longer than its bytes": b"\xdd\xff\xff\xff\xff",
    "map longer than its bytes": b"\xdf\xff\xff\xff\xff",
    "two values": b"\x01\x02",
    "not UTF-8": b"\xa2\xff\xfe",
}


@pytest.mark.parametrize("data", HOSTILE.values(), ids=HOSTILE)
def test_hostile_bytes_are_a_wire_error(data: bytes) -> None:
    with pytest.raises(wire.WireError):
        wire.decode(data)


def test_a_pickle_is_only_bytes() -> None:
    pickled = b"cos\nsystem\n(S'true'\ntR."
    assert round_trip(pickled) == pickled
    with pytest.raises(wire.WireError):
        wire.decode(pickled)


@pytest.fixture
def pipe() -> Iterator[tuple[int, int]]:
    ends = os.pipe()
    yield ends
    for end in ends:
        with contextlib.suppress(OSError):  # the test closed it
            os.close(end)


def soon() -> float:
    return time.monotonic() + 0.02


def test_frames_arrive_in_order(pipe: tuple[int, int]) -> None:
    for frame in (b"", b"a", b"bc" * 1000):
        wire.send(pipe[1], frame)
    assert [wire.receive(pipe[0]) for _ in range(3)] == [b"", b"a", b"bc" * 1000]


@pytest.mark.parametrize(
    "sent", [b"", b"\x08\0", struct.pack("<I", 8), struct.pack("<I", 8) + b"1"]
)
def test_a_peer_that_closes_inside_a_frame_is_closed(sent: bytes, pipe: tuple[int, int]) -> None:
    os.write(pipe[1], sent)
    os.close(pipe[1])
    with pytest.raises(wire.PeerClosed):
        wire.receive(pipe[0])


@pytest.mark.parametrize("sent", [b"", b"\x08\0", struct.pack("<I", 8) + b"1"])
def test_half_a_frame_passes_the_deadline(sent: bytes, pipe: tuple[int, int]) -> None:
    os.write(pipe[1], sent)
    with pytest.raises(wire.DeadlinePassed):
        wire.receive(pipe[0], soon())


def test_a_deadline_long_past_is_passed_even_if_a_frame_waits(pipe: tuple[int, int]) -> None:
    wire.send(pipe[1], b"a")
    with pytest.raises(wire.DeadlinePassed):
        wire.receive(pipe[0], time.monotonic() - 1)


def test_a_huge_frame_is_refused_by_its_header(pipe: tuple[int, int]) -> None:
    os.write(pipe[1], struct.pack("<I", wire.MAX_FRAME_BYTES + 1))
    with pytest.raises(wire.WireError, match="too large"):
        wire.receive(pipe[0])


def test_a_value_larger_than_a_frame_may_not_cross(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(wire, "MAX_FRAME_BYTES", 1000)
    assert wire.decode(wire.encode(b"a" * 900)) == b"a" * 900
    with pytest.raises(wire.WireError, match="too large"):
        wire.encode(b"a" * 1000)


def test_a_reader_that_does_not_read_cannot_hold_the_writer(pipe: tuple[int, int]) -> None:
    os.set_blocking(pipe[1], False)
    with pytest.raises(wire.DeadlinePassed):
        wire.send(pipe[1], bytes(1 << 20), soon())


def test_a_reader_that_is_gone_is_told(pipe: tuple[int, int]) -> None:
    os.close(pipe[0])
    with pytest.raises(BrokenPipeError):
        wire.send(pipe[1], b"a")
