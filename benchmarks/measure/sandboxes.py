"""What running a program costs in this sandbox, compared with plain `exec`.

Rounds go through both in turn (A B A B), so that what the machine does meanwhile meets both alike.
The first round is thrown away, and a time counts only if the program's value was right. Every
program is a text that neither has seen before.
"""

from __future__ import annotations

import importlib
import os
import time
from collections.abc import Callable, Iterator, Mapping
from typing import Any

import numpy as np

from benchmarks.measure.measurement import Measurement, run
from cap import Limits, Sandbox, Scope
from cap.program.scope import Primitive

CALLS = 10_000
"""Primitive calls of the programs that make many."""
LIMIT_S = 0.05
"""Time limit whose overshoot is measured."""
REST_S = 0.004
"""Idle before each run, so that the spare worker is ready; any model takes longer."""
PROGRAMS: Mapping[str, str] = {
    "trivial": "ret = 1 + 1\n",
    "seven calls": """\
names = objects()
places = {name: point(len(name)) for name in names}
order = sorted(names, key=lambda name: -places[name][0])
first, last = places[order[0]], places[order[-1]]
middle = [(first[axis] + last[axis]) / 2 for axis in range(3)]
say(f"between {order[0]} and {order[-1]}: {middle[0]:.2f}")
ret = [number(3), float(middle[0]), order[0]]
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
    f"{CALLS} calls, 3-vector": f"for i in range({CALLS}):\n    ret = float(point(i)[0])\n",
}
ENDLESS = """\
while True:
    try:
        for i in range(1000000):
            ret = i
    except BaseException:
        ret = 0
"""
FUNCTIONS: Mapping[str, Callable[..., Any]] = {
    "number": lambda i: i + 1,
    "point": lambda i: np.array([i, 0.5, 1.0]),
    "objects": lambda: ["red block", "blue bowl", "the green block", "cup"],
    "say": lambda text: None,
}
"""The host's."""
BOUND_LIMIT, OVERSHOOT_LIMIT_S = 1.02, 0.010
"""What this sandbox must keep: multiples of plain exec, less the time of a trivial program each;
and seconds past the time limit."""
OURS, PLAIN = "this sandbox", "plain exec"


def sandbox(limit_s: float) -> Sandbox:
    """Return this sandbox with the host's functions, its workers started."""
    primitives = {name: Primitive.of(f, "perception", name) for name, f in FUNCTIONS.items()}
    limits = Limits(program_s=limit_s, calls=10 * CALLS)
    return Sandbox(Scope(primitives=primitives), limits=limits).__enter__()


def plain(source: str) -> Any:
    """Run a program here; return its `ret`."""
    space: dict[str, Any] = dict(FUNCTIONS)
    exec(compile(source, "<program>", "exec", dont_inherit=True), space)
    return space["ret"]


def measure(rounds: int) -> Iterator[Measurement]:
    """Measure everything; rows come as they are ready."""
    os.environ |= dict.fromkeys(("OPENBLAS_NUM_THREADS", "OMP_NUM_THREADS"), "1")
    importlib.import_module("shapely.geometry")  # with numpy, as the sandbox has it loaded
    ample = sandbox(60.0)
    engines: dict[str, Callable[[str], Any]] = {
        OURS: lambda source: ample.run(source, returns="ret").value,
        PLAIN: plain,
    }
    for program in PROGRAMS:
        yield from row(program, engines, rounds)
    limited, past_s = sandbox(LIMIT_S), []
    for number in range(rounds + 1):
        time.sleep(REST_S)
        begin_s = time.perf_counter()
        result = limited.run(f"{ENDLESS}# {number}\n")
        past_s.append(time.perf_counter() - begin_s - LIMIT_S)
        assert "time" in str(result.failure), result.failure
    what = f"past a limit of {LIMIT_S:g} s, {OURS}"
    yield Measurement(what, "s", past_s[1:], OVERSHOOT_LIMIT_S)


def row(
    program: str, engines: Mapping[str, Callable[[str], Any]], rounds: int
) -> Iterator[Measurement]:
    """Measure one program in each engine in turn."""
    taken_s: dict[str, list[float]] = {name: [] for name in engines}
    bound = program.endswith("bound") or program.startswith("CPU-bound")
    for number in range(rounds + 1):
        source = f"{PROGRAMS[program]}# {number}\n"
        for name, times in taken_s.items():
            fixed_s = seconds_of(engines[name], f"ret = 2\n# {number}\n") if bound else 0.0
            times.append(seconds_of(engines[name], source) - fixed_s)
    if bound:
        shares = [ours / here for ours, here in zip(taken_s[OURS], taken_s[PLAIN], strict=True)]
        yield Measurement(f"{program}, {OURS} / {PLAIN}", "x", shares[1:], BOUND_LIMIT)
    for name, times in taken_s.items():
        yield Measurement(f"{program}, {name}", "s", times[1:])


def seconds_of(engine: Callable[[str], Any], source: str) -> float:
    """Return what one run takes.

    Raises:
        ValueError: The value is wrong.
    """
    time.sleep(REST_S)
    begin_s = time.perf_counter()
    value = engine(source)
    taken_s = time.perf_counter() - begin_s
    if value != (right := plain(source)):
        raise ValueError(f"wrong value: {value!r} instead of {right!r}")
    return taken_s


if __name__ == "__main__":
    run(measure, 20, __doc__)
