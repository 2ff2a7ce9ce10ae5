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
