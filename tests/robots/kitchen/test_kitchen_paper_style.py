"""What programs in the paper's style ask of the kitchen."""

from __future__ import annotations

import numpy as np
import pytest

from cap.errors import NotFound
from robots.kitchen import KitchenRobot, create


def kitchen(*objects: str, seed: int = 2) -> KitchenRobot:
    return create(seed=seed, mode="instant", objects=list(objects))


def test_several_things_go_side_by_side_on_a_plate() -> None:
    robot = kitchen("apple @ table", "lemon @ table", "avocado @ table", "blue plate @ table")
    for name in ("apple", "lemon", "avocado"):
        robot.put_first_on_second(name, "blue plate")
    assert robot.contents()["blue plate"] == ["apple", "lemon", "avocado"]
    robot.put_first_on_second("lemon", "desk")
    assert robot.get_obj_names() == ["lemon"]


def test_a_kind_means_the_one_that_is_seen() -> None:
    robot = kitchen("coke can @ table", "apple @ table")
    assert robot.is_obj_visible("soda")
    np.testing.assert_array_equal(robot.get_obj_pos("soda"), robot.get_obj_pos("coca cola can"))
    robot = kitchen("coke can @ table", "pepsi @ table")
    with pytest.raises(NotFound, match="any of these here: coke can, pepsi; name one"):
        robot.get_obj_pos("soda")


def test_a_look_near_a_place_needs_no_stop_there() -> None:
    robot = kitchen("apple @ table", "sponge @ countertop")
    robot.goto_loc("countertop")
    assert not robot.is_obj_visible("apple")
    assert robot.is_obj_visible("apple", loc="table")
    robot.goto_loc("desk")
    assert not robot.is_obj_visible("apple", loc="table")


@pytest.mark.parametrize("seed", range(0, 40, 8))
def test_the_office_chair_can_be_driven_around(seed: int) -> None:
    robot = kitchen("apple", seed=seed)
    middle = robot.get_loc_pos("office chair")[:2]
    for side_m in (1.0, 1.5):
        corners = np.array([[-1, -1], [1, -1], [1, 1], [-1, 1], [-1, -1]]) * side_m / 2
        robot.follow_traj(middle + corners)
