"""What the parent and the template say to each other, over the control socket.

Every order has the same length. An order for a worker brings that worker's ends of two pipes with
it and is not answered: the worker itself says on its pipe that it is ready.
"""

from __future__ import annotations

import struct
from typing import NamedTuple

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
