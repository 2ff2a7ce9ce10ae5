"""Keeping a worker on its caller's core: waking a process on another core takes 20 us longer.

Only while one thread alone runs programs; with several, each worker is better off wherever there
is room. It is the worker that follows: what a primitive starts inherits the caller's cores, and
keeps them for good.
"""

from __future__ import annotations

import contextlib
import os
import threading
from collections.abc import Callable, Iterator
from functools import cache
from typing import Protocol

from cap.sandbox.kernel import libc
from cap.sandbox.template_protocol import ANYWHERE


class Process(Protocol):
    """What is moved."""

    @property
    def pid(self) -> int:
        """Its process id; asked for only where it has to be moved."""


_lock = threading.Lock()
_running: dict[int, int] = {}
"""How many programs each thread runs, one inside the other."""
_following: list[_Place] = []


class _Place:
    """Where one worker is."""

    def __init__(self, worker: Process, core: int) -> None:
        self._worker = worker
        self._core = core

    def follow(self) -> None:
        """Move the worker to where its caller is now, unless it was let go."""
        if self in _following and (core := libc.current_core()) != self._core:
            self._move({core})
            self._core = core

    def let_go(self) -> None:
        """Let the worker run wherever there is room."""
        if self._core != ANYWHERE:
            self._move(os.sched_getaffinity(0))
            self._core = ANYWHERE

    def _move(self, cores: set[int]) -> None:
        with contextlib.suppress(OSError):  # a worker that is gone already
            os.sched_setaffinity(self._worker.pid, cores)


@contextlib.contextmanager
def near(worker: Process, core: int) -> Iterator[Callable[[], None]]:
    """Keep a worker on this thread's core, as long as no other thread runs a program.

    Args:
        worker: Its process.
        core: Where its job tells it to be, `ANYWHERE` if it is on no one core.

    Yields:
        What to call now and then from whichever thread serves the worker: it is moved there.
    """
    thread = threading.get_native_id()
    place = _Place(worker, core)
    with _lock:
        _running[thread] = _running.get(thread, 0) + 1
        if len(_running) == 1:
            _following.append(place)
        else:
            for other in (*_following, place):
                other.let_go()
            _following.clear()
    try:
        yield place.follow
    finally:
        with _lock:
            if place in _following:
                _following.remove(place)
            _running[thread] -= 1
            if not _running[thread]:
                del _running[thread]


def here() -> int:
    """Return the core a worker of this thread should stay on; `ANYWHERE` if several run."""
    with _lock:
        alone = not _running or _running.keys() == {threading.get_native_id()}
    return libc.current_core() if alone and available() else ANYWHERE


@cache
def available() -> bool:
    """Return whether this system can pin processes."""
    try:
        return hasattr(os, "sched_setaffinity") and libc.current_core() >= 0
    except OSError:
        return False
