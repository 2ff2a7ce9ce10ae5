"""No part of an answer runs: it is the whole program, or it is asked for again."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from cap.engine.model_request import MOST_ROOM
from cap.engine.settings import Repairs
from cap.models.base import Completion
from cap.session.session import Session
from tests.fakes.scripted import Scripted

RED = "put_first_on_second('red block', 'blue bowl')"
GREEN = "put_first_on_second('green block', 'red block')"
OBJECTS = ["red block", "green block", "blue bowl"]


@pytest.fixture(scope="module")
def session() -> Iterator[Session]:
    with Session.open("ravens", Scripted("pass"), mode="instant", objects=OBJECTS) as opened:
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
    with Session.open("ravens", model, mode="instant", objects=OBJECTS) as session:
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
