"""What the parent and the template say to each other, over the control socket.

Every order has the same length: its kind, and a worker's limits or its number. The template
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
QUESTION = struct.Struct(f"<ci{_ORDER.size - 5}x")
"""`STATUS` and a worker's process id in the template: how did it end?"""
ORDER_BYTES = _ORDER.size


ANYWHERE = -1
"""Instead of a core's number."""


@dataclass(frozen=True)
class WorkerLimits:
    """What the kernel lets one worker use."""

    cpu_s: float
    """Processor seconds, a net under the parent's own clock."""
    memory_bytes: int
    """Private memory, with the interpreter and its libraries."""


@dataclass(frozen=True)
class WorkerOrder:
    """A worker that is asked for."""

    limits: WorkerLimits
    """What it may use."""
    core: int = ANYWHERE
    """The processor core it stays on once it is ready."""

    def pack(self, kind: bytes) -> bytes:
        """Return it as sent, `NOW` or `SPARE`."""
        return _ORDER.pack(kind, self.limits.cpu_s, self.limits.memory_bytes, self.core)

    @classmethod
    def read(cls, message: bytes) -> WorkerOrder:
        """Read what `pack` wrote."""
        _, cpu_s, memory_bytes, core = _ORDER.unpack(message)
        return cls(WorkerLimits(cpu_s, memory_bytes), core)
