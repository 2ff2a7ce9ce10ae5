"""`cap bench engine`: what the engine adds to a model's own time.

- one LMP call, no model: wall milliseconds from instruction to value, with check, names, faults and
  a locked-down run, and a spare worker ready (as it is whenever a model took its time).
- a tree of 8 functions over 3 levels: wall time from the main program's answer to the value, in
  latencies of the endpoint, which answers every request after 200 ms.
- the same prefix in every turn: how much of what the request of one turn begins with, up to its
  own instruction, the next turn's (or a repair's) begins with too, byte for byte; where it is all,
  a server's prefix cache hits.
"""

from __future__ import annotations

import itertools
import time
from collections.abc import Callable, Iterator
from typing import Any

from benchmarks.performance.engine_server import VALUE, serving
from benchmarks.performance.measurement import Measurement
from cap.engine.engine import Engine
from cap.models.base import Completion, Model, Request
from cap.models.providers import make_model
from cap.prompt.prompt import parse
from cap.robot import registry
from cap.sandbox.sandbox import Sandbox
from cap.session.session import Session
from cap.trace.trace import Trace

LATENCY_S = 0.2
"""Of the endpoint; the limit on trees is stated for this one."""
OVERHEAD_MS, LATENCIES = 1.7, 3.5
_SUM = '# /// cap\n# returns = "ret_val"\n# kind = "number"\n# ///\n# one.\nret_val = 1\n'
_TURNS = ("say hello", "wave", "say hello again", "a turn that fails once", "say goodbye")


def measure(runs: int = 10, latency_s: float = LATENCY_S) -> Iterator[Measurement]:
    """Measure everything; rows come as they are ready.

    Args:
        runs: Measurements of the overhead are ten times as many; of the tree, as many.
        latency_s: How long the endpoint takes for each answer, in seconds.
    """
    yield _overhead(runs * 10)
    yield _tree(runs, latency_s)
    yield _prefix()


class _Watched:
    """A model that notes when its answers came, and what it was asked."""

    def __init__(self, complete: Callable[[Request], Completion], name: str) -> None:
        self.name = name
        self.prompts: list[str] = []
        self.answered_s: list[float] = []
        self._complete = complete

    def complete(self, request: Request) -> Completion:
        self.prompts.append(request.prompt)
        completion = self._complete(request)
        self.answered_s.append(time.perf_counter())
        return completion


def _overhead(runs: int) -> Measurement:
    """Wall time of one call of `parse_obj_name` in the tabletop's prompts."""
    model = _Watched(lambda request: Completion("ret_val = objects[0]\n", "fixed"), "fixed")
    engine, prompts = _engine(model)
    prompt = prompts["parse_obj_name"]
    times = []
    for _ in range(runs + 5):  # the first few load and compile
        time.sleep(0.02)  # any model takes longer: the spare worker is ready
        begin_s = time.perf_counter()
        answer = engine.run(prompt, "the first object", engine.context(prompt))
        times.append((time.perf_counter() - begin_s) * 1e3)
        assert answer.result.failure is None, answer.result.failure
    return Measurement.of("one LMP call, no model", "ms", times[5:], OVERHEAD_MS)


def _tree(runs: int, latency_s: float) -> Measurement:
    """Latencies from the main program's answer to the value of the complete program."""
    prompt = parse(_SUM, "sum")
    with serving(latency_s) as url:
        made = make_model("openai/tree", base_url=url, mode="completion", environ={})
        model = _Watched(made.complete, made.name)
        engine, _ = _engine(model)
        times = []
        for _ in range(runs + 1):  # the first connects
            model.answered_s.clear()
            answer = engine.run(prompt, "the sum")
            end_s = time.perf_counter()
            assert answer.result.value == VALUE, answer.result.failure
            times.append((end_s - model.answered_s[0]) / latency_s)
    return Measurement.of("8 functions over 3 levels", "latencies", times[1:], LATENCIES)


def _engine(model: Model) -> tuple[Engine, Any]:
    robot = registry.make_robot("ravens", mode="instant")
    prompts = registry.robot_prompts("ravens")
    function_prompt = registry.function_prompt()
    sandbox = Sandbox()
    sandbox.__enter__()
    trace = Trace()
    return Engine(robot, model, prompts, function_prompt, sandbox=sandbox, trace=trace), prompts


def _prefix() -> Measurement:
    """Share of a request, up to its own instruction, that the next one begins with."""
    answers = iter(("x = (\n", "say('mended')\n"))

    def complete(request: Request) -> Completion:
        failing = request.prompt.rstrip().endswith("# a turn that fails once.")
        return Completion(next(answers) if failing else "say('hello')\n", "fixed")

    model = _Watched(complete, "fixed")
    robot = registry.make_robot("ravens", mode="instant", seed=0)
    shares: list[float] = []
    first = None
    with Session(robot, model) as session:
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
    prefix = before[: before.rstrip().rindex("\n\n")]
    same = next(
        (at for at, (one, two) in enumerate(zip(prefix, after, strict=False)) if one != two),
        min(len(prefix), len(after)),
    )
    return same / len(prefix)
