"""`cap bench speed`: where the time goes, medians over repeated runs.

- `cap --help`: CPU seconds of a fresh interpreter.
- one LMP call, no model: wall seconds from instruction to value, sandbox included, with a spare
  worker ready (as it is whenever a model took its time).
- pick and place: CPU seconds of `put_first_on_second` in physics mode, no pictures.
- pick and place in PyBullet by its bare steps: the same there by the `stepSimulation` among its
  simulator calls, each the least of all rounds.
- pick and place in PyBullet by its simulator calls: the same by all those calls, replayed. That is
  what the cheapest driver pays for the same motion, for it must build the scene and command the
  joints; what is above 1 is planning, kinematics and the loop around the steps.
- the same, filmed: with a 240x240 picture every quarter of a simulated second (60 steps of the
  original release).
- a stroke through 100 points by the drawing arm: CPU seconds in physics mode.
- fetch in the kitchen: CPU seconds to pick up an object, drive to another location and place it
  there, in physics mode.
- reset to a new scene: wall seconds, warm process. The original release takes 2.5 to 5 s.
"""

from __future__ import annotations

import copy
import inspect
import resource
import subprocess
import sys
import time
from collections.abc import Callable, Iterator, Sequence
from functools import partial
from importlib.util import find_spec
from itertools import pairwise
from typing import Any

import numpy as np

from benchmarks.performance.measurement import Measurement
from cap.engine.engine import Engine
from cap.models.base import Completion, Request
from cap.robot import registry
from cap.sandbox.sandbox import Sandbox
from cap.trace.trace import Trace

FRAME_EVERY_S = 0.25
_PAIRS = (
    ("red block", "blue bowl"),
    ("green block", "yellow block"),
    ("blue block", "top left corner"),
    ("green block", "red bowl"),
    ("red block", "middle"),
)
"""Moves of one round: into a bowl, onto a block, to a corner, off a stack, out of a bowl."""
_CARRIED = ("apple", "coke can", "bowl", "chip bag", "banana", "water bottle")
"""What is on the kitchen's table, and carried off it in turn."""


