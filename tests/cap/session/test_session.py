"""Sessions: what is kept between turns, what a failure leaves, and LMPs that call LMPs."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

import pytest

import cap
from benchmarks.models import SampledModel
from cap.engine.settings import Repairs
from cap.errors import PromptError, UsageError
from cap.models.providers import make_model
from cap.prompt.prompt import parse
from cap.session.session import Session
from cap.session.settings import SessionSettings
from cap.trace.trace import Event, Trace
from robots.ravens import create
from tests.cap.conftest import Open
from tests.cap.turns import play
from tests.fakes.scripted import PROMPTS, Scripted, listened, model_of, run_all, said, table_session
from tests.fakes.scripted import snapshot as world
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


def test_a_model_that_draws_its_answers_is_asked_each_time(open_session: Open) -> None:
    ask = "say(parse_obj_name('the red one'))"
    session = open_session({"twice": f"{ask}\n{ask}", "the red one": "ret_val = 'red block'"})
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


# --- turns of a session, a row of `tables.jsonl` each: see `tests.cap.turns`

TURNS = table(__file__, "turns")


@pytest.mark.parametrize("name", TURNS)
def test_what_a_turn_does(open_session: Open, name: str) -> None:
    play(open_session, TURNS[name])


# --- what a turn says is what is so: effects, totals, repairs and orders that change nothing


def opened(model: Scripted, robot: str = "ravens", **options: Any) -> Session:
    return Session.open(robot, model, mode="instant", seed=3, **options)


WAIT = "lemon = 'lemon'\nwhile not is_obj_visible('lemon'):\n    wait(1)\n"
BRING = "pick_obj('lemon')\nplace_at_obj('bowl')\n"


def test_what_arrives_and_is_moved_counts_as_moved_and_an_arrival_alone_does_not() -> None:
    things = ["bowl @ table", "lemon @ table after 5 s"]
    with opened(Scripted(WAIT + BRING), "kitchen", objects=things) as session:
        turn = session.run("when you see a lemon, put it in the bowl", expect=["moved"])
    assert (turn.ok, [*turn.moved]) == (True, ["lemon"])
    assert not turn.effect.left_over  # that it was not seen at first
    with opened(Scripted(WAIT), "kitchen", objects=things) as session:
        effect = session.run("wait for the lemon").effect
    assert (effect.newly_seen, "moved" in effect.words) == (("lemon",), False)


@pytest.mark.parametrize(
    ("robot", "idle", "words"),
    [
        ("drawing", "redraw([], [])\n", "erase everything"),
        ("ravens", "print(get_obj_names())\n", "arrange the blocks in a row"),
        ("kitchen", "set_velocity(0.3, 0.0)\n", "drive one metre forward"),
    ],
)
def test_an_order_that_changes_nothing_is_asked_for_once_more_and_is_not_done(
    robot: str, idle: str, words: str
) -> None:
    model = Scripted(idle, idle.replace("\n", "  # again\n"), "say('never')\n")
    with opened(model, robot) as session:
        if robot == "drawing":
            assert session.execute("draw([[0, -0.5], [0.1, -0.5]])").ok
        turn = session.run(words)
        assert turn.failure is not None
        assert (turn.failure.error, len(model.prompts)) == ("NothingChanged", 2)
        assert "nothing changed: everything is where it was" in model.prompts[1]
        model.answers = ["say('I cannot')\n"]
        assert session.run(words).ok  # an answer is enough


HEADERLESS = """from robot import on, lit
rooms = ['a', 'b']
# switch on a.
on('a')
rooms = ['a', 'b']
# which is lit?
ret_val = lit()
rooms = ['a', 'b']
# switch on b.
on('b')
"""


def test_a_prompt_without_a_header_that_acts_and_answers_returns_its_answer() -> None:
    functions = {"on": lambda room: None, "lit": lambda: ["a"]}
    model = Scripted("ret_val = lit()\n")
    lmp = cap.LMP(HEADERLESS, model, functions=functions, variables={"rooms": ["a", "b"]})
    assert lmp("which rooms are lit?") == ["a"]


# --- rounds: a program, what came of it, and the model goes on or says that all is done

RED = """count = 1
def both(name):
    put_first_on_second(name, 'blue bowl')

