"""Rehearsal: what fails in the twin does not run, and what was asked there is not asked again."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from cap.engine.settings import Decision
from cap.errors import NotConnected, SandboxError, UsageError
from cap.models.providers import make_model
from cap.prompt.prompt import parse
from cap.sandbox.client import WorkerTemplate
from cap.sandbox.kernel.layers import ALWAYS, KERNEL, LayerReport
from cap.sandbox.limits import HARDWARE_ACTIONS, Limits
from cap.session.session import Session
from robots.ravens import create
from tests.fakes.hardware import TwinnedHardware
from tests.fakes.scripted import OBJECTS, UI, Scripted, listened, table_session


class Real(TwinnedHardware):
    def __init__(self) -> None:
        super().__init__(OBJECTS)


def session_of(answers: Any, robot: Any = None, **options: Any) -> tuple[Session, Any]:
    options.setdefault("approve", lambda source: True)
    session = table_session(answers, robot=robot or Real(), **options)
    return session, session.model


def test_a_program_runs_in_the_twin_first_and_then_for_real() -> None:
    session, _ = session_of({"go": "put_first_on_second('red block', 'blue bowl')"})
    robot: Any = session.robot
    with session:
        turn = session.run("go")
    assert turn.ok
    assert list(turn.moved) == ["red block"]
    rehearsed, looked = robot.twins
    assert rehearsed.positions() == robot.positions()
    assert looked.positions() != robot.positions(), "after the word, before the motion"


def test_a_failure_in_the_twin_keeps_the_robot_still() -> None:
    bad = "put_first_on_second('red block', 'blue bowl')\nput_first_on_second('red block', [9, 9])"
    session, model = session_of({"go": bad})
    with session:
        turn = session.run("go")
    assert turn.failure is not None
    assert (turn.failure.kind, turn.failure.error, turn.failure.robot) == (
        "rehearsal",
        "Unreachable",
        True,
    )
    assert "in the rehearsal" in turn.failure.message
    assert turn.moved == {}
    assert turn.calls == ()
    assert turn.failure.exit_code == 5
    assert len(model.prompts) >= 2, "nothing moved, so the model is asked to correct it"


def test_a_model_that_fails_in_the_twin_is_the_models_failure() -> None:
    session, model = session_of({"go": "put_first_on_second(parse_obj_name('it'), [0, 0])"})
    with session:
        turn = session.run("go")
    assert turn.failure is not None
    assert (turn.failure.kind, turn.failure.error) == ("model", "NoMatch")
    assert (turn.failure.cause, turn.failure.exit_code) == ("model", 4)
    assert "in the rehearsal" in turn.failure.message
    assert len(model.prompts) == 2, "another program would not help"


LOOP = "while is_obj_visible('red block'):\n    put_first_on_second('red block', 'blue block')"


def test_a_loop_of_motions_without_an_end_is_refused_in_the_rehearsal_as_on_the_robot() -> None:
    session, _ = session_of({"go": LOOP})
    with session:
        events = listened(session)
        turn = session.run("go")
        assert turn.failure is not None
        assert (turn.failure.kind, turn.failure.error) == ("rehearsal", "ActionLimit")
        assert "a loop cannot wait there for something new" in turn.failure.message
        assert turn.moved == {}
        kinds = [event.kind for event in events]
        assert kinds.index("rehearsing") < kinds.index("rehearsal")
    session, _ = session_of({"go": LOOP}, rehearse=False)
    with session:
        turn = session.run("go")
        assert turn.failure is not None
        assert turn.failure.error == "ActionLimit"
        assert sum(call.kind == "action" for call in turn.calls) == HARDWARE_ACTIONS


def test_a_rehearsal_takes_no_more_simulated_time_than_the_robot_s_calls_may() -> None:
    given = Limits(calls_s=30.0), Limits(sim_s=1.0, actions=2)
    wanted = (30.0, HARDWARE_ACTIONS), (1.0, 2)
    for limits, (sim_s, actions) in zip(given, wanted, strict=True):
        session, _ = session_of({}, limits=limits)
        with session:
            assert session.engine.sandbox.limits == replace(limits, sim_s=sim_s, actions=actions)


def test_what_was_rehearsed_needs_one_word_and_what_was_not_another() -> None:
    class Elsewhere(Real):
        """Its twin has the red block in another place: what programs ask there differs."""

        def twin(self) -> Any:
            twin = super().twin()
            twin.primitives()["put_first_on_second"].function("red block", "middle")
            return twin

    class AnyPlace(Scripted):
        def complete(self, request: Any) -> Any:
            last = request.prompt.rstrip().splitlines()[-1]
            if last.startswith("# the one at"):
                self.answers[last[2:-1]] = [f"ret_val = 'red block'  {last}"]
            return super().complete(request)

    asks = "parse_obj_name(f'the one at {get_obj_pos(\"red block\")}')"
    shown: list[str] = []
    for robot in (Real(), Elsewhere()):
        model = AnyPlace({"go": f"put_first_on_second({asks}, 'blue bowl')"})
        shown.clear()

        def approve(source: str) -> bool:
            shown.append(source)
            return "put_first" in source

        with session_of(model, robot, approve=approve)[0] as session:
            turn = session.run("go")
        assert turn.ok == (type(robot) is Real)
        assert len(shown) == (1 if type(robot) is Real else 2)
    assert turn.moved == {}


def test_it_can_be_left_out_and_not_asked_for_without_a_twin() -> None:
    session, _ = session_of({"go": "say('hi')"}, rehearse=False)
    robot: Any = session.robot
    with session:
        assert session.run("go").ok
    assert robot.twins == []
    with pytest.raises(UsageError, match="no simulated twin"):
        session_of({}, create(mode="instant"), rehearse=True)


def test_an_edit_that_fails_in_the_twin_is_asked_again() -> None:
    words = iter([Decision(False, edited="put_first_on_second('red block', [9, 9])"), True])
    source = "put_first_on_second('red block', 'blue bowl')"
    session, model = session_of({"go": source}, approve=lambda source: next(words))
    events = listened(session)
    with session:
        turn = session.run("go")
    assert turn.ok
    assert list(turn.moved) == ["red block"]
    assert len(model.prompts) == 1
    (told,) = (event for event in events if event.kind == "edit_refused")
    assert told.data["error"] == "Unreachable"


CATCHING = """for name in ('red block', 'blue block'):
    try:
        put_first_on_second(name, 'blue bowl')
    except Exception:
        pass
