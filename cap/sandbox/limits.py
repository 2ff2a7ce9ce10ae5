"""Limits of one program, the messages when it exceeds them, and the listeners while it runs."""

from __future__ import annotations

import hashlib
import os
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from cap.checker.declared_types import CheckedValues
from cap.files import read_bytes

if TYPE_CHECKING:
    from cap.result import Call

FOREIGN_LEVEL = "kernel-seccomp"
"""The weakest sandbox level for programs of language models and agents, and for hardware: below it
only the check stands between a program and the host."""
MIN_LEVEL_VARIABLE = "CAP_MIN_LEVEL"
STAND_INS = ("nearest", "nobody", "oracle", "noisy-oracle", "no-op")
"""Models that are none: what they write comes with this software."""
SHIPPED_RECORDINGS = frozenset(["d8566d5075b9207717f33d26f99cb4ae8a152a7589ed02b29e400e585b609727"])
"""SHA-256 of the recordings that come with this software: their programs do as well."""
WEAK_LEVELS = (FOREIGN_LEVEL, "process")
"""Below `kernel`, the user gets a note."""
HARDWARE_ACTIONS = 200
"""Calls of actions that one program may make of a real robot: more is a loop without an end."""


@dataclass(frozen=True)
class Limits(CheckedValues):
    """What one program may use; the time a user takes to approve counts for none of it."""

    program_s: float = 10.0
    """Wall seconds of the program itself; robot and model calls do not count."""
    calls_s: float = 600.0
    """Wall seconds in robot and model calls, together."""
    sim_s: float = 3600.0
    """Seconds of simulated time, looked at after each call; of a real robot, in the rehearsal."""
    grace_s: float = 1.0
    """Wall seconds a robot call may take to end after it was stopped."""
    calls: int = 10_000
    """Calls of primitives."""
    actions: int = 10_000
    """Calls of actions among them."""
    call_bytes: int = 64 << 20
    """Arguments and results of all calls, as they cross: the parent keeps them to the end."""
    memory_bytes: int = 1 << 30
    """Private memory of the worker."""
    stdout_chars: int = 100_000
    """Printed characters."""

    def exceeded(
        self, calls: int, actions: int, call_bytes: int, sim_s: float
    ) -> tuple[str, str] | None:
        """Return the name and message of the limit that one more call exceeds; None if none.

        Args:
            calls: Calls before it.
            actions: Actions, itself included.
            call_bytes: Arguments and results so far.
            sim_s: Simulated seconds so far.
        """
        endless = "is a loop without an end?"
        if calls >= self.calls:
            return "CallLimit", f"more than {self.calls} calls; {endless}"
        if actions > self.actions:
            return "ActionLimit", f"more than {self.actions} actions; {endless}"
        if call_bytes > self.call_bytes:
            return "CallBytesLimit", f"calls with more than {self.call_bytes >> 20} MiB in all"
        if sim_s > self.sim_s:
            return "SimTimeLimit", f"more than {self.sim_s:g} s of simulated time; {endless}"
        return None

    def reason(self, error: str) -> str:
        """Return the message for a program that used up its time, output or memory."""
        return {
            "TimeLimit": f"the program ran longer than {self.program_s:g} s",
            "CallTimeout": f"calls took longer than {self.calls_s:g} s",
            "OutputLimit": f"it printed more than {self.stdout_chars} characters",
            "MemoryError": f"it needed more than {self.memory_bytes >> 20} MiB",
        }[error]


def weakest_level(model: str, *, simulated: bool = True) -> str | None:
    """Return the weakest sandbox level to accept; None for any.

    The environment variable `CAP_MIN_LEVEL` is the user's own decision, for all that runs.

    Args:
        model: The name of what writes the programs.
        simulated: Nothing physical moves.
    """
    if MIN_LEVEL_VARIABLE in os.environ:
        return os.environ[MIN_LEVEL_VARIABLE]
    stands_in = model.partition(":")[0] in STAND_INS or _is_shipped(model)
    return None if stands_in and simulated else FOREIGN_LEVEL


def _is_shipped(model: str) -> bool:
    kind, _, path = model.partition("/")
    try:
        digest = hashlib.sha256(read_bytes(Path(path))).hexdigest() if kind == "replay" else ""
    except OSError:
        return False
    return digest in SHIPPED_RECORDINGS


@dataclass(frozen=True)
class Listeners:
    """What the parent calls between a program's calls."""

    on_call: Callable[[Call], None] | None = None
    """Called with every call once it is served."""
    on_line: Callable[[int], None] | None = None
    """Called before every call with the line of the program that makes it."""
    on_print: Callable[[str], None] | None = None
    """Called before a call with what was printed since the one before. What is printed after the
    last call is in the result alone."""
