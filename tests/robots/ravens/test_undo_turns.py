"""Turns are taken back by words and by programs, those that failed half-way among them."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from cap.session.session import Session


@pytest.fixture
def session() -> Iterator[Session]:
    with Session.open("ravens", model="nearest", seed=0, mode="instant") as made:
        yield made


def test_the_sessions_own_undo_and_what_is_remembered_agree(session: Session) -> None:
    begin = session.robot.snapshot()
    for words in ("put the red block in the blue bowl", "undo that", "point to the blue bowl"):
        assert session.run(words).ok
    session.undo(3)
    assert session.robot.snapshot() == begin
    assert session.robot.undo_turns() == []


def test_the_answer_names_the_turns_that_are_taken_back(session: Session, tmp_path: Path) -> None:
    assert session.run("put the red block in the blue bowl").ok
    assert not session.execute("put_first_on_second('pluto', 'blue bowl')").ok
    with Session.resume(session.save(tmp_path), model="nearest") as later:
        turn = later.run("undo that")
    assert turn.ok
    assert turn.effect.undone == ("put the red block in the blue bowl",)
    assert "undone: 'put the red block in the blue bowl'" in turn.effect.line
    assert session.run("put the green block in the red bowl").ok
    assert session.execute("undo_turns(2)").effect.undone == (
        "put the green block in the red bowl",
        "put the red block in the blue bowl",
    )
    assert session.run("undo that").effect.undone == ()
