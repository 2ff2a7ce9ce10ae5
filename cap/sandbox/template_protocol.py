"""What the parent and the template say to each other, over the control socket.

Every order has the same length. One that asks for a worker brings that worker's ends of two pipes
with it, and may end the worker before it in the same breath; nothing is answered, for the worker
itself says on its pipe that it is ready. What its program will most likely find, its setting,
follows the order where it is another than that of the order before. Questions are answered, with
the number they ask for.
"""

from __future__ import annotations

import struct
from dataclasses import dataclass

NOW, SPARE, END, STATUS, IDENTITY = b"N", b"S", b"E", b"?", b"I"
"""A worker at once; one prewarmed first; only an end; how did one end; which process is it."""
READY = b"+"
"""A worker's first byte: it lives, and takes its program as soon as it is locked down."""
_ORDER = struct.Struct("<cQQdQhhi")
ORDER_BYTES = _ORDER.size
ANSWER = struct.Struct("<cQi")
"""The question's kind and worker, and a wait status or a process id in the template, or -1."""


ANYWHERE = -1
"""Instead of a core's number."""
CORE = struct.Struct("<h")
"""Before a job: the core its worker moves to, next to the thread that serves it."""
SIZE = struct.Struct("<I")
"""Next: of the setting that comes before the program, 0 if the one sent ahead holds."""
GO = b"!"
"""After a job: taken on its own when the program begins, so nothing has begun while it is there."""
LONGEST_SETTING = 1 << 12
"""A longer one is not sent ahead; it has to fit into the socket while nobody reads it."""
AS_BEFORE = -1
"""Instead of a setting's length: that of the order before holds."""


@dataclass(frozen=True)
class WorkerLimits:
    """What the kernel lets one worker use."""

    cpu_s: float = 0.0
    """Processor seconds, a net under the parent's own clock."""
    memory_bytes: int = 0
    """Private memory, with the interpreter and its libraries."""


@dataclass(frozen=True)
class Order:
    """One message to the template."""

    kind: bytes
    """What is wanted."""
    number: int = 0
    """Of the worker that is wanted, or asked about."""
    ended: int = 0
    """Of a worker to be killed first; 0 for none."""
    limits: WorkerLimits = WorkerLimits()
    """What the one that is wanted may use."""
    core: int = ANYWHERE
    """The processor core it stays on once it is ready."""
    caller: int = ANYWHERE
    """The core of the thread that goes on meanwhile: nothing else is to run there."""
    setting_bytes: int = AS_BEFORE
    """Length of the setting that follows."""

    def pack(self) -> bytes:
        """Return it as sent."""
        limits = self.limits
        kind, number, ended = self.kind, self.number, self.ended
        more = self.core, self.caller, self.setting_bytes
        return _ORDER.pack(kind, number, ended, limits.cpu_s, limits.memory_bytes, *more)

    @classmethod
    def read(cls, message: bytes) -> Order:
        """Read what `pack` wrote."""
        kind, number, ended, cpu_s, memory_bytes, *more = _ORDER.unpack(message)
        return cls(kind, number, ended, WorkerLimits(cpu_s, memory_bytes), *more)
