"""The process one engine lives in while it is measured: both ends of it.

The child (this module with an engine and a variant) reads one JSON request per line and answers
with one number: an engine that hangs or crashes takes nothing else with it, and all are measured
in the same way. A time counts only if the program's value was right.
"""

from __future__ import annotations

import contextlib
import json
import os
import select
import signal
import subprocess
import sys
import time
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from benchmarks.performance.sandbox.engines import (
    ENGINES,
    MACHINE,
    Run,
    SandboxEngine,
)
from benchmarks.performance.sandbox.programs import PROGRAMS, expected, functions, same

REST_S = 0.004
"""Idle before each timed run, so that the spare worker is ready; any model takes longer."""
LIMIT_S = 0.05
"""Time limit whose overshoot is measured."""
PATIENCE_S = 20.0
"""An engine that does not answer for this long is killed."""
_AMPLE_S = 60.0
_ENVIRONMENT = {"OPENBLAS_NUM_THREADS": "1", "OMP_NUM_THREADS": "1", "MKL_NUM_THREADS": "1"}


class EngineFailed(Exception):
    """An engine raised, crashed or did not answer."""


class EngineProcess:
    """The process one engine lives in; started at first use, and anew after a failure."""

    def __init__(self, engine: str, variant: str) -> None:
        """Remember what to start."""
        module = "machine" if engine == MACHINE else "engine_process"
        self.command = [
            sys.executable,
            "-P",
            "-m",
            f"benchmarks.performance.sandbox.{module}",
            engine,
            variant,
        ]
        self.process: subprocess.Popen[bytes] | None = None

    def ask(self, task: str, program: str) -> float:
        """Return one measurement.

        Raises:
            EngineFailed: With the reason, in one line.
        """
        process = self.process = self.process or start(self.command)
        assert process.stdin is not None
        assert process.stdout is not None
        request = json.dumps({"task": task, "program": program}) + "\n"
        with contextlib.suppress(BrokenPipeError):
            process.stdin.write(request.encode())
            process.stdin.flush()
        line = next_line(process, PATIENCE_S)
        if not line:
            reason = why_silent(process, line)
            self.close()
            raise EngineFailed(reason)
        reply = json.loads(line)
        if "error" in reply:
            raise EngineFailed(str(reply["error"]))
        return float(reply["value"])

    def close(self) -> None:
        """End the process and whatever it started."""
        if self.process is not None:
            end(self.process)
        self.process = None


def start(command: Sequence[str]) -> subprocess.Popen[bytes]:
    """Start an interpreter that finds these packages, in a process group of its own."""
    paths = [str(Path(__file__).resolve().parents[3]), os.environ.get("PYTHONPATH", "")]
    return subprocess.Popen(
        command,
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        env={**os.environ, **_ENVIRONMENT, "PYTHONPATH": os.pathsep.join(filter(None, paths))},
        start_new_session=True,
    )


def next_line(process: subprocess.Popen[bytes], patience_s: float) -> bytes | None:
    """Return the next line; None if none comes in time, empty if the process ended."""
    assert process.stdout is not None
    ready, _, _ = select.select([process.stdout], [], [], patience_s)
    return process.stdout.readline() if ready else None


def why_silent(process: subprocess.Popen[bytes], line: bytes | None) -> str:
    """Return why no line came, with the last one of standard error if the process died."""
    if line is None:
        return f"no answer within {PATIENCE_S:g} s"
    assert process.stderr is not None
    os.set_blocking(process.stderr.fileno(), False)  # what it started may hold the other end
    words = (process.stderr.read() or b"").decode("utf-8", "replace").split("\n")
    said = [word for word in words if word.strip()]
    return f"it died: {said[-1].strip()[:200]}" if said else "it died"


def end(process: subprocess.Popen[bytes]) -> None:
    """Kill a process and its group."""
    with contextlib.suppress(ProcessLookupError):
        os.killpg(process.pid, signal.SIGKILL)
    process.wait()
    for stream in (process.stdin, process.stdout, process.stderr):
        if stream is not None:
            with contextlib.suppress(BrokenPipeError):  # it died before it read what was sent
                stream.close()


class EngineBench:
    """Answers requests for one engine, in its process."""

    def __init__(self, engine: SandboxEngine, variant: str) -> None:
        """Prepare the engine with an ample time limit."""
        self.engine = engine
        self.variant = variant
        self.host = functions(arrays="numpy" not in engine.lacks)
        self.run = engine.open(self.host, _AMPLE_S, variant)
        self.limited: Run | None = None
        self.texts = 0
        """How many program texts were made."""

    def answer(self, task: str, program: str) -> float:
        """Measure once; seconds of one program."""
        match task:
            case "time":
                return self.time(program)
            case "again":
                return self.time(program, again=True)
            case "net":
                return self.time(program) - self.time("trivial")
            case "rate":
                return self.rate(program)
            case "overshoot":
                return self.overshoot()
        raise ValueError(f"no task '{task}'")

    def new(self, program: str) -> str:
        """Return a program as a text that no engine has seen before."""
        self.texts += 1
        return f"{PROGRAMS[program]}# {self.texts}\n"

    def time(self, program: str, *, again: bool = False) -> float:
        """Return the seconds of one run, after a rest.

        Args:
            program: Its name.
            again: Let it be the very text of the last time.
        """
        source = PROGRAMS[program] if again else self.new(program)
        right = expected(PROGRAMS[program])
        time.sleep(REST_S)
        begin_s = time.perf_counter()
        value = self.run(source)
        taken_s = time.perf_counter() - begin_s
        if not same(value, right):
            raise ValueError(f"wrong value: {value!r} instead of {right!r}")
        return taken_s

    def rate(self, program: str, for_s: float = 0.25) -> float:
        """Return the seconds each program takes, one after another without a rest."""
        done = 0
        begin_s = time.perf_counter()
        while (taken_s := time.perf_counter() - begin_s) < for_s:
            self.run(self.new(program))
            done += 1
        return taken_s / done

    def overshoot(self) -> float:
        """Return by how many seconds an endless program passed its time limit."""
        if self.limited is None:
            self.limited = self.engine.open(self.host, LIMIT_S, self.variant)
            with contextlib.suppress(TimeoutError):
                self.limited(PROGRAMS["trivial"])
        time.sleep(REST_S)
        begin_s = time.perf_counter()
        try:
            self.limited(PROGRAMS["endless"])
        except TimeoutError:
            return time.perf_counter() - begin_s - LIMIT_S
        raise ValueError("an endless program ended by itself")


def _serve(name: str, variant: str) -> None:
    """Answer requests until standard input ends; what the engine prints goes nowhere."""
    answers = os.fdopen(os.dup(1), "w")
    nowhere = os.open(os.devnull, os.O_WRONLY)
    os.dup2(nowhere, 1)
    bench: EngineBench | None = None
    for line in sys.stdin:
        try:
            bench = bench or EngineBench(ENGINES[name], variant)
            request = json.loads(line)
            reply: dict[str, Any] = {"value": bench.answer(request["task"], request["program"])}
        except Exception as error:  # whatever a peer raises is its own cell's
            reply = {"error": f"{type(error).__name__}: {error}".splitlines()[0][:200]}
        answers.write(json.dumps(reply) + "\n")
        answers.flush()
    os._exit(0)  # no peer's threads or exit hooks can hold it back


if __name__ == "__main__":
    _serve(*sys.argv[1:3])
