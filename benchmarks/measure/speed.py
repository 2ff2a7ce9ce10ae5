"""Where the time goes: start-up, the engine around a model, and each robot's motions.

- `cap --help`: CPU seconds of a fresh interpreter.
- one LMP call, no model: wall milliseconds from instruction to value, with check, names and a
  locked-down run, and a spare worker ready (as it is whenever a model took its time).
- a tree of 8 functions over 3 levels: wall time from the main program's answer to the value, in
  latencies of a model that takes 200 ms for every answer.
- pick and place: CPU seconds of `put_first_on_second` in physics, no pictures; the same filmed,
  with a 240x240 picture every quarter of a simulated second (60 steps of the original release).
- a stroke through 100 points by the drawing arm; a fetch in the kitchen: to pick up an object,
  drive to another location and place it there. CPU seconds in physics.
- reset to a new scene: wall seconds, warm process. The original release takes 2.5 to 5 s.
"""

from __future__ import annotations

import re
import resource
import subprocess
import sys
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import partial
from typing import Any

import numpy as np

from benchmarks.measure.measurement import Measurement, run
from cap.engine.answer import Instruction
from cap.engine.engine import Engine
from cap.models.base import Completion, Model, Request
from cap.prompt.prompt import parse
from cap.robot import registry
from cap.sandbox.sandbox import Sandbox
from cap.trace.trace import Trace

LATENCY_S = 0.2
"""Of the model that writes a tree of functions; the limit is stated for this one."""
REST_S = 0.02
"""Before each LMP call: any model takes longer, so the spare worker is ready."""
FRAME_EVERY_S = 0.25
TREE: Mapping[str, Sequence[str]] = {
    "a": ("a_left", "a_right"),
    "b": ("b_left", "b_right"),
    "a_left": ("a_leaf",),
    "b_right": ("b_leaf",),
    "a_right": (),
    "b_left": (),
    "a_leaf": (),
    "b_leaf": (),
}
"""Eight functions over three levels: what each calls; those that call none return 1."""
_SUM = '# /// cap\n# returns = "ret_val"\n# kind = "number"\n# ///\n# one.\nret_val = 1\n'
_MOVES = (
    ("red block", "blue bowl"),
    ("green block", "yellow block"),
    ("blue block", "top left corner"),
    ("green block", "red bowl"),
    ("red block", "middle"),
)
"""Moves of one round: into a bowl, onto a block, to a corner, off a stack, out of a bowl."""
_CARRIED = ("apple", "coke can", "bowl", "chip bag", "banana", "water bottle")
"""What is on the kitchen's table, and carried off it in turn."""


