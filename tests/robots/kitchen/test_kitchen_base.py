"""The kitchen robot's base: ways around furniture, speeds, velocities, bumps, refusals."""

from __future__ import annotations

import math
import threading

import numpy as np
import pytest
from shapely.geometry import LineString, Point

from cap.errors import Collision, LimitExceeded, RobotError, Unreachable
from robots.kitchen import KitchenRobot, create
from robots.kitchen.room import BASE_R, obstacles

ROW = ("apple @ countertop", "banana @ countertop", "orange @ countertop")
NAN = float("nan")


@pytest.fixture
def robot() -> KitchenRobot:
    return create(seed=3, mode="instant", objects=ROW)


def track(robot: KitchenRobot) -> list[tuple[float, float]]:
    """Record where the base is on the way."""
    places = [robot.state.base.xy]
    robot.frame_every_s = 0.1
    robot.on_frame = lambda: places.append(robot.state.base.xy)
    return places


@pytest.mark.parametrize("seed", range(6))
def test_the_base_never_touches_furniture_on_its_way(seed: int) -> None:
    robot = create(seed=seed, mode="instant")
    places = track(robot)
    for name in robot.get_loc_names():
        robot.goto_loc(name)
    way = LineString(places)
    for name, shape in obstacles(robot.state.room, robot.state.drawers):
        assert shape.distance(way) >= BASE_R - 1e-6, name


def test_the_way_around_the_table_is_not_straight_and_not_long(robot: KitchenRobot) -> None:
    places = track(robot)
    x, y, _ = robot.get_loc_pos("table")
    robot.goto_pos([x, y + 0.9, 0.0])
    straight = math.dist(places[0], (x, y + 0.9))
    length = LineString(places).length
    assert straight + 0.5 < length < straight + 2.0
    assert robot.state.base.xy == pytest.approx((x, y + 0.9))


def test_an_open_drawer_is_in_the_way(robot: KitchenRobot) -> None:
    robot.goto_loc("top drawer")
    x, y = robot.state.base.xy
    robot.goto_pos([x, y + 0.4, 0.0])
    robot.goto_loc("top drawer")
    robot.open_drawer("top drawer")
    with pytest.raises(Unreachable, match="top drawer"):
        robot.goto_pos([x, y + 0.4, 0.0])


def test_a_drive_takes_its_length_over_its_speed(robot: KitchenRobot) -> None:
    start = robot.state.base
    for speed in (0.25, 1.0):
        before = robot.sim_time_s
        robot.goto_pos([start.x + (1.0 if speed < 1 else 0.0), start.y, 0.0], speed, angle=0.0)
        took = robot.sim_time_s - before
        turn_s = abs(math.remainder(start.angle, 2 * math.pi)) / 1.5
        assert took == pytest.approx(max(1.0 / speed, turn_s if speed < 1 else 0.0))


def test_a_location_is_faced_and_an_angle_is_kept(robot: KitchenRobot) -> None:
    robot.goto_loc("countertop")
    assert robot.get_robot_pos_and_angle()[1] == pytest.approx(math.pi / 2)
    robot.goto_pos(robot.get_robot_pos() + np.array([0, -0.4, 0]), angle=-1.0)
    assert robot.get_robot_pos_and_angle()[1] == pytest.approx(-1.0)


def test_a_trajectory_is_followed_through_its_waypoints(robot: KitchenRobot) -> None:
    start = robot.get_robot_pos()
    traj = start + 0.3 * np.array([[0, 0, 0], [1, 0, 0], [1, -1, 0], [0, -1, 0], [0, 0, 0]])
    places = track(robot)
    assert robot.follow_traj(traj, speed=0.3) == pytest.approx(start)
    way = LineString(places)
    assert max(way.distance(Point(point[:2])) for point in traj) < 0.03
    assert way.length == pytest.approx(1.2, abs=0.1)


def test_a_path_through_furniture_names_it(robot: KitchenRobot) -> None:
    x, y, _ = robot.get_loc_pos("table")
    with pytest.raises(Collision, match="'table'"):
        robot.follow_traj([[x, y - 1.0, 0.0], [x, y + 1.0, 0.0]])


