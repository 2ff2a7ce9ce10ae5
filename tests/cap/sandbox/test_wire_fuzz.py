"""A worker that says anything at all, over real pipes: the parent always ends with a result."""

import contextlib
import marshal
import os
import pickle
import struct
import threading
import time
from collections.abc import Sequence
from typing import Any

import msgpack
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from cap.program.scope import Primitive, Scope
from cap.result import Result
from cap.sandbox import frames
from cap.sandbox import wire as codec
from cap.sandbox.client import Worker, WorkerTemplate
from cap.sandbox.frames import WorkerLimits
from cap.sandbox.limits import Limits
from cap.sandbox.results import within_scope
from cap.sandbox.server import Server
from tests.fakes.audit import listening
from tests.rows import rows

FIXED = settings(max_examples=60, derandomize=True, database=None, deadline=None)
PROGRAM_S = 0.05
SOON_S = 5.0
KINDS = {"protocol", "killed", "timeout", "limit", "raised", "output", "memory"}


class Peer:
    """The untrusted end, driven by a script on a thread of its own."""

    def __init__(self) -> None:
        self.worker = Worker(WorkerTemplate(), 1, WorkerLimits())
        self.reads, self.writes = self.worker.given

    def play(self, script: Sequence[bytes], *, waits: bool, stays: bool) -> threading.Thread:
        """Say each piece, after the answer to the last one if it waits; then stay or hang up."""

        def act() -> None:
            with contextlib.suppress(OSError, frames.PeerClosed, frames.WireError):
                frames.receive(self.reads)  # the job
                for number, piece in enumerate(script):
                    if waits and number:
                        frames.receive(self.reads)
                    os.write(self.writes, piece)
            if not stays:
                os.close(self.writes)
                self.writes = -1

        player = threading.Thread(target=act, daemon=True)
        player.start()
        return player

    def close(self) -> None:
        for end in (self.worker.requests, self.worker.answers, self.reads, self.writes):
            if end >= 0:
                os.close(end)


def add(a: Any = 0, b: Any = 0) -> Any:
    return a if isinstance(a, int | float | str | np.ndarray) else None


SCOPE = Scope(primitives={"add": Primitive.of(add, "perception")})


def hold(script: Sequence[bytes], *, waits: bool = True, stays: bool = True, **more: Any) -> Result:
    peer = Peer()
    player = peer.play(script, waits=waits, stays=stays)
    limits = Limits(**{"program_s": PROGRAM_S, "calls_s": SOON_S, "calls": 20, **more})
    try:
        return Server(peer.worker, SCOPE, limits).run(b"job")
    finally:
        for end in (peer.worker.requests, peer.worker.answers):
            os.close(end)  # the player, wherever it is, meets a closed pipe
        player.join(SOON_S)
        assert not player.is_alive()
        for end in (peer.reads, peer.writes):
            if end >= 0:
                os.close(end)


def framed(data: bytes) -> bytes:
    return struct.pack("<I", len(data)) + data


def frame(value: Any) -> bytes:
    return framed(msgpack.packb(value))


DONE = {
    "status": "ok",
    "variables": {},
    "defined": {},
    "dropped": [],
    "stdout": "",
}
LEAVES = st.one_of(
    st.none(),
    st.booleans(),
    st.integers(-(2**63), 2**63),
    st.floats(),
    st.text(max_size=5),
    st.binary(max_size=12),
    st.builds(msgpack.ExtType, st.integers(0, 17), st.binary(max_size=30)),
    st.sampled_from(
        ["call", "done", "ok", "failed", "add", "variables", "stdout", "error", "line"]
    ),
)
DATA = st.recursive(
    LEAVES,
    lambda inner: st.one_of(
        st.lists(inner, max_size=4),
        st.dictionaries(st.one_of(st.text(max_size=4), st.integers(0, 9)), inner, max_size=4),
    ),
    max_leaves=10,
)
CALLS = st.builds(
    lambda name, args, rest: frame(["call", name, args, *(rest or [{}]), 1, ""]),
    st.sampled_from(["add", "add ", "exec", ""]),
    st.lists(DATA, max_size=3),
    st.lists(st.dictionaries(st.sampled_from(["a", "b", "c", ""]), DATA, max_size=2), max_size=2),
)
RESULTS = st.builds(
    lambda key, value: frame(["done", {**DONE, key: value}]),
    st.sampled_from([*DONE, "value", "more"]),
    DATA,
)


