"""What appears while the robot waits, and waiting itself."""

from __future__ import annotations

import math

import pytest

from cap.errors import RobotError
from cap.robot.observation import kind_of, pack, unpack
from robots.kitchen import KitchenRobot, create


def test_what_appears_where_something_stands_takes_the_nearest_free_spot() -> None:
    robot = create(seed=3, mode="instant", objects=["apple", "plum after 20 s"])
    spot = robot.state.arriving[0].thing.position
    robot.pick_obj("apple")
    robot.place_at_pos(spot)
    robot.wait(20)
    assert robot.state.location_of("plum") == "table"
    apart = math.dist(robot.state["plum"].xy, robot.state["apple"].xy)
    room = robot.state["plum"].radius + robot.state["apple"].radius
    assert room < apart < room + 0.05


def test_waiting_can_be_stopped() -> None:
    robot = create(seed=3, mode="instant", objects=["apple"])
    robot.frame_every_s = 1.0
    robot.set_velocity(x=0.0, y=-0.05)
    robot.on_frame = robot.stop
    with pytest.raises(RobotError, match="stopped"):
        robot.wait(10)
    assert robot.sim_time_s < 2
    assert robot.state.velocity == (0.0, 0.0, 0.0)


def test_what_appears_is_part_of_a_snapshot(mode: str) -> None:
    def marks(robot: KitchenRobot) -> str:
        robot.wait(6)
        robot.pick_obj("lemon")
        robot.place_at_obj("bowl")
        return repr(pack(robot.snapshot(), kind_of(robot)))

    robot = create(seed=4, mode=mode, objects=["bowl", "lemon after 5 s"])
    kept = robot.snapshot()
    first = marks(robot)
    kind = kind_of(robot)
    robot.restore(unpack(pack(kept, kind), kind))
    assert "lemon" not in robot.positions()
    assert marks(robot) == first
    robot.reset(4)
    assert marks(robot) == first
    robot.close()
