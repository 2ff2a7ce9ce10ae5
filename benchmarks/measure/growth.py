"""What a trial costs as a run grows, in CPU seconds and memory (Linux).

The oracle's trials of the tabletop suite in the instant world go through the runner, `-n` of them.
The second tenth is compared with the last: a run that slows down or grows shows it.
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
"""The first has the start-up in it, which is no trial's cost."""
_CPU_LIMIT = 1.5
"""Last part to the second; a shared machine's clock alone varies by a third."""
_MEMORY_LIMIT = 1.2


def measure(trials: int, jobs: int = 2) -> Iterator[Measurement]:
    """Run about that many trials, and compare the end of the run with its beginning."""
    tabletop = suite("tabletop")
    # By seed, so that every part of the run has the same tasks.
    each = -(-trials // len(tabletop.cells()))
    chosen = sorted(tabletop.trials(each, 0), key=lambda trial: trial.seed)
    part, ended = len(chosen) // _PARTS, 0
    marks: list[tuple[float, int]] = []

    def count(*_: Any) -> None:
        nonlocal ended
        ended += 1
        if ended % part == 0 and len(marks) < _PARTS - 1:  # before the workers end
            marks.append(_used())

    settings = Settings(suite="tabletop", model="oracle", mode="instant")
    with tempfile.TemporaryDirectory() as folder:
        results = begin(Path(folder), tabletop, settings, resume=False)
        try:
            runner.run(results, chosen, settings, jobs=jobs, on_done=count)
        finally:
            results.close()
    spent_s = [(after[0] - before[0]) / part for before, after in pairwise(marks)]
    yield Measurement("a trial of a suite", "CPU-s", spent_s, 1)
    yield Measurement("cost, last part to second", "ratio", [spent_s[-1] / spent_s[0]], _CPU_LIMIT)
    grown = marks[-1][1] / marks[0][1]
    yield Measurement("memory, last part to second", "ratio", [grown], _MEMORY_LIMIT)


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
    return ticks / os.sysconf("SC_CLK_TCK"), pages * os.sysconf("SC_PAGE_SIZE")


if __name__ == "__main__":
    run(measure, 10_000, __doc__)
