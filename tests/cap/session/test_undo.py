"""`session.undo()`: back to before a turn, variables and world, as if it had never been."""

from __future__ import annotations

import pytest

from cap.errors import UsageError
from cap.session.session import Session
from tests.cap.conftest import Open
from tests.fakes.scripted import model_of, run_all
from tests.fakes.scripted import snapshot as world

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


@pytest.mark.parametrize("turns", [0, -1, 2])
def test_turns_that_do_not_exist_cannot_be_undone(session: Session, turns: int) -> None:
    session.run("bowl")
    with pytest.raises(UsageError, match=r"cannot undo|to undo is -1; it must be"):
        session.undo(turns)


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
