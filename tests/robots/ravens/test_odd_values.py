"""Whatever a program hands over: a typed failure in a line, or what was asked; no half of it."""

from __future__ import annotations

import inspect
import warnings
from typing import Any

import pytest

from cap.errors import RobotError
from robots.ravens import RavensRobot, create
from tests.fakes.odd_values import ODD_VALUES

USUAL: dict[str, Any] = {
    "name": "red block",
    "first": "red block",
    "second": "middle",
    "object_names": ["red block", "blue bowl"],
    "places": {"red block": "middle"},
    "pos": [0.0, -0.5],
    "pos_normalized": [0.5, 0.5],
    "start_pos": [0.0, -0.5],
    "goal_pos": "top side",
    "traj": [[0.0, -0.5], [0.1, -0.5]],
    "size": [0.1, 0.1],
}
PARAMETERS = [
    (name, parameter.name)
    for name, primitive in create(mode="instant").primitives().items()
    for parameter in inspect.signature(primitive.function).parameters.values()
    if name != "say"
]
CONTAINED: dict[str, Any] = {
    "object_names": lambda odd: ["red block", odd],
    "places": lambda odd: {"red block": odd},
    "avoid_regions": lambda odd: [odd],
    "moving": lambda odd: [odd],
    "traj": lambda odd: [[0.0, -0.5], odd],
}


@pytest.fixture(scope="module")
def robot() -> RavensRobot:
    return create(mode="instant", objects=["red block", "green block", "blue bowl"])


@pytest.mark.parametrize(("name", "odd_one"), PARAMETERS)
def test_odd_values_are_refused_before_anything_happens(
    robot: RavensRobot, name: str, odd_one: str
) -> None:
    primitive = robot.primitives()[name]
    parameters = inspect.signature(primitive.function).parameters.values()
    needed = {each.name: USUAL[each.name] for each in parameters if each.default is each.empty}
    contain = CONTAINED.get(odd_one)
    refused = 0
    for odd in [*ODD_VALUES, *map(contain, ODD_VALUES)] if contain else ODD_VALUES:
        robot.reset(1)
        before = robot.snapshot()
        failure: Exception | None = None
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            try:
                primitive.function(**{**needed, odd_one: odd})
            except (RobotError, TypeError) as error:
                failure = error
        if failure is not None:
            refused += 1
            assert robot.snapshot() == before, (odd, failure)
            assert len(str(failure)) < 1000, odd
            assert "\n" not in str(failure), odd
    assert refused > len(ODD_VALUES) / 3


@pytest.mark.parametrize("names", [{"red block": None, "green block": 1}, {"red block"}])
def test_what_has_no_order_or_says_more_is_no_list_of_names(robot: RavensRobot, names: Any) -> None:
    robot.reset(1)
    before = robot.snapshot()
    with pytest.raises(TypeError, match=r"a list of names, not a .*stack_objects_in_order\(\["):
        robot.stack_objects_in_order(names)
    with pytest.raises(TypeError, match=r"a list of names, not a .*find_free_region\(\["):
        robot.find_free_region([0.1, 0.1], moving=names)
    assert robot.snapshot() == before


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
        with pytest.raises(RobotError) as failure:
            call()
        assert "1e+300" in str(failure.value)
        assert len(str(failure.value)) < 200
