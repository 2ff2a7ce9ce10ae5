"""`cap bench sandbox --profile`: where the time of a trivial program goes in this sandbox.

Each stage is a function of the trusted side, timed from outside while `Sandbox.run` goes its
usual way; what it calls counts for that stage only if it is not a stage of its own.
"""

from __future__ import annotations

import inspect
import statistics
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any
from unittest.mock import patch

from benchmarks.performance.sandbox.engine_process import REST_S
from benchmarks.performance.sandbox.programs import PROGRAMS


@dataclass(frozen=True)
class StageTime:
    """One part of a program's way."""

    what: str
    """What happens in it."""
    median_us: float
    """Median, microseconds."""
    low_us: float
    """Smallest."""
    high_us: float
    """Largest."""
    runs: int
    """How many were measured."""


class StageClock:
    """Adds up the time of each stage, without the stages inside it."""

    def __init__(self) -> None:
        """Start at zero."""
        self.spent_s: dict[str, float] = {}
        self._inner_s = [0.0]

    def timed(self, what: str, function: Callable[..., Any]) -> Callable[..., Any]:
        """Return a function that does the same and adds its time to a stage."""

        def call(*args: Any, **kwargs: Any) -> Any:
            self._inner_s.append(0.0)
            begin_s = time.perf_counter()
            try:
                return function(*args, **kwargs)
            finally:
                taken_s = time.perf_counter() - begin_s
                own_s = taken_s - self._inner_s.pop()
                self._inner_s[-1] += taken_s
                self.spent_s[what] = self.spent_s.get(what, 0.0) + own_s

        return call


def stages() -> list[tuple[str, Any, str]]:
    """Return each stage with the functions that are it: name, owner, attribute."""
    from cap.checker import checker
    from cap.program import program
    from cap.sandbox import sandbox
    from cap.sandbox.parent import call_server, template_client
    from cap.sandbox.wire import codec

    return [
        ("parse", program.Program, "parse"),
        ("compile", program, "compiled"),
        ("imports already in scope", checker, "_needless_imports"),
        ("check", checker, "examine"),
        ("names", checker, "undefined"),
        ("encode the job", codec, "encode"),
        ("take a worker", template_client.TemplateClient, "spawn"),
        ("run: send, wait, read the result", call_server.CallServer, "run"),
        ("end the worker, ask for a spare", template_client.TemplateClient, "refill"),
        ("the rest", sandbox.Sandbox, "run"),
    ]


@contextmanager
def watched(clock: StageClock) -> Iterator[None]:
    """Time every stage while this is open."""
    patches = []
    for what, owner, attribute in stages():
        original = getattr(owner, attribute)
        wrapped: Any = clock.timed(what, original)
        if inspect.ismethod(original):  # of the class: bound to it already
            wrapped = staticmethod(wrapped)
        patches.append(patch.object(owner, attribute, wrapped))
    for entry in patches:
        entry.start()
    try:
        yield
    finally:
        for entry in reversed(patches):
            entry.stop()


def profile(runs: int) -> list[StageTime]:
    """Time the stages of a trivial program, a spare worker ready, the first runs thrown away."""
    from cap import Sandbox

    clock, seen = StageClock(), list[dict[str, float]]()
    with Sandbox() as sandbox, watched(clock):
        for number in range(runs + 5):
            time.sleep(REST_S)
            clock.spent_s.clear()
            result = sandbox.run(f"{PROGRAMS['trivial']}# {number}\n", returns="ret")
            if result.failure is not None:
                raise RuntimeError(f"a trivial program failed: {result.failure}")
            seen.append(dict(clock.spent_s))
    seen = seen[5:]
    names = dict.fromkeys(what for what, _, _ in stages())
    rows = [_stage(what, [run.get(what, 0.0) for run in seen]) for what in names]
    return [*rows, _stage("all", [sum(run.values()) for run in seen])]


def _stage(what: str, values_s: Sequence[float]) -> StageTime:
    values = [1e6 * value for value in values_s]
    return StageTime(what, statistics.median(values), min(values), max(values), len(values))
