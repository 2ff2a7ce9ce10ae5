"""Limits of one program: the messages when it exceeds them, its clocks, and its listeners.

Its own time and that of its calls are counted apart, and none while a person decides.
"""

from __future__ import annotations

import contextlib
import hashlib
import os
import time
from collections.abc import Callable, Iterator
from contextvars import ContextVar
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from cap.checker.library_arguments import CheckedValues
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


current_clocks: ContextVar[Clocks | None] = ContextVar("clocks", default=None)
"""The innermost program's clocks; a program that an LMP runs is inside the one that asked."""
_AGES_S = 1e6
_LOOK_S = 0.05


class Abandoned(BaseException):
    """The call that returned was given up: nobody waits for it, and its worker is gone."""


class Clocks:
    """What a program and its calls have used, in seconds on the monotonic clock."""

    def __init__(self, limits: Limits) -> None:
        """Begin; nothing is used."""
        self.limit_s = min(limits.program_s, _AGES_S)
        """Of the program itself; no wait is endless."""
        self.calls_limit_s = min(limits.calls_s, _AGES_S)
        self.outer = current_clocks.get()
        self.start_s = time.monotonic()
        self.program_s = 0.0
        self.calls_s = 0.0
        self.running: list[tuple[str, float]] = []
        """The call that runs, if one does, and its begin; the thread that pops it owns its end."""
        self._asked_s = 0.0
        self._asking = 0

    def begin(self, name: str, now_s: float) -> None:
        """Note that a call begins."""
        self.running.append((name, now_s - self._asked_s))

    def end(self, now_s: float) -> float:
        """Note that the call ended; return how long it took, people's time not counted.

        Raises:
            Abandoned: The waiting thread gave it up.
        """
        try:
            _, begin_s = self.running.pop()
        except IndexError:
            raise Abandoned from None
        duration_s = now_s - self._asked_s - begin_s
        self.calls_s += duration_s
        return duration_s

    def left_s(self) -> float:
        """Return how long the call that runs may go on, or one that began now could."""
        if self._asking:
            return _AGES_S
        left_s = self.calls_limit_s - self.calls_s
        if self.outer is not None:
            left_s = min(left_s, self.outer.left_s())
        try:
            _, begin_s = self.running[-1]
        except IndexError:  # nothing runs that could take too long
            return max(left_s, _LOOK_S)
        spent_s = time.monotonic() - self._asked_s - begin_s
        return min(left_s, self.calls_limit_s - self.calls_s - spent_s)

    def deadline_s(self, now_s: float) -> float:
        """Return when the program has to answer, if it goes on from now."""
        left_s = self.limit_s - self.program_s
        if self.outer is not None:
            left_s = min(left_s, self.outer.left_s())
        return now_s + left_s

    @contextlib.contextmanager
    def stopped(self) -> Iterator[None]:
        """Count nothing inside."""
        begin_s = time.monotonic()
        self._asking += 1
        try:
            yield
        finally:
            self._asking -= 1
            self._asked_s += time.monotonic() - begin_s


@contextlib.contextmanager
def asking_person() -> Iterator[None]:
    """Stop the clocks of every program that waits while a person is asked."""
    with contextlib.ExitStack() as stack:
        clocks = current_clocks.get()
        while clocks is not None:
            stack.enter_context(clocks.stopped())
            clocks = clocks.outer
        yield
