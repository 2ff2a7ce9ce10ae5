"""What a trial costs as a run grows, in CPU seconds and memory (Linux).

The oracle's trials of the tabletop suite in the instant world go through the runner, `-n` of them.
The first tenth is compared with the last tenth: a run that slows down or grows shows it.
"""

from __future__ import annotations

import os
import tempfile
from collections.abc import Iterator
from itertools import pairwise
from pathlib import Path
from typing import Any

from benchmarks import runner
from benchmarks.measure.measurement import Measurement, run
from benchmarks.results import begin
from benchmarks.suite import Settings, suite

_PARTS = 10
_SPARE = 40
"""Trials before the first mark (start-up is not a trial's cost) and after the last one."""
_CPU_LIMIT = 1.5
"""Last tenth to first tenth; a shared machine's clock alone varies by a third."""
_MEMORY_LIMIT = 1.2
_TICK_S = 1 / os.sysconf("SC_CLK_TCK")
_PAGE_BYTES = os.sysconf("SC_PAGE_SIZE")


def measure(trials: int, jobs: int = 2) -> Iterator[Measurement]:
    """Run that many trials, at least 100, and compare the end of the run with its beginning."""
    tabletop = suite("tabletop")
    wanted = trials + 2 * _SPARE
    each = -(-wanted // len(tabletop.cells()))
    # By seed, so that every tenth of the run has the same tasks.
    chosen = sorted(tabletop.trials(each, 0), key=lambda trial: trial.seed)[:wanted]
    part, ended = trials // _PARTS, 0
    marks: list[tuple[float, int]] = []

    def count(*_: Any) -> None:
        nonlocal ended
        ended += 1
        if ended >= _SPARE and (ended - _SPARE) % part == 0 and len(marks) <= _PARTS:
            marks.append(_used())

    settings = Settings(suite="tabletop", model="oracle", mode="instant")
    with tempfile.TemporaryDirectory() as folder:
        results = begin(Path(folder), tabletop, settings, resume=False)
        try:
            runner.run(results, chosen, settings, jobs=jobs, on_done=count)
        finally:
            results.close()
    spent_s = [(after[0] - before[0]) / part for before, after in pairwise(marks)]
    yield Measurement.of("a trial of a suite", "CPU-s", spent_s, 1)
    pace = spent_s[-1] / spent_s[0]
    yield Measurement.of("cost, last tenth to first", "ratio", [pace], _CPU_LIMIT)
    grown = marks[-1][1] / marks[1][1]
    yield Measurement.of("memory, last tenth to first", "ratio", [grown], _MEMORY_LIMIT)


def _used() -> tuple[float, int]:
    """Return the CPU seconds and the resident bytes of this process and its children so far."""
    ticks = pages = 0
    tasks = Path("/proc/self/task").iterdir()
    children = [child for task in tasks for child in (task / "children").read_text().split()]
    for process in (str(os.getpid()), *children):
        # utime, stime, and those of its children that ended
        values = Path(f"/proc/{process}/stat").read_text().rpartition(")")[2].split()
        ticks += sum(map(int, values[11:15]))
        pages += int(Path(f"/proc/{process}/statm").read_text().split()[1])
    return ticks * _TICK_S, pages * _PAGE_BYTES


if __name__ == "__main__":
    run(measure, 10_000, __doc__)
