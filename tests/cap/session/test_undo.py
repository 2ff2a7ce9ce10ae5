"""`session.undo()`: back to before a turn, variables and world, as if it had never been."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

import pytest

from cap.errors import NoMatch, UsageError
from cap.models.base import Completion, Request
from cap.prompt.prompt import parse
from cap.session.session import Session
from cap.session.settings import SessionSettings
from robots.ravens import create

UI = """# /// cap
# session = true
# actions = true
# ///
import numpy as np
from robot import put_first_on_second, get_obj_pos, say
"""
ANSWERS: Mapping[str, str] = {
    "bowl": "x = [1]\nput_first_on_second('red block', 'blue bowl')",
    "more": "x.append(float(np.random.uniform()))\nput_first_on_second('blue block', [0.1, -0.4])",
    "fail": "x.append(2)\nput_first_on_second('blue block', 'middle')\n1 / 0",
    "tell": "say(str(x))",
    "keep": "def f():\n    return 1\n",
}


class Scripted:
    name = "scripted"

    def __init__(self) -> None:
        self.last = ""

    def complete(self, request: Request) -> Completion:
        self.last = request.prompt
        asked = request.prompt.rstrip().splitlines()[-1].strip("# .")
        if asked not in ANSWERS:
            raise NoMatch(asked)
        return Completion(ANSWERS[asked], self.name)


@pytest.fixture(params=["instant", "physics"])
def session(request: pytest.FixtureRequest) -> Iterator[Session]:
    robot = create(mode=request.param, objects=["red block", "blue block", "blue bowl"], seed=4)
    with Session(
        robot, Scripted(), SessionSettings(prompts={"ui": parse(UI, "ui")}, seed=9)
    ) as opened:
        yield opened


def world(session: Session) -> Any:
    robot: Any = session.robot
    return robot.snapshot()


def test_undo_restores_world_variables_and_history(session: Session) -> None:
    session.run("bowl")
    kept, state = world(session), session.state
    session.run("more")
    assert world(session) != kept
    assert session.undo()
    assert world(session) == kept
    assert session.state == state
    assert [turn.instruction for turn in session.turns] == ["bowl"]


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


def test_undo_of_a_failed_turn_takes_its_motion_back(session: Session) -> None:
    session.run("bowl")
    kept = world(session)
    assert not session.run("fail").ok
    assert world(session) != kept
    session.undo()
    assert world(session) == kept


def test_undo_of_several_turns_goes_to_any_earlier_one(session: Session) -> None:
    start = world(session)
    for words in ("bowl", "more", "tell", "keep"):
        session.run(words)
    session.undo(4)
    assert world(session) == start
    assert session.state.variables == {}
    assert session.state.history == ()
    assert session.run("tell").failure is not None


def test_the_next_prompt_does_not_mention_what_was_undone(session: Session) -> None:
    session.run("bowl")
    session.run("more")
    session.undo()
    session.run("tell")
    assert isinstance(session.model, Scripted)
    assert "# bowl." in session.model.last
    assert "# more." not in session.model.last


@pytest.mark.parametrize("turns", [0, -1, 2])
def test_turns_that_do_not_exist_cannot_be_undone(session: Session, turns: int) -> None:
    session.run("bowl")
    with pytest.raises(UsageError, match="cannot undo"):
        session.undo(turns)


def test_redo_puts_back_what_was_undone_and_all_of_it(session: Session) -> None:
    for words in ("bowl", "more", "tell"):
        session.run(words)
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


def test_another_model_goes_on_with_the_session(session: Session) -> None:
    class Other(Scripted):
        name = "other"

        def complete(self, request: Request) -> Completion:
            return Completion("say('other ' + str(x))", self.name)

    session.run("bowl")
    session.use_model(Other())
    assert session.run("tell").effect.said == ("other [1]",)
    session.undo(2)
    assert session.turns == []
