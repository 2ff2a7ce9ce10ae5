"""A session of trajectory commands with `nearest`, judged on the paths the gripper followed."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
import pytest
from shapely.geometry import LineString, Point

from cap.session.session import Session
from tests.robots.ravens.test_trajectories import apart_m

NEAR_M = 0.001


@pytest.fixture
def session(mode: str) -> Iterator[Session]:
    names = ["red block", "green block", "blue bowl", "yellow block"]
    with Session.open("ravens", model="nearest", seed=3, mode=mode, objects=names) as made:
        yield made


def tell(session: Session, words: str) -> LineString:
    """Say something; return the path the gripper followed."""
    count = len(session.robot.state.paths)
    turn = session.run(words)
    assert turn.ok, f"{words}: {turn.failure}"
    assert len(session.robot.state.paths) == count + 1
    return LineString(session.robot.state.paths[-1])


def test_paths_are_followed_changed_and_planned(session: Session) -> None:
    robot = session.robot
    block, bowl = robot.get_obj_pos("yellow block"), robot.get_obj_pos("blue bowl")
    before = robot.positions()

    circle = tell(session, "move the gripper in an 8 cm circle around the green block")
    center = robot.get_obj_pos("green block")
    assert apart_m(circle, Point(center).buffer(0.08, quad_segs=32).exterior) < NEAR_M

    began = robot.sim_time_s
    again = tell(session, "do that again but slower")
    assert apart_m(again, circle) < NEAR_M
    if robot.mode == "physics":
        assert robot.sim_time_s - began > circle.length / 0.125

    half = tell(session, "do that again but half as large")
    assert apart_m(half, Point(center).buffer(0.04, quad_segs=32).exterior) < NEAR_M

    diagonal = tell(session, "go along the table's diagonal")
    assert apart_m(diagonal, LineString([(-0.25, -0.75), (0.25, -0.25)])) < NEAR_M

    mirrored = tell(session, "do that again but mirrored")
    assert apart_m(mirrored, LineString([(0.25, -0.75), (-0.25, -0.25)])) < NEAR_M
    assert Point(mirrored.coords[-1]).distance(Point(-0.25, -0.25)) < NEAR_M

    tell(session, "now move the gripper 5 cm backwards")
    assert robot.get_robot_pos() == pytest.approx([-0.25, -0.3], abs=NEAR_M)

    tell(session, "go to the yellow block")
    assert robot.get_robot_pos() == pytest.approx(block, abs=NEAR_M)

    around = tell(session, "go to the blue bowl while avoiding the green block")
    assert robot.get_robot_pos() == pytest.approx(bowl, abs=NEAR_M)
    assert LineString([block, bowl]).distance(Point(center)) < 0.02
    assert around.distance(Point(center)) > 0.055
    moved = {name: np.round(at, 6).tolist() for name, at in robot.positions().items()}
    assert moved == {name: np.round(at, 6).tolist() for name, at in before.items()}


def test_undo_takes_the_gripper_back_and_forgets_the_path(session: Session) -> None:
    tell(session, "go to the red block")
    kept = session.robot.state
    tell(session, "trace a square around the blue bowl")
    session.undo()
    assert session.robot.state == kept
    again = tell(session, "go to the blue bowl")
    assert Point(again.coords[0]).distance(Point(session.robot.get_obj_pos("red block"))) < NEAR_M