say('all in the bowl')
"""


def test_a_no_to_a_call_cannot_be_caught() -> None:
    asked: list[str] = []
    session, model = session_of({"go": CATCHING}, allow=lambda call: bool(asked.append(call)))
    robot: Any = session.robot
    with session:
        turn = session.run("go")
    assert len(asked) == 1
    assert robot.table.spoken == []
    assert turn.moved == {}
    assert turn.failure is not None
    assert turn.failure.kind == "refused"
    assert len(model.prompts) == 1, "a person's no is nothing to repair"


def test_a_no_to_a_program_inside_a_program_cannot_be_caught() -> None:
    act = """# /// cap
# returns = "ret_val"
# actions = true
# ///
from robot import put_first_on_second
"""
    source = "try:\n    do('it')\nexcept Exception:\n    pass\nsay('done')"
    answers = {"go": source, "it": "put_first_on_second('red block', 'middle')\nret_val = 1"}
    prompts = {"ui": parse(UI.replace("parse_obj_name", "do"), "ui"), "do": parse(act, "do")}
    robot, words = Real(), iter((True, False))
    options = {"prompts": prompts, "approve": lambda source: next(words), "rehearse": False}
    with session_of(answers, robot, **options)[0] as session:
        turn = session.run("go")
    assert robot.table.spoken == []
    assert turn.failure is not None
    assert (turn.failure.kind, turn.failure.error) == ("refused", "NotApproved")


class Meddler:
    """Says yes, and the first times moves the red block by hand before they do."""

    def __init__(self, robot: Real, times: int) -> None:
        self.robot, self.times = robot, times
        self.asked = 0

    def __call__(self, _: str) -> bool:
        self.asked += 1
        if self.asked <= self.times:
            place = ("left side", "right side")[self.asked % 2]
            self.robot.primitives()["put_first_on_second"].function("red block", place)
        return True


@pytest.mark.parametrize("rehearse", [None, False])
@pytest.mark.parametrize("word", ["approve", "allow"])
def test_a_world_that_changed_meanwhile_is_asked_about_again(
    word: str, rehearse: bool | None
) -> None:
    robot = Real()
    person = Meddler(robot, 1)
    options: dict[str, Any] = {word: person, "rehearse": rehearse}
    session, _ = session_of(
        {"go": "put_first_on_second('blue block', 'red block')"}, robot, **options
    )
    events = listened(session)
    with session:
        turn = session.run("go")
    assert turn.ok
    assert person.asked == 2
    (told,) = (event for event in events if event.kind == "changed_since")
    assert list(told.data["moved"]) == ["red block"]
    rehearsals = [event for event in events if event.kind == "rehearsal"]
    assert len(rehearsals) == (0 if rehearse is False else 2 if word == "approve" else 1)


def test_a_world_that_does_not_come_to_rest_is_left_alone() -> None:
    robot = Real()
    person = Meddler(robot, 1000)
    session, model = session_of({"go": "put_first_on_second('blue block', 'middle')"}, robot)
    session.engine.gate = replace(session.engine.gate, approve=person)
    with session:
        turn = session.run("go")
    assert turn.failure is not None
    assert "keeps changing" in turn.failure.message
    assert person.asked < 20
    assert turn.calls == ()
    assert len(model.prompts) == 1


def test_a_scene_that_cannot_be_seen_is_a_failed_turn_and_nothing_moves() -> None:
    class Blind(Real):
        def twin(self) -> Any:
            raise NotConnected("the camera does not answer; check its cable")

    session, _ = session_of({"go": "put_first_on_second('red block', 'blue bowl')"}, Blind())
    with session:
        turn = session.run("go")
    assert turn.failure is not None
    assert (turn.failure.error, turn.failure.exit_code) == ("NotConnected", 5)
    assert turn.moved == {}


@pytest.mark.inside
def test_hardware_is_refused_where_only_the_check_would_hold(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    report = LayerReport(layers=ALWAYS, missing=dict.fromkeys(KERNEL, "an old kernel"))
    monkeypatch.setattr(WorkerTemplate, "report", lambda self: report)
    with pytest.raises(SandboxError, match="seccomp \\(an old kernel\\)"):
        session_of({})
    session_of({}, min_level="process")[0].close()
    with pytest.raises(SandboxError, match="--min-level process"):  # a model writes programs
        session_of({}, create(mode="instant"))
    Session(create(mode="instant"), make_model("nearest")).close()
