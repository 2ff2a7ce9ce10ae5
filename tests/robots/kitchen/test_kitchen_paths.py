"""What the base drives by program: figures around what stands free."""

from __future__ import annotations

import itertools
import math

import numpy as np
import pytest
from shapely.geometry import LineString

from cap.errors import RobotError
from cap.session.session import Session
from robots.kitchen import KitchenRobot, create
from robots.kitchen.arm import PARK_JOINTS
from robots.kitchen.room import BASE_R, obstacles

FREE = ("wood chair", "steel chair", "stool")
SIDES_M = (1.0, 1.5, 2.0, 2.5, 3.0)
OFF_M = 0.03

RECTANGLE = """
middle = get_loc_pos('{loc}')
half = np.array([{wide}, {deep}]) / 2
turn = np.array([[np.cos({angle}), -np.sin({angle})], [np.sin({angle}), np.cos({angle})]])
corners = half * np.array([[-1, -1], [1, -1], [1, 1], [-1, 1], [-1, -1]])
follow_traj(middle[:2] + corners @ turn.T)
"""


def driven(seed: int, program: str) -> tuple[KitchenRobot, LineString]:
    """Run a program; return the robot and where its base was, from its first corner on."""
    with Session.open("kitchen", model="nearest", seed=seed, mode="instant") as session:
        robot = session.robot
        assert isinstance(robot, KitchenRobot)
        places = [robot.state.base.xy]
        robot.frame_every_s = 0.05
        robot.on_frame = lambda: places.append(robot.state.base.xy)
        turn = session.execute(program)
        assert turn.ok, turn.failure
        return robot, LineString(places)


def follows(way: LineString, corners: np.ndarray) -> bool:
    """Return whether a way is all of a closed figure, and nothing else once it is at its start."""
    figure = LineString([*corners, corners[0]])
    begun = next(
        number for number, point in enumerate(way.coords) if math.dist(point, corners[0]) < OFF_M
    )
    driven = LineString(way.coords[begun:])
    return bool(driven.hausdorff_distance(figure.segmentize(0.01)) < OFF_M)


def rectangle(middle: tuple[float, float], wide: float, deep: float, angle: float) -> np.ndarray:
    half = np.array([wide, deep]) / 2
    turn = np.array([[np.cos(angle), -np.sin(angle)], [np.sin(angle), np.cos(angle)]])
    return np.array(middle) + (half * [[-1, -1], [1, -1], [1, 1], [-1, 1]]) @ turn.T


def keeps_clear(robot: KitchenRobot, way: LineString) -> bool:
    standing = obstacles(robot.state.room, robot.state.drawers)
    return all(shape.distance(way) >= BASE_R - 1e-6 for _, shape in standing)


@pytest.mark.sweep(share=0.15)
@pytest.mark.parametrize("seed", range(20))
def test_rectangles_of_1_to_3_m_go_around_chairs_and_stool(seed: int) -> None:
    rng = np.random.default_rng(seed)
    loc = FREE[seed % 3]
    wide, deep = rng.choice(SIDES_M, 2).tolist()
    angle = float(rng.uniform(0, math.pi))
    program = RECTANGLE.format(loc=loc, wide=wide, deep=deep, angle=angle)
    robot, way = driven(seed, program)
    x, y, _ = robot.state.room.locations[loc].middle()
    assert follows(way, rectangle((x, y), wide, deep, angle))
    assert keeps_clear(robot, way)


# The arm on the way.


@pytest.mark.parametrize("full", [False, True])
def test_after_a_stop_the_arm_is_folded_before_the_base_moves(full: bool) -> None:
    pytest.importorskip("mujoco")
    robot = create(seed=2, objects=["apple", "orange"])
    if full:
        robot.pick_obj("orange")
    frames = itertools.count(1)
    robot.on_frame = lambda: robot.stop() if next(frames) == 6 else None
    with pytest.raises(RobotError, match="stopped"):
        robot.place_at_obj("table") if full else robot.pick_obj("apple")
    stopped, base = robot.snapshot(), robot.state.base
    assert _off(robot) > 0.2
    moved: list[float] = []
    robot.on_frame = lambda: moved.append(_off(robot)) if robot.state.base != base else None
    for drive, arguments in (
        ("goto_loc", ["desk"]),
        ("follow_traj", [[base.world(0.0, -0.1), base.world(0.0, -0.3)]]),
        ("set_velocity", [0.1, 0]),
    ):
        robot.restore(stopped)
        getattr(robot, drive)(*arguments)
        assert _off(robot) < 0.05
    assert 0.0 < max(moved) < 0.05
    robot.close()


def _off(robot: KitchenRobot) -> float:
    return float(np.abs(np.array(robot.state.joints) - PARK_JOINTS).max())