def damaged(piece: bytes, at: int, byte: int, cut: int) -> bytes:
    """Change one byte and drop some at the end."""
    at %= len(piece)
    piece = piece[:at] + bytes([byte]) + piece[at + 1 :]
    return piece[: len(piece) - cut % len(piece)]


MESSAGES = st.one_of(CALLS, RESULTS, DATA.map(frame), st.binary(max_size=20).map(framed))
PIECES = st.one_of(
    MESSAGES,
    st.binary(min_size=1, max_size=40),
    st.builds(damaged, MESSAGES, st.integers(0, 200), st.integers(0, 255), st.integers(0, 3)),
)


@FIXED
@given(st.lists(PIECES, min_size=1, max_size=4), st.booleans(), st.booleans())
def test_whatever_a_worker_says_the_parent_ends_with_a_result(
    script: list[bytes], waits: bool, stays: bool
) -> None:
    begin_s = time.monotonic()
    result = hold(script, waits=waits, stays=stays)
    assert time.monotonic() - begin_s < SOON_S
    assert result.failure is None or result.failure.kind in KINDS
    assert all(call.name == "add" or call.error for call in result.calls)


# --- what a worker may try

CALL = ["call", "add", [1], {}, 0, ""]
BROKEN = {
    "no value": framed(b""),
    "a huge header": struct.pack("<I", 0xFFFFFFFF),
    "an unknown word": frame(["exec", "code"]),
    "a result said twice": frame(["done", DONE]) * 2,
    "a call with a line in words": frame(["call", "add", [1], {}, "1"]),
    "a call said twice": frame(CALL) * 2,
    "a result after a call": frame(CALL) + frame(["done", DONE]),
    "a deep call": frame(["call", "add", msgpack.unpackb(b"\x91" * 500 + b"\x90"), {}]),
}


@rows("data", BROKEN.values(), ids=BROKEN)
def test_what_is_no_message_breaks_the_protocol_at_once(data: bytes) -> None:
    begin_s = time.monotonic()
    result = hold([data], program_s=SOON_S)
    assert result.failure is not None
    assert (result.failure.kind, result.failure.cause) == ("protocol", "infrastructure")
    assert result.calls == ()
    assert time.monotonic() - begin_s < SOON_S


def test_a_worker_that_does_not_read_its_job_cannot_hold_the_parent() -> None:
    peer = Peer()
    result = Server(peer.worker, SCOPE, Limits(program_s=PROGRAM_S)).run(bytes(1 << 20))
    peer.close()
    assert result.failure is not None
    assert result.failure.kind == "timeout"


@pytest.mark.parametrize("name", ["exec", "__import__", "add ", ""])
def test_a_call_outside_the_scope_is_refused(name: str) -> None:
    (call,) = hold([frame(["call", name, [], {}, 0, ""]), frame(["done", DONE])]).calls
    assert call.error == f"LimitExceeded: '{name}' is not in this program's scope"


def test_keywords_that_are_no_names_are_refused() -> None:
    (call,) = hold([frame(["call", "add", [], {1: 2}, 0, ""]), frame(["done", DONE])]).calls
    assert call.error is not None
    assert call.error.startswith("TypeError: add(")


