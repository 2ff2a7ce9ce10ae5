"""The kitchen robot's base: ways around furniture, speeds, velocities, bumps, refusals."""

from __future__ import annotations

import numpy as np
import pytest
from shapely.geometry import LineString

from cap.errors import LimitExceeded, RobotError
from robots.kitchen import KitchenRobot, create
from robots.kitchen.room import BASE_R, obstacles
from tests.robots.stops import stopped_at

ROW = ("apple @ countertop", "banana @ countertop", "orange @ countertop")


@pytest.fixture
def robot() -> KitchenRobot:
    return create(seed=3, mode="instant", objects=ROW)


def track(robot: KitchenRobot) -> list[tuple[float, float]]:
    """Record where the base is on the way."""
    places = [robot.state.base.xy]
    robot.frame_every_s = 0.1
    robot.on_frame = lambda: places.append(robot.state.base.xy)
    return places


@pytest.mark.sweep(share=0.15)
@pytest.mark.parametrize("seed", range(20))
def test_everything_has_a_place_and_every_location_a_way_that_touches_no_furniture(
    seed: int,
) -> None:
    robot = create(seed=seed, mode="instant")
    assert all(robot.state.location_of(name) for name in robot.positions())
    places = track(robot)
    for name in robot.get_loc_names():
        robot.goto_loc(name)
        assert name in [place.name for place in robot.state.here()]
    way = LineString(places)
    for name, shape in obstacles(robot.state.room, robot.state.drawers):
        assert shape.distance(way) >= BASE_R - 1e-6, name


# Velocities.


def test_with_z_the_axes_of_a_velocity_are_those_of_the_papers_first_programs(
    robot: KitchenRobot,
) -> None:
    at, angle = robot.get_robot_pos_and_angle()
    robot.set_velocity(x=-0.1, y=0.05, z=0)
    robot.wait(1.0)
    robot.stop_motion()
    ahead, right = (
        np.array([np.cos(angle), np.sin(angle)]),
        np.array([np.sin(angle), -np.cos(angle)]),
    )
    assert robot.get_robot_pos()[:2] == pytest.approx(at[:2] - 0.1 * ahead + 0.05 * right)
    with pytest.raises(LimitExceeded, match="the base cannot rise"):
        robot.set_velocity(x=0, y=0, z=0.1)


def test_stopping_from_another_thread_ends_a_drive_and_a_velocity(robot: KitchenRobot) -> None:
    with stopped_at(robot), pytest.raises(RobotError, match="stopped"):
        robot.goto_loc("countertop")
    assert robot.sim_time_s < 1.0
    robot.set_velocity(x=0.2, y=0)
    robot.stop()
    rest = robot.state.base
    robot.detect_object("apple")
    assert robot.state.base == rest
    robot.goto_loc("countertop")
