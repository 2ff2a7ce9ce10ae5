"""A session of eight commands on the drawing arm, judged on the ink, with the offline model."""

from __future__ import annotations

import math
from collections.abc import Iterator

import numpy as np
import pytest
from shapely.geometry import LineString

from cap.session.session import Session
from tests.robots.stops import stopped_at


@pytest.fixture
def session(mode: str) -> Iterator[Session]:
    with Session.open("drawing", model="nearest", seed=0, mode=mode) as made:
        yield made


@pytest.fixture
def board() -> Iterator[Session]:
    with Session.open("drawing", mode="instant", seed=1, objects=["red block"]) as made:
        yield made


def test_shapes_are_drawn_changed_and_taken_back(session: Session) -> None:
    def say(words: str) -> tuple[float, np.ndarray]:
        turn = session.run(words)
        assert turn.ok, f"{words}: {turn.failure}"
        ink = session.robot.state.ink()
        return ink.length, np.array(ink.bounds)

    hexagon, box = say("draw a hexagon around the middle")
    assert hexagon == pytest.approx(6 * 0.06, abs=0.004)
    assert (box[:2] + box[2:]) / 2 == pytest.approx([0.0, -0.5], abs=0.003)
    with_line, _ = say("draw a line that bisects it")
    line = LineString(session.robot.state.strokes[-1])
    assert line.distance(LineString([(0.0, -0.5), (0.0, -0.499)])) < 0.003
    bigger, _ = say("make both bigger")
    assert bigger == pytest.approx(1.5 * with_line, rel=0.02)
    assert say("erase both")[0] == pytest.approx(0.0, abs=0.002)
    ground, floor = say("draw the ground line")
    assert floor[1] == pytest.approx(floor[3], abs=0.003)
    _, pyramid = say("draw a pyramid on the ground line")
    assert pyramid[1] == pytest.approx(floor[1], abs=0.003)
    assert pyramid[3] > floor[3] + 0.05
    _, moved = say("move it up by 5 cm")
    assert moved[3] == pytest.approx(pyramid[3] + 0.05, abs=0.003)
    _, back = say("undo that")
    assert back == pytest.approx(pyramid, abs=0.003)
    assert ground == pytest.approx(0.24, abs=0.004)


def stopped_saying(session: Session, frame: int, words: str) -> str:
    """Say something and have it stopped at a frame; return why it failed."""
    session.robot.frame_every_s = 0.05
    with stopped_at(session.robot, frame):
        turn = session.run(words)
    assert not turn.ok
    return str(turn.failure)


@pytest.mark.parametrize(
    ("source", "left"),
    [
        ("for x in (0.1, 0.2):\n    draw([[x, -0.3], [x, -0.4]])\nraise ValueError('no')", 3),
        ("old = get_drawn_shapes()\nredraw(old, [pts + [0.05, 0] for pts in old])\n1 / 0", 1),
        ("draw([[0.1, -0.3], [0.1, -0.4]])\ndraw([[0.2, -0.3], [9, 9]])", 2),
        ("erase(get_drawn_shapes()[0])\ndraw([[9, 9], [9, 8]])", 0),
    ],
)
def test_whatever_a_failed_program_did_to_the_ink_is_one_turn(
    source: str, left: int, board: Session
) -> None:
    assert board.run("draw a square around the middle").ok
    before = board.robot.strokes
    assert not board.execute(source).ok
    assert len(board.robot.strokes) == left
    assert board.robot.strokes != before
    assert board.run("undo that").ok
    assert board.robot.strokes == before
    assert board.run("undo that").ok
    assert board.robot.strokes == []
    assert board.run("undo that").ok
    assert board.robot.spoken == ["nothing was drawn yet"]


@pytest.mark.sweep(share=0.34)
@pytest.mark.parametrize("share", [0.1, 0.45, 0.8])
def test_what_a_stop_left_half_redrawn_is_told_and_undone(session: Session, share: float) -> None:
    assert session.run("draw a hexagon around the middle").ok
    assert session.run("draw a line that bisects it").ok
    before = session.robot.state.ink()
    frames = {"instant": 3, "physics": 200}[session.robot.mode]
    told = stopped_saying(session, math.ceil(share * frames), "make both bigger")
    assert "of 2 shapes were erased and" in told
    assert "puts back what was there" in told
    left = session.robot.state
    assert left.ink() != before
    assert session.run("undo that").ok
    after = session.robot.state.ink()
    assert len(after.geoms) == 2
    assert after.hausdorff_distance(before) < 0.002
    # And the session's own undo takes back both turns.
    session.undo()
    assert session.robot.state == left
    session.undo()
    assert session.robot.state.ink().equals_exact(before, 0.0)