both('red block')
"""
BLUE = "count = count + 1\nboth('blue block')\nprint('that is all')\n"
WORDS = "put the blocks in the blue bowl"


def session_of(answers: Sequence[str], rounds: int = 5, **options: Any) -> tuple[Session, Scripted]:
    model = Scripted(*answers)
    return table_session(model, rounds=rounds, repairs=Repairs(0, 0), **options), model


def reason(events: list[Event]) -> str:
    (event,) = (event for event in events if event.kind == "rounds_ended")
    return str(event.data["reason"])


def test_the_history_of_a_person_has_one_turn_and_one_undo() -> None:
    session, model = session_of([RED, BLUE, "pass\n", "say('hello')\n", "pass\n"])
    with session:
        before = session.robot.positions()
        session.run(WORDS)
        session.run("greet me")
        assert len(session.turns) == len(session.state.history) == 2
        assert model.requests[3].prompt.count(f"# {WORDS}.") == 1
        assert "moved red block" in model.requests[3].prompt
        session.undo(2)
        assert session.robot.positions() == before
        assert not session.state.history


LOOKS = "spot = get_obj_pos('red block')\n"


@pytest.mark.parametrize(
    ("answers", "rounds", "why"),
    [
        ([LOOKS, f"again = 1\n{LOOKS}", LOOKS], 5, "two rounds had no effect"),
        ([RED], 5, "the same program was written twice"),
        ([RED, BLUE], 2, "the limit was reached"),
    ],
)
def test_what_ends_it_without_the_models_word(answers: list[str], rounds: int, why: str) -> None:
    session, model = session_of(answers, rounds)
    with session:
        events = listened(session)
        assert session.run(WORDS).ok
    assert (reason(events), len(model.requests)) == (why, 2)


def test_a_number_of_rounds_that_cannot_be_is_refused() -> None:
    for number in (0, 21):
        with pytest.raises(UsageError, match="ask for 1 to 20"):
            session_of([RED], rounds=number)


def test_a_run_with_rounds_is_replayed(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    from cap.cli.main import run

    (tmp_path / "model.py").write_text(
        "from cap.models.base import Completion\n"
        "class Two:\n"
        "    name = 'two'\n"
        "    def complete(self, request):\n"
        "        done = 'write only: pass' in request.prompt\n"
        "        text = \"pass\" if done else \"put_first_on_second('red block', 'blue bowl')\"\n"
        "        return Completion(text, self.name)\n"
        "def create():\n"
        "    return Two()\n",
        encoding="utf-8",
    )
    scene = ["--mode", "instant", "--objects", "red block, blue bowl"]
    asked = ["--rounds", "3", "-m", str(tmp_path / "model.py"), "--out", str(tmp_path / "run")]
    assert run(["run", "put the red block in the blue bowl", *scene, *asked]) == 0
    shown = capsys.readouterr().out
    assert "moved red block to blue bowl; round 2:" in shown
    assert "1 round: the model says it is done" in shown
    assert run(["run", "--replay", str(tmp_path / "run"), "--out", str(tmp_path / "again")]) == 0


# --- `session.undo()`: back to before a turn, variables and world, as if it had never been

ANSWERS = {
    "bowl": "x = [1]\nput_first_on_second('red block', 'blue bowl')",
    "more": "x.append(float(np.random.uniform()))\nput_first_on_second('blue block', [0.1, -0.4])",
    "fail": "x.append(2)\nput_first_on_second('blue block', 'middle')\n1 / 0",
    "tell": "say(str(x))",
    "keep": "def f():\n    return 1\n",
}


@pytest.fixture(params=["instant", "physics"])
def session(request: pytest.FixtureRequest, open_session: Open) -> Session:
    return open_session(ANSWERS, mode=request.param, seed=9)


@pytest.mark.parametrize("undone", ["more", "fail"])
def test_undo_restores_world_variables_and_history(session: Session, undone: str) -> None:
    session.run("bowl")
    kept, state = world(session), session.state
    assert session.run(undone).ok is (undone == "more")
    assert world(session) != kept
    assert session.undo()
    assert world(session) == kept
    assert session.state == state
    assert [turn.instruction for turn in session.turns] == ["bowl"]
    session.run("tell")
    assert "# bowl." in model_of(session).prompts[-1]
    assert f"# {undone}." not in model_of(session).prompts[-1]


def test_what_follows_an_undo_has_the_bits_of_a_session_that_never_did_it(
    session: Session,
) -> None:
    session.run("bowl")
    session.run("more")
    once = world(session), dict(session.state.variables)
    session.undo()
    session.run("keep")
    session.undo()
    session.run("more")
    assert (world(session), dict(session.state.variables)) == once


def test_redo_puts_back_what_was_undone_and_all_of_it(session: Session) -> None:
    run_all(session, "bowl", "more", "tell")
    there, state, turns = world(session), session.state, list(session.turns)
    session.undo()
    session.undo(2)
    assert session.redo() is True
    assert [turn.instruction for turn in session.turns] == ["bowl", "more"]
    assert session.redo() is True
    assert (repr(world(session)), session.state, session.turns) == (repr(there), state, turns)
    session.undo(3)
    assert session.turns == []


def test_after_a_new_turn_there_is_nothing_to_redo(session: Session) -> None:
    session.run("bowl")
    session.undo()
    session.run("bowl")
    with pytest.raises(UsageError, match="nothing was undone since the last turn"):
        session.redo()
    assert len(session.turns) == 1
