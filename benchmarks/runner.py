"""Running trials, several at a time, each written down as it ends.

The same function runs a trial everywhere (`benchmarks.worker.run_trial`), so outcomes do not depend
on how many run at once. On one machine each worker is a process of its own with one trial under
way: when one dies, that trial is tried once more in another, and then counts as infrastructure.
With Ray the trials go to a cluster.
"""

from __future__ import annotations

import contextlib
import json
import os
import queue
import signal
import subprocess
import sys
import threading
from collections.abc import Callable, Generator, Sequence
from dataclasses import asdict
from pathlib import Path
from typing import Any

import msgspec

from benchmarks.results import UNPAID, Results
from benchmarks.suite import ENDPOINT, Outcome, Settings, Trial
from benchmarks.worker import broken, run_trial
from cap.errors import EndpointFailed, MissingExtra, SpendLimit, UsageError, install_extra

Done = Callable[[Trial, Outcome], None]
_END_S = 5.0
"""How long the thread of a worker that was killed may take to end."""
_TRIES = 2
_UNASKED_MOST = 3
"""If so many trials could not be asked of the model, and no other was, the run ends."""


def run(
    results: Results,
    trials: Sequence[Trial],
    settings: Settings,
    *,
    jobs: int = 1,
    engine: str = "local",
    address: str | None = None,
    on_done: Done = lambda trial, outcome: None,
) -> None:
    """Run every trial that has not ended yet, and write each down.

    Args:
        results: Where to.
        trials: All that were asked for.
        settings: What with.
        jobs: Worker processes at a time.
        engine: `local` or `ray`.
        address: Of a Ray cluster; one on this machine by default.
        on_done: Called with each trial once it is recorded.

    Raises:
        UsageError: A trial cannot be written down, or Ray does not start.
        MissingExtra: Ray is not installed.
        SpendLimit: The budget ended before the trials did; those left are not written down.
        EndpointFailed: No trial could be asked of the model: not the first few, or none at all.
    """
    results.ask(trials)
    unpaid: list[Outcome] = []
    unasked: list[str] = []  # of each trial why its model could not be asked, "" if it could
    left = [trial for trial in trials if trial not in results.done]
    late: list[tuple[Trial, Outcome]] = []
    if engine == "ray":
        outcomes = _on_ray(left, settings, jobs, address)
    else:
        outcomes = _here(left, settings, jobs, late)
    try:
        with contextlib.closing(outcomes):
            for trial, outcome in outcomes:
                if outcome.cause == UNPAID:
                    unpaid.append(outcome)
                    continue
                results.add(trial, outcome)
                on_done(trial, outcome)
                unasked.append(outcome.extra.get(ENDPOINT, ""))
                if len(unasked) >= _UNASKED_MOST and all(unasked):
                    break
    finally:
        for trial, outcome in late:
            if outcome.cause != UNPAID:
                results.add(trial, outcome)
    if unasked and all(unasked):
        raise EndpointFailed(
            f"{unasked[-1]}; {len(unasked)} of {len(trials)} trials were tried and none could be "
            "asked: fix that and use --resume"
        )
    if unpaid:
        why = next(outcome.failure for outcome in unpaid if outcome.failure)
        raise SpendLimit(f"{why} and use --resume; {len(unpaid)} of {len(trials)} trials are left")


Outcomes = Generator[tuple[Trial, Outcome], None, None]


def _here(
    trials: Sequence[Trial], settings: Settings, jobs: int, late: list[tuple[Trial, Outcome]]
) -> Outcomes:
    """Yield outcomes as they come from worker processes; once it is closed, these are killed.

    Args:
        trials: What to run.
        settings: What with.
        jobs: How many processes.
        late: Gets the outcomes that were there when it was closed.
    """
    waiting: queue.SimpleQueue[Trial] = queue.SimpleQueue()
    done: queue.SimpleQueue[tuple[Trial, Outcome]] = queue.SimpleQueue()
    for trial in trials:
        waiting.put(trial)
    threads = [_WorkerThread(waiting, done, settings) for _ in range(min(jobs, len(trials)))]
    try:
        for thread in threads:
            thread.start()
        for _ in trials:
            yield done.get()
    finally:
        for thread in threads:
            thread.end()
        for thread in threads:
            if thread.ident is not None:
                thread.join(_END_S)
        while not done.empty():
            late.append(done.get())


