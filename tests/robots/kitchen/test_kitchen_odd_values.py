"""Whatever a program hands over: a typed failure, nothing moved, and no time passed."""

from __future__ import annotations

import inspect
import warnings
from typing import Any

import pytest

from cap.errors import RobotError, UsageError
from robots.kitchen import KitchenRobot, create
from tests.fakes.odd_values import ODD_VALUES

USUAL: dict[str, Any] = {
    "name": "apple",
    "first": "apple",
    "second": "bowl",
    "loc": "desk",
    "pos": [0.0, -1.2],
    "traj": [[0.0, -1.2], [0.2, -1.2]],
    "x": 0.1,
    "y": 0.1,
    "seconds": 1.0,
}
PARAMETERS = [
    (name, parameter.name)
    for name, primitive in create(mode="instant").primitives().items()
    for parameter in inspect.signature(primitive.function).parameters.values()
]


@pytest.fixture(scope="module")
def robot() -> KitchenRobot:
    return create(mode="instant", objects=["apple", "bowl"])


@pytest.mark.sweep(share=0.34)
@pytest.mark.parametrize(("name", "odd_one"), [pair for pair in PARAMETERS if pair[0] != "say"])
def test_odd_values_are_refused_before_anything_happens(
    robot: KitchenRobot, name: str, odd_one: str
) -> None:
    primitive = robot.primitives()[name]
    refused = 0
    for odd in ODD_VALUES:
        robot.reset(1)
        if primitive.kind == "perception":
            robot.set_velocity(x=0.0, y=-0.1)
        before = robot.snapshot()
        needed = [
            parameter.name
            for parameter in inspect.signature(primitive.function).parameters.values()
            if parameter.default is parameter.empty
        ]
        given = {**{name: USUAL[name] for name in needed}, odd_one: odd}
        failure: Exception | None = None
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            try:
                primitive.function(**given)
            except (RobotError, TypeError) as error:
                failure = error
        if failure is not None:
            refused += 1
            assert robot.snapshot() == before, (odd, failure)
            assert len(str(failure)) < 1000, odd
    assert refused > len(ODD_VALUES) / 2


@pytest.mark.parametrize("value", [10**400, None, 1e300, "x" * 100_000, [1e300, 1e300]])
def test_what_was_held_stays_held(robot: KitchenRobot, value: Any) -> None:
    robot.reset(1)
    robot.pick_obj("apple")
    before = robot.snapshot()
    for act in (robot.place_at_obj, robot.place_at_pos):
        with pytest.raises((RobotError, TypeError)):
            act(value)
    with pytest.raises(TypeError):
        robot.place_at_obj("table", value)
    assert robot.snapshot() == before


def test_a_name_of_any_length_is_refused_in_a_line() -> None:
    with pytest.raises(UsageError, match=r"no object named 'x+") as refused:
        create(mode="instant", objects=["x" * 100_000])
    assert len(str(refused.value)) < 1000
