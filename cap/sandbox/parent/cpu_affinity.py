"""Keeping a worker on its caller's core: waking a process on another core takes 20 us longer.

Only while one thread alone runs programs; with several, each worker is better off wherever there
is room. It is the worker that follows: what a primitive starts inherits the caller's cores, and
keeps them for good.
"""

from __future__ import annotations

import contextlib
import os
import threading
from collections.abc import Iterator
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
_following: list[WorkerPlace] = []


def _forget_all() -> None:
    """Begin anew in a fork: the threads that run programs are the other process's."""
    global _lock
    _lock = threading.Lock()
    _running.clear()
    _following.clear()


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_forget_all)


class WorkerPlace:
    """Where one worker is."""

    def __init__(self, worker: Process, core: int) -> None:
        """Note where it is to be.

        Args:
            worker: Its process.
            core: The core, `ANYWHERE` if it is kept on none.
        """
        self._worker = worker
        self.core = core

    def begin(self) -> int:
        """Return the core it is to go to with its job: the one this thread is on."""
        if self in _following:
            self.core = libc.current_core()
        return self.core

    def follow(self) -> None:
        """Move it to where this thread is now, unless it was let go.

        A worker that moved itself would wake up where it was, and draw this thread there.
        """
        if self in _following and (core := libc.current_core()) != self.core:
            self._move({core})
            self.core = core

    def let_go(self) -> None:
        """Let the worker run wherever there is room."""
        if self.core != ANYWHERE:
            self._move(os.sched_getaffinity(0))
            self.core = ANYWHERE

    def _move(self, cores: set[int]) -> None:
        with contextlib.suppress(OSError):  # a worker that is gone already
            os.sched_setaffinity(self._worker.pid, cores)


@contextlib.contextmanager
def near(worker: Process, core: int, *, follows: bool = True) -> Iterator[WorkerPlace]:
    """Keep a worker near the thread that serves it, as long as no other runs a program.

    Args:
        worker: Its process.
        core: Where it was asked to be, `ANYWHERE` if it is to be on no one core.
        follows: False leaves it where it is.

    Yields:
        Where it is, for whichever thread serves it.
    """
    thread = threading.get_native_id()
    place = WorkerPlace(worker, core)
    with _lock:
        _running[thread] = _running.get(thread, 0) + 1
        if len(_running) == 1:
            _following.extend([place] if follows else [])
        else:
            for other in (*_following, place):
                other.let_go()
            _following.clear()
    try:
        yield place
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
