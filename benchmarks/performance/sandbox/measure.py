"""`cap bench sandbox`: what running a program costs here and in other engines, in one table.

Every engine lives in a process of its own (`engine_process`), one is measured at a
time, and rounds go through all of them in turn (A B A B), so that what the machine does meanwhile
meets all alike. The first measurement of each is thrown away. A program is a text that no engine
has seen before, but where a row says `again`: what is kept of a text is no speed. A figure in `x`
compares each round with that of a baseline in the same round: plain exec of the same program, or
what the machine itself takes (`machine`). Beside them stands a fresh process for each program that
checks and holds nothing (`fresh_process`): no sandbox of fresh processes can take less.
"""

from __future__ import annotations

import importlib.metadata
import importlib.util
import math
import os
import platform
import statistics
import sys
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import partial

from benchmarks.performance.sandbox.engine_process import (
    LIMIT_S,
    PATIENCE_S,
    REST_S,
    EngineFailed,
    EngineProcess,
    end,
    next_line,
    start,
    why_silent,
)
from benchmarks.performance.sandbox.engines import (
    ENGINES,
    FRESH,
    MACHINE,
    NO_SPARE,
    OURS,
    PLAIN,
)
from benchmarks.performance.sandbox.machine import described
from benchmarks.performance.sandbox.programs import CALLS


@dataclass(frozen=True)
class EngineFigure:
    """What one engine reached in one row."""

    middle: float
    """The row's statistic: the median, or the 99th percentile."""
    low: float
    """Smallest."""
    high: float
    """Largest."""
    runs: int
    """How many were measured."""
    unit: str
    """Unit of the three: `x` of the baseline's, or `s`."""
    time_s: float
    """Its own time behind them: the same statistic, seconds."""


@dataclass(frozen=True)
class SandboxRow:
    """One line of the table."""

    what: str
    """What was measured."""
    limit: float | None
    """What this sandbox must not pass, in the unit of its figure; None if there is no limit."""
    cells: Mapping[str, EngineFigure | str]
    """By engine: what it reached, or why it has no figure."""

    @property
    def ok(self) -> bool:
        """True if this sandbox is within the limit."""
        ours = self.cells[OURS]
        return self.limit is None or (not isinstance(ours, str) and ours.middle <= self.limit)


@dataclass(frozen=True)
class SandboxTask:
    """How a row is measured."""

    what: str
    """What is measured."""
    kind: str
    """`time` of a text that is new, `again` of the same text, `net` (after the cost of a trivial
    program), `rate`, `overshoot` or `cold`."""
    program: str
    """Name of the program."""
    limit: float | None
    """What this sandbox must reach."""
    against: str | None = PLAIN
    """What a round is compared with: plain exec, the machine's `fork` or `trip`; None: nothing."""
    count: int = 1
    """How many of what is measured one run of the program makes."""
    share: float = 1.0
    """Rounds, as a share of those asked for."""
    needs: frozenset[str] = frozenset()
    """What an engine must be able to do."""
    variant: str = ""
    """How the engines are set up, if not in the usual way."""
    only: frozenset[str] = frozenset(ENGINES)
    """The engines that have something of the kind."""
    budget_s: float = 5.0
    """No engine takes longer for the row, but for a single measurement."""

    @property
    def baseline(self) -> str | None:
        """The engine a round is compared with."""
        return self.against if self.against in (None, PLAIN) else MACHINE


def _calls(what: str, program: str) -> SandboxTask:
    """Return a row of primitive calls."""
    return SandboxTask(
        f"call, {what}",
        "net",
        program,
        None,
        against="trip",
        count=CALLS,
        share=0.3,
        needs=frozenset(["calls"]),
    )


TASKS = (
    SandboxTask("trivial program, spare worker ready", "time", "trivial", None),
    SandboxTask("the same text again", "again", "trivial", None),
    SandboxTask("program with 7 calls", "time", "seven", None, needs=frozenset(["calls"])),
    SandboxTask(
        "the same text with 7 calls again", "again", "seven", None, needs=frozenset(["calls"])
    ),
    SandboxTask(
        "trivial programs, back to back", "rate", "trivial", None, against="fork", share=0.2
    ),
    SandboxTask(
        "trivial program, no spare worker",
        "time",
        "trivial",
        None,
        against="fork",
        variant=NO_SPARE,
        only=frozenset([OURS, FRESH]),
    ),
    SandboxTask("CPU-bound loop of 100 ms", "net", "cpu", 1.02, share=0.5, budget_s=8.0),
    SandboxTask(
        "numpy-bound, 100 ms",
        "net",
        "numpy",
        1.02,
        share=0.5,
        needs=frozenset(["numpy"]),
        budget_s=8.0,
    ),
    _calls("number", "numbers"),
    _calls("3-vector", "vectors"),
    SandboxTask("cold start to first result", "cold", "trivial", None, share=0.3),
    SandboxTask(
        f"past a limit of {LIMIT_S * 1e3:g} ms, p99",
        "overshoot",
        "endless",
        0.010,
        against=None,
        share=3.0,
        needs=frozenset(["deadline"]),
        budget_s=15.0,
    ),
)


def installed() -> dict[str, str | None]:
    """Return the engines by name, each with how to install it, or None if it is there."""
    return {
        name: None if _importable(engine.package) else engine.install
        for name, engine in ENGINES.items()
    }


