"""What the arm did is taken back: by program, and by saying so to the offline model."""

from __future__ import annotations

import math
from collections.abc import Sequence

import pytest

from cap.errors import RobotError, Unreachable
from cap.robot.snapshots import kind_of, pack, unpack
from cap.session.session import Session
from robots.kitchen import KitchenRobot, create
from robots.kitchen.deeds import MOST, Deed
from robots.kitchen.state import KitchenState

OBJECTS = ["apple", "coke can", "banana", "bowl", "sponge @ desk"]


@pytest.fixture(params=["instant", "physics"])
def mode(request: pytest.FixtureRequest) -> str:
    if request.param == "physics":
        pytest.importorskip("pybullet")
    return str(request.param)


def same(one: KitchenState, other: KitchenState) -> bool:
    """Return whether everything is where it was, but for what an arm cannot do better."""
    things = all(
        math.dist(was.position, other[was.name].position) < 0.01
        for was in one.things
        if was.name not in one.load()
    )
    there = math.dist(one.base.xy, other.base.xy) < 1e-6
    shut = [name for name, out in one.drawers if out > 0.02]
    return (
        things
        and there
        and one.held == other.held
        and shut == [name for name, out in other.drawers if out > 0.02]
    )


@pytest.mark.sweep(share=0.175)
@pytest.mark.parametrize(
    "turns",
    [
        ["put the apple in the bowl", "take the coke can to the desk"],
        ["pick up the apple", "put it in the bowl"],
        ["put the banana next to the bowl", "put the apple in the bowl", "go to the desk"],
        ["put all the fruit in the bowl", "take the bowl to the countertop"],
        ["put the apple in the bottom drawer", "go to the table", "pick up the banana"],
        ["move to the left by 20 cm", "move backward by 10 cm"],
        ["grab the apple", "put it on the cart", "go back to the table"],
    ],
)
def test_undo_said_so_often_takes_back_so_many_turns(mode: str, turns: Sequence[str]) -> None:
    with Session.open("kitchen", model="nearest", seed=0, mode=mode, objects=OBJECTS) as session:
        robot = session.robot
        assert isinstance(robot, KitchenRobot)
        assert session.run("go to the table").ok
        states = [robot.state]
        for words in turns:
            turn = session.run(words)
            assert turn.ok, turn.failure
            states.append(robot.state)
        for expected in reversed(states[:-1]):
            turn = session.run("undo that")
            assert turn.ok, turn.failure
            assert same(expected, robot.state)
        session.run("undo that")  # the way to the table
        turn = session.run("undo that")
        assert "nothing was done yet" in robot.spoken[-1]


def test_what_a_failed_turn_did_is_taken_back_and_then_what_came_before(mode: str) -> None:
    objects = ["apple", "bowl", "coke can"]
    with Session.open("kitchen", model="nearest", seed=0, mode=mode, objects=objects) as session:
        robot = session.robot
        assert isinstance(robot, KitchenRobot)
        assert session.run("go to the table").ok
        before = robot.state
        assert session.run("put the coke can in the bowl").ok
        between = robot.state
        world = robot._world
        world.place, place = refused, world.place  # type: ignore[method-assign]
        assert not session.run("put the apple in the bowl").ok
        world.place = place  # type: ignore[method-assign]
        assert robot.state.held == "apple"
        for expected in (between, before):
            turn = session.run("undo that")
            assert turn.ok, turn.failure
            assert same(expected, robot.state)


def refused(*_: object) -> None:
    raise RobotError("the gripper would not open")


@pytest.mark.parametrize("words", ["undo", "take it back", "please undo that", "go back a step"])
def test_undo_has_everyday_wordings(words: str) -> None:
    with Session.open("kitchen", model="nearest", mode="instant", objects=OBJECTS) as session:
        session.run("go to the table")
        before = session.robot.state
        assert session.run("put the apple in the bowl").ok
        assert session.run(words).ok
        assert same(before, session.robot.state)


def test_what_is_taken_back_ends_in_the_drawer_it_was_in(mode: str) -> None:
    robot = create(seed=0, mode=mode, objects=OBJECTS)
    robot.goto_loc("desk")
    before, mark = robot.state, robot.get_mark()
    robot.goto_loc("bottom drawer")
    robot.open_drawer("bottom drawer")
    robot.goto_loc("desk")
    robot.pick_obj("sponge")
    robot.goto_loc("bottom drawer")
    robot.place_at_obj("bottom drawer")
    robot.close_drawer("bottom drawer")
    middle = robot.get_mark()
    robot.undo_to(middle)
    assert robot.state.location_of("sponge") == "bottom drawer"
    robot.undo_to(mark)
    assert same(before, robot.state)
    with pytest.raises(Unreachable, match="taken back already"):
        robot.undo_to(middle)
    robot.close()


def test_what_cannot_be_taken_back_says_why() -> None:
    robot = create(seed=0, mode="instant", objects=OBJECTS)
    robot.goto_loc("table")
    mark = robot.get_mark()
    robot.pick_obj("apple")
    robot.place_at_obj("bowl")
    robot.remove("apple")
    with pytest.raises(RobotError, match="'apple'"):
        robot.undo_to(mark)
    robot.close()


def test_a_place_that_is_taken_by_now_is_told_with_what_took_it() -> None:
    robot = create(seed=0, mode="instant", objects=OBJECTS)
    robot.goto_loc("table")
    mark, x, y = robot.get_mark(), *robot.state["apple"].xy
    robot.pick_obj("apple")
    robot.place_at_obj("bowl")
    can = robot.state["coke can"]
    robot._world.state = robot.state.moved([can.at((x, y, can.position[2]))])
    with pytest.raises(RobotError, match=rf"'coke can' at \({x:.2f}, {y:.2f}\) m is in the way"):
        robot.undo_to(mark)
    robot.close()


def test_only_so_many_deeds_are_remembered_and_snapshots_hold_them() -> None:
    robot = create(seed=0, mode="instant", objects=OBJECTS)
    state, mark = robot.state, robot.get_mark()
    for _ in range(MOST + 5):
        state = state.having_done(Deed("apple"))
    assert len(state.deeds) == MOST
    robot._world.state = state
    with pytest.raises(Unreachable, match="too long ago"):
        robot.undo_to(mark)
    kind = kind_of(robot)
    assert unpack(pack(robot.snapshot(), kind), kind) == robot.snapshot()
    robot.close()
