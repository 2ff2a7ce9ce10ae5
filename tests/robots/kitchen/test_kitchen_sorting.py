"""In, on and beside; things sorted by kind, size and colour; things that appear; by program."""

from __future__ import annotations

import math
from collections.abc import Iterator

import numpy as np
import pytest

from cap.errors import LimitExceeded, NotFound, RobotError
from cap.robot.observation import kind_of, pack, unpack
from cap.session.session import Session
from robots.kitchen import KitchenRobot, create
from robots.kitchen.objects import KINDS

PLATES = ["red plate", "green plate", "blue plate @ countertop", "yellow plate @ countertop"]
LOOK = """
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
"""
BY_COLOR = f"""{LOOK}
for name in things:
    carry(name, min(plates, key=lambda plate: np.linalg.norm(seen[plate][1] - seen[name][1])))
"""
BY_SIZE = f"""{LOOK}
order = sorted(things, key=lambda name: seen[name][2])
for name, plate in zip(order, plates):
    carry(name, plate)
"""
BY_KIND = f"""{LOOK}
for name in things:
    kind = 'red' if name in ['apple', 'plum'] else 'green' if name in ['egg'] else 'blue'
    carry(name, kind + ' plate')
"""


@pytest.fixture
def robot(mode: str) -> Iterator[KitchenRobot]:
    made = create(seed=2, mode=mode, objects=["apple", "cup", "bowl", "red plate", "cracker box"])
    yield made
    made.close()


def on_plates(seed: int, mode: str, things: list[str], program: str) -> dict[str, list[str]]:
    """Run a program; return what is on each plate, with nothing held and the plates in place."""
    with Session.open(
        "kitchen", model="nearest", seed=seed, mode=mode, objects=[*PLATES, *things]
    ) as session:
        robot = session.robot
        assert isinstance(robot, KitchenRobot)
        before = robot.positions()
        turn = session.execute(program)
        assert turn.ok, turn.failure
        assert robot.state.held is None
        names = [name.split(" @ ")[0] for name in PLATES]
        assert all(math.dist(before[name], robot.positions()[name]) < 0.01 for name in names)
        return {
            name: sorted(thing.name for thing in robot.state.contents(robot.state[name]))
            for name in names
        }


@pytest.mark.sweep(share=0.05)
@pytest.mark.parametrize("seed", range(20))
def test_things_are_sorted_by_color(seed: int, mode: str) -> None:
    things = ["strawberry", "lime", "green apple", "lemon"]
    assert on_plates(seed, mode, things, BY_COLOR) == {
        "red plate": ["strawberry"],
        "green plate": ["green apple", "lime"],
        "blue plate": [],
        "yellow plate": ["lemon"],
    }


@pytest.mark.sweep(share=0.05)
@pytest.mark.parametrize("seed", range(20))
def test_things_are_sorted_by_size(seed: int, mode: str) -> None:
    things = ["grapefruit", "strawberry", "orange", "plum"]
    assert on_plates(seed, mode, things, BY_SIZE) == {
        "red plate": ["strawberry"],
        "green plate": ["plum"],
        "blue plate": ["orange"],
        "yellow plate": ["grapefruit"],
    }


@pytest.mark.sweep(share=0.05)
@pytest.mark.parametrize("seed", range(20))
def test_things_are_sorted_by_kind(seed: int, mode: str) -> None:
    things = ["egg", "plum", "candy bar", "apple"]
    assert on_plates(seed, mode, things, BY_KIND) == {
        "red plate": ["apple", "plum"],
        "green plate": ["egg"],
        "blue plate": ["candy bar"],
        "yellow plate": [],
    }


@pytest.mark.sweep(share=0.05)
@pytest.mark.parametrize("seed", range(20))
def test_a_plate_is_carried_with_what_is_on_it(seed: int, mode: str) -> None:
    robot = create(seed=seed, mode=mode, objects=["blue plate", "egg", "lime", "apple"])
    for name in ("egg", "lime", "apple"):
        robot.pick_obj(name)
        robot.place_at_obj("blue plate")
    robot.pick_obj("blue plate")
    robot.goto_loc("desk")
    robot.place_at_obj("desk")
    contents = robot.state.contents(robot.state["blue plate"])
    assert sorted(thing.name for thing in contents) == ["apple", "egg", "lime"]
    assert robot.state.location_of("blue plate") == "desk"
    robot.close()


# In, on and beside.


