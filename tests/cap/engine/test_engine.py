"""The engine's own rules: what a program sees, what is shown as the complete program."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import Any

import pytest

from cap.engine.answer import Answer, Instruction, State
from cap.engine.engine import Engine
from cap.engine.settings import EngineSettings
from cap.errors import PromptError
from cap.program.scope import Definition
from cap.prompt.prompt import parse
from cap.robot.registry import function_prompt
from cap.sandbox.sandbox import Sandbox
from cap.trace.trace import Trace
from robots.ravens import create
from tests.fakes.scripted import Scripted

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
