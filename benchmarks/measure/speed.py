"""Where the time goes: start-up, the engine around a model, and each robot's motions.

- `cap --help`: CPU seconds of a fresh interpreter.
- one LMP call, no model: wall milliseconds from instruction to value, with check, names and a
  locked-down run, and a spare worker ready (as it is whenever a model took its time).
- a tree of 8 functions over 3 levels: wall time from the main program's answer to the value, in
  latencies of a model that takes 200 ms for every answer.
- the same prefix in every turn: how much of what the request of one turn begins with, up to its
  own instruction, the next turn's (or a repair's) begins with too; where it is all, a server's
  prefix cache hits.
- pick and place: CPU seconds of `put_first_on_second` in physics, no pictures; the same filmed,
  with a 240x240 picture every quarter of a simulated second (60 steps of the original release).
- pick and place in PyBullet by its bare steps: the same there by the `stepSimulation` among its
  simulator calls, each the least of all rounds; by its simulator calls: by all those calls,
  replayed. That is what the cheapest driver pays for the same motion, for it must build the scene
  and command the joints; what is above 1 is planning, kinematics and the loop around the steps.
- a stroke through 100 points by the drawing arm; a fetch in the kitchen: to pick up an object,
  drive to another location and place it there. CPU seconds in physics.
- reset to a new scene: wall seconds, warm process. The original release takes 2.5 to 5 s.
"""

from __future__ import annotations

import copy
import inspect
import itertools
import re
import resource
import subprocess
import sys
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import partial
from importlib.util import find_spec
from typing import Any

import numpy as np

from benchmarks.measure.measurement import Measurement, run
from cap.engine.engine import Engine
from cap.models.base import Completion, Model, Request
from cap.prompt.prompt import parse
from cap.robot import registry
from cap.sandbox.sandbox import Sandbox
from cap.session.session import Session
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
_PROGRAM, _VALUE = "ret_val = a(1) + b(1)\n", 4
_SUM = '# /// cap\n# returns = "ret_val"\n# kind = "number"\n# ///\n# one.\nret_val = 1\n'
_TURNS = ("say hello", "wave", "say hello again", "a turn that fails once", "say goodbye")
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
    yield prefix()
    yield from _tabletop(runs)
    if find_spec("pybullet"):
        yield from _by_calls(runs)
    yield _stroke(runs)
    yield _fetch(runs)


def _timed(work: Callable[[], Any], clock: Callable[[], float]) -> float:
    begin = clock()
    work()
    return clock() - begin


# --- the command and the engine


def _help(runs: int) -> Measurement:
    """CPU time of `cap --help` in a fresh interpreter, as the operating system counts it."""

    def used_s() -> float:
        usage = resource.getrusage(resource.RUSAGE_CHILDREN)
        return usage.ru_utime + usage.ru_stime

    command = [sys.executable, "-m", "cap", "--help"]
    show = partial(subprocess.run, command, check=True, capture_output=True)
    times = [_timed(show, used_s) for _ in range(runs + 1)]  # the first loads from the disk
    return Measurement.of("cap --help", "CPU-s", times[1:], 0.3)


class WatchedModel:
    """A model that notes when its answers came, and what it was asked."""

    name = "fixed"

    def __init__(self, answer: Callable[[str], str]) -> None:
        """Take what answers a prompt."""
        self.prompts: list[str] = []
        self.answered_s: list[float] = []
        self._answer = answer

    def complete(self, request: Request) -> Completion:
        """Answer one request."""
        self.prompts.append(request.prompt)
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
    """Wall time of one call of `parse_obj_name` in the tabletop's prompts."""
    engine = _engine(WatchedModel(lambda prompt: "ret_val = objects[0]\n"))
    prompt = registry.robot_prompts("ravens")["parse_obj_name"]
    times_ms = []
    for _ in range(runs + 5):  # the first few load and compile
        time.sleep(REST_S)
        begin_s = time.perf_counter()
        answer = engine.run(prompt, "the first object", engine.context(prompt))
        times_ms.append((time.perf_counter() - begin_s) * 1e3)
        assert answer.result.failure is None, answer.result.failure
    return Measurement.of("one LMP call, no model", "ms", times_ms[5:], 5.0)