@pytest.mark.parametrize("target", ["bowl", "red plate", "cup", "cracker box"])
def test_beside_is_neither_in_nor_on(robot: KitchenRobot, target: str) -> None:
    robot.pick_obj("apple")
    robot.place_at_obj(target, "beside")
    apple, other = robot.state["apple"], robot.state[target]
    assert apple not in robot.state.contents(other)
    assert apple.bottom == pytest.approx(0.72, abs=0.005)
    room = apple.radius + other.radius
    assert room < math.dist(apple.xy, other.xy) < room + 0.14


# What is seen of a thing.


def test_a_box_is_around_what_it_is_of(robot: KitchenRobot) -> None:
    low_x, low_y, high_x, high_y = robot.get_bbox("bowl")
    assert (high_x - low_x, high_y - low_y) == pytest.approx((0.31, 0.31), abs=0.001)
    assert robot.get_bbox("table")[2:] - robot.get_bbox("table")[:2] == pytest.approx([1.4, 0.8])
    with pytest.raises(NotFound, match="unicorn"):
        robot.get_bbox("unicorn")


# What appears.

UNTIL_SEEN = """
waited = 0
while not is_obj_visible('lemon'):
    wait(0.5)
    waited += 1
pick_obj('lemon')
place_at_obj('bowl', 'in')
ret_val = waited
"""


@pytest.mark.sweep(share=0.05)
@pytest.mark.parametrize("seed", range(20))
def test_a_program_waits_for_what_appears(seed: int, mode: str) -> None:
    objects = ["bowl", "apple", "lemon after 8 s"]
    with Session.open("kitchen", model="nearest", seed=seed, mode=mode, objects=objects) as session:
        robot = session.robot
        assert isinstance(robot, KitchenRobot)
        assert "lemon" not in robot.positions()
        turn = session.execute(UNTIL_SEEN)
        assert turn.ok, turn.failure
        assert session.state.variables["waited"] == 14
        inside = [thing.name for thing in robot.state.contents(robot.state["bowl"])]
        assert inside == ["lemon"]


def test_what_appears_does_so_at_its_time_and_place(mode: str) -> None:
    robot = create(seed=3, mode=mode, objects=["apple", "egg @ desk after 30 s"])
    robot.goto_loc("desk")
    assert robot.get_visible_obj_names() == []
    robot.wait(30 - robot.sim_time_s - 0.05)
    assert not robot.is_obj_visible("egg") or robot.sim_time_s >= 30
    robot.wait(0.2)
    assert robot.get_visible_obj_names() == ["egg"]
    robot.pick_obj("egg")
    assert robot.state.held == "egg"
    robot.close()


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


def test_waiting_can_be_stopped_and_is_limited() -> None:
    robot = create(seed=3, mode="instant", objects=["apple"])
    with pytest.raises(LimitExceeded, match="600"):
        robot.wait(601)
    with pytest.raises(LimitExceeded):
        robot.wait(-1)
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


def test_there_are_plates_of_five_colors_and_fruit_of_many_sizes() -> None:
    plates = [name for name in KINDS if name.endswith("plate")]
    assert len({KINDS[name].color for name in plates}) == 5
    fruit = [kind for kind in KINDS.values() if kind.category == "fruit"]
    assert len({kind.color for kind in fruit}) >= 10
    assert np.ptp([kind.size[0] for kind in fruit]) > 0.05


@pytest.mark.parametrize(("below", "above"), [("red plate", "apple"), ("blue block", "red block")])
def test_what_stood_on_a_thing_that_is_taken_away_comes_down(below: str, above: str) -> None:
    robot = create(seed=2, mode="instant", objects=[f"{name} @ table" for name in (above, below)])
    table_z = robot.state[above].bottom
    robot.pick_obj(above)
    robot.place_at_obj(below, "on")
    assert robot.state[above].bottom > table_z + 0.002
    robot.remove(below)
    assert robot.state[above].bottom == pytest.approx(table_z, abs=1e-6)
    with pytest.raises(NotFound):
        robot.remove(below)


def test_a_stack_comes_down_as_one() -> None:
    blocks = ["red block", "green block", "blue block"]
    robot = create(seed=2, mode="instant", objects=[f"{name} @ table" for name in blocks])
    height, table_z = robot.state["red block"].half_height * 2, robot.state["red block"].bottom
    for above, below in (("green block", "red block"), ("blue block", "green block")):
        robot.pick_obj(above)
        robot.place_at_obj(below, "on")
    robot.remove("red block")
    levels = [robot.state[name].bottom for name in blocks[1:]]
    assert levels == pytest.approx([table_z, table_z + height], abs=1e-3)
