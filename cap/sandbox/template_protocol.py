"""What the parent and the template say to each other, over the control socket.

Every order has the same length: its kind, and a budget or the number of a worker. The template
answers with a kind and a number; an answer that brings a worker brings its pipes with it.
"""

from __future__ import annotations

import struct
from dataclasses import dataclass

NOW, SPARE, STATUS, WORKER = b"N", b"S", b"?", b"W"
"""A worker at once; one prewarmed first; how one ended; here is one."""
ANSWER = struct.Struct("<ci")
"""A kind, and a worker's process id in the template or its wait status."""
_ORDER = struct.Struct("<cdQh")
_NUMBER = struct.Struct(f"<ci{_ORDER.size - 5}x")
ORDER_BYTES = _ORDER.size


ANYWHERE = -1
"""Instead of a core's number."""


@dataclass(frozen=True)
class Budget:
    """What the kernel lets one worker use."""

    cpu_s: float
    """Processor seconds, a net under the parent's own clock."""
    memory_bytes: int
    """Private memory, with the interpreter and its libraries."""


@dataclass(frozen=True)
class Order:
    """A worker that is asked for."""

    budget: Budget
    """What it may use."""
    core: int = ANYWHERE
    """The processor core it stays on once it is ready."""

    def pack(self, kind: bytes) -> bytes:
        """Return it as sent, `NOW` or `SPARE`."""
        return _ORDER.pack(kind, self.budget.cpu_s, self.budget.memory_bytes, self.core)

    @classmethod
    def read(cls, message: bytes) -> Order:
        """Read what `pack` wrote."""
        _, cpu_s, memory_bytes, core = _ORDER.unpack(message)
        return cls(Budget(cpu_s, memory_bytes), core)


def question(number: int) -> bytes:
    """Return the question how a worker ended."""
    return _NUMBER.pack(STATUS, number)


def read_number(message: bytes) -> int:
    """Return the worker in a question."""
    number: int = _NUMBER.unpack(message)[1]
    return number