class _WorkerThread(threading.Thread):
    """Gives trials to one worker process, and to another if that dies."""

    def __init__(
        self,
        waiting: queue.SimpleQueue[Trial],
        done: queue.SimpleQueue[tuple[Trial, Outcome]],
        settings: Settings,
    ) -> None:
        super().__init__(name="cap-trials", daemon=True)
        self._waiting = waiting
        self._done = done
        self._settings = json.dumps(asdict(settings)).encode() + b"\n"
        self._process: subprocess.Popen[bytes] | None = None
        self._ended = False
        self._starting = threading.Lock()

    def run(self) -> None:
        """Work until no trial waits."""
        with contextlib.suppress(queue.Empty):
            while not self._ended:
                trial = self._waiting.get_nowait()
                outcome = self._outcome(trial)
                if outcome is None:
                    break
                self._done.put((trial, outcome))
                while outcome.cause == UNPAID:  # nor is there a budget for those that wait
                    self._done.put((self._waiting.get_nowait(), outcome))
        self._kill()

    def end(self) -> None:
        """Take no further trial, and end the worker, whatever it does."""
        with self._starting:
            self._ended = True
        self._kill()

    def _kill(self) -> None:
        process, self._process = self._process, None
        if process is None:
            return
        with contextlib.suppress(ProcessLookupError):
            os.killpg(process.pid, signal.SIGKILL)
        process.wait()
        for stream in (process.stdin, process.stdout):
            if stream is not None:
                with contextlib.suppress(OSError):
                    stream.close()

    def _outcome(self, trial: Trial) -> Outcome | None:
        """Return how a trial ended; None if the run is stopped before."""
        for _ in range(_TRIES):
            if (answer := self._ask(trial)) is not None:
                return msgspec.convert(answer, Outcome)
            if self._ended:
                return None
            self._kill()
        return broken("the worker process died, twice")

    def _ask(self, trial: Trial) -> dict[str, Any] | None:
        """Return a worker's answer; None if it died."""
        try:
            request = json.dumps(asdict(trial)).encode() + b"\n"
            with self._starting:
                if self._ended:
                    return None
                if self._process is None:
                    self._process = _start()
                    request = self._settings + request
            process = self._process
            assert process.stdin is not None
            assert process.stdout is not None
            process.stdin.write(request)
            process.stdin.flush()
            line = process.stdout.readline()
        except (OSError, ValueError):
            return None
        found: dict[str, Any] | None = json.loads(line) if line.endswith(b"\n") else None
        return found


def _start() -> subprocess.Popen[bytes]:
    """Start a worker in a process group of its own: Ctrl-C is the runner's."""
    paths = [str(Path(__file__).resolve().parent.parent), os.environ.get("PYTHONPATH", "")]
    threads = dict.fromkeys(("OPENBLAS_NUM_THREADS", "OMP_NUM_THREADS"), "1")
    return subprocess.Popen(
        [sys.executable, "-P", "-m", "benchmarks.worker"],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        env={**os.environ, **threads, "PYTHONPATH": os.pathsep.join(filter(None, paths))},
        start_new_session=True,
    )


def _on_ray(
    trials: Sequence[Trial], settings: Settings, jobs: int, address: str | None
) -> Outcomes:
    """Yield outcomes as they come from a Ray cluster.

    Raises:
        UsageError: It does not start.
    """
    try:
        import ray
    except ImportError:
        raise MissingExtra(f"--engine ray needs Ray; run: {install_extra('ray')}") from None
    where: dict[str, Any] = {"address": address} if address else {"num_cpus": jobs}
    try:
        ray.init(log_to_driver=False, configure_logging=False, include_dashboard=False, **where)
    except Exception as error:  # Ray has no class of its own for a start that failed
        ray.shutdown()
        why = str(error).splitlines()[0] if str(error) else type(error).__name__
        raise UsageError(f"Ray does not start: {why}; use --engine local") from None
    try:
        remote = ray.remote(max_retries=_TRIES - 1)(run_trial)
        shared = ray.put(settings)
        ahead = list(trials)
        under_way: dict[Any, Trial] = {}
        while ahead or under_way:
            while ahead and len(under_way) < 2 * jobs:
                trial = ahead.pop(0)
                under_way[remote.remote(trial, shared)] = trial
            (ready, *_), _ = ray.wait(list(under_way), num_returns=1)
            outcome = _gathered(ray, ready)
            yield under_way.pop(ready), outcome
            if outcome.cause == UNPAID:
                yield from ((trial, outcome) for trial in ahead)
                ahead.clear()
    finally:
        ray.shutdown()


def _gathered(ray: Any, ready: Any) -> Outcome:
    try:
        outcome: Outcome = ray.get(ready)
    except ray.exceptions.RayError as error:
        return broken(f"the worker process died: {type(error).__name__}")
    return outcome