def test_a_worker_that_speaks_ever_so_slowly_meets_the_deadline() -> None:
    peer = Peer()
    over = threading.Event()

    def drip() -> None:
        with contextlib.suppress(OSError):
            os.write(peer.writes, struct.pack("<I", 1 << 20))
            while not over.wait(0.01):
                os.write(peer.writes, b"\xc0")

    player = threading.Thread(target=drip, daemon=True)
    player.start()
    result = Server(peer.worker, SCOPE, Limits(program_s=0.2)).run(b"")
    over.set()
    player.join(SOON_S)
    peer.close()
    assert result.failure is not None
    assert result.failure.error == "TimeLimit"
    assert 0.2 <= result.program_s < SOON_S


# --- nothing that arrives is executed

WATCHED = ("exec", "compile", "marshal.", "pickle.", "import", "os.system", "subprocess.", "open")


class Evil:
    def __reduce__(self) -> tuple[Any, ...]:
        return os.system, ("true",)


EXECUTABLE = {
    "pickle": pickle.dumps(Evil()),
    "marshal": marshal.dumps(compile("1", "x", "eval")),
    "source": b"__import__('os').system('true')",
}


@pytest.mark.parametrize("data", EXECUTABLE.values(), ids=EXECUTABLE)
def test_nothing_executable_is_executed(data: bytes) -> None:
    scripts = [
        [framed(data)],
        [framed(b"\xc1" + data)],
        [frame(["done", {**DONE, "value": data}])],
        [frame(["done", {**DONE, "variables": data}])],
        [frame(["call", data.decode("latin-1"), [data], {}]), frame(["done", DONE])],
        *([frame(["call", "add", [msgpack.ExtType(code, data)]])] for code in range(18)),
    ]
    for script in scripts:
        hold(script, stays=False)  # whatever is loaded late is loaded now
    seen: list[str] = []
    with listening(lambda event, _: seen.append(event) if event.startswith(WATCHED) else None):
        results = [hold(script, stays=False) for script in scripts]
    assert seen == []
    assert all(result.failure is None or result.failure.kind in KINDS for result in results)


def test_an_execution_is_heard() -> None:
    seen: list[str] = []
    with listening(lambda event, _: seen.append(event)):
        exec("1")
    assert "exec" in seen


# --- what a last message may say


def last(**entries: Any) -> Result:
    return hold([frame(["done", {**DONE, **entries}])], stdout_chars=1000, program_s=SOON_S)


def test_output_and_errors_are_cut_whatever_the_worker_sends() -> None:
    assert last(stdout="x" * 5_000_000).stdout == "x" * 1000
    failed = last(status="failed", error="E" * 1_000_000, message="m\n" * 1_000_000, line=1)
    assert failed.failure is not None
    assert len(str(failed.failure)) < 3000
    assert "\n" not in failed.failure.message
    assert (
        len(last(status="failed", error="E", message="", line=1, stdout="x" * 9999).stdout) == 1000
    )


@rows(
    "entries",
    [
        {"status": "great"},
        {"stdout": 1},
        {"defined": {"f": "1"}},
        {"defined": {f"f{n:0>99}": 1 for n in range(20_000)}},
        {"dropped": ["x\x1b[2J"]},
        {"dropped": ["__builtins__"]},
        {"defined": {"if": 1}},
        {"variables": codec.encode({"__builtins__": {}})},
        {"variables": codec.encode({1: 1})},
        {"status": "failed", "error": 1, "message": "", "line": 1},
        {"status": "failed", "error": "E", "message": "", "line": True},
    ],
)
def test_a_last_message_of_other_things_breaks_the_protocol(entries: dict[str, Any]) -> None:
    failure = last(**entries).failure
    assert failure is not None
    assert failure.kind == "protocol"
    assert len(failure.message) < 200


@rows(("line", "told"), [(1, 1), (3, 3), (4, None), (-5, None), (10**15, None)])
def test_a_line_outside_the_program_is_not_told(line: int, told: int | None) -> None:
    failed = last(status="failed", error="E", message="", line=line)
    failure = within_scope(failed, Scope(), 3).failure
    assert failure is not None
    assert failure.line == told
