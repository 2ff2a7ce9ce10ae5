"""The clocks of one program: its own time, its calls' time, and none while a person decides."""

from __future__ import annotations

import contextlib
import time
from collections.abc import Iterator
from contextvars import ContextVar

from cap.sandbox.limits import Limits

current: ContextVar[Clocks | None] = ContextVar("clocks", default=None)
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
        self.outer = current.get()
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
        clocks = current.get()
        while clocks is not None:
            stack.enter_context(clocks.stopped())
            clocks = clocks.outer
        yield
