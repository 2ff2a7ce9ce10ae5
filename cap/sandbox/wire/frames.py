"""Frames on a pipe: a 4-byte little-endian length, then that many bytes.

The two ends take turns: the parent sends its job and then one answer for each call, the worker
one call at a time and at last its result. So a whole frame is mostly one read, and bytes after
its end are somebody speaking out of turn.
"""

from __future__ import annotations

import os
import select
import struct
import sys
import time

from cap.sandbox.wire.errors import DeadlinePassed, PeerClosed, WireError

MAX_FRAME_BYTES = 64 << 20
MAX_KEPT_BYTES = 32 << 20
"""Of the variables that stay between turns, together: each turn sends them there and back."""
MAX_ELEMENTS = 400_000
"""Values in one frame; the bytes inside arrays do not count. An image crosses as an array."""
_LENGTH = struct.Struct("<I")
_READ_BYTES = 1 << 16
"""What a pipe holds by default."""
_LONGEST_S = 1e6
"""`poll` takes no larger number."""


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
    frame = _LENGTH.pack(len(data)) + data
    try:
        written = os.write(descriptor, frame)
    except BlockingIOError:
        written = 0
    if written == len(frame):
        return
    rest = memoryview(frame)[written:]
    poller = poll_for(descriptor, select.POLLOUT)
    while rest:
        try:
            rest = rest[os.write(descriptor, rest) :]
        except BlockingIOError:
            wait(poller, deadline_s)


def exchange(
    ends: tuple[int, int], poller: select.poll, data: bytes, now_s: float, deadline_s: float
) -> bytes:
    """Write a frame and read the next: `send` and `receive` in one, quick for small frames.

    Args:
        ends: Write end of one pipe, non-blocking, and read end of the other.
        poller: Watches the read end.
        data: The frame's content.
        now_s: The time, on the monotonic clock.
        deadline_s: When it is over; less than 1e6 s away.

    Raises:
        BrokenPipeError: The other end is gone.
        PeerClosed: So it is, and nothing is left to read.
        DeadlinePassed: The deadline came first.
        WireError: The frame is too large, or there is more than one.
    """
    requests, answers = ends
    frame = _LENGTH.pack(len(data)) + data
    left_ms = int((deadline_s - now_s) * 1000) + 1
    if len(frame) <= select.PIPE_BUF and left_ms > 0:  # such a frame is written whole or not at all
        try:
            os.write(requests, frame)
        except BlockingIOError:
            pass
        else:
            if not poller.poll(left_ms):
                raise DeadlinePassed
            return read(answers, deadline_s, poller)
    send(requests, data, deadline_s)
    return receive(answers, deadline_s, poller)


def receive(
    descriptor: int, deadline_s: float | None = None, poller: select.poll | None = None
) -> bytes:
    """Read one frame.

    Args:
        descriptor: Read end of the pipe.
        deadline_s: On the monotonic clock; None waits for ever.
        poller: Watches the descriptor for reading; made anew by default.

    Raises:
        PeerClosed: The other end is gone.
        DeadlinePassed: The deadline came first.
        WireError: The frame is too large, or there is more than one.
    """
    if deadline_s is not None:
        poller = poller or poll_for(descriptor, select.POLLIN)
        wait(poller, deadline_s)
    return read(descriptor, deadline_s, poller)


def receive_all_but(descriptor: int, held: int) -> bytes:
    """Read one frame, but for its last bytes and whatever comes after it.

    Args:
        descriptor: Read end of a pipe that is waited for.
        held: How many bytes stay where they are.

    Raises:
        PeerClosed: The other end is gone.
    """
    (length,) = _LENGTH.unpack(_exactly(descriptor, _LENGTH.size))
    return _exactly(descriptor, length - held) if length > held else b""


def _exactly(descriptor: int, count: int) -> bytes:
    parts = [_some(os.read(descriptor, count))]
    left = count - len(parts[0])
    while left:
        parts.append(_some(os.read(descriptor, min(_READ_BYTES, left))))
        left -= len(parts[-1])
    return b"".join(parts)


def framed(data: bytes) -> bytes:
    """Return a frame as it is sent."""
    return _LENGTH.pack(len(data)) + data


def unread(descriptor: int) -> int:
    """Return how many bytes in a pipe nobody has read yet; 0 where the system does not tell.

    Args:
        descriptor: Its write end.
    """
    if sys.platform != "linux":
        return 0
    import fcntl  # which Windows has not
    import termios

    size = bytearray(4)
    fcntl.ioctl(descriptor, termios.FIONREAD, size)
    return int.from_bytes(size, sys.byteorder)


def read(descriptor: int, deadline_s: float | None, poller: select.poll | None) -> bytes:
    """Read a frame that has begun to arrive, as `receive` does; mostly it is all there."""
    data = os.read(descriptor, _READ_BYTES)
    if len(data) >= 4 and _LENGTH.unpack_from(data)[0] == len(data) - 4:
        return data[4:]
    return _receive_rest(descriptor, data, deadline_s, poller)


def _receive_rest(
    descriptor: int, data: bytes, deadline_s: float | None, poller: select.poll | None
) -> bytes:
    """Read on to the end of the frame, never past it."""

    def more(count: int) -> bytes:
        if poller is not None:
            wait(poller, deadline_s)
        return _some(os.read(descriptor, min(_READ_BYTES, count)))

    _some(data)
    while len(data) < _LENGTH.size:
        data += more(_LENGTH.size - len(data))
    (length,) = _LENGTH.unpack_from(data)
    if length > MAX_FRAME_BYTES:
        raise WireError(f"a frame of {length} bytes is too large")
    if len(data) > _LENGTH.size + length:
        raise WireError("it spoke out of turn")
    parts = [data[_LENGTH.size :]]
    left = length - len(parts[0])
    while left:
        parts.append(more(left))
        left -= len(parts[-1])
    return b"".join(parts)


def _some(data: bytes) -> bytes:
    if not data:
        raise PeerClosed
    return data


def poll_for(descriptor: int, event: int) -> select.poll:
    """Return a poller of one pipe end. `poll`, unlike `select`, has no largest descriptor."""
    poller = select.poll()
    poller.register(descriptor, event)
    return poller


def wait(poller: select.poll, deadline_s: float | None) -> None:
    """Wait until the pipe is ready.

    Raises:
        DeadlinePassed: It was not, in time.
    """
    if deadline_s is None:
        poller.poll()
        return
    left_s = deadline_s - time.monotonic()
    if left_s <= 0 or not poller.poll(int(min(left_s, _LONGEST_S) * 1000) + 1):
        raise DeadlinePassed
