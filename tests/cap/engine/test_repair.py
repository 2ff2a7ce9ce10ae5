"""Repair: what goes back to the model, how often, and what it costs the world."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import pytest

from cap.engine.answer import Answer
from cap.engine.model_request import MOST_ROOM
from cap.engine.repair import note_of
from cap.engine.settings import Decision, Repairs
from cap.models.base import Completion
from cap.prompt.prompt import parse
from cap.result import Call, Failure, Result
from cap.session.session import Session
from cap.trace.trace import Event
from robots.ravens import create
from tests.cap.conftest import Open
from tests.fakes.scripted import OBJECTS, PROMPTS, UI, Scripted, listened, model_of, said
from tests.rows import table

PUT = "put_first_on_second('red block', 'blue bowl')\n"
HI = "say('hi')\n"
STATIC = table(__file__, "static faults")
MOVE = """# /// cap
# returns = "ret_val"
# actions = true
# ///
from robot import put_first_on_second
"""


@pytest.fixture
def on_hardware(open_session: Open) -> Open:
    """Open a session with a robot that passes for a real one."""

    def open_one(answers: Any, **options: Any) -> Session:
        robot: Any = create(mode="instant", objects=OBJECTS, seed=1)
        robot.simulated = False
        options = {"approve": lambda source: True, "min_level": "process", **options}
        return open_session(answers, robot=robot, **options)

    return open_one


def of(events: list[Event], kind: str) -> list[Mapping[str, Any]]:
    return [event.data for event in events if event.kind == kind]


@pytest.mark.parametrize(("wrong", "kind", "reason"), STATIC.values(), ids=STATIC)
def test_a_static_fault_goes_back_with_line_and_reason_and_is_bounded(
    open_session: Open, wrong: str, kind: str, reason: str
) -> None:
    session = open_session({"go": [wrong, HI]})
    turn = session.run("go")
    assert (turn.failure, turn.attempts, turn.program) == (None, 2, HI)
    assert said(session) == ["hi"]
    (note,) = model_of(session).notes
    assert reason in note
    assert note.endswith("write the whole program again, corrected")

    session = open_session({"go": [f"{wrong}v = {number}\n" for number in range(5)]})
    before = session.robot.positions()
    turn = session.run("go")
    assert turn.failure is not None
    assert turn.failure.kind == kind
    assert len(model_of(session).prompts) == turn.attempts == 3
    assert not turn.calls
    assert session.robot.positions() == before


def test_every_attempt_is_in_the_trace_and_its_request_begins_as_the_one_before(
    open_session: Open,
) -> None:
    session = open_session({"go": ["x = nothing\n", "x = (\n", HI]})
    events = listened(session)
    assert session.run("go").ok
    one, two, three = model_of(session).prompts
    assert two.startswith(one.rstrip("\n"))
    assert three.startswith(two.rstrip("\n"))
    repair, _ = of(events, "repair")
    assert (repair["lmp"], repair["attempt"], repair["source"]) == ("ui", 2, "x = nothing\n")
    assert repair["reason"].startswith("line 1: name 'nothing' is not defined")
    kinds = [event.kind for event in events]
    assert kinds.index("repair") < len(kinds) - 1 - kinds[::-1].index("prompt")
    assert len(of(events, "completion")) == 3


def test_a_model_that_cannot_repair_is_not_asked_and_fails_by_its_own_program(
    open_session: Open,
) -> None:
    model: Any = Scripted("x = nothing\n")
    model.repairs = False
    session = open_session(model)
    turn = session.run("go")
    assert (turn.attempts, len(model.prompts)) == (1, 1)
    failure = turn.failure
    assert failure is not None
    assert (failure.kind, failure.error, failure.cause) == ("undefined", "UndefinedName", "program")
    assert "example" not in failure.message
    model.by_example = True
    failure = session.run("go").failure
    assert failure is not None
    assert (failure.error, failure.cause) == ("NoMatch", "model")


def test_the_context_is_read_again_after_an_attempt_that_acted(
    on_hardware: Open, monkeypatch: pytest.MonkeyPatch
) -> None:
    session = on_hardware(
        {"go": [PUT + "1 / 0\n", "say(objects[0])\n"]}, repairs=Repairs(runtime=1)
    )
    seen = [["moved block"], ["red block"]]
    monkeypatch.setattr(
        session.robot, "context", lambda: {"objects": seen.pop() if len(seen) > 1 else seen[0]}
    )
    assert session.run("go").failure is None
    assert said(session) == ["moved block"]
    assert "objects = ['moved block']\n# go.\n" in model_of(session).prompts[1]
    assert "objects = ['red block']\n# go.\nput_first" in model_of(session).prompts[1]


def test_a_reason_goes_to_the_model_as_often_as_a_person_gives_one(on_hardware: Open) -> None:
    reasons = ["too fast", "still too fast", "slower"]
    says = [*(Decision(False, reason=reason) for reason in reasons), Decision(True)]
    programs = [f"say('{word}')\n" for word in "abcd"]
    session = on_hardware({"go": programs}, approve=lambda source: says.pop(0))
    assert session.run("go").failure is None
    assert said(session) == ["d"]
    for prompt, reason in zip(model_of(session).prompts[1:], reasons, strict=True):
        assert f"the user said no: {reason}" in prompt


@pytest.mark.parametrize(
    ("edited", "runs"),
    [
        ("say('mine')\n", "mine"),
        ("import os\nos.system('x')\n", "a"),
        ("say('mine'\n", "a"),
        ("say(nobody)\n", "a"),
    ],
)
def test_an_edited_program_is_shown_and_one_that_fails_the_check_is_asked_again(
    open_session: Open, edited: str, runs: str
) -> None:
    shown: list[str] = []

    def approve(source: str) -> Decision:
        shown.append(source)
        return Decision(True) if len(shown) == 2 else Decision(False, edited=edited)

    session = open_session({"go": ["say('a')\n"]}, approve=approve)
    turn = session.run("go")
    assert turn.failure is None
    assert shown == ["say('a')\n", f"say('{runs}')\n"]
    assert (said(session), turn.program) == ([runs], shown[1])
    assert len(model_of(session).prompts) == 1, "the slip is the person's: no model is asked"


def test_a_nested_program_that_acts_is_not_run_again(open_session: Open) -> None:
    answers = {"go": "move_it('it')\n", "it": [PUT + "1 / 0\n", "ret_val = 1\n"]}
    ui = parse(UI.replace("parse_obj_name", "move_it"), "ui")
    prompts = {**PROMPTS, "ui": ui, "move_it": parse(MOVE, "move_it")}
    session = open_session(answers, prompts=prompts, repairs=Repairs(runtime=1))
    events = listened(session)
    assert session.run("go").failure is not None
    assert model_of(session).asked.count("it") <= 2  # once for each attempt of its caller
    assert not [data for data in of(events, "repair") if data["lmp"] == "move_it"]


def failed(failure: Failure, source: str, calls: Sequence[Call]) -> Answer:
    return Answer(Result(failure=failure, calls=tuple(calls)), completion=source, ran=True)


def test_a_note_is_bounded_whatever_the_calls_hold() -> None:
    huge = Call("say", ("x" * 10**5, 10**5000), {"a": ["y"] * 10**4}, 0, 0, result="z" * 10**5)
    failure = Failure("raised", "NotFound", "m" * 10**6, 1, robot=True)
    assert len(note_of(failed(failure, "say()\n", [huge] * 40))) < 10_000


def test_every_action_is_told_and_what_only_looked_is_folded() -> None:
    calls = [
        entry
        for number in range(20)
        for entry in (
            Call("get_obj_pos", (f"block {number % 7}",), {}, 0, 0, result=[0.1, 0.2]),
            Call("put", (f"block {number}",), {}, 0, 0, kind="action"),
        )
    ]
    calls += [Call("get_obj_pos", ("x",), {}, 0, 0, error="NotFound: no 'x'")]
    failure = Failure("raised", "NotFound", "no 'x'", 1, robot=True)
    note = note_of(failed(failure, "...\n", calls))
    assert all(f"put('block {number}')" in note for number in range(20))
    assert note.count("get_obj_pos('block 3')") == 1
    assert "get_obj_pos('x') failed: NotFound" in note


def test_the_same_action_many_times_is_told_once() -> None:
    calls = [
        entry
        for _ in range(500)
        for entry in (
            Call("look", (), {}, 0, 0, result=False),
            Call("set_velocity", (0.2, 0.0), {}, 0, 0, kind="action"),
        )
    ]
    failure = Failure("limit", "CallLimit", "more than 1000 calls", 1)
    note = note_of(
        failed(failure, "...\n", [Call("pick", ("a",), {}, 0, 0, kind="action"), *calls])
    )
    assert "pick('a'); look() returned False; set_velocity(0.2, 0.0), 500 times; what" in note


def test_only_what_was_done_stays_done() -> None:
    refused = Call("put", ("a",), {}, 0, 0, error="Unreachable: too far", kind="action")
    failure = Failure("raised", "Unreachable", "too far", 1, robot=True)
    assert note_of(failed(failure, "put('a')\n", [refused])).endswith(
        "write the whole program again, corrected; if it cannot be done as asked, say why, and do "
        "nothing less in its place"
    )
    done = Call("put", ("b",), {}, 0, 0, kind="action")
    assert "; what it did stays done; write" in note_of(
        failed(failure, "put('a')\n", [done, refused])
    )


# --- no part of an answer runs: it is the whole program, or it is asked for again

RED = "put_first_on_second('red block', 'blue bowl')"
GREEN = "put_first_on_second('green block', 'red block')"
BLOCKS = ["red block", "green block", "blue bowl"]


@pytest.fixture(scope="module")
def session() -> Iterator[Session]:
    with Session.open("ravens", Scripted("pass"), mode="instant", objects=BLOCKS) as opened:
        yield opened


def moved(session: Session, *answers: Completion | str) -> tuple[list[str], str | None, Scripted]:
    """Return what moved, the error, and the model, of one instruction in a fresh world."""
    model = Scripted(*answers)
    session.engine.author.model = model
    turn = session.run("do it")
    found = sorted(turn.moved), turn.failure.error if turn.failure else None, model
    session.undo()
    return found


def test_what_was_cut_off_is_asked_for_with_more_room(session: Session) -> None:
    cut = Completion(RED, "m", ended="cut")
    found, error, model = moved(session, cut, cut, f"{RED}\n{GREEN}")
    assert (len(found), error) == (2, None)
    limits = [request.max_tokens for request in model.requests]
    assert limits == [1024, 4 * 1024, MOST_ROOM * 1024]
    assert "cut off, at its limit" in model.requests[1].prompt


def test_a_turn_without_a_program_stays_in_the_history() -> None:
    model = Scripted("No.", "No.", RED)
    with Session.open("ravens", model, mode="instant", objects=BLOCKS) as session:
        assert not session.run("fly").ok
        assert session.run("put it in").ok
        assert "# fly." in model.requests[-1].prompt


def test_the_limit_is_the_sessions_and_a_function_that_was_cut_off_has_more_room() -> None:
    whole = "def f(n):\n    return n\n"
    model = Scripted("say(f('a'))", Completion(whole, "m", ended="cut"), whole)
    model.max_tokens = 77  # type: ignore[attr-defined]
    with Session.open("ravens", model, mode="instant", repairs=Repairs(0, 0)) as session:
        assert session.run("say a").ok
    assert [request.max_tokens for request in model.requests] == [77, 77, 4 * 77]
