"""Keys that lie in each other's way: hashes are known, and filling a dictionary can walk far."""

from __future__ import annotations

import struct
import time
from typing import Any

import msgpack
import numpy as np
import pytest

from cap.program.scope import Scope
from cap.sandbox.sandbox import Sandbox
from cap.sandbox.wire import codec, extensions
from cap.sandbox.wire.keys import MAX_FRAME_KEYS, MAX_KEYS

MOST_S = 2.0


def in_each_others_way(bits: int, filled: int, count: int) -> list[int]:
    """Return keys of which the last `count` each walk over many of the first ones.

    Small integers fill one orbit of the probe sequence i -> 5 i + 1 of a table of so many slots;
    the others are those whose own probes come to lie on it, as early as can be.
    """
    slots = 1 << bits
    place = np.full(slots, -1, np.int64)
    orbit, slot = [], 0
    for number in range(filled):
        orbit.append(slot)
        place[slot] = number
        slot = (5 * slot + 1) % slots
    keys = np.arange(slots, slots << 6, dtype=np.int64)
    rest, slot_of = keys.copy(), keys % slots
    while True:
        on_orbit = place[slot_of] >= 0
        keys, rest, slot_of = keys[on_orbit], rest[on_orbit], slot_of[on_orbit]
        if not (rest > 0).any():
            break
        rest >>= 5
        slot_of = (5 * slot_of + rest + 1) % slots
    longest = np.argsort(place[slot_of])[:count]
    return orbit + [int(key) for key in keys[longest]]


def mapping(keys: list[Any]) -> bytes:
    head = b"\xdf" + struct.pack(">I", len(keys))
    return head + b"".join(msgpack.packb(key) + b"\0" for key in keys)


def as_set(keys: list[Any], code: int) -> bytes:
    return bytes(msgpack.packb(msgpack.ExtType(code, msgpack.packb(keys))))


def refused(data: bytes) -> None:
    begin_s = time.process_time()
    with pytest.raises(codec.WireError, match="keys"):
        codec.decode(data)
    assert time.process_time() - begin_s < MOST_S


@pytest.fixture(scope="module")
def many() -> list[int]:
    return in_each_others_way(16, 33_000, 8000)


def test_many_keys_in_each_others_way_are_refused(many: list[int]) -> None:
    refused(mapping(many))
    refused(mapping([float(key) for key in many]))
    for code in (extensions.SET, extensions.FROZENSET):
        refused(as_set(many, code))
    refused(b"\xc1" + msgpack.packb([["set", *range(1, len(many) + 1)], *many]))
    refused(
        b"\xc1"
        + msgpack.packb([["dict", *(n for n in range(1, len(many) + 1) for _ in "ab")], *many])
    )


def test_as_many_as_are_read_take_little_however_they_are_spread() -> None:
    few = in_each_others_way(13, 3300, 700)
    assert len(few) <= MAX_KEYS
    begin_s = time.process_time()
    assert len(codec.decode(mapping(few))) == len(few)
    refused(b"\xdc\x00\x40" + mapping(few) * 64)
    assert time.process_time() - begin_s < MOST_S


def test_small_pieces_of_a_large_frame_count_together() -> None:
    piece = as_set(list(range(300)), extensions.SET)
    refused(b"\xdd" + struct.pack(">I", 1000) + piece * 1000)


def test_long_keys_of_one_hash_are_refused() -> None:
    """Comparing them would walk each to its end."""
    prime = 2**61 - 1
    keys = [(*range(2000), prime * number + 1) for number in range(8, 60)]
    assert len({hash(key) for key in keys}) == 1
    tuples = [
        msgpack.ExtType(extensions.TUPLE, msgpack.packb(list(map(wire_int, k)))) for k in keys
    ]
    refused(as_set(tuples, extensions.SET))


def wire_int(number: int) -> Any:
    return number if number < 2**63 else msgpack.ExtType(extensions.INT, hex(number).encode())


def test_the_sender_is_told() -> None:
    """A program's own large map is no broken protocol."""
    large = dict.fromkeys(range(MAX_KEYS + 1), 0)
    for value in (large, [large], set(large), {"a": frozenset(large)}, (1, (large,))):
        with pytest.raises(codec.WireError, match="keys that are not text"):
            codec.encode(value)
        with pytest.raises(codec.WireError, match="keys that are not text"):
            codec.encode_shared(value)
    maps = [dict.fromkeys(range(4000), 0) for _ in range(1 + MAX_FRAME_KEYS // 4000)]
    with pytest.raises(codec.WireError, match="keys that are not text"):
        codec.encode(maps)
    assert codec.decode(codec.encode(maps[:-1])) == maps[:-1]


def test_text_keys_and_small_maps_are_not_counted() -> None:
    texts = {str(number): number for number in range(20_000)}
    small = [{number: number} for number in range(80_000)]
    grid = {(row, column) for row in range(60) for column in range(60)}
    for value in (texts, small, grid):
        assert codec.decode(codec.encode(value)) == value


def test_what_else_a_program_leaves_is_kept() -> None:
    data, dropped, _ = codec.encode_variables(
        {"big": set(range(5000)), "grid": set(range(4000)), "words": {"a": 1}}
    )
    assert dropped == ["big"]
    assert codec.decode(data) == {"grid": set(range(4000)), "words": {"a": 1}}


def test_a_program_learns_what_it_may_not_return() -> None:
    with Sandbox() as sandbox:
        failure = sandbox.run("x = {n: 0 for n in range(5000)}", returns="x").failure
        assert failure is not None
        assert (failure.kind, failure.error) == ("raised", "TypeError")
        assert "keys that are not text" in failure.message
        kept = sandbox.execute("x = {n: 0 for n in range(5000)}\ny = 1", Scope(), keep=True)
        assert (kept.variables, kept.dropped) == ({"y": 1}, ("x",))
