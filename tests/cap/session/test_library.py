"""What a Python programmer meets: one import, paths as text, turns as values, async, errors."""

from __future__ import annotations

import asyncio
import json
import pickle
import re
import threading
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from cap import (
    LMP,
    CapError,
    Completion,
    Event,
    Limits,
    Request,
    SavedError,
    Session,
    Turn,
    UsageError,
    check,
    make_model,
)
from cap.errors import PromptError
from tests.rows import table

PUT = "put the red block in the blue bowl"
LISTED = "objects = ['a']\n# the first one.\nret_val = objects[0]\n"
BACK = "put the red block to the left of the blue bowl"


@pytest.fixture(scope="module")
def session() -> Iterator[Session]:
    with Session.open("ravens", mode="instant", objects="red block, blue bowl") as opened:
        yield opened


@pytest.fixture(scope="module")
def turn(session: Session) -> Turn:
    return session.run(PUT)


@pytest.mark.inside
def test_paths_are_text_and_a_robots_options_are_its_own(tmp_path: Path) -> None:
    with Session.open(
        "ravens",
        mode="instant",
        objects="red block, blue bowl",
        robot_options={"disturbances": {"drop": 0.0}},
        runs=str(tmp_path / "runs"),
        skills=str(tmp_path / "skills"),
        limits={"program_s": 5.0},
        repairs={"static": 1},
    ) as opened:
        opened.execute("def double(x):\n    return 2 * x\n")
        assert opened.save_skill("double").parent == tmp_path / "skills"
        saved = opened.save(str(tmp_path / "kept.json"))
        assert opened.trace.folder is not None
        assert opened.trace.folder.parent == tmp_path / "runs"
        assert (opened._sandbox.limits.program_s, opened.engine.settings.seed) == (5.0, 0)
    with Session.resume(str(saved)) as again:
        assert again.execute("ret_val = double(4)\nprint(ret_val)").stdout == "8\n"


WRONG = {
    **table(__file__, "wrong options"),
    "no names": ({"robot_options": {1: 1}}, "robot_options is {1: 1}; it must be a mapping"),
}


@pytest.mark.parametrize(("given", "said"), WRONG.values(), ids=WRONG)
def test_what_cannot_be_opened_is_told_in_one_line(given: dict[str, Any], said: str) -> None:
    with pytest.raises(UsageError) as caught:
        Session.open(**{"mode": "instant", **given})
    assert said in str(caught.value)
    assert "\n" not in str(caught.value)


def test_what_cannot_be_done_is_a_typed_error(session: Session, turn: Turn, tmp_path: Path) -> None:
    calls: list[tuple[Callable[[], object], type[Exception], str]] = [
        (lambda: session.run(PUT, "move"), UsageError, "no effect 'move'"),
        (lambda: session.save(3), UsageError, "the file is 3; name a path"),  # type: ignore[arg-type]
        (lambda: session.save(tmp_path / "no" / "x"), SavedError, "cannot save the session"),
        (lambda: Session.resume(str(tmp_path / "no")), SavedError, "no saved session"),
        (lambda: session.use_model(object()), UsageError, "is no model"),  # type: ignore[arg-type]
        (lambda: check("def ("), CapError, "not valid Python"),
        (lambda: make_model(None), UsageError, "the model's name is None; it must be text"),  # type: ignore[arg-type]
        (lambda: make_model("nearest", zz=1), UsageError, "no field of a model's settings 'zz'"),
        (lambda: LMP(LISTED, "nearest", seed="x"), UsageError, "seed is 'x'; it must be"),  # type: ignore[arg-type]
    ]
    for call, kind, said in calls:
        with pytest.raises(kind, match=said):
            call()


def test_an_lmps_prompt_may_be_a_files_name(tmp_path: Path) -> None:
    file = tmp_path / "pick.py"
    file.write_text("objects = ['a']\n# the first one.\nret_val = objects[0]\n")
    with LMP(str(file), "nearest", functions={"size": len}) as pick:
        assert pick.prompt.name == "pick"
        assert pick("the first one", objects=["b", "c"]) == "b"
        with pytest.raises(UsageError, match="'size' is given twice"):
            pick("the first one", size=3)
    with pytest.raises(PromptError, match="cannot read prompt file"):
        LMP(str(tmp_path / "nothing.py"), "nearest")
    with pytest.raises(UsageError, match="is no model"):
        LMP(str(file), None)  # type: ignore[arg-type]


def test_turns_are_values(session: Session, turn: Turn) -> None:
    again = pickle.loads(pickle.dumps(turn))
    assert again == turn
    assert hash(again) == hash(turn)
    assert len({turn, again}) == 1
    assert turn != session.run(BACK)
    assert turn != 3
    assert json.loads(json.dumps(turn.as_json()))["moved"].keys() == {"red block"}
    turn.as_json()["usage"]["requests"] = 9  # a copy: nobody's turn is changed
    assert turn.as_json()["usage"]["requests"] != 9
    assert repr(turn) == f"<Turn '{PUT}': ok; moved red block to blue bowl>"


