"""What is refused with a reason: wrong kinds of lists, and numbers beyond everything."""

from __future__ import annotations

from typing import Any

import pytest

from cap.errors import RobotError
from robots.ravens import RavensRobot, create


@pytest.fixture(scope="module")
def robot() -> RavensRobot:
    return create(mode="instant", seed=1, objects=["red block", "green block", "blue bowl"])


@pytest.mark.parametrize("names", [{"red block": None, "green block": 1}, {"red block"}])
def test_what_has_no_order_or_says_more_is_no_list_of_names(robot: RavensRobot, names: Any) -> None:
    with pytest.raises(TypeError, match=r"a list of names, not a .*stack_objects_in_order\(\["):
        robot.stack_objects_in_order(names)
    with pytest.raises(TypeError, match=r"a list of names, not a .*find_free_region\(\["):
        robot.find_free_region([0.1, 0.1], moving=names)


def test_a_dict_is_no_list_of_regions(robot: RavensRobot) -> None:
    with pytest.raises(TypeError, match=r"a list of regions; got a dict: plan_path\("):
        robot.plan_path("middle", "top side", {"red block": 1})  # type: ignore[arg-type]


def test_huge_numbers_are_told_briefly(robot: RavensRobot) -> None:
    far = [1e300, -1e300]
    calls = [
        lambda: robot.point_gripper_to(far),
        lambda: robot.put_first_on_second(far, "middle"),
        lambda: robot.put_first_on_second("red block", far),
        lambda: robot.arrange_objects({"red block": far}),
        lambda: robot.follow_traj([far, far]),
        lambda: robot.plan_path("middle", far),
        lambda: robot.find_free_region([1e300, 1e300]),
    ]
    for call in calls:
        with pytest.raises(RobotError, match="1e\\+300") as failure:
            call()
        assert len(str(failure.value)) < 200