def measure(runs: int = 10) -> Iterator[Measurement]:
    """Measure everything this machine can; rows come as they are ready.

    Args:
        runs: Measurements of each kind; at least 3.

    Raises:
        MissingExtra: No physics engine is installed; the rows without physics were yielded before.
    """
    yield _help(max(3, runs // 2))
    yield _engine(runs * 10)
    yield from _physics(runs)
    yield _stroke(runs)
    yield _fetch(runs)


def _timed(work: Callable[[], Any], clock: Callable[[], float]) -> float:
    begin = clock()
    work()
    return clock() - begin


def _help(runs: int) -> Measurement:
    """CPU time of `cap --help` in a fresh interpreter, as the operating system counts it."""
    used_s = [0.0]
    for _ in range(runs + 1):  # the first loads from the disk
        command = [sys.executable, "-m", "cap", "--help"]
        subprocess.run(command, check=True, capture_output=True)
        usage = resource.getrusage(resource.RUSAGE_CHILDREN)
        used_s.append(usage.ru_utime + usage.ru_stime)
    times = [after - before for before, after in pairwise(used_s[1:])]
    return Measurement.of("cap --help", "CPU-s", times, 0.3)


class _Fixed:
    """A model that takes no time: the engine's own cost is what is left."""

    name = "fixed"

    def complete(self, request: Request) -> Completion:
        return Completion("ret_val = objects[0]\n", self.name)


def _engine(runs: int) -> Measurement:
    """Wall time of one LMP call: render, extract, check, names, sandbox, return value."""
    robot = registry.make_robot("ravens", mode="instant")
    prompts = registry.robot_prompts("ravens")
    prompt = prompts["parse_obj_name"]
    with Sandbox() as sandbox:
        engine = Engine(
            robot,
            _Fixed(),
            prompts,
            registry.function_prompt(),
            sandbox=sandbox,
            trace=Trace(),
        )

        def work() -> None:
            answer = engine.run(prompt, "the first object", engine.context(prompt))
            assert answer.result.failure is None, answer.result.failure

        for _ in range(5):
            work()
        times = []
        for _ in range(runs):
            time.sleep(0.02)  # any model takes longer: the spare worker is ready
            times.append(_timed(work, time.perf_counter))
    return Measurement.of("one LMP call, no model", "s", times, 0.005)


def _physics(runs: int) -> Iterator[Measurement]:
    robot: Any = registry.make_robot("ravens", mode="physics", seed=1)
    try:
        times = list(_each_move(robot, runs))
        yield Measurement.of("pick and place", "CPU-s", times, 0.05, original=0.94)
        robot.frame_every_s = FRAME_EVERY_S
        robot.on_frame = lambda: robot.render(240, 240)
        times = list(_each_move(robot, max(5, runs // 2)))
        robot.on_frame = None
        yield Measurement.of("pick and place, filmed", "CPU-s", times, 0.1, original=7.97)
        resets = [partial(robot.reset, seed) for seed in range(runs)]
        times = [_timed(reset, time.perf_counter) for reset in resets]
        yield Measurement.of("reset to a new scene", "s", times, 0.02, original=2.5)
    finally:
        robot.close()
    if find_spec("pybullet"):
        robot = registry.make_robot("ravens", mode="physics", seed=1, engine="pybullet")
        try:
            yield from _by_calls(robot, runs)
        finally:
            robot.close()


_Call = tuple[Callable[..., Any], tuple[Any, ...], dict[str, Any]]


def _by_calls(robot: Any, runs: int) -> Iterator[Measurement]:
    """Compare one round of moves with the steps among its calls, and with all of its calls."""
    from robots.simulation.bullet import p

    moves = [partial(robot.put_first_on_second, *pair) for pair in _PAIRS]
    robot.reset(1)
    recordings = [recorded_calls(move) for move in moves]
    spent_s: dict[str, list[list[float]]] = {"move": [], "calls": [], "steps": []}
    for _ in range(3 * runs):
        robot.reset(1)
        spent_s["move"].append([_timed(move, time.process_time) for move in moves])
        robot.reset(1)
        replays = [partial(replay, calls) for calls in recordings]
        spent_s["calls"].append([_timed(again, time.process_time) for again in replays])
        robot.reset(1)
        spent_s["steps"].append([replay(calls, p.stepSimulation) for calls in recordings])
    move, calls, steps = (np.min(rounds, axis=0) for rounds in spent_s.values())
    yield Measurement.of("pick and place in PyBullet by its bare steps", "x", move / steps, 1.25)
    yield Measurement.of(
        "pick and place in PyBullet by its simulator calls", "x", move / calls, 1.25
    )


def recorded_calls(work: Callable[[], Any]) -> list[_Call]:
    """Do some work and return the calls it made that change a simulation, in order."""
    from robots.simulation.bullet import p

    calls: list[_Call] = []

    def recorded(function: Callable[..., Any]) -> Callable[..., Any]:
        def call(*values: Any, **named: Any) -> Any:
            calls.append((function, copy.deepcopy(values), copy.deepcopy(named)))
            return function(*values, **named)

        return call

    functions = {
        name: function
        for name, function in vars(p).items()
        if inspect.isbuiltin(function) and not name.startswith("get")
    }
    vars(p).update({name: recorded(function) for name, function in functions.items()})
    try:
        work()
    finally:
        vars(p).update(functions)
    return calls


def replay(calls: Sequence[_Call], timed: Callable[..., Any] | None = None) -> float:
    """Make recorded calls again; return the CPU seconds spent in one of the functions."""
    spent_s = 0.0
    for function, values, named in calls:
        if function is timed:
            begin_s = time.process_time()
            function(*values, **named)
            spent_s += time.process_time() - begin_s
        else:
            function(*values, **named)
    return spent_s


def _stroke(runs: int) -> Measurement:
    """CPU time of the drawing arm's stroke through 100 points, a circle of 10 cm."""
    robot: Any = registry.make_robot("drawing", mode="physics", objects=["red block"], seed=1)
    turn = np.linspace(0.0, 2 * np.pi, 100)
    circle = np.array([0.0, -0.5]) + 0.05 * np.stack([np.cos(turn), np.sin(turn)], axis=1)
    try:
        begin = robot.snapshot()
        times = []
        for _ in range(runs):
            robot.restore(begin)
            times.append(_timed(partial(robot.draw, circle), time.process_time))
        return Measurement.of("a stroke through 100 points", "CPU-s", times, 0.1)
    finally:
        robot.close()


def _fetch(runs: int) -> Measurement:
    """CPU time to carry an object from the table to the countertop of the kitchen."""
    robot: Any = registry.make_robot("kitchen", mode="physics", objects=_CARRIED)
    times: list[float] = []
    try:
        for seed in range(runs):
            robot.reset(seed)
            begin_s = time.process_time()
            robot.pick_obj(_CARRIED[seed % len(_CARRIED)])
            robot.goto_loc("countertop")
            robot.place_at_obj("countertop")
            times.append(time.process_time() - begin_s)
    finally:
        robot.close()
    return Measurement.of("fetch and place in the kitchen", "CPU-s", times, 0.3)


def _each_move(robot: Any, runs: int) -> Iterator[float]:
    """Yield the CPU time of each of a series of moves, in fresh scenes."""
    for number in range(runs):
        if number % len(_PAIRS) == 0:
            robot.reset(1 + number // len(_PAIRS))
        move = partial(robot.put_first_on_second, *_PAIRS[number % len(_PAIRS)])
        yield _timed(move, time.process_time)