def test_turns_of_an_async_program_follow_one_another(session: Session) -> None:
    ticks = []

    async def go() -> list[Turn]:
        async def tick() -> None:
            while True:
                ticks.append(threading.current_thread())
                await asyncio.sleep(0.001)

        ticking = asyncio.create_task(tick())
        turns = await asyncio.gather(session.arun(BACK), session.arun(PUT))
        ticking.cancel()
        return turns

    turns = asyncio.run(go())
    assert [turn.instruction for turn in turns] == [BACK, PUT]
    assert all(turn.ok for turn in turns)
    assert session.turns[-2:] == turns
    assert len(ticks) > 1  # the loop was free meanwhile
    assert session.run(BACK).ok


LONG = """
for _ in range(9000):
    get_obj_pos('red block')
    try:
        put_first_on_second('red block', [0.0, -0.5])
    except Exception:
        pass
"""


def once(session: Session, kind: str) -> threading.Event:
    """Return what is set once the session's trace has an event of a kind."""
    happened = threading.Event()

    def listen(event: Event) -> None:
        if event.kind == kind:
            happened.set()

    session.trace.listeners.append(listen)
    return happened


def test_a_turn_is_stopped_from_another_thread_and_no_second_begins_meanwhile() -> None:
    with Session.open("ravens", mode="instant", objects="red block, blue bowl") as opened:
        opened.stop()  # nothing runs: nothing is stopped
        called = once(opened, "call")
        refused: list[str] = []

        def other() -> None:
            called.wait(60)
            try:
                opened.run(PUT)
            except UsageError as error:
                refused.append(str(error))
            opened.stop()

        thread = threading.Thread(target=other)
        thread.start()
        turn = opened.execute(LONG)
        thread.join()
        assert turn.failure is not None
        assert turn.failure.kind == "interrupted"
        assert refused == ["a turn is running; wait for its end, or stop() it"]
        assert opened.run(PUT).ok


class OwnModel:
    """A model of one's own: answers what it is given, or fails as it is told."""

    name = "own"

    def __init__(self, answer: object, gate: threading.Event | None = None) -> None:
        self.answer, self.gate, self.asked = answer, gate, threading.Event()

    def complete(self, request: Request) -> Completion:
        self.asked.set()
        if self.gate is not None:
            self.gate.wait(60)
        if isinstance(self.answer, Exception):
            raise self.answer
        if isinstance(self.answer, str):
            return Completion(self.answer, "own")
        return self.answer  # type: ignore[return-value]


ENDLESS = "while True: pass"
PATIENT = Limits(program_s=600.0)
"""A program that nobody stops goes on for longer than a test may take."""


async def ended(opened: Session, begun: threading.Event, ends: str, after_s: float = 0.0) -> Turn:
    """Begin a turn, end it in one of three ways once it has begun, and return it."""
    task = asyncio.create_task(opened.arun("go on"))
    while not begun.is_set():
        await asyncio.sleep(0.001)
    await asyncio.sleep(after_s)
    if ends != "cancel":
        getattr(opened, ends)()
        return await task
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task
    return opened.turns[0]


@pytest.mark.parametrize("ends", ["cancel", "stop", "close"])
def test_a_program_without_calls_is_stopped(ends: str) -> None:
    with Session.open(mode="instant", model=OwnModel(ENDLESS), limits=PATIENT) as opened:
        begun = once(opened, "program")

        turn = asyncio.run(ended(opened, begun, ends, after_s=0.1))  # in its loop
        assert turn.failure is not None
        assert (turn.failure.kind, turn.failure.message) == (
            "interrupted",
            "stopped by the caller",
        )
        if ends != "close":
            assert opened.execute("say('here')").ok


@pytest.mark.parametrize("ends", ["cancel", "stop", "close"])
def test_a_slow_answer_is_not_waited_for(ends: str) -> None:
    gate = threading.Event()
    model = OwnModel("say('late')", gate)
    with Session.open(mode="instant", model=model, limits=PATIENT) as opened:
        turn = asyncio.run(ended(opened, model.asked, ends))
        assert not gate.is_set()
        assert turn.failure is not None
        assert turn.failure.kind == "interrupted"
        assert turn.usage.requests == 1
        gate.set()
        if ends != "close":
            again = opened.run("go on")
            assert (again.ok, again.effect.said) == (True, ("late",))


def test_a_closed_session_does_nothing_more(tmp_path: Path) -> None:
    opened = Session.open("ravens", mode="instant", objects="red block, blue bowl")
    assert opened.run(PUT).ok
    opened.close()
    refused: list[Callable[[], Any]] = [
        opened.undo,
        opened.redo,
        opened.__enter__,
        lambda: opened.save(tmp_path),
        lambda: opened.run(PUT),
    ]
    for act in refused:
        with pytest.raises(UsageError, match="the session is closed; open another"):
            act()


@pytest.mark.parametrize(
    ("answer", "said"),
    [
        (KeyError("boom"), "the model of OwnModel failed, line [0-9]+: KeyError: 'boom'"),
        (Completion(None, "own"), "`complete` returns a Completion with a text"),  # type: ignore[arg-type]
    ],
)
def test_a_faulty_model_of_ones_own_fails_the_turn(answer: object, said: str) -> None:
    with Session.open(mode="instant", model=OwnModel(answer)) as opened:
        failure = opened.run(PUT).failure
        assert failure is not None
        assert re.search(said, failure.message), failure.message
