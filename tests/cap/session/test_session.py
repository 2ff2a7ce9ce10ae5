"""Sessions: what is kept between turns, what a failure leaves, and LMPs that call LMPs."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import pytest

from benchmarks.models import SampledModel
from cap.engine.settings import Repairs
from cap.errors import PromptError, UsageError
from cap.models.providers import make_model
from cap.prompt.prompt import parse
from cap.session.session import Session
from cap.session.settings import SessionSettings
from cap.trace.trace import Trace
from robots.ravens import create
from tests.cap.conftest import Open
from tests.fakes.scripted import PROMPTS, Scripted, listened, model_of, run_all, said, table_session
from tests.rows import table

KEPT = table(__file__, "kept")
"""Programs of one turn each: what they say, how the last one fails, and what is left of them."""
PUT = "put_first_on_second('red block', 'blue bowl')"


@pytest.mark.parametrize("case", KEPT.values(), ids=KEPT)
def test_what_is_kept_for_the_next_turns(open_session: Open, case: Mapping[str, Any]) -> None:
    answers = {f"define {n}": program for n, program in enumerate(case["programs"])}
    session = open_session(answers | case.get("answers", {}))
    failure = run_all(session, *answers).failure
    assert (failure is None) is ("failure" not in case)
    assert case.get("failure", "") in (failure.message if failure else "")
    assert said(session) == case.get("said", [])
    state = session.state
    if "dropped" in case:
        assert state.dropped.keys() == case["dropped"].keys()
        assert all(why in state.dropped[name] for name, why in case["dropped"].items())
    if "definitions" in case:
        assert sorted(entry.name for entry in state.definitions) == case["definitions"]


def test_later_prompts_say_what_earlier_turns_did(open_session: Open) -> None:
    answers = {
        "first": f"{PUT}\nsay('it is in')",
        "second": "x = 1",
        "third": "1 / 0",
        "fourth": f"x = 1\n# now that\n{PUT}\n1 / 0",
        "fifth": "y = 2",
    }
    session = open_session(answers, repairs=Repairs(0, 0))
    for words in answers:
        session.run(words)
    first, second, *_, last = model_of(session).prompts
    assert second.startswith(first[: first.rindex("# first.")]), "the prefix stays the same text"
    assert "say('it is in')\n#= moved red block to blue bowl; said 'it is in'\n" in last
    assert "objects = ['red block', 'blue block', 'blue bowl']\n# second.\n" in last
    assert "x = 1\n#= nothing moved\n" in last
    assert "1 / 0\n#! failed before anything was done: ZeroDivisionError" in last
    assert (
        f"# fourth.\nx = 1\n    # now that\n{PUT}\n1 / 0\n#! failed after put_first_on_se" in last
    )
    assert "put_first_on_second, which stays done: ZeroDivisionError (line 4)" in last
    assert last.endswith("# fifth.\n")


IDLE = table(__file__, "idle")


@pytest.mark.parametrize(("words", "program", "message"), IDLE.values(), ids=IDLE)
def test_a_program_that_does_nothing_is_no_success(
    open_session: Open, words: str, program: str, message: str
) -> None:
    turn = open_session({words: program}).run(words)
    assert (turn.failure is None) is (message == "")
    if turn.failure is not None:
        assert (turn.failure.error, turn.effect.words) == ("NothingDone", ("nothing",))
        assert turn.failure.message.startswith(message)


def test_a_variable_too_large_to_stay_is_named_and_costs_no_later_turn(open_session: Open) -> None:
    session = open_session({"a": "x = 'a' * 50_000_000", "b": "y = 1", "c": "z = x", "d": "x = 2"})
    assert run_all(session, "a", "b").ok
    assert session.state.variables.keys() & {"x", "y"} == {"y"}
    failure = session.run("c").failure
    assert failure is not None
    limit = "'x' was too large to be kept after turn 1: at most 32 MiB and 390000 values stay"
    assert failure.message.startswith(limit)
    assert session.run("d").ok
    assert (session.state.variables["x"], dict(session.state.dropped)) == (2, {})
    assert session.execute("v0 = [0.5] * 200_000\nv1 = [0.5] * 200_001\n").ok
    assert "too large to be kept" in session.state.dropped["v1"]
    assert session.execute("say(str(len(v0)))\nimage = np.zeros((480, 640, 3))").ok
    assert "image" in session.state.variables


def test_history_stays_within_its_budget_and_says_how_much_is_left_out(open_session: Open) -> None:
    answers = {f"turn {n}": f"x{n} = '{'a' * 400}'" for n in range(12)}
    session = open_session(answers, history_tokens=500)
    run_all(session, *answers)
    last = model_of(session).prompts[-1]
    assert "# turn 0.\n" not in last
    assert "earlier instructions are left out here\n\n" in last
    assert ("x0 = " in last, "x10 = " in last) == (False, True)
    assert set(session.state.variables) >= {f"x{n}" for n in range(12)}


def test_the_turn_and_the_session_count_what_the_model_took(open_session: Open) -> None:
    answers = {
        "go": "say(parse_obj_name('the red one'))",
        "the red one": "ret_val = 'red block'",
        "again": "say(no_such_name)",
    }
    session = open_session(answers, repairs=Repairs(static=1))
    turn = session.run("go")
    assert (turn.usage.requests, turn.usage.completion_tokens) == (2, 10)
    assert turn.as_json()["usage"]["prompt_tokens"] == 20
    failed = session.run("again")
    assert failed.attempts == 2
    session.undo(2)
    assert session.usage.requests == 2 + failed.usage.requests


def test_undefined_functions_are_generated_shown_and_kept(open_session: Open) -> None:
    session = open_session(
        {
            "go": "say(str(get_double(x=4)))",
            "define function: get_double(x=4)": "def get_double(x):\n    return get_sum(x, x)\n",
            "define function: get_sum(x, x)": "def get_sum(a, b):\n    return a + b\n",
            "again": "say(str(get_sum(1, 1)))",
        }
    )
    events = listened(session)
    turn = session.run("go")
    assert turn.failure is None
    assert turn.program.index("def get_sum") < turn.program.index("def get_double")
    assert turn.program.index("def get_double") < turn.program.index("say(")
    (shown,) = [event.data for event in events if event.kind == "program"]
    assert [name for name, _ in shown["generated"]] == ["get_sum", "get_double"]
    asked = len(model_of(session).prompts)
    assert session.run("again").ok
    assert len(model_of(session).prompts) == asked + 1
    assert said(session) == ["8", "2"]


def test_hardware_without_an_approval_is_refused() -> None:
    robot = create(mode="instant")
    robot.simulated = False  # type: ignore[misc]
    with pytest.raises(UsageError, match="need an approval"):
        table_session({}, robot=robot)


class Interrupting(list[str]):
    """What a robot has spoken; Ctrl-C comes as it speaks."""

    def append(self, text: str) -> None:
        raise KeyboardInterrupt


def test_ctrl_c_stops_the_program_and_keeps_its_calls_and_the_session(open_session: Open) -> None:
    session = open_session({"go": f"{PUT}\nsay('now')", "b": "say('still here')"})
    robot: Any = session.robot
    robot.spoken = Interrupting()
    turn = session.run("go")
    assert turn.failure is not None
    assert (turn.failure.kind, turn.failure.exit_code) == ("interrupted", 130)
    assert "put_first_on_second" in turn.program
    assert [call.name for call in turn.calls] == ["put_first_on_second"]
    assert list(turn.moved) == ["red block"]
    robot.spoken = []
    assert session.run("b").ok


def test_prompts_without_ui_are_refused() -> None:
    with pytest.raises(PromptError, match=r"have no 'ui\.py'"):
        table_session({}, prompts={"table_ui": parse("x = 1\n", "table_ui")})


ASKS = {
    "go": "say(parse_obj_name('the red one'))",
    "twice": "say(parse_obj_name('the red one'))\nsay(parse_obj_name('the red one'))",
    "the red one": "ret_val = 'red block'",
    "fail": ["say(parse_obj_name('the red one'))\n1 / 0", "say(parse_obj_name('the red one'))"],
    "catch": "try:\n    parse_obj_name('wrong')\nexcept LMPFailed:\n    say('sorry')",
    "wrong": "ret_val = 3",
    "where": "x = parse_position('of it')",
    "of it": "ret_val = get_obj_pos('red block')",
}


def test_a_model_that_draws_its_answers_is_asked_each_time(open_session: Open) -> None:
    session = open_session(ASKS)
    session.engine.author.model = SampledModel(session.model, 0.5, 1)
    session.run("twice")
    assert model_of(session).asked.count("the red one") == 2


@pytest.mark.parametrize(
    ("error", "status"),
    [(KeyboardInterrupt, "interrupted"), (SystemExit, "interrupted"), (ValueError, "error")],
)
def test_what_ends_a_session_is_told_in_its_run_folder(
    tmp_path: Path, error: type[BaseException], status: str
) -> None:
    session = Session.open("ravens", mode="instant", runs=tmp_path / "runs")
    with pytest.raises(error), session:
        raise error
    (folder,) = (tmp_path / "runs").iterdir()
    assert json.loads((folder / "run.json").read_text())["status"] == status


def test_a_session_begins_with_the_variables_its_prompt_states() -> None:
    text = (
        "# /// cap\n# session = true\n# initial = { seen = [] }\n# ///\n# go.\nseen = seen + [1]\n"
    )
    prompts = {"ui": parse(text, "ui")}
    for _ in range(2):
        with Session(
            create(mode="instant"), make_model("nearest"), SessionSettings(prompts=prompts)
        ) as session:
            session.run("go")
            session.run("go")
            assert session.state.variables["seen"] == [1, 1]
            session.undo(2)
            assert session.state.variables["seen"] == []


def test_a_prompt_for_functions_of_one_s_own_asks_for_them(open_session: Open) -> None:
    text = "# define function: n = one(2).\ndef one(n):\n    return 1\n"
    own = parse(text, "fgen", infer=True)
    answers = {
        "go": "say(str(half(2)))",
        "define function: half(2)": "def half(n):\n    return n / 2\n",
    }
    session = open_session(answers, prompts={"ui": PROMPTS["ui"], "fgen": own})
    assert session.run("go").ok
    assert "\n# define function: n = one(2).\n" in model_of(session).prompts[1]


@pytest.mark.parametrize("folder", ["", "run"])
@pytest.mark.parametrize("turn", ["run", "execute"])
def test_the_robot_is_looked_at_once_before_a_turn_and_once_after(
    open_session: Open, monkeypatch: pytest.MonkeyPatch, turn: str, folder: str, tmp_path: Path
) -> None:
    trace = Trace(tmp_path / folder) if folder else None
    session = open_session({"go": PUT}, trace=trace)
    looks: list[str] = []

    def counted(name: str) -> Callable[[], Any]:
        look = getattr(session.robot, name)

        def counting() -> Any:
            looks.append(name)
            return look()

        return counting

    for name in ("context", "positions", "condition", "snapshot"):
        monkeypatch.setattr(session.robot, name, counted(name))
    if turn == "run":
        session.run("go")
    else:
        session.execute(PUT)
    assert Counter(looks) == dict.fromkeys(("context", "positions", "condition", "snapshot"), 2)


def test_where_nothing_is_seen_nobody_is_asked_what_words_mean() -> None:
    with Session.open("kitchen", Scripted({}), mode="instant", objects=["apple @ desk"]) as session:
        turn = session.execute("say(str(parse_obj_name('all the fruit')))")
        assert (turn.failure, turn.effect.said) == (None, ("[]",))
        assert model_of(session).prompts == []
