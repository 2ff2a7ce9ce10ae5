"""The gripper's paths: followed as commanded, refused before anything moves, repeatable."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
import pytest
from shapely.geometry import LineString

from cap.errors import RobotError, Unreachable
from robots.arm import ur5e
from robots.ravens import RavensRobot, create
from robots.ravens.route import FASTEST_MPS
from tests.robots.stops import stopped_at

OBJECTS = ["red block", "green block", "blue block", "yellow block", "blue bowl"]
ANGLES = np.linspace(0, 2 * np.pi, 65)
MIDDLE = np.array([0.0, -0.5])
CIRCLE = MIDDLE + 0.1 * np.stack([np.cos(ANGLES), np.sin(ANGLES)], axis=1)
ZIGZAG = np.array([[x, -0.4 if i % 2 else -0.6] for i, x in enumerate(np.linspace(-0.2, 0.2, 9))])
EDGE = np.array([[-0.3, -0.8], [0.3, -0.8], [0.3, -0.2], [-0.3, -0.2], [-0.3, -0.8]])
DEVIATION_M = 0.0005


@pytest.fixture
def robot(mode: str) -> Iterator[RavensRobot]:
    made = create(seed=4, mode=mode, objects=OBJECTS)
    yield made
    made.close()


@pytest.fixture
def driven() -> Iterator[RavensRobot]:
    pytest.importorskip("mujoco")
    made = create(seed=4, objects=OBJECTS)
    yield made
    made.close()


def last_path(robot: RavensRobot) -> LineString:
    return LineString(robot.state.paths[-1])


def apart_m(first: LineString, second: LineString) -> float:
    """Return the greatest distance of either line from the other."""
    dense = first.segmentize(1e-3), second.segmentize(1e-3)
    return float(dense[0].hausdorff_distance(dense[1]))


@pytest.mark.sweep(share=0.34)
@pytest.mark.parametrize("speed", [0.05, 0.25, FASTEST_MPS])
@pytest.mark.parametrize("points", [CIRCLE, ZIGZAG, EDGE], ids=["circle", "zigzag", "edge"])
def test_the_gripper_is_nowhere_half_a_millimetre_from_its_path(
    robot: RavensRobot, points: np.ndarray, speed: float
) -> None:
    end = robot.follow_traj(points, speed=speed)
    assert apart_m(last_path(robot), LineString(points)) <= DEVIATION_M
    assert end == pytest.approx(points[-1], abs=DEVIATION_M)
    assert (end == robot.get_robot_pos()).all()


@pytest.mark.parametrize("speed", [0.05, 0.3])
def test_the_speed_is_kept_on_the_way_and_is_no_lower_than_asked(
    driven: RavensRobot, speed: float
) -> None:
    driven.goto_pos((-0.25, -0.5))
    before = driven.sim_time_s
    driven.follow_traj([(-0.25, -0.5), (0.25, -0.5)], speed=speed)
    took_s = driven.sim_time_s - before
    assert 0.5 / speed < took_s < 0.5 / speed + 1.0


def test_fingertips_and_objects_never_meet(driven: RavensRobot) -> None:
    driven.stack_objects_in_order(["blue bowl", "red block", "green block"])
    before = driven.positions()
    driven.follow_traj([driven.get_obj_pos(name) for name in OBJECTS])
    driven.goto_pos("red block")
    tip = ur5e.forward(driven.state.joints)[2, 3]
    assert tip > driven.get_obj_height("green block") + 0.04
    assert {name: np.round(at, 6).tolist() for name, at in driven.positions().items()} == {
        name: np.round(at, 6).tolist() for name, at in before.items()
    }


def test_goto_leads_straight_there(robot: RavensRobot) -> None:
    robot.goto_pos((-0.2, -0.7))
    assert robot.goto_pos("top right corner") == pytest.approx([0.25, -0.25], abs=DEVIATION_M)
    assert apart_m(last_path(robot), LineString([(-0.2, -0.7), (0.25, -0.25)])) <= DEVIATION_M
    block = robot.get_obj_pos("red block")
    assert robot.goto_pos("the red block") == pytest.approx(block, abs=DEVIATION_M)


def test_over_a_tower_the_far_corners_are_out_of_reach() -> None:
    colors = ("red", "green", "blue", "orange", "yellow", "purple", "pink")
    robot = create(seed=0, mode="instant", objects=[f"{color} block" for color in colors])
    robot.follow_traj(EDGE)
    robot.put_first_on_second("red block", "middle")
    robot.stack_objects_in_order(robot.get_obj_names())
    before = robot.state
    with pytest.raises(Unreachable, match=r"does not reach .* 0\.31 m high"):
        robot.follow_traj(EDGE)
    assert robot.state is before
    robot.follow_traj([(0.0, -0.3), (0.1, -0.5)])


def test_stopping_ends_the_way_and_the_next_one_goes_on(driven: RavensRobot) -> None:
    driven.goto_pos((-0.28, -0.5))
    with stopped_at(driven, 12), pytest.raises(RobotError, match="stopped"):
        driven.follow_traj([(-0.28, -0.5), (0.28, -0.5)], speed=0.1)
    x, y = driven.get_robot_pos()
    assert -0.25 < x < 0.2
    assert y == pytest.approx(-0.5, abs=0.002)
    assert last_path(driven).length == pytest.approx(x + 0.28, abs=0.01)
    driven.follow_traj(CIRCLE)
    assert apart_m(last_path(driven), LineString(CIRCLE)) <= DEVIATION_M
