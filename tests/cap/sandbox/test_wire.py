import contextlib
import os
import struct
import time
import tracemalloc
from collections.abc import Iterator
from typing import Any

import msgpack
import numpy as np
import pytest
import shapely
from hypothesis import given, settings
from hypothesis import strategies as st
from shapely.geometry.base import BaseGeometry

from cap.sandbox import arrays, frames
from cap.sandbox import wire as codec
from tests.rows import rows

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


def extension(code: int, value: Any, tail: bytes = b"") -> bytes:
    return bytes(msgpack.packb(msgpack.ExtType(code, msgpack.packb(value) + tail)))


def array_extension(
    dtype: bytes, shape: tuple[int, ...], data: bytes, code: int = arrays.ARRAY
) -> bytes:
    head = struct.pack("<4sB", dtype, len(shape)) + struct.pack(f"<{len(shape)}Q", *shape)
    return bytes(msgpack.packb(msgpack.ExtType(code, head + data)))


def round_trip(value: Any) -> Any:
    return codec.decode(codec.encode(value))


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
    "value",
    [
        *(float("inf"), float("-inf"), 10**4000, -(10**40), 2**64, b""),
        *(np.float32(1.5), np.int64(-3), np.bool_(True), np.complex64(1j)),
        *(np.str_("a"), np.str_(""), np.bytes_(b"b")),
    ],
    ids=type,
)
def test_numbers_and_texts_keep_value_and_type(value: Any) -> None:
    assert same(round_trip(value), value)


def test_not_a_number_comes_back() -> None:
    assert np.isnan(round_trip(float("nan")))
    assert np.isnan(round_trip(np.array([np.nan]))).all()


ARRAYS = [
    np.arange(6.0).reshape(2, 3),
    np.zeros((0, 2)),
    np.array(3.5),
    np.arange(24).reshape(2, 3, 4).transpose(2, 0, 1),
    np.array(["a", "bcd", ""]),
    np.array([shapely.Point(0, 0), None, shapely.box(0, 0, 1, 1)], dtype=object),
    np.array([[shapely.Point(0, 0)], [shapely.LinearRing([(0, 0), (1, 0), (0, 1)])]], dtype=object),
    *(
        np.array([0, 1, 1], dtype=order + code)
        for code in np.typecodes["AllInteger"] + np.typecodes["AllFloat"] + "?"
        for order in "<>"
    ),
]


@rows("array", ARRAYS)
def test_an_array_comes_back_with_dtype_and_shape(array: np.ndarray) -> None:
    back = round_trip(array)
    assert type(back) is np.ndarray
    assert back.shape == array.shape
    assert back.dtype == array.dtype or array.dtype.kind in "US"
    assert back.dtype.kind == array.dtype.kind
    assert back.flags.writeable
    assert repr(back.tolist()) == repr(array.tolist())


GEOMETRIES = [
    shapely.Point(1, 2, 3),
    shapely.Point(),
    shapely.LineString([(0, 0), (1, 1)]),
    shapely.LinearRing([(0, 0), (1, 0), (0, 1)]),
    shapely.LinearRing(),
    shapely.box(0, 0, 9, 9) - shapely.box(1, 1, 2, 2),
    shapely.MultiLineString([[(0, 0), (1, 1)], [(2, 2), (3, 3)]]),
    shapely.GeometryCollection([shapely.MultiPoint([(0, 0)]), shapely.GeometryCollection()]),
]


@rows("geometry", GEOMETRIES, ids=str)
def test_a_geometry_keeps_its_type_and_coordinates(geometry: BaseGeometry) -> None:
    back = round_trip(geometry)
    assert type(back) is type(geometry)
    assert back.wkt == geometry.wkt


# --- exceptions


@rows("name", codec.RAISABLE)
def test_an_exception_of_a_registered_name_crosses(name: str) -> None:
    back = round_trip(codec.RAISABLE[name]("no\n cup"))
    assert type(back) is codec.RAISABLE[name]
    assert "no cup" in str(back)
    assert back.__traceback__ is back.__cause__ is None


@pytest.mark.parametrize(
    "parts", [["OSError", "x"], ["ValueError", 1], ["ValueError"], ["exec", ""]]
)
def test_no_other_exception_is_made(parts: list[Any]) -> None:
    with pytest.raises(frames.WireError):
        codec.decode(extension(codec.ERROR, parts))


# --- what may not grow


