"""Frames on two pipes between parent and worker, and the orders that the template follows.

A frame is a 4-byte little-endian length, then the bytes. Orders go over the control socket and all
have the same length. An order for a worker brings that worker's ends of two pipes with it and is
not answered: the worker itself says on its pipe that it is ready.
"""

from __future__ import annotations

import os
import select
import struct
import time
from typing import NamedTuple

MAX_FRAME_BYTES = 64 << 20
MAX_ELEMENTS = 400_000
"""Values in one frame; the contents of an array count as one. An image crosses as an array."""


class WireError(Exception):
    """A value that may not cross, or a frame that cannot be read."""


class PeerClosed(Exception):
    """The other end closed the pipe."""


class DeadlinePassed(Exception):
    """No whole frame arrived in time."""


_LENGTH = struct.Struct("<I")
_READ_BYTES = 1 << 16
"""What a pipe holds by default."""
_SPINS = 100
"""Looks before it sleeps: most answers come within 50 us, and waking up takes as long."""
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
    rest = memoryview(_LENGTH.pack(len(data)) + data)
    while rest:
        try:
            rest = rest[os.write(descriptor, rest) :]
        except BlockingIOError:
            wait(poll_for(descriptor, select.POLLOUT), deadline_s)


def receive(
    descriptor: int, deadline_s: float | None = None, poller: select.poll | None = None
) -> bytes:
    """Read one frame; the two ends take turns, so nothing may follow it.

    Args:
        descriptor: Read end of the pipe.
        deadline_s: On the monotonic clock; None waits for ever.
        poller: Watches the descriptor for reading; by default a new one.

    Raises:
        PeerClosed: The other end is gone.
        DeadlinePassed: The deadline came first.
        WireError: The frame is too large, or there is more than one.
    """
    poller = poller or poll_for(descriptor, select.POLLIN)

    def more() -> bytes:
        if deadline_s is not None and time.monotonic() >= deadline_s:
            raise DeadlinePassed
        if not any(poller.poll(0) for _ in range(_SPINS)):
            wait(poller, deadline_s)
        if data := os.read(descriptor, _READ_BYTES):
            return data
        raise PeerClosed

    data = more()
    while len(data) < _LENGTH.size:
        data += more()
    (length,) = _LENGTH.unpack_from(data)
    if length > MAX_FRAME_BYTES:
        raise WireError(f"a frame of {length} bytes is too large")
    parts, left = [data[_LENGTH.size :]], length - len(data) + _LENGTH.size
    while left > 0:
        parts.append(more())
        left -= len(parts[-1])
    if left < 0:
        raise WireError("it spoke out of turn")
    return b"".join(parts)


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


SPAWN, END, STATUS = b"+", b"-", b"?"
"""Fork a worker; kill it; how did it end."""
READY = b"+"
"""A worker's first byte: it is locked down and waits for its program."""
_ORDER = struct.Struct("<cQdQ")
ORDER_BYTES = _ORDER.size
STATUS_ANSWER = struct.Struct("<Qi")
"""A worker's number and its wait status, -1 if that is not known."""


class WorkerLimits(NamedTuple):
    """What the kernel lets one worker use."""

    cpu_s: float = 0.0
    """Processor seconds, a net under the parent's own clock."""
    memory_bytes: int = 0
    """Private memory, with the interpreter and its libraries."""


class Order(NamedTuple):
    """One message to the template."""

    kind: bytes
    number: int
    """Of the worker."""
    limits: WorkerLimits = WorkerLimits()

    def pack(self) -> bytes:
        """Return it as sent."""
        return _ORDER.pack(self.kind, self.number, *self.limits)

    @classmethod
    def read(cls, message: bytes) -> Order:
        """Return what `pack` wrote."""
        kind, number, cpu_s, memory_bytes = _ORDER.unpack(message)
        return cls(kind, number, WorkerLimits(cpu_s, memory_bytes))
