"""`cap bench speed --trials N`: what a trial costs as a run grows, in CPU seconds and memory.

The oracle's trials of the tabletop suite in instant mode go through the runner. The first tenth of
them is compared with the last tenth: a run that slowed down or grew would show it.
"""

from __future__ import annotations

import os
import tempfile
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path
from typing import Any

from benchmarks import runner
from benchmarks.performance.measurement import Measurement
from benchmarks.results import begin
from benchmarks.suite import Settings, suite

_PARTS = 10
_EXTRA = 40
"""Trials before the first mark (start-up is not a trial's cost) and after the last one."""
_CPU_LIMIT = 1.5
"""Last tenth to first tenth; a shared machine's clock alone varies by a third."""
_MEMORY_LIMIT = 1.2
_TICK_S = 1 / os.sysconf("SC_CLK_TCK")
_PAGE = os.sysconf("SC_PAGE_SIZE")


@dataclass(frozen=True)
class ResourceUse:
    """What the runner and its workers have used by some trial."""

    cpu_s: float
    """CPU seconds, sandboxed programs included."""
    memory_bytes: int
    """Resident memory."""

    @classmethod
    def now(cls) -> ResourceUse:
        """Return what this process and its children have used so far."""
        ticks = pages = 0
        for pid in (os.getpid(), *_children(os.getpid())):
            # utime, stime, and those of its ended children
            values = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
            ticks += sum(map(int, values[11:15]))
            pages += int(Path(f"/proc/{pid}/statm").read_text().split()[1])
        return cls(ticks * _TICK_S, pages * _PAGE)


def measure(trials: int, jobs: int = 2) -> Iterator[Measurement]:
    """Run that many trials and compare the end of the run with its beginning.

    Args:
        trials: How many; at least 100.
        jobs: Worker processes.
    """
    settings = Settings(suite="tabletop", model="oracle", mode="instant")
    tabletop = suite("tabletop")
    wanted = trials + 2 * _EXTRA
    each = -(-wanted // len(tabletop.cells()))
    # By seed, so that every tenth of the run has the same tasks.
    trials_by_seed = sorted(tabletop.trials(each, 0), key=lambda trial: trial.seed)
    chosen = trials_by_seed[:wanted]
    part = trials // _PARTS
    marks: list[ResourceUse] = []
    with tempfile.TemporaryDirectory() as folder:
        results = begin(Path(folder), tabletop, settings, resume=False)

        ended = 0

        def count(trial: Any, outcome: Any) -> None:
            nonlocal ended
            ended += 1
            if (ended - _EXTRA) % part == 0 and len(marks) <= _PARTS and ended >= _EXTRA:
                marks.append(ResourceUse.now())

        try:
            runner.run(results, chosen, settings, jobs=jobs, on_done=count)
        finally:
            results.close()
    spent = [(after.cpu_s - before.cpu_s) / part for before, after in pairwise(marks)]
    yield Measurement(
        "a suite's trial, first tenth", "CPU-s", spent[0], min(spent), max(spent), trials, 1
    )
    ratio = spent[-1] / spent[0]
    yield Measurement("cost, last tenth to first", "ratio", ratio, ratio, ratio, trials, _CPU_LIMIT)
    grown = marks[-1].memory_bytes / marks[1].memory_bytes
    yield Measurement(
        "memory, last tenth to first", "ratio", grown, grown, grown, trials, _MEMORY_LIMIT
    )


def _children(pid: int) -> list[int]:
    tasks = Path(f"/proc/{pid}/task").iterdir()
    return [int(child) for task in tasks for child in (task / "children").read_text().split()]
