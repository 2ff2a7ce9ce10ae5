"""What is on the board: one copy of each shape, sizes, corners, limits, and the pen on its way."""

from __future__ import annotations

import re
from collections.abc import Iterator

import numpy as np
import pytest

from cap.errors import Collision, LimitExceeded, Unreachable
from robots.drawing import DrawingRobot, create

SPIRAL = np.array(
    [
        (0.1 * a / 200 * np.cos(a), -0.5 + 0.1 * a / 200 * np.sin(a))
        for a in np.linspace(0, 200, 3000)
    ]
)
"""About 10 m long."""


@pytest.fixture
def robot(mode: str) -> Iterator[DrawingRobot]:
    made = create(seed=0, mode=mode, objects=["red block"])
    yield made
    made.close()


def ring(radius: float) -> np.ndarray:
    angles = np.linspace(0, 2 * np.pi, 65)
    return np.array([0.0, -0.5]) + radius * np.stack([np.cos(angles), np.sin(angles)], axis=1)


# What is there is changed.


def test_ink_at_the_very_edge_is_erased_and_drawn_again(robot: DrawingRobot) -> None:
    edge = [[-0.3, -0.8], [-0.3, -0.2], [0.3, -0.2], [0.3, -0.8], [-0.3, -0.8]]
    robot.draw(edge)
    for _ in range(2):
        shapes = robot.get_drawn_shapes()
        robot.redraw(shapes, shapes)
    for pts in robot.get_drawn_shapes():
        robot.erase(pts)
    assert robot.state.ink().length < 0.01
    with pytest.raises(Unreachable, match="off the board"):
        robot.draw([[0.0, -0.5], [0.3003, -0.5]])


# Refusals that say what would be right.


def test_a_shape_off_the_board_is_told_how_it_fits(robot: DrawingRobot) -> None:
    shape = ring(0.05) + np.array([-0.29, 0.27])
    with pytest.raises(Unreachable, match="off the board") as caught:
        robot.draw(shape)
    by = re.search(r"moved by \((\S+), (\S+)\) m", str(caught.value))
    assert by is not None
    robot.draw(shape + np.array([float(by[1]), float(by[2])]))
    with pytest.raises(Unreachable, match="make it smaller"):
        robot.draw(ring(0.4))


def test_a_collision_says_with_what_and_where(robot: DrawingRobot) -> None:
    x, y = robot.get_obj_pos("red block")
    with pytest.raises(Collision) as caught:
        robot.draw([[x - 0.1, y + 0.03], [x + 0.1, y + 0.03]])
    assert f"'red block', a 4 cm cube at ({x:.3f}, {y:.3f}) m" in str(caught.value)
    assert "within 3.0 cm" in str(caught.value)
    keep = re.search(r"keep (\S+) cm away", str(caught.value))
    assert keep is not None
    above = y + float(keep[1]) / 100 if y < -0.5 else y - float(keep[1]) / 100
    robot.draw([[x - 0.02, above], [x + 0.02, above]])


def test_a_line_may_be_20_m_long_and_no_longer(robot: DrawingRobot) -> None:
    with pytest.raises(LimitExceeded, match="20 m"):
        robot.draw(np.vstack([SPIRAL, SPIRAL[::-1], SPIRAL]))
    assert robot.state.strokes == ()
    assert robot.sim_time_s == 0


def test_what_is_no_list_of_shapes_or_too_long_a_one_is_refused_by_name(
    robot: DrawingRobot,
) -> None:
    for shapes in (None, {}, "x" * 100_000, np.array(3.0)):
        for old, new, wrong in ((shapes, [], "old_shapes"), ([], shapes, "new_shapes")):
            with pytest.raises(TypeError, match=f"^{wrong} must be a list of shapes"):
                robot.redraw(old, new)
    with pytest.raises(LimitExceeded, match="old_shapes are 1000000 shapes"):
        robot.redraw([[[0.0, -0.5], [0.1, -0.5]]] * 10**6, [])


# The pen on its way.


def test_pictures_on_the_way_show_the_pen_and_the_ink_grow() -> None:
    pytest.importorskip("mujoco")
    robot = create(seed=0, objects=[])
    inked: list[int] = []
    pens = 0

    def look() -> None:
        nonlocal pens
        picture = np.asarray(robot.render(320, 320)).astype(int)
        inked.append(int((picture.max(axis=2) < 110).sum()))
        red = (picture[:, :, 0] > 180) & (picture[:, :, 1:].max(axis=2) < 120)
        pens += bool(red[140:180, 100:220].any() or red[80:240, 140:180].any())

    before = robot.snapshot()
    robot.on_frame = look
    robot.frame_every_s = 0.25
    robot.draw(ring(0.1))
    after = robot.state
    robot.on_frame = None
    assert len(set(inked)) >= 6
    assert (np.diff(inked) >= -25).all()
    assert pens >= 2
    robot.restore(before)
    robot.draw(ring(0.1))
    assert robot.state == after
    robot.close()
