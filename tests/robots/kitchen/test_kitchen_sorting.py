"""In, on and beside; things sorted by kind, size and colour; things that appear; by program."""

from __future__ import annotations

import math

import pytest

from cap.errors import RobotError
from cap.robot.observation import kind_of, pack, unpack
from cap.session.session import Session
from robots.kitchen import KitchenRobot, create

PLATES = ["red plate", "green plate", "blue plate @ countertop", "yellow plate @ countertop"]
BY_COLOR = """
seen = {}
for loc in ['table', 'countertop']:
    goto_loc(loc)
    for name in get_visible_obj_names():
        seen[name] = (loc, np.array(get_color(name)), float(np.prod(get_obj_size(name))))
def carry(name, plate):
    goto_loc(seen[name][0])
    pick_obj(name)
    goto_loc(seen[plate][0])
    place_at_obj(plate, 'on')
plates = [name for name in seen if 'plate' in name]
things = [name for name in seen if 'plate' not in name]
for name in things:
    carry(name, min(plates, key=lambda plate: np.linalg.norm(seen[plate][1] - seen[name][1])))
"""


@pytest.mark.sweep(share=0.05)
@pytest.mark.parametrize("seed", range(20))
def test_things_are_sorted_by_color(seed: int, mode: str) -> None:
    things = ["strawberry", "lime", "green apple", "lemon"]
    with Session.open(
        "kitchen", model="nearest", seed=seed, mode=mode, objects=[*PLATES, *things]
    ) as session:
        robot = session.robot
        assert isinstance(robot, KitchenRobot)
        before = robot.positions()
        turn = session.execute(BY_COLOR)
        assert turn.ok, turn.failure
        assert robot.state.held is None
        for plate, expected in (
            ("red plate", ["strawberry"]),
            ("green plate", ["green apple", "lime"]),
            ("blue plate", []),
            ("yellow plate", ["lemon"]),
        ):
            contents = robot.state.contents(robot.state[plate])
            assert sorted(thing.name for thing in contents) == expected
            assert math.dist(before[plate], robot.positions()[plate]) < 0.01


# What appears.


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
