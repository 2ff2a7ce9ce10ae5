"""The engine's own rules, turns by their rows, and `cap.LMP` with plain Python functions."""

from __future__ import annotations

import os
import signal
import threading
from collections.abc import Callable, Iterator, Mapping
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import cap
from cap.engine.answer import Answer, Instruction, State
from cap.engine.engine import Engine
from cap.engine.settings import EngineSettings
from cap.errors import LMPFailed, PromptError, UsageError
from cap.models.base import Completion, Request
from cap.program.scope import Definition
from cap.prompt.prompt import parse
from cap.robot.registry import function_prompt
from cap.sandbox.limits import Limits
from cap.sandbox.sandbox import Sandbox
from cap.trace.reader import read_events
from cap.trace.trace import Trace
from robots.ravens import create
from tests.cap.conftest import Open
from tests.cap.turns import play
from tests.fakes.scripted import Scripted
from tests.rows import table

UI = parse("# /// cap\n# actions = true\n# session = true\n# ///\n", "ui")
PARSE = parse('# /// cap\n# returns = "ret_val"\n# context = ["objects"]\n# ///\n', "parse")
OBJECTS = ["red block", "blue bowl"]


Run = Callable[..., Answer]


@pytest.fixture
def run(tmp_path: Path) -> Iterator[Run]:
    robot: Any = create(mode="instant", objects=OBJECTS, seed=1)
    trace = Trace(tmp_path)

    def walk(answers: Mapping[str, str], state: State | None = None, **options: Any) -> Answer:
        walk.model = Scripted(answers)  # type: ignore[attr-defined]
        engine = Engine(
            robot,
            walk.model,  # type: ignore[attr-defined]
            {"ui": UI, "parse": PARSE},
            function_prompt(),
            sandbox=Sandbox(),
            trace=trace,
            settings=EngineSettings(**options),
        )
        walk.engine = engine  # type: ignore[attr-defined]
        return engine.run(Instruction(UI, "go", state=state or State()))

    yield walk
    trace.close("done")
    robot.close()


KEPT = (
    Definition("unused", "def unused():\n    return 0\n"),
    Definition("half", "def half(x):\n    return x / 2\n"),
    Definition("quarter", "def quarter(x):\n    return half(half(x))\n", origin="skill"),
)


def test_the_complete_program_holds_the_kept_functions_it_uses(run: Run, tmp_path: Path) -> None:
    answer = run({"go": "x = quarter(8)\n"}, State(definitions=KEPT))
    assert answer.result.failure is None
    assert answer.result.variables["x"] == 2
    assert [entry.name for entry in answer.kept] == ["half", "quarter"]
    (written,) = (tmp_path / "programs").iterdir()
    assert written.read_text() == answer.source
    with Sandbox() as sandbox:
        assert sandbox.run(answer.source, returns="x").value == 2


def test_a_kept_function_a_generated_one_uses_is_in_it_too(run: Run) -> None:
    answers = {
        "go": "x = eighth(8)\n",
        "define function: x = eighth(8)": "def eighth(n):\n    return quarter(half(n))\n",
    }
    answer = run(answers, State(definitions=KEPT))
    assert answer.result.variables["x"] == 1
    assert [entry.name for entry in answer.kept] == ["half", "quarter"]
    with Sandbox() as sandbox:
        assert sandbox.run(answer.source, returns="x").value == 1


def test_what_is_approved_is_what_is_written_down(run: Run, tmp_path: Path) -> None:
    shown: list[str] = []

    def approve(source: str) -> bool:
        shown.append(source)
        return False

    answer = run({"go": "say(str(half(8)))\n"}, State(definitions=KEPT), approve=approve)
    assert answer.result.failure is not None
    (written,) = (tmp_path / "programs").iterdir()
    assert shown == [written.read_text()] == [answer.source]
    assert "def half" in shown[0]


def test_a_keyword_argument_comes_before_the_robot_s_own_fact(run: Run) -> None:
    answers = {
        "go": "x = parse('the last', objects=['a', 'b'])\ny = parse('the last')\n",
        "the last": "ret_val = objects[-1]\n",
    }
    variables = run(answers).result.variables
    assert (variables["x"], variables["y"]) == ("b", "blue bowl")


