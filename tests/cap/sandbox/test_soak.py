"""Many programs, for long: nothing is left behind.

`CAP_SOAK_S` says for how many seconds; half a minute by default.
"""

from __future__ import annotations

import os
import random
import sys
import threading
import time
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest

from cap.program.scope import Primitive, Scope
from cap.sandbox.client import WorkerTemplate
from cap.sandbox.limits import Limits
from cap.sandbox.sandbox import Sandbox
from tests.fakes.workers import children, state

pytestmark = [
    pytest.mark.soak,
    pytest.mark.skipif(sys.platform != "linux", reason="counts processes as Linux lists them"),
]
SOAK_S = float(os.environ.get("CAP_SOAK_S", "30"))
MOST_GROWN_BYTES = 24 << 20
"""Of this process and its templates together, over the whole soak: allocators keep some."""


def get_position(name: str) -> np.ndarray:
    """Return where something is."""
    return np.array([float(len(name)), 2.0])


SCOPE = Scope(primitives={"get_position": Primitive.of(get_position, "perception")})
PROGRAMS = {
    "ret = sum(range({n}))": "",
    "ret = float(get_position('x' * {n})[0])": "",
    "for i in range({n}):\n    print(i)\nret = np.arange({n})": "",
    "class A: pass\nret = [id(A()) for i in range({n})]": "",
    "[][{n}]": "IndexError",
    "while {n}: pass": "TimeLimit",
    "x = bytearray(1 << 40)": "MemoryError",
    "ret = (i for i in range({n}))": "TypeError",
}
"""Programs with a number in them, and the error that ends them."""


@pytest.fixture
def template() -> Iterator[WorkerTemplate]:
    opened = WorkerTemplate()
    yield opened
    opened.close()


def run_one(template: WorkerTemplate, rng: random.Random) -> None:
    """Run one program of some kind, and look at how it ended."""
    source, expected = rng.choice(list(PROGRAMS.items()))
    limit_s = 0.05 if expected == "TimeLimit" else 30.0
    sandbox = Sandbox(SCOPE, limits=Limits(program_s=limit_s), template=template)
    returns = "ret" if "ret" in source else None
    failure = sandbox.run(source.format(n=rng.randrange(1, 50)), returns).failure
    assert (failure.error if failure else "") == expected, (source, failure)


def processes(template: WorkerTemplate) -> list[int]:
    """Return the template's processes and all below them."""
    assert template._process is not None
    found = [template._process.pid]
    for pid in found:  # grows meanwhile
        found += children(pid)
    return [pid for pid in found if state(pid) not in ("Z", "")]


def memory_bytes(pids: list[int]) -> int:
    """Return the memory that these processes alone hold."""
    total = 0
    for pid in pids:
        facts = Path(f"/proc/{pid}/smaps_rollup").read_text()
        total += int(facts.partition("Pss_Anon:")[2].split()[0]) << 10
    return total


def settled(template: WorkerTemplate) -> tuple[int, int, int]:
    """Return descriptors, processes and memory once everything that ran has ended."""
    sandbox, wait = Sandbox(SCOPE, template=template), threading.Event()
    for source in ("ret = 1", "ret = np.pi"):  # each template collects what has ended
        for _ in range(2):
            wait.wait(0.1)  # who does not hurry keeps the last one's pipes
            sandbox.run(source, returns="ret")
    for _ in range(100):
        wait.wait(0.1)
        if len(found := processes(template)) <= 8:
            break
    memory = memory_bytes([os.getpid(), *found])
    return len(os.listdir("/proc/self/fd")), len(found), memory


@pytest.mark.timeout(SOAK_S + 120)
def test_programs_of_all_kinds_for_long_leave_nothing_behind(template: WorkerTemplate) -> None:
    rng = random.Random(0)
    for _ in range(200):  # what is loaded once, and what allocators keep
        run_one(template, rng)
    before = settled(template)
    end_s, done = time.monotonic() + SOAK_S, 0
    while time.monotonic() < end_s:
        run_one(template, rng)
        done += 1
    after = settled(template)
    print(f"{done} programs in {SOAK_S:g} s; descriptors, processes, bytes {before} {after}")
    assert done > 100
    assert after[:2] == before[:2]
    assert after[2] - before[2] < MOST_GROWN_BYTES
