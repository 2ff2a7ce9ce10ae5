"""What the machine itself takes for what every sandbox of processes is made of.

A fork, a copied page and a switch between two processes are the floor under the other figures:
where a bare interpreter needs 2 ms to fork and end, no fresh process per program is faster.
Measured in a process of its own, as every engine is, which has loaded what these two modules need.
"""

from __future__ import annotations

import json
import mmap
import os
import statistics
import sys
import time
from collections.abc import Callable
from typing import Any

from benchmarks.performance.sandbox.engine_process import EngineProcess
from benchmarks.performance.sandbox.engines import MACHINE

_TRIPS, _PAGES, _STEPS = 3000, 1000, 200_000


def described() -> str:
    """Return what the machine takes as one line for a person."""
    process = EngineProcess(MACHINE, "")
    try:
        found = {what: process.ask(what, "") for what in MEASURES}
    finally:
        process.close()
    return (
        "the machine itself: fork and end of a bare interpreter "
        f"{found['fork'] * 1e3:.2f} ms, first write to a page after it {found['page'] * 1e6:.1f} "
        f"us, there and back through two pipes on one core {found['trip'] * 1e6:.1f} us, "
        f"a step of an empty loop {found['step'] * 1e9:.0f} ns"
    )


def _fork() -> float:
    begin_s = time.perf_counter()
    child = os.fork()
    if child == 0:
        os._exit(0)
    os.waitpid(child, 0)
    return time.perf_counter() - begin_s


def _page() -> float:
    """Return the time of one write that makes the kernel copy a page shared after a fork."""
    memory = bytearray(_PAGES * mmap.PAGESIZE)
    reads, writes = os.pipe()
    child = os.fork()
    if child == 0:
        begin_s = time.perf_counter()
        for at in range(0, len(memory), mmap.PAGESIZE):
            memory[at] = 1
        os.write(writes, repr(time.perf_counter() - begin_s).encode())
        os._exit(0)
    os.close(writes)
    with open(reads, "rb") as pipe:
        taken_s = float(pipe.read())
    os.waitpid(child, 0)
    return taken_s / _PAGES


def _trip() -> float:
    """Return the time of one byte to another process and back, both on one core."""
    before: Any = os.sched_getaffinity(0) if hasattr(os, "sched_getaffinity") else None
    if before:
        os.sched_setaffinity(0, {min(before)})
    theirs, requests = os.pipe()
    answers, their_answers = os.pipe()
    child = os.fork()
    if child == 0:
        os.close(requests)
        while byte := os.read(theirs, 1):
            os.write(their_answers, byte)
        os._exit(0)
    begin_s = time.perf_counter()
    for _ in range(_TRIPS):
        os.write(requests, b"x")
        os.read(answers, 1)
    taken_s = time.perf_counter() - begin_s
    for descriptor in (theirs, requests, answers, their_answers):
        os.close(descriptor)
    os.waitpid(child, 0)
    if before:
        os.sched_setaffinity(0, before)
    return taken_s / _TRIPS


def _step() -> float:
    begin_s = time.perf_counter()
    for _ in range(_STEPS):
        pass
    return (time.perf_counter() - begin_s) / _STEPS


MEASURES: dict[str, tuple[Callable[[], float], int]] = {
    "fork": (_fork, 15),
    "page": (_page, 3),
    "trip": (_trip, 3),
    "step": (_step, 5),
}
"""By name: what returns seconds, and of how many the median is taken."""


def _serve() -> None:
    """Answer requests as every engine does, until standard input ends."""
    for line in sys.stdin:
        measure, runs = MEASURES[json.loads(line)["task"]]
        value = statistics.median(measure() for _ in range(runs))
        sys.stdout.write(json.dumps({"value": value}) + "\n")
        sys.stdout.flush()


if __name__ == "__main__":
    _serve()
