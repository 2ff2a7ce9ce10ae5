"""The drawing arm: where the ink goes, what is refused, the same ink for the same call."""

from __future__ import annotations

import xml.etree.ElementTree as ElementTree
from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest
from shapely.geometry import LineString

from cap.errors import RobotError
from robots.drawing import DrawingRobot, create
from robots.drawing.worlds import SPEED_MPS
from tests.robots.stops import stopped_at

ANGLES = np.linspace(0, 2 * np.pi, 100)
MIDDLE = np.array([0.0, -0.5])
CIRCLE = MIDDLE + 0.08 * np.stack([np.cos(ANGLES), np.sin(ANGLES)], axis=1)
ZIGZAG = np.array([[x, -0.44 if i % 2 else -0.56] for i, x in enumerate(np.linspace(-0.1, 0.1, 9))])


@pytest.fixture
def robot(mode: str) -> Iterator[DrawingRobot]:
    made = create(seed=1, mode=mode)
    yield made
    made.close()


@pytest.fixture
def arm() -> Iterator[DrawingRobot]:
    pytest.importorskip("mujoco")
    made = create(seed=1)
    yield made
    made.close()


@pytest.mark.parametrize("points", [CIRCLE, ZIGZAG, [[-0.28, -0.22], [0.28, -0.22]]])
def test_ink_is_within_two_millimetres_of_the_points(robot: DrawingRobot, points: Any) -> None:
    robot.draw(points)
    ink, asked = robot.state.ink(), LineString(points)
    assert ink.hausdorff_distance(asked.segmentize(1e-3)) <= 0.002
    assert asked.hausdorff_distance(ink.segmentize(1e-3)) <= 0.002


def test_blocks_leave_room_for_a_shape_in_the_middle_and_around_each() -> None:
    for seed in range(8):
        robot = create(seed=seed, mode="instant")
        robot.draw(CIRCLE)
        for name in robot.get_obj_names():
            robot.draw(robot.get_obj_pos(name) + 0.75 * (CIRCLE - MIDDLE))


def test_the_pen_keeps_its_speed_limit(arm: DrawingRobot) -> None:
    before = arm.sim_time_s
    length = arm.draw([[-0.25, -0.21], [0.25, -0.21]])
    assert arm.sim_time_s - before > length / SPEED_MPS


def test_stopping_leaves_the_ink_so_far_and_the_next_stroke_works(arm: DrawingRobot) -> None:
    with stopped_at(arm, 6), pytest.raises(RobotError, match="stopped"):
        arm.draw([[-0.25, -0.21], [0.25, -0.21]])
    assert arm.state.strokes
    arm.draw(CIRCLE)
    assert arm.state.ink().distance(LineString(CIRCLE)) < 0.002


def test_the_svg_shows_every_stroke_and_block_in_millimetres(robot: DrawingRobot) -> None:
    robot.draw(CIRCLE)
    root = ElementTree.fromstring(robot.svg())
    kinds = [element.tag.rpartition("}")[2] for element in root]
    assert (kinds.count("polyline"), kinds.count("polygon")) == (1, 3)
    (line,) = [element for element in root if element.tag.endswith("polyline")]
    points = [tuple(map(float, pair.split(","))) for pair in line.attrib["points"].split()]
    middle = np.mean(points[:-1], axis=0)
    assert middle == pytest.approx([300, 300], abs=3)


def test_the_picture_shows_the_ink(robot: DrawingRobot) -> None:
    blank = np.asarray(robot.render(120, 120))
    robot.draw(CIRCLE)
    assert (np.asarray(robot.render(120, 120)) != blank).any(axis=2).sum() > 100