def _importable(package: str) -> bool:
    """Tell whether a package is there, without importing it."""
    return importlib.util.find_spec(package.split(".")[0]) is not None


def conditions() -> list[str]:
    """Return where and how the measurements are made, in lines."""
    from cap import Sandbox
    from cap.sandbox.client import WorkerTemplate

    template = WorkerTemplate()
    try:
        level = Sandbox(template=template).level
    finally:
        template.close()
    load = os.getloadavg()
    cores = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count()
    numpy = importlib.metadata.version("numpy")
    peers = [
        f"{engine.title} {importlib.metadata.version(engine.install)}"
        for engine in ENGINES.values()
        if engine.install and _importable(engine.package)
    ]
    busy = ": the machine is busy, which makes every figure worse" if load[0] > 0.5 else ""
    return [
        f"{platform.machine()}, {cores} cores, Python {platform.python_version()}, numpy {numpy} "
        "with one thread",
        described(),
        f"load average {', '.join(f'{value:.2f}' for value in load)}{busy}",
        f"sandbox level: {level}",
        f"{REST_S * 1e3:g} ms of rest before each timed run, none where it says back to back",
        f"compared with plain exec{''.join(f', {peer}' for peer in peers)}",
    ]


def measure(
    runs: int = 40, engines: Sequence[str] = tuple(ENGINES), tasks: Sequence[SandboxTask] = TASKS
) -> Iterator[SandboxRow]:
    """Measure everything; rows come as they are ready.

    Args:
        runs: Rounds of a row of ordinary cost; at least 3.
        engines: Those to compare; this sandbox and plain exec among them.
        tasks: The rows.
    """
    for task in tasks:
        yield _row(task, max(3, round(runs * task.share)), engines)


def _row(task: SandboxTask, rounds: int, engines: Sequence[str]) -> SandboxRow:
    able = [name for name in engines if not task.needs & ENGINES[name].lacks and name in task.only]
    if task.baseline == MACHINE:
        able.append(MACHINE)
    seen, failed = _rounds(task, rounds, able)
    shown = able if task.baseline == MACHINE else engines
    cells = {name: failed.get(name) or _cell(task, name, seen) for name in (*engines, *shown)}
    return SandboxRow(task.what, task.limit, cells)


Seen = Mapping[str, dict[int, float]]
"""By engine and round: seconds."""


def _rounds(task: SandboxTask, rounds: int, engines: Sequence[str]) -> tuple[Seen, dict[str, str]]:
    """Measure in turn until each engine has its rounds or has used its time.

    Returns:
        What was measured, and by engine why it failed.
    """
    hosts = {name: EngineProcess(name, task.variant) for name in engines}
    seen: Seen = {name: {} for name in engines}
    used_s, failed = dict.fromkeys(engines, 0.0), dict[str, str]()
    try:
        for turn in range(rounds + 1):
            for name, host in hosts.items():
                if name in failed or used_s[name] > task.budget_s:
                    continue
                begin_s = time.monotonic()
                try:
                    value = _cold(name) if task.kind == "cold" else host.ask(*_request(task, name))
                except EngineFailed as error:
                    failed[name] = str(error)
                    continue
                taken_s = time.monotonic() - begin_s
                # The first is a warm-up, unless there will be no second.
                if turn > 0 or taken_s > task.budget_s:
                    seen[name][turn] = value
                    used_s[name] += taken_s
    finally:
        for host in hosts.values():
            host.close()
    return seen, failed


def _request(task: SandboxTask, name: str) -> tuple[str, str]:
    """Return what an engine is asked for: a kind of measurement and a program."""
    if name == MACHINE:
        assert task.against is not None
        return task.against, ""
    return task.kind, task.program


def _cold(name: str) -> float:
    """Return the seconds from starting an interpreter to its first program's value."""
    begin_s = time.perf_counter()
    process = start([sys.executable, "-P", "-c", ENGINES[name].cold])
    try:
        line = next_line(process, PATIENCE_S)
        taken_s = time.perf_counter() - begin_s
        if not line:
            raise EngineFailed(why_silent(process, line))
    finally:
        end(process)
    if line.strip() != b"2":
        raise EngineFailed(f"wrong result: {line!r}")
    return taken_s


def _cell(task: SandboxTask, name: str, seen: Seen) -> EngineFigure | str:
    """Return an engine's figures: ratios, but times where nothing is left to compare with."""
    count = 1 if name == MACHINE else task.count
    times_s = {turn: value / count for turn, value in seen.get(name, {}).items()}
    unit, values = "s", list(times_s.values())
    middle: Callable[[Sequence[float]], float] = statistics.median
    if task.kind == "overshoot":
        middle = partial(percentile, share=0.99)
    if values and task.baseline not in (None, name):
        base = seen.get(str(task.baseline), {})
        unit = "x"
        values = [value / base[turn] for turn, value in times_s.items() if turn in base]
    if not values:
        return "n/a"
    time_s = middle(list(times_s.values()))
    return EngineFigure(middle(values), min(values), max(values), len(values), unit, time_s)


def percentile(values: Sequence[float], share: float) -> float:
    """Return the smallest value that at least this share of them do not pass."""
    return sorted(values)[max(0, math.ceil(share * len(values)) - 1)]
