"""A session of eight commands on the drawing arm, judged on the ink, with the offline model."""

from __future__ import annotations

import itertools
import threading
from collections.abc import Iterator

import numpy as np
import pytest
from shapely.geometry import LineString

from cap.models.nearest import Nearest
from cap.session.session import Session
from robots.drawing.robot import DrawingRobot
from robots.drawing.worlds import InstantBoard
from robots.ravens.scene import Body, Scene


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


def test_circles_go_around_the_blocks(session: Session) -> None:
    assert session.run("draw circles around the blocks").ok
    strokes = session.robot.state.strokes
    centres = [np.array(LineString(stroke).envelope.centroid.coords[0]) for stroke in strokes]
    for name in session.robot.get_obj_names():
        place = session.robot.get_obj_pos(name)
        assert min(np.linalg.norm(centre - place) for centre in centres) < 0.003


def test_one_shape_grows_and_needs_no_place(session: Session) -> None:
    lengths = []
    for words in ("draw a hexagon", "make it bigger", "make it smaller", "draw a circle"):
        turn = session.run(words)
        assert turn.ok, f"{words}: {turn.failure}"
        lengths.append(session.robot.state.ink().length)
    assert lengths[0] == pytest.approx(6 * 0.06, abs=0.004)
    assert lengths[1] == pytest.approx(1.5 * lengths[0], rel=0.02)
    assert lengths[2] < lengths[1]
    assert lengths[3] > lengths[2]


@pytest.mark.parametrize(("words", "side_m"), [("a square", 0.1), ("a 5 cm square", 0.05)])
def test_a_square_in_a_corner_touches_it(words: str, side_m: float) -> None:
    with Session.open("drawing", mode="instant", seed=5) as session:
        assert session.run(f"draw {words} in the bottom right corner").ok
        left, low, right, high = session.robot.state.ink().bounds
        corner = session.robot.get_obj_pos("bottom right corner")
    assert (right, low) == pytest.approx(tuple(corner))
    assert (right - left, high - low) == pytest.approx((side_m, side_m))


@pytest.mark.parametrize(
    ("words", "scaled", "factor"),
    [
        ("make it bigger", 1, 1.5),
        ("make it smaller", 1, 0.6),
        ("make it 3 times smaller", 1, 1 / 3),
        ("make it 2 times bigger", 1, 2.0),
        ("move it down by 2 cm", 1, 1.0),
        ("make it wider", 1, None),
        ("make the last one smaller", 1, 0.6),
        ("make the first one bigger", 0, 1.5),
        ("make the second one smaller", 1, 0.6),
    ],
)
def test_of_two_shapes_the_one_meant_is_scaled(
    words: str, scaled: int, factor: float | None, board: Session
) -> None:
    for drawn in ("draw a square around the middle", "draw a small hexagon around the middle"):
        assert board.run(drawn).ok
    before = [LineString(stroke).length for stroke in board.robot.state.strokes]
    turn = board.run(words)
    assert turn.ok, turn.failure
    after = [LineString(stroke).length for stroke in board.robot.state.strokes]
    if factor is None:  # not as much longer as it is wider
        assert before[scaled] < min(after) < 1.5 * before[scaled]
        assert max(after) == pytest.approx(before[1 - scaled])
        return
    before[scaled] *= factor
    assert sorted(after) == pytest.approx(sorted(before), rel=1e-3)


@pytest.mark.parametrize("words", ["make it 3 times smaller", "make it 3 times bigger"])
def test_a_number_of_the_words_changes_no_other_number(words: str, board: Session) -> None:
    assert board.run("draw a small square around the middle").ok
    assert board.run("move it up by 6 cm").ok
    before = board.robot.state.ink().envelope.centroid
    assert board.run(words).ok
    after = board.robot.state.ink().envelope.centroid
    assert before.distance(after) < 1e-6


def test_as_many_circles_stand_in_a_row_as_were_asked_for(board: Session) -> None:
    assert board.run("draw three 3 cm radius circles in a row").ok
    circles = [LineString(stroke) for stroke in board.robot.state.strokes]
    assert [circle.length for circle in circles] == pytest.approx([0.06 * np.pi] * 3, rel=0.01)
    middles = [circle.envelope.centroid.x for circle in circles]
    assert middles == pytest.approx([-0.09, 0.0, 0.09], abs=1e-6)
    assert all(circle.is_ring for circle in circles)


def test_what_cannot_be_drawn_leaves_the_ink_as_it_was(board: Session) -> None:
    assert board.run("draw a square around the middle").ok
    before = board.robot.strokes
    turn = board.run("make it 9 times bigger")
    assert turn.failure is not None
    assert turn.failure.error == "Unreachable"
    assert board.robot.strokes == before
    assert board.run("make it smaller").ok


def test_undoing_twice_takes_back_two_turns(board: Session) -> None:
    lengths = [0.0]
    for words in ("draw a square around the middle", "draw a hexagon", "make it bigger"):
        assert board.run(words).ok
        lengths.append(board.robot.state.ink().length)
    for length in (*lengths[-2::-1], 0.0):
        turn = board.run("undo that")
        assert turn.ok, turn.failure
        assert board.robot.state.ink().length == pytest.approx(length, abs=1e-3)
    assert board.robot.spoken == ["nothing was drawn yet"]


def stopped_at(session: Session, frame: int, words: str) -> str:
    """Say something and have it stopped at a frame; return why it failed."""
    seen = itertools.count(1)

    def stop_then() -> None:
        if next(seen) == frame:
            thread = threading.Thread(target=session.robot.stop)
            thread.start()
            thread.join()

    session.robot.frame_every_s, session.robot.on_frame = 0.05, stop_then
    turn = session.run(words)
    session.robot.on_frame = None
    assert not turn.ok
    return str(turn.failure)


def test_a_turn_that_failed_after_a_stroke_is_undone_alone() -> None:
    scene = Scene((Body("red block", (0.0, -0.5, 0.02)), Body("blue block", (0.26, -0.76, 0.02))))
    with Session(DrawingRobot(scene, 0, "instant", InstantBoard), Nearest()) as session:
        assert session.run("draw a square in the top left corner").ok
        before = session.robot.strokes
        turn = session.run("draw circles around the blocks")
        assert turn.failure is not None
        assert turn.failure.error == "Unreachable"
        assert len(session.robot.strokes) == 2
        assert session.run("undo that").ok
        assert session.robot.strokes == before
        assert session.run("make it smaller").ok
        assert session.run("undo that").ok
        assert session.robot.strokes == before
        assert session.run("undo that").ok
        assert session.robot.strokes == []


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
    frames = {"instant": 26, "physics": 200}[session.robot.mode]
    told = stopped_at(session, round(share * frames), "make both bigger")
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


def test_the_answer_names_the_turn_that_is_taken_back(board: Session) -> None:
    assert board.run("draw a square around the middle").ok
    assert not board.execute("draw([[9, 9], [9, 8]])").ok
    assert board.run("undo that").effect.undone == ("draw a square around the middle",)
    assert board.run("undo that").effect.undone == ()
