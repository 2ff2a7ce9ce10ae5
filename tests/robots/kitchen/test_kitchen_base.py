"""The kitchen robot's base: ways around furniture, speeds, velocities, bumps, refusals."""

from __future__ import annotations

import threading

import numpy as np
import pytest
from shapely.geometry import LineString, Point

from cap.errors import LimitExceeded, RobotError
from robots.kitchen import KitchenRobot, create
from robots.kitchen.room import BASE_R, obstacles

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


@pytest.mark.parametrize("seed", range(2))
def test_the_base_never_touches_furniture_on_its_way(seed: int) -> None:
    robot = create(seed=seed, mode="instant")
    places = track(robot)
    for name in robot.get_loc_names():
        robot.goto_loc(name)
    way = LineString(places)
    for name, shape in obstacles(robot.state.room, robot.state.drawers):
        assert shape.distance(way) >= BASE_R - 1e-6, name


def test_a_trajectory_is_followed_through_its_waypoints(robot: KitchenRobot) -> None:
    start = robot.get_robot_pos()
    traj = start + 0.3 * np.array([[0, 0, 0], [1, 0, 0], [1, -1, 0], [0, -1, 0], [0, 0, 0]])
    places = track(robot)
    assert robot.follow_traj(traj, speed=0.3) == pytest.approx(start)
    way = LineString(places)
    assert max(way.distance(Point(point[:2])) for point in traj) < 0.03
    assert way.length == pytest.approx(1.2, abs=0.1)


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
    def stop_now() -> None:
        thread = threading.Thread(target=robot.stop)
        thread.start()
        thread.join()

    robot.on_frame = stop_now
    with pytest.raises(RobotError, match="stopped"):
        robot.goto_loc("countertop")
    robot.on_frame = None
    assert robot.sim_time_s < 1.0
    robot.set_velocity(x=0.2, y=0)
    stop_now()
    rest = robot.state.base
    robot.detect_object("apple")
    assert robot.state.base == rest
    robot.goto_loc("countertop")