def test_an_lmp_does_not_call_itself(run: Run) -> None:
    answers = {"go": "parse('it')\n", "it": "ret_val = parse('it')\n"}
    failure = run(answers).result.failure
    assert failure is not None
    assert "'parse' is not available to 'parse' programs" in failure.message


def test_a_fact_nobody_knows_is_told_with_those_known(run: Run) -> None:
    run({"go": "x = 1\n"})
    asks = parse('# /// cap\n# context = ["weather"]\n# ///\n', "asks")
    with pytest.raises(PromptError, match=r"\['weather'\], which nobody gives; known: \['objects"):
        run.engine.context(asks)  # type: ignore[attr-defined]


def test_a_program_that_is_given_is_not_repaired(run: Run) -> None:
    run({"go": "x = 1\n"})
    engine: Engine = run.engine  # type: ignore[attr-defined]
    answer = engine.run_program(UI, "1 / 0\n", State())
    assert answer.result.failure is not None
    assert answer.usage.requests == 0


def test_a_name_that_nothing_has_set_is_explained(run: Run) -> None:
    failure = run({"go": "if 1 > 2:\n    y = 1\nsay(str(y))\n"}).result.failure
    assert failure is not None
    assert failure.message.endswith("; no earlier instruction of this session has set it")


def test_an_index_error_names_the_lists_that_are_empty(open_session: Open) -> None:
    session = open_session()
    assert session.execute("traj = np.zeros((3, 2))\nshapes = []\n").ok
    messages = [str(session.execute(code).failure) for code in ("shapes[0]\n", "traj[7]\n")]
    assert messages[0].endswith("range; shapes is empty: there is nothing yet to refer to")
    assert messages[1].endswith("index 7 is out of bounds for axis 0 with size 3")


# --- turns of a session, a row of `tables.jsonl` each: see `tests.cap.turns`

TURNS = table(__file__, "turns")


@pytest.mark.parametrize("name", TURNS)
def test_what_a_turn_does(open_session: Open, name: str) -> None:
    play(open_session, TURNS[name])


# --- `cap.LMP`: programs with plain Python functions, LMPs that call LMPs, and bad models

BARE = """# /// cap
# returns = "ret_val"
# ///
# one.
ret_val = 1
"""
ASKS = """# /// cap
# returns = "ret_val"
# kind = ["name", "names"]
# context = ["objects"]
# ///
"""
POINT = """# /// cap
# returns = "ret_val"
# kind = "point"
# ///
"""
HINTED = """# /// cap
# returns = "ret_val"
# ///
from env import get_area
from lmps import find
"""
AREAS = {"cup": 0.1, "tray": 0.5}


def failure_in(lmp: cap.LMP, instruction: str, **variables: Any) -> Any:
    with pytest.raises(LMPFailed) as caught:
        lmp(instruction, **variables)
    assert caught.value.failure is not None
    return caught.value.failure


def test_what_its_program_raised_is_named_with_its_line() -> None:
    model = Scripted({"biggest": "ret_val = max(names, key=get_area)\n"})
    functions = {"get_area": lambda name: {}[name]}
    lmp = cap.LMP(BARE, model, functions=functions, variables={"names": ["a", "b"]}, name="big")
    with pytest.raises(LMPFailed) as caught:
        lmp("biggest")
    assert str(caught.value) == "big('biggest'): KeyError (line 1): 'a'"
    failure = caught.value.failure
    assert failure is not None
    assert (failure.error, failure.line) == ("KeyError", 1)
    assert failure.message.startswith("big('biggest'): ")
    with pytest.raises(LMPFailed, match=r"^big\('biggest'\): NoMatch: nothing for 'biggest'"):
        cap.LMP(BARE, Scripted({}), name="big")("biggest")


def test_plain_functions_are_its_primitives() -> None:
    model = Scripted({"biggest": "ret_val = max(names, key=get_area)\n"})
    lmp = cap.LMP(BARE, model, functions={"get_area": AREAS.get}, variables={"names": list(AREAS)})
    assert lmp("biggest") == "tray"
    answer = lmp.run("biggest")
    assert [(call.name, call.args) for call in answer.result.calls] == [
        ("get_area", ("cup",)),
        ("get_area", ("tray",)),
    ]


