"""Keeping a worker on its caller's core: waking a process on another core takes 20 us longer.

Only while one thread alone runs programs; with several, each worker is better off wherever there
is room, and those that were pinned are let go.
"""

from __future__ import annotations

import contextlib
import os
import threading
from collections.abc import Iterator, Set
from dataclasses import dataclass, field
from functools import cache
from typing import Protocol

from cap.sandbox.kernel import libc
from cap.sandbox.template_protocol import ANYWHERE


class Process(Protocol):
    """What is pinned."""

    @property
    def pid(self) -> int:
        """Its process id; asked for only where it has to be moved."""


@dataclass
class _Pin:
    """What one thread holds on its core."""

    before: Set[int]
    """The cores the thread might use before."""
    core: int
    """The one it uses now."""
    workers: list[Process] = field(default_factory=list)
    """Its workers, the innermost program's last."""


_lock = threading.Lock()
_running: dict[int, int] = {}
"""How many programs each thread runs, one inside the other."""
_pins: dict[int, _Pin] = {}


@contextlib.contextmanager
def same_core(worker: Process, core: int) -> Iterator[None]:
    """Pin this thread to a worker's core, as long as no other thread runs a program.

    Args:
        worker: Its process.
        core: Where it is pinned already, `ANYWHERE` if it is not.
    """
    thread = threading.get_native_id()
    with _lock:
        _running[thread] = _running.get(thread, 0) + 1
        if len(_running) == 1:
            _pin(thread, worker, core)
        else:
            _let_go()
            if core != ANYWHERE:
                _move(worker.pid, os.sched_getaffinity(0))
    try:
        yield
    finally:
        with _lock:
            _running[thread] -= 1
            _unpin(thread, worker)


def _pin(thread: int, worker: Process, core: int) -> None:
    pin = _pins.get(thread)
    if pin is None:
        before = os.sched_getaffinity(0)
        if len(before) == 1 or (core != ANYWHERE and core not in before):
            return
        pin = _pins[thread] = _Pin(before, libc.call("sched_getcpu") if core == ANYWHERE else core)
        os.sched_setaffinity(0, {pin.core})
    if core != pin.core:
        _move(worker.pid, {pin.core})
    pin.workers.append(worker)


def _unpin(thread: int, worker: Process) -> None:
    pin = _pins.get(thread)
    if pin is not None and worker in pin.workers:
        pin.workers.remove(worker)
        _move(worker.pid, pin.before)  # it ends elsewhere, while this thread goes on
    if not _running[thread]:
        del _running[thread]
        if pin is not None:
            os.sched_setaffinity(thread, pin.before)
            del _pins[thread]


def _let_go() -> None:
    """Give every pinned thread and worker its cores back."""
    for thread, pin in _pins.items():
        for process in (*(worker.pid for worker in pin.workers), thread):
            _move(process, pin.before)
    _pins.clear()


def _move(process: int, cores: Set[int]) -> None:
    with contextlib.suppress(OSError):  # a worker that is gone already
        os.sched_setaffinity(process, cores)


def here() -> int:
    """Return the core a worker of this thread should stay on; `ANYWHERE` if several run."""
    with _lock:
        alone = not _running or _running.keys() == {threading.get_native_id()}
    return libc.call("sched_getcpu") if alone and available() else ANYWHERE


@cache
def available() -> bool:
    """Return whether this system can pin processes."""
    try:
        return hasattr(os, "sched_setaffinity") and libc.call("sched_getcpu") >= 0
    except OSError:
        return False