def measure(runs: int) -> Iterator[Measurement]:
    """Measure everything this machine can; rows come as they are ready.

    Raises:
        MissingExtra: No physics engine is installed; the rows without physics were yielded before.
    """
    yield _help(max(3, runs // 2))
    yield _lmp_call(10 * runs)
    yield tree(runs, LATENCY_S)
    yield from _tabletop(runs)
    yield _stroke(runs)
    yield _fetch(runs)


def _timed(work: Callable[[], Any], clock: Callable[[], float] = time.process_time) -> float:
    begin = clock()
    work()
    return clock() - begin


# --- the command and the engine


def _help(runs: int) -> Measurement:
    def used_s() -> float:
        usage = resource.getrusage(resource.RUSAGE_CHILDREN)
        return usage.ru_utime + usage.ru_stime

    command = [sys.executable, "-m", "cap", "--help"]
    show = partial(subprocess.run, command, check=True, capture_output=True)
    times = [_timed(show, used_s) for _ in range(runs + 1)]  # the first loads from the disk
    return Measurement("cap --help", "CPU-s", times[1:], 0.3)


class WatchedModel:
    """A model that notes when its answers came."""

    name = "fixed"

    def __init__(self, answer: Callable[[str], str]) -> None:
        """Take what answers a prompt."""
        self.answered_s: list[float] = []
        self._answer = answer

    def complete(self, request: Request) -> Completion:
        """Answer one request."""
        text = self._answer(request.prompt)
        self.answered_s.append(time.perf_counter())
        return Completion(text, self.name)


def _engine(model: Model) -> Engine:
    robot, prompts = registry.make_robot("ravens", mode="instant"), registry.robot_prompts("ravens")
    sandbox = Sandbox()
    sandbox.__enter__()
    define = registry.function_prompt()
    return Engine(robot, model, prompts, define, sandbox=sandbox, trace=Trace())


def _lmp_call(runs: int) -> Measurement:
    """Time one call of `parse_obj_name` in the tabletop's prompts."""
    engine = _engine(WatchedModel(lambda prompt: "ret_val = objects[0]\n"))
    prompt = registry.robot_prompts("ravens")["parse_obj_name"]

    def call() -> None:
        answer = engine.run(Instruction(prompt, "the first object", engine.context(prompt)))
        assert answer.result.failure is None, answer.result.failure

    times_ms = []
    for _ in range(runs + 5):  # the first few load and compile
        time.sleep(REST_S)
        times_ms.append(1e3 * _timed(call, time.perf_counter))
    return Measurement("one LMP call, no model", "ms", times_ms[5:], 5.0)


def tree(runs: int, latency_s: float) -> Measurement:
    """Measure the latencies from a program's text to the value, its functions generated."""

    def write(prompt: str) -> str:
        time.sleep(latency_s)
        asked = re.match(r"# define function: (?:\w+ = )?(\w+)\(", prompt.rstrip().split("\n")[-1])
        if asked is None:
            return "ret_val = a(1) + b(1)\n"
        calls = [f"{name}(n)" for name in TREE[asked[1]]]
        return f"def {asked[1]}(n):\n    return {' + '.join(calls) or 1}\n"

    model, prompt = WatchedModel(write), parse(_SUM, "sum")
    engine, latencies = _engine(model), []
    for _ in range(runs + 1):
        model.answered_s.clear()
        answer = engine.run(Instruction(prompt, "the sum"))
        latencies.append((time.perf_counter() - model.answered_s[0]) / latency_s)
        assert answer.result.value == sum(not calls for calls in TREE.values())
    return Measurement("8 functions over 3 levels", "latencies", latencies[1:], 3.5)


# --- the robots


def _tabletop(runs: int) -> Iterator[Measurement]:
    robot: Any = registry.make_robot("ravens", mode="physics", seed=1)
    try:
        yield Measurement("pick and place", "CPU-s", list(_each_move(robot, runs)), 0.05)
        robot.frame_every_s = FRAME_EVERY_S
        robot.on_frame = lambda: robot.render(240, 240)
        times = list(_each_move(robot, max(5, runs // 2)))
        robot.on_frame = None
        yield Measurement("pick and place, filmed", "CPU-s", times, 0.1)
        resets = [partial(robot.reset, seed) for seed in range(runs)]
        times = [_timed(reset, time.perf_counter) for reset in resets]
        yield Measurement("reset to a new scene", "s", times, 0.02)
    finally:
        robot.close()


def _each_move(robot: Any, runs: int) -> Iterator[float]:
    """Yield the CPU time of each of a series of moves, in fresh scenes."""
    for number in range(runs):
        if number % len(_MOVES) == 0:
            robot.reset(1 + number // len(_MOVES))
        yield _timed(partial(robot.put_first_on_second, *_MOVES[number % len(_MOVES)]))


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
            times.append(_timed(partial(robot.draw, circle)))
    finally:
        robot.close()
    return Measurement("a stroke through 100 points", "CPU-s", times, 0.1)


def _fetch(runs: int) -> Measurement:
    """CPU time to carry an object from the table to the countertop of the kitchen."""
    robot: Any = registry.make_robot("kitchen", mode="physics", objects=_CARRIED)

    def fetch(name: str) -> None:
        robot.pick_obj(name)
        robot.goto_loc("countertop")
        robot.place_at_obj("countertop")

    times: list[float] = []
    try:
        for seed in range(runs):
            robot.reset(seed)
            times.append(_timed(partial(fetch, _CARRIED[seed % len(_CARRIED)])))
    finally:
        robot.close()
    return Measurement("fetch and place in the kitchen", "CPU-s", times, 0.3)


if __name__ == "__main__":
    run(measure, 10, __doc__)
