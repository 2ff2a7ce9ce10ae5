"""Trying again, a few times and only so long."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import TypeVar

T = TypeVar("T")

FIRST_WAIT_S = 0.5
"""Wait before the second try, in seconds; it doubles each time."""


class Transient(Exception):
    """A try failed, and the request is not to blame; a signal between modules, never shown."""

    def __init__(
        self,
        message: str,
        *,
        again: bool = True,
        after_s: float | None = None,
        unreachable: bool = False,
    ) -> None:
        """Describe the failure.

        Args:
            message: What happened, without a subject.
            again: False where another try is known to be useless.
            after_s: Seconds the endpoint asks to wait, if it says.
            unreachable: True if no answer came at all.
        """
        super().__init__(message)
        self.again = again
        self.after_s = after_s
        self.unreachable = unreachable


class Deadline:
    """A point in monotonic time."""

    def __init__(self, length_s: float, clock: Callable[[], float]) -> None:
        """Start now and end after `length_s` seconds of `clock`."""
        self.length_s = length_s
        self._clock = clock
        self._end_s = clock() + length_s

    def left_s(self) -> float:
        """Return the seconds left; 0 or less once it has passed."""
        return self._end_s - self._clock()


@dataclass(frozen=True)
class Retry:
    """How often and how long to try."""

    tries: int
    """Most tries, the first included."""
    sleep: Callable[[float], None]
    """Waits, in seconds."""

    def run(self, once: Callable[[], T], deadline: Deadline) -> T:
        """Return the first success.

        Raises:
            Transient: The last try's, or the first that is useless to repeat; its message then
                says how many tries were made, or that the wait asked for is too long.
        """
        wait_s = FIRST_WAIT_S
        for attempt in range(1, self.tries + 1):
            try:
                return once()
            except Transient as failure:
                last = failure
            if not last.again:
                break
            pause_s = wait_s if last.after_s is None else last.after_s
            if pause_s >= deadline.left_s():
                last = _too_long(last, deadline)
                break
            if attempt < self.tries:
                self.sleep(pause_s)
                wait_s *= 2
        else:
            last = _same(last, f"{last} ({self.tries} tries)")
        raise last


def _too_long(failure: Transient, deadline: Deadline) -> Transient:
    """Add why there is no further try."""
    if failure.after_s is None:
        return _same(failure, f"{failure} (gave up after {deadline.length_s:g} s)")
    wait = f"it asks to wait {failure.after_s:g} s, past the limit of {deadline.length_s:g} s"
    return _same(failure, f"{failure}; {wait}; try again later")


def _same(failure: Transient, message: str) -> Transient:
    return Transient(message, again=False, unreachable=failure.unreachable)
