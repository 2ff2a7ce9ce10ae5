"""What the machine itself takes for what every sandbox of processes is made of.

A fork, a copied page and a switch between two processes are the floor under the other figures:
where a bare interpreter needs 2 ms to fork and end, no fresh process per program is faster.
`python -m benchmarks.performance.sandbox.machine` measures in a process of its own and prints JSON.
"""

from __future__ import annotations

import json
import mmap
import os
import statistics
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

_FORKS, _TRIPS, _PAGES, _STEPS = 40, 3000, 1000, 200_000


def floors() -> dict[str, float]:
    """Return medians by name, in seconds; measured in a bare interpreter."""
    command = [sys.executable, "-P", "-m", "benchmarks.performance.sandbox.machine"]
    root = str(Path(__file__).resolve().parents[3])
    paths = os.pathsep.join(filter(None, [root, os.environ.get("PYTHONPATH", "")]))
    done = subprocess.run(
        command,
        capture_output=True,
        check=True,
        timeout=60,
        env={**os.environ, "PYTHONPATH": paths},
    )
    found: dict[str, float] = json.loads(done.stdout)
    return found


def described() -> str:
    """Return the floors as one line for a person."""
    found = floors()
    return (
        "the machine itself: fork and end of a bare interpreter "
        f"{found['fork'] * 1e3:.2f} ms, first write to a page after it {found['page'] * 1e6:.1f} "
        f"us, there and back through two pipes on one core {found['trip'] * 1e6:.1f} us, "
        f"a step of an empty loop {found['step'] * 1e9:.0f} ns"
    )


def _median(measure: Callable[[], float], runs: int) -> float:
    return statistics.median(measure() for _ in range(runs))


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


if __name__ == "__main__":
    medians = {
        "fork": _median(_fork, _FORKS),
        "page": _median(_page, 5),
        "trip": _median(_trip, 5),
        "step": _median(_step, 5),
    }
    sys.stdout.write(json.dumps(medians))