@pytest.mark.parametrize("loc", ["desk", "table", "wood chair", "stool", "trash bin"])
def test_a_refused_goal_tells_the_nearest_free_place(robot: KitchenRobot, loc: str) -> None:
    with pytest.raises(Unreachable, match="nearest place for the base") as caught:
        robot.goto_pos(robot.get_loc_pos(loc))
    x, y = str(caught.value).rpartition("(")[2].rstrip(")").split(", ")
    robot.goto_pos([float(x), float(y), 0.0])


# Velocities.


def until_seen(robot: KitchenRobot, name: str, x: float, y: float = 0.0) -> None:
    while not robot.detect_object(name):
        robot.set_velocity(x=x, y=y, turn=0)
    robot.stop_motion()


def test_moving_until_something_is_seen_ends_where_it_is_ahead(robot: KitchenRobot) -> None:
    robot.goto_loc("countertop")
    names = sorted(robot.get_visible_obj_names(), key=lambda name: robot.get_obj_pos(name)[0])
    robot.goto_pos(robot.get_loc_pos("countertop")[:2] + np.array([-1.1, -0.72]), angle=math.pi / 2)
    before = robot.get_robot_pos()
    until_seen(robot, names[-1], 0.2)
    after = robot.get_robot_pos()
    assert after[0] > before[0] + 0.3
    assert after[1] == pytest.approx(before[1])
    assert robot.detect_object(names[-1])
    until_seen(robot, names[0], -0.4)
    assert robot.get_robot_pos()[0] < after[0]


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


def test_a_look_takes_a_tenth_of_a_second_and_moves_the_base_by_its_velocity(
    robot: KitchenRobot,
) -> None:
    start, before = robot.state.base, robot.sim_time_s
    robot.set_velocity(x=-0.3, y=0.0, turn=0.5)
    assert robot.state.base == start
    robot.detect_object("apple")
    assert robot.sim_time_s == pytest.approx(before + 0.1)
    assert robot.state.base.angle == pytest.approx(start.angle + 0.05)
    assert math.dist(robot.state.base.xy, start.xy) == pytest.approx(0.03)
    robot.stop_motion()
    rest = robot.state.base
    robot.is_obj_visible("apple")
    assert robot.state.base == rest
    assert robot.sim_time_s == pytest.approx(before + 0.2)


def test_velocity_is_in_the_robots_own_frame(robot: KitchenRobot) -> None:
    robot.goto_pos([-1.0, -0.9, 0.0], angle=math.pi)  # it faces left
    robot.set_velocity(x=0.2, y=0.0)
    robot.detect_object("apple")
    assert robot.state.base.xy == pytest.approx((-1.0, -0.88))


def test_bumping_into_something_stops_the_base_with_a_typed_failure(robot: KitchenRobot) -> None:
    robot.goto_loc("countertop")
    with pytest.raises(Collision, match="bumped into 'countertop'"):
        until_seen(robot, "unicorn", 0.0, 0.5)
    rest = robot.state.base
    assert robot.state.velocity == (0.0, 0.0, 0.0)
    robot.detect_object("apple")
    assert robot.state.base == rest
    robot.set_velocity(x=0, y=-0.5)
    robot.detect_object("apple")
    assert robot.state.base.y < rest.y


def test_another_motion_ends_a_velocity(robot: KitchenRobot) -> None:
    robot.set_velocity(x=0.5, y=0)
    robot.goto_loc("desk")
    rest = robot.state.base
    robot.detect_object("apple")
    assert robot.state.base == rest


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


def test_programs_know_the_stop_primitive_by_that_name(robot: KitchenRobot) -> None:
    assert robot.primitives()["stop"].kind == "action"
    assert "stop_motion" not in robot.primitives()


def test_the_camera_ahead_sees_what_is_ahead_only(robot: KitchenRobot) -> None:
    robot.goto_loc("countertop")
    name = robot.get_visible_obj_names()[0]
    x = robot.get_obj_pos(name)[0]
    y = robot.get_robot_pos()[1]
    robot.goto_pos([x, y, 0.0], angle=math.pi / 2)
    assert robot.detect_object(name)
    robot.goto_pos([x, y, 0.0], angle=-math.pi / 2)
    assert not robot.detect_object(name)
    robot.goto_pos([x, y - 0.8, 0.0], angle=math.pi / 2)
    assert not robot.detect_object(name)
