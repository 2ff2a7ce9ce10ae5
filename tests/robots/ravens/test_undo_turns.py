"""Turns are taken back by words and by programs, those that failed half-way among them."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping
from pathlib import Path

import pytest

from cap.cli.main import run
from cap.errors import LimitExceeded, NotFound
from cap.session.session import Session

Positions = Mapping[str, tuple[float, float, float]]


@pytest.fixture
def session() -> Iterator[Session]:
    with Session.open("ravens", model="nearest", seed=0, mode="instant") as made:
        yield made


def strayed(session: Session, before: Positions) -> list[str]:
    """Return the objects that are elsewhere than before."""
    now = session.robot.positions()
    return [name for name in now if math.dist(now[name], before[name]) > 0.003]


def test_a_turn_that_failed_half_way_is_undone_alone(session: Session) -> None:
    first = session.robot.positions()
    assert session.run("put the yellow block in the top left corner").ok
    before = session.robot.positions()
    words = "put the red block on the green block and the blue block on the purple block"
    assert not session.run(words).ok
    assert strayed(session, before) == ["red block"]
    assert session.run("undo that").ok
    assert strayed(session, before) == []
    assert session.run("undo that").ok
    assert strayed(session, first) == []
    assert session.run("undo that").ok
    assert session.robot.spoken == ["nothing was moved yet"]


def test_undo_and_another_action_in_one_turn_are_undone_as_one(session: Session) -> None:
    first = session.robot.positions()
    assert session.run("put the red block in the blue bowl").ok
    again = "undo_turns()\nput_first_on_second('yellow block', 'top left corner')"
    assert session.execute(again).ok
    assert strayed(session, first) == ["yellow block"]
    assert session.run("undo that").ok
    assert strayed(session, first) == []


def test_what_moved_nothing_is_no_turn_to_undo(session: Session) -> None:
    first = session.robot.positions()
    assert session.run("put the red block in the blue bowl").ok
    before = session.robot.positions()
    assert session.run("point to the blue bowl").ok
    assert session.run("put the green block in the red bowl").ok
    assert session.run("point to the blue bowl").ok
    layout = session.robot.get_layout(1)
    assert {name: tuple(xy) for name, xy in layout.items()} == {
        name: xyz[:2] for name, xyz in before.items()
    }
    assert session.execute("arrange_objects(get_layout('start'))").ok
    assert strayed(session, first) == []
    assert session.execute("undo_turns(3)").ok
    assert strayed(session, first) == []


def test_the_sessions_own_undo_and_what_is_remembered_agree(session: Session) -> None:
    begin = session.robot.snapshot()
    for words in ("put the red block in the blue bowl", "undo that", "point to the blue bowl"):
        assert session.run(words).ok
    session.undo(3)
    assert session.robot.snapshot() == begin
    assert session.robot.undo_turns() == []


def test_more_turns_than_there_were_are_not_undone(session: Session) -> None:
    assert session.run("put the red block in the blue bowl").ok
    before = session.robot.positions()
    for turns, error in ((2, NotFound), (10**400, NotFound), (0, LimitExceeded), ("1", TypeError)):
        with pytest.raises(error):
            session.robot.undo_turns(turns)
    with pytest.raises(NotFound, match="something: 1 remembered"):
        session.robot.get_layout(2)
    assert strayed(session, before) == []


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


def test_the_screen_names_what_is_taken_back(capsys: pytest.CaptureFixture[str]) -> None:
    words = "put the red block in the blue bowl"
    assert run(["run", "--mode", "instant", words, "undo that"]) == 0
    assert f"undone: '{words}'\n" in capsys.readouterr().out