def test_context_is_filled_from_variables_where_the_prompt_asks() -> None:
    model = Scripted({"the last": "ret_val = objects[-1]\n"})
    lmp = cap.LMP(ASKS, model, variables={"objects": ["a", "b"]})
    assert lmp("the last") == "b"
    assert lmp("the last", objects=["c"]) == "c"
    assert lmp("the last", "objects = ['d']") == "d"
    lines = [text.splitlines()[-2] for text in model.prompts]
    assert lines == ["objects = ['a', 'b']", "objects = ['c']", "objects = ['d']"]


def test_context_nobody_gives_to_a_nested_lmp_is_a_typed_failure() -> None:
    inner = cap.LMP(ASKS, Scripted({}))
    lmp = cap.LMP(BARE, Scripted({"it": "ret_val = find('x')\n"}), lmps={"find": inner})
    failure = failure_in(lmp, "it")
    assert failure.error == "LMPFailed"
    assert "find('x'): prompt 'find' asks for context" in failure.message


def test_limits_are_the_lmp_s_own() -> None:
    lmp = cap.LMP(BARE, Scripted({"it": "while True:\n    pass\n"}), limits=Limits(program_s=0.05))
    assert failure_in(lmp, "it").kind == "timeout"


def test_twelve_threads_may_call_an_lmp_that_calls_another(tmp_path: Path) -> None:
    """Each is told what it asked for, in a turn of its own, and what it alone took."""
    meeting = threading.Barrier(12)

    class Meeting(Scripted):
        def complete(self, request: Request) -> Completion:
            meeting.wait(30)
            return super().complete(request)

    numbers = range(12)
    deep = {f"deep {n}": f"ret_val = double({n})\n" for n in numbers}
    middle = {f"middle {n}": f"ret_val = deep('deep {n}')\n" for n in numbers}
    outer = {f"outer {n}": f"ret_val = middle('middle {n}')\n" for n in numbers}
    inner = cap.LMP(BARE, Meeting(deep), functions={"double": lambda number: 2 * number})
    between = cap.LMP(BARE, Scripted(middle), lmps={"deep": inner})
    trace = Trace(tmp_path)
    lmp = cap.LMP(BARE, Scripted(outer), lmps={"middle": between}, trace=trace)
    with lmp, ThreadPoolExecutor(12) as pool:
        answers = list(pool.map(lambda n: lmp.run(f"outer {n}"), numbers))
    trace.close("done")
    assert [answer.result.failure for answer in answers] == [None] * 12
    assert [answer.result.value for answer in answers] == [2 * n for n in numbers]
    assert {answer.usage.requests for answer in answers} == {3}
    events = read_events(tmp_path)
    for n in numbers:
        (turn,) = {e["turn"] for e in events if e["data"].get("text") == f"outer {n}"}
        told = [(e["kind"], e["depth"]) for e in events if e["turn"] == turn]
        assert [depth for kind, depth in told if kind in ("program", "call")] == [0, 1, 2, 2, 1, 0]
    assert len(list((tmp_path / "programs").iterdir())) == 36


WRONG_ARGUMENTS: Mapping[str, tuple[dict[str, Any], str]] = {
    "no function": ({"functions": {"f": 3}}, "no function with a known signature"),
    "no name": ({"variables": {"a b": 1}}, "no name a program can use"),
    "hidden": ({"functions": {"_f": abs}}, "no name a program can use"),
}


@pytest.mark.parametrize(("given", "message"), WRONG_ARGUMENTS.values(), ids=WRONG_ARGUMENTS.keys())
def test_what_cannot_be_given_is_refused(given: dict[str, Any], message: str) -> None:
    with pytest.raises(UsageError, match=message):
        cap.LMP(BARE, Scripted({}), **given)


# --- composition


def nested(outer: str, inner: str, prompt: str = BARE, **options: Any) -> tuple[cap.LMP, Scripted]:
    """Return an LMP whose programs call `find`, with a model for both."""
    model = Scripted({"it": outer, "x": inner})
    find = cap.LMP(prompt, model, **options)
    return cap.LMP(BARE, model, lmps={"find": find}, variables={"mine": "outer's"}), model