def tree(runs: int, latency_s: float) -> Measurement:
    """Measure the latencies from a program's text to the value, its functions generated."""

    def write(prompt: str) -> str:
        time.sleep(latency_s)
        asked = re.match(r"# define function: (?:\w+ = )?(\w+)\(", prompt.rstrip().split("\n")[-1])
        if asked is None:
            return _PROGRAM
        calls = [f"{name}(n)" for name in TREE[asked[1]]]
        return f"def {asked[1]}(n):\n    return {' + '.join(calls) or 1}\n"

    model, prompt = WatchedModel(write), parse(_SUM, "sum")
    engine, latencies = _engine(model), []
    for _ in range(runs + 1):
        model.prompts.clear()
        model.answered_s.clear()
        answer = engine.run(prompt, "the sum")
        end_s = time.perf_counter()
        assert answer.result.value == _VALUE, answer.result.failure
        assert len(model.prompts) == 1 + len(TREE), "a function was asked for twice"
        latencies.append((end_s - model.answered_s[0]) / latency_s)
    return Measurement.of("8 functions over 3 levels", "latencies", latencies[1:], 3.5)


def prefix() -> Measurement:
    """Measure the share of a request, up to its own instruction, that the next begins with."""
    once = iter(("x = (\n", "say('fixed')\n"))

    def write(prompt: str) -> str:
        fails = prompt.rstrip().endswith("# a turn that fails once.")
        return next(once) if fails else "say('hello')\n"

    model, shares, first = WatchedModel(write), [], None
    with Session(registry.make_robot("ravens", mode="instant", seed=0), model) as session:
        for words in _TURNS:
            model.prompts.clear()
            turn = session.run(words)
            assert turn.failure is None, turn.failure
            asked = [*model.prompts] if first is None else [first, *model.prompts]
            shares += [shared(*pair) for pair in itertools.pairwise(asked)]
            first = model.prompts[0]  # of a repaired turn, history keeps the last program only
    return Measurement.of("prefix as in the turn before", "share", shares, 1.0, at_least=True)


def shared(before: str, after: str) -> float:
    """Return how much of a request, without its last block, the next begins with; 1 is all."""
    head = before[: before.rstrip().rindex("\n\n")]
    pairs = enumerate(zip(head, after, strict=False))
    same = next((at for at, (one, two) in pairs if one != two), min(len(head), len(after)))
    return same / len(head)


# --- the robots


def _tabletop(runs: int) -> Iterator[Measurement]:
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


def _each_move(robot: Any, runs: int) -> Iterator[float]:
    """Yield the CPU time of each of a series of moves, in fresh scenes."""
    for number in range(runs):
        if number % len(_MOVES) == 0:
            robot.reset(1 + number // len(_MOVES))
        move = partial(robot.put_first_on_second, *_MOVES[number % len(_MOVES)])
        yield _timed(move, time.process_time)


_Call = tuple[Callable[..., Any], tuple[Any, ...], dict[str, Any]]


def _by_calls(runs: int) -> Iterator[Measurement]:
    """Compare one round of moves with the steps among its calls, and with all of its calls."""
    from robots.simulation.bullet import p

    robot: Any = registry.make_robot("ravens", mode="physics", seed=1, engine="pybullet")
    moves = [partial(robot.put_first_on_second, *pair) for pair in _MOVES]
    try:
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
    finally:
        robot.close()
    move, calls, steps = (np.min(rounds, axis=0) for rounds in spent_s.values())
    name = "pick and place in PyBullet"
    yield Measurement.of(f"{name} by its bare steps", "x", move / steps, 1.25)
    yield Measurement.of(f"{name} by its simulator calls", "x", move / calls, 1.25)


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
        begin_s = time.process_time()
        function(*values, **named)
        if function is timed:
            spent_s += time.process_time() - begin_s
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
    finally:
        robot.close()
    return Measurement.of("a stroke through 100 points", "CPU-s", times, 0.1)


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
            carry = partial(fetch, _CARRIED[seed % len(_CARRIED)])
            times.append(_timed(carry, time.process_time))
    finally:
        robot.close()
    return Measurement.of("fetch and place in the kitchen", "CPU-s", times, 0.3)


if __name__ == "__main__":
    run(measure, 10, __doc__)
