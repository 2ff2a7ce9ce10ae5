"""The kitchen robot's arm and eyes: what it sees, moves and refuses, the same bits every time."""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import replace

import numpy as np
import pytest

from cap.errors import NotGrasped, RobotError
from robots.kitchen import KitchenRobot, create
from robots.kitchen.objects import KINDS
from robots.table.geometry import yaw_quaternion
from tests.robots.stops import stopped_at

OBJECTS = ("apple", "orange", "banana", "bowl", "coke can @ desk", "sponge @ top drawer")


@pytest.fixture
def robot(mode: str) -> Iterator[KitchenRobot]:
    made = create(seed=2, mode=mode, objects=OBJECTS)
    yield made
    made.close()


@pytest.fixture
def arm() -> Iterator[KitchenRobot]:
    pytest.importorskip("mujoco")
    made = create(seed=2, objects=OBJECTS)
    yield made
    made.close()


def where(robot: KitchenRobot, name: str) -> str | None:
    return robot.state.location_of(name)


@pytest.mark.sweep(share=0.2)
@pytest.mark.parametrize("share", range(5))
def test_every_kind_of_object_can_be_picked_up_and_put_down(mode: str, share: int) -> None:
    names = list(KINDS)[share::5]
    robot = create(seed=1, mode=mode, objects=[f"{name} @ countertop" for name in names])
    robot.goto_loc("countertop")
    for name in names:
        robot.pick_obj(name)
        assert robot.state.held == name
        robot.place_at_obj("countertop")
        assert robot.state[name].lean < 0.05
    robot.close()


def test_the_gripper_closes_on_nothing_where_an_object_vanished(arm: KitchenRobot) -> None:
    robot = arm
    robot.goto_loc("desk")
    robot.goto_pos(robot.state.base.world(0.0, -0.5), angle=robot.state.base.angle)

    def taken_away() -> None:  # while the robot drives up to it
        robot.on_frame = None
        robot.remove("coke can")

    robot.on_frame = taken_away
    with pytest.raises(NotGrasped, match="closed on nothing"):
        robot.pick_obj("coke can")
    assert robot.state.held is None


# The same bits, and back again.


def test_going_back_to_a_snapshot_is_exact_in_another_robot_of_the_seed_too(
    robot: KitchenRobot, mode: str
) -> None:
    robot.pick_obj("banana")
    kept = robot.snapshot()
    robot.place_at_obj("bowl")
    after = robot.state
    robot.say("done")
    robot.restore(kept)
    assert robot.obj_in_gripper("banana")
    robot.restore(kept)
    robot.place_at_obj("bowl")
    assert robot.state == after
    assert robot.spoken == []
    twin = create(seed=5, mode=mode, objects=OBJECTS)
    twin.goto_loc("desk")
    twin.reset(2)
    twin.pick_obj("banana")
    twin.place_at_obj("bowl")
    assert twin.state == after
    twin.close()


# Motion of the arm.


@pytest.mark.parametrize("turn", [1, 4])
def test_the_bowl_has_a_rim_all_around(arm: KitchenRobot, turn: int) -> None:
    bowl = arm.state["bowl"]
    aslant = replace(bowl, quaternion=yaw_quaternion(turn * math.pi / 6))
    arm.restore((arm.state.moved([aslant]), ()))
    arm.pick_obj("bowl")
    assert arm.obj_in_gripper("bowl")


def test_stopping_ends_the_motion_and_the_next_one_works(arm: KitchenRobot) -> None:
    for call, place, held in ((arm.pick_obj, "apple", None), (arm.place_at_obj, "bowl", "apple")):
        with stopped_at(arm, 3), pytest.raises(RobotError, match="stopped"):
            call(place)
        assert arm.state.held == held
        call(place)
    assert arm.state["apple"] in arm.state.contents(arm.state["bowl"])


# Making it.


def test_objects_that_find_no_room_on_the_table_stand_elsewhere() -> None:
    robot = create(seed=1, mode="instant", objects=list(KINDS))
    places = {where(robot, name) for name in KINDS}
    assert "table" in places
    assert len(places) > 1


def test_pictures_on_the_way_change_no_bit(arm: KitchenRobot) -> None:
    kept = arm.snapshot()
    arm.pick_obj("apple")
    after = arm.state
    arm.restore(kept)
    arm.frame_every_s = 1.0
    arm.on_frame = lambda: arm.render(60, 60)
    arm.pick_obj("apple")
    assert arm.state == after


def test_the_picture_shows_what_moves(robot: KitchenRobot) -> None:
    before = np.asarray(robot.render(240, 200))
    assert before.shape == (200, 240, 3)
    robot.pick_obj("bowl")
    robot.goto_loc("desk")
    assert (np.asarray(robot.render(240, 200)) != before).any(axis=2).sum() > 300


def test_the_robot_s_text_names_every_location() -> None:
    robot = create(mode="instant", seed=4)
    told = " ".join((type(robot).__doc__ or "").split())
    assert f"Locations: {', '.join(map(repr, robot.get_loc_names()))}." in told