def test_hints_name_the_lmps_a_program_may_use_and_perception_is_always_there() -> None:
    given = {"get_area": AREAS.get, "unnamed": abs}
    find = cap.LMP(BARE, Scripted({"x": "ret_val = 'tray'\n"}))
    model = Scripted(
        {
            "a": "ret_val = get_area(find('x'))\n",
            "b": "ret_val = other('x')\n",
            "c": "ret_val = unnamed(-1) / 2\n",
        }
    )
    lmp = cap.LMP(HINTED, model, functions=given, lmps={"find": find, "other": find})
    assert (lmp("a"), lmp("c")) == (0.5, 0.5)
    failure = failure_in(lmp, "b")
    assert failure.kind == "undefined"
    assert "'other' is not available to 'lmp' programs" in failure.message


NESTED = table(__file__, "lmp: nested")
"""The caller's program, the program of the LMP it calls, and the value or what the failure says."""


@pytest.mark.parametrize("case", NESTED.values(), ids=NESTED)
def test_an_lmp_calls_an_lmp(case: Mapping[str, Any]) -> None:
    prompt = POINT.replace("point", case.get("kind", "any"))
    lmp, model = nested(case["outer"], case["inner"], prompt, variables={"by": 5})
    if "value" in case:
        assert np.array_equal(np.array(lmp("it"), object), np.array(case["value"], object))
    else:
        assert case["said"] in failure_in(lmp, "it").message
    assert "# one." not in model.prompts[1]


def test_lmps_nested_too_deep_end() -> None:
    model = Scripted({"it": "ret_val = find('it')\n"})
    lmp = cap.LMP(BARE, Scripted({"it": "ret_val = 1\n"}))
    for _ in range(8):
        lmp = cap.LMP(BARE, model, lmps={"find": lmp})
    assert "too deep" in failure_in(lmp, "it").message


# --- models that answer badly


NAMES = """# /// cap
# returns = "ret_val"
# kind = ["name", "names"]
# context = ["objects"]
# exact = "objects"
# ///

objects = ['cup', 'tray']
# the tray.
ret_val = 'tray'
"""


@pytest.mark.parametrize(
    ("words", "found", "asked"),
    [
        *((words, "red cup", 0) for words in ("red cup", "the red cup", " the  red cup ")),
        ("the cups", ["red cup", "cup"], 0),
        ("all cups", ["red cup", "cup"], 0),
        (" all the  boxes", ["tea box"], 0),
        *((words, [], 1) for words in ("the red cupss", "the mugs", "the cups on the tray")),
        ("the cup's", [], 1),
    ],
)
def test_a_name_of_the_context_and_its_plain_plural_ask_no_model(
    words: str, found: str | list[str], asked: int
) -> None:
    model = Scripted("ret_val = []\n")
    with cap.LMP(NAMES, model, variables={"objects": ["red cup", "tea box", "cup"]}) as lmp:
        assert lmp(words) == found
    assert len(model.prompts) == asked


def test_none_says_that_there_is_none_and_is_not_asked_again() -> None:
    model = Scripted({"it": "ret_val = find('the mug')\n", "the mug": "ret_val = None\n"})
    find = cap.LMP(NAMES, model, variables={"objects": ["cup"]})
    failure = failure_in(cap.LMP(BARE, model, lmps={"find": find}), "it")
    assert (failure.error, failure.cause) == ("NotFound", "program")
    assert "find('the mug'): there is none" in failure.message
    assert model.asked.count("the mug") == 1


def test_a_nested_lmp_s_model_reads_what_it_was_given() -> None:
    lmp, model = nested("ret_val = find('x', pts=np.ones((2, 2)))\n", "ret_val = [1.0, 2]\n")
    assert list(lmp("it")) == [1.0, 2]
    assert "\n#< pts = array of shape (2, 2): [[1.0, 1.0], [1.0, 1.0]]\n" in model.prompts[1]


def test_a_function_that_outlasts_a_stop_keeps_no_later_one_waiting() -> None:
    """Nothing moves, so nobody has to see to it."""
    over = threading.Event()

    def slow() -> None:
        os.kill(os.getpid(), signal.SIGINT)
        over.wait(60.0)

    prompt = "# wait.\nret_val = slow()\n# go.\nret_val = quick()\n"
    functions = {"slow": slow, "quick": lambda: 2}
    with cap.LMP(prompt, "nearest", functions=functions, limits=Limits(grace_s=0.1)) as lmp:
        with pytest.raises(LMPFailed, match="stopped by Ctrl-C"):
            lmp("wait")
        assert lmp("go") == 2
    over.set()
