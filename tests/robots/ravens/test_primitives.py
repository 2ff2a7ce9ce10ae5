"""What programs may rely on, in both modes."""

from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest

from robots.ravens import RavensRobot, create

OBJECTS = ["red block", "green block", "blue block", "red bowl", "blue bowl"]


@pytest.fixture
def robot(mode: str) -> Iterator[RavensRobot]:
    robot = create(seed=4, mode=mode, objects=OBJECTS)
    yield robot
    robot.close()


def test_perception_has_the_promised_shapes(robot: RavensRobot) -> None:
    assert robot.get_obj_names() == OBJECTS
    assert robot.get_obj_pos("red block").shape == (2,)
    assert robot.get_obj_pos("red block").dtype == np.float64
    assert robot.get_corner_positions().shape == (4, 2)
    assert robot.get_side_positions().shape == (4, 2)
    low_x, low_y, high_x, high_y = robot.get_bbox("red bowl")
    assert (high_x - low_x, high_y - low_y) == pytest.approx((0.122, 0.122))
    assert robot.get_color("red block") == (1.0, 87 / 255, 89 / 255, 1.0)
    assert robot.is_obj_visible("the red block")
    assert not robot.is_obj_visible("pink block")


def test_values_handed_out_are_copies(robot: RavensRobot) -> None:
    robot.get_obj_pos("red block")[:] = 0
    robot.get_obj_names().clear()
    robot.get_corner_positions()[:] = 0
    assert robot.get_obj_pos("red block").any()
    assert robot.get_obj_names() == OBJECTS
    assert robot.get_corner_positions().all()


def test_pictures_have_the_asked_size_and_show_what_moved(robot: RavensRobot) -> None:
    before = robot.render(96, 64)
    assert before.size == (96, 64)
    robot.put_first_on_second("red block", "blue bowl")
    assert before.tobytes() != robot.render(96, 64).tobytes()


def test_a_recorder_sees_every_action(robot: RavensRobot) -> None:
    frames: list[Any] = []
    robot.on_frame = lambda: frames.append((robot.render(24, 24), robot.view().placements))
    robot.put_first_on_second("red block", "blue bowl")
    assert len(frames) >= (1 if robot.mode == "instant" else 5)
    for name in ("arm/hand", "objects/red block"):
        places = {placements[name] for _, placements in frames}
        assert len(places) > 2 or robot.mode == "instant"