@pytest.mark.inside
def test_a_small_frame_of_containers_does_not_grow(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(codec, "MAX_ELEMENTS", 12_000)
    inner = b"\xdc" + struct.pack(">H", 5000) + b"\x90" * 5000
    assert len(codec.decode(inner)) == 5000
    with pytest.raises(frames.WireError, match="more than 12000 values"):
        codec.decode(b"\x93" + inner * 3)
    with pytest.raises(frames.WireError, match="more than 12000 values"):
        codec.decode(b"\x93" + extension(codec.TUPLE, codec.decode(inner)) * 3)


@pytest.mark.inside
def test_nested_extensions_may_not_copy_their_bytes_without_end(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(codec, "MAX_FRAME_BYTES", 10_000)
    value: Any = bytes(5000)
    for _ in range(10):
        value = (value,)
    with pytest.raises(frames.WireError, match=r"too large|nested too deeply"):
        codec.decode(codec.encode(value))


def test_every_number_that_crosses_can_be_written_out() -> None:
    largest = 2**codec.MAX_INT_BITS - 1
    assert len(str(round_trip(largest))) < 4300
    with pytest.raises(frames.WireError, match="4000 digits"):
        codec.encode(largest + 1)
    with pytest.raises(frames.WireError, match="4000 digits"):
        codec.decode(msgpack.packb(msgpack.ExtType(codec.INT, b"0x" + b"f" * 5000)))


class Hidden(dict):  # type: ignore[type-arg]
    """Looks like plain data and is not."""


class Pretender:
    geom_type = "Point"


def nested(kind: type, levels: int) -> Any:
    value: Any = kind()
    for _ in range(levels):
        value = kind([value]) if kind is not dict else {0: value}
    return value


def inside_itself() -> list[Any]:
    value: list[Any] = []
    value.append(value)
    return value


REFUSED = {
    "object": object(),
    "function": len,
    "exception of no registered name": OSError("x"),
    "an endless number": 10**5000,
    "an array of a geometry and a word": np.array([shapely.Point(0, 0), "a"], dtype=object),
    "array of a subclass": np.array([[1]]).view(np.matrix),
    "generator": (i for i in range(3)),
    "subclass": Hidden(),
    "no geometry": Pretender(),
    "object array": np.array([{}, 1]),
    "record array": np.zeros(1, dtype=[("a", "f8")]),
    "date": np.datetime64("2020-01-01"),
    "array of too many dimensions": np.zeros((1,) * 33),
    "void": np.void(b"a"),
    "masked": np.ma.array([1]),
    "surrogate": "\ud800",
    "deep in a list": [1, (2, {"a": {3: object()}})],
    "nested lists": nested(list, 100),
    "nested dicts": nested(dict, 100),
    "very deep": nested(list, 5000),
    "a list inside itself": inside_itself(),
    "a text in a key": {("x" * 300, 1): 0},
    "keys of one hash": {(1 << 13000, 1 + number * ((1 << 61) - 1)): 0 for number in range(9)},
    "many long keys": {(*range(14), number): 0 for number in range(1000)},
    "texts padded to one long one": np.array(["x" * 32_000] + [""] * 1999),
}


@rows("value", REFUSED.values(), ids=REFUSED)
def test_what_is_not_plain_data_may_not_cross(value: Any) -> None:
    with pytest.raises(frames.WireError, match="cross"):
        codec.encode(value)


@pytest.mark.parametrize("kind", [list, tuple, dict])
def test_what_crosses_one_way_crosses_the_other(kind: type) -> None:
    value = nested(kind, codec.MAX_DEPTH - 2)
    assert round_trip(value) == value


EXTENSIONS = st.builds(msgpack.ExtType, st.integers(0, 12), st.binary(max_size=40))


@FIXED
@given(st.one_of(st.binary(max_size=60), EXTENSIONS.map(msgpack.packb)))
def test_any_bytes_decode_or_are_a_wire_error(data: bytes) -> None:
    with contextlib.suppress(frames.WireError):
        codec.decode(data)


def deep_tuples(levels: int) -> bytes:
    data: bytes = msgpack.packb([])
    for _ in range(levels):
        data = msgpack.packb([msgpack.ExtType(codec.TUPLE, data)])
    return data


def deep_collections(levels: int) -> bytes:
    inner = struct.pack("<BII", 1, 7, 1) * levels + struct.pack("<BII", 1, 7, 0)
    return extension(arrays.GEOMETRY, ["GeometryCollection", inner])


HOSTILE = {
    "empty": b"",
    "dtype object": array_extension(b"|O", (1,), bytes(8)),
    "scalar object": array_extension(b"|O", (), bytes(8), arrays.SCALAR),
    "scalar of two": array_extension(b"<f8", (2,), bytes(16), arrays.SCALAR),
    "text dtype": array_extension(b"<U9", (1,), bytes(36)),
    "dates": array_extension(b"<M8", (1,), bytes(8)),
    "wrong shape": array_extension(b"<f8", (3,), bytes(8)),
    "huge shape": array_extension(b"<f8", (2**40, 2**40), bytes(8)),
    "huge shape of nothing": array_extension(b"<f8", (2**40, 0), b""),
    "too many dimensions": array_extension(b"<f8", (1,) * 60, bytes(8)),
    "array of nothing": bytes(msgpack.packb(msgpack.ExtType(arrays.ARRAY, b""))),
    "numpy text of a number": extension(arrays.TEXT, 1),
    "objects of words": extension(arrays.ENTRIES, ["O", [1], ["a"]]),
    "objects of a wrong shape": extension(arrays.ENTRIES, ["O", [2], [None]]),
    "texts of a wrong shape": extension(arrays.ENTRIES, ["U", [2], ["a"]]),
    "texts of a huge shape": extension(arrays.ENTRIES, ["U", [2**40, 0], []]),
    "unhashable in a set": extension(codec.SET, [[1]]),
    "range of nothing": extension(codec.RANGE, [1, 2, 0]),
    "complex of words": extension(codec.COMPLEX, ["a", "b"]),
    "no such code": extension(99, [1]),
    "texts that explode": extension(arrays.ENTRIES, ["U", [9000], ["a" * 30_000, *["b"] * 8999]]),
    "entries of dates": extension(arrays.ENTRIES, ["M", [1], ["a"]]),
    "unknown geometry": extension(arrays.GEOMETRY, ["Circle", [1]]),
    "geometry cut off": extension(arrays.GEOMETRY, ["Point", b"\1\1\0\0\0"]),
    "geometry of numbers": extension(arrays.GEOMETRY, ["MultiPoint", [1, 2]]),
    "tuples, 5000 deep": deep_tuples(5000),
    "lists, a million deep": b"\x91" * 1_000_000 + b"\x90",
    "collections, a million deep": deep_collections(1_000_000),
    "big endian collections": extension(
        arrays.GEOMETRY, ["Point", struct.pack(">BII", 0, 7, 1) * 100_000]
    ),
    "lists of a million in each other": b"\xdd\x00\x10\x00\x00" * 1000 + bytes(1 << 20),
    "a geometry of four billion points": extension(
        arrays.GEOMETRY, ["LineString", struct.pack("<BII", 1, 2, 0xFFFFFFFF)]
    ),
    "list longer than its bytes": b"\xdd\xff\xff\xff\xff",
    "map longer than its bytes": b"\xdf\xff\xff\xff\xff",
    "two values": b"\x01\x02",
    "not UTF-8": b"\xa2\xff\xfe",
}


@rows("data", HOSTILE.values(), ids=HOSTILE)
def test_hostile_bytes_are_a_wire_error_and_take_little_memory(data: bytes) -> None:
    tracemalloc.start()
    try:
        with pytest.raises(frames.WireError):
            codec.decode(data)
        assert tracemalloc.get_traced_memory()[1] < (8 << 20) + 4 * len(data)
    finally:
        tracemalloc.stop()


@pytest.fixture
def pipe() -> Iterator[tuple[int, int]]:
    ends = os.pipe()
    yield ends
    for end in ends:
        with contextlib.suppress(OSError):  # the test closed it
            os.close(end)


@pytest.mark.parametrize("sent", [b"", b"\x08\0", struct.pack("<I", 8) + b"1"])
def test_half_a_frame_passes_the_deadline_and_ends_with_its_peer(
    sent: bytes, pipe: tuple[int, int]
) -> None:
    os.write(pipe[1], sent)
    with pytest.raises(frames.DeadlinePassed):
        frames.receive(pipe[0], time.monotonic() + 0.02)
    os.write(pipe[1], sent)
    os.close(pipe[1])
    with pytest.raises(frames.PeerClosed):
        frames.receive(pipe[0])


def test_a_huge_frame_is_refused_by_its_header(pipe: tuple[int, int]) -> None:
    os.write(pipe[1], struct.pack("<I", frames.MAX_FRAME_BYTES + 1))
    with pytest.raises(frames.WireError, match="too large"):
        frames.receive(pipe[0])


@pytest.mark.inside
def test_a_value_larger_than_a_frame_may_not_cross(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(codec, "MAX_FRAME_BYTES", 1000)
    assert codec.decode(codec.encode(b"a" * 900)) == b"a" * 900
    with pytest.raises(frames.WireError, match="too large"):
        codec.encode(b"a" * 1000)


def test_a_range_is_no_longer_than_a_list_may_be() -> None:
    for value in (range(10**30), range(0, -(2**70), -2), range(frames.MAX_ELEMENTS + 1)):
        with pytest.raises(frames.WireError, match="range"):
            codec.encode(value)
    forged = extension(codec.RANGE, [0, 2**62, 1])
    with pytest.raises(frames.WireError, match="range"):
        codec.decode(forged)
    for value in (range(0), range(5, 0), range(frames.MAX_ELEMENTS), range(10, -10, -3)):
        assert codec.decode(codec.encode(value)) == value


def test_keys_that_take_long_to_put_into_one_dictionary_do_not_cross() -> None:
    many = dict.fromkeys(range(codec.MAX_KEYS + 1), 0)
    large = {tuple(range(codec.MAX_KEY_PARTS + 1)): 0}
    for value in (many, set(many), large):
        with pytest.raises(frames.WireError, match="key"):
            codec.encode(value)
    forged = msgpack.packb(many)
    with pytest.raises(frames.WireError, match="keys"):
        codec.decode(forged)
    assert round_trip({str(key): key for key in many}) == {str(key): key for key in many}


def test_what_shares_parts_is_copied_and_counted() -> None:
    part = [1]
    back = round_trip([part, part])
    assert back == [[1], [1]]
    assert back[0] is not back[1]
    value: Any = 0
    for _ in range(40):  # two to the power of forty values, written out
        value = [value, value]
    with pytest.raises(frames.WireError, match="values cannot cross"):
        codec.encode(value)
