"""What the arm did is taken back: by program, and by saying so to the offline model."""

from __future__ import annotations

import math
from collections.abc import Sequence

import pytest

from cap.errors import Collision, RobotError
from cap.session.session import Session
from robots.kitchen import KitchenRobot, create
from robots.kitchen.state import KitchenState
from tests.rows import table

OBJECTS = ["apple", "coke can", "banana", "bowl", "sponge @ desk"]


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
    table(__file__, "undo_said_so_often_takes_back_so_many_turns").values(),
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


@pytest.mark.inside
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


@pytest.mark.inside
def test_a_place_that_is_taken_is_told_and_the_rest_follows_when_it_is_free() -> None:
    robot = create(seed=0, mode="instant", objects=OBJECTS)
    robot.goto_loc("table")
    robot.end_turn()
    before = robot.state
    robot.pick_obj("apple")
    robot.place_at_obj("bowl")
    robot.pick_obj("banana")
    robot.end_turn()
    x, y = before["apple"].xy
    can = robot.state["coke can"]
    robot._world.state = robot.state.moved([can.at((x, y, can.position[2]))])
    for done in ("2 of 3", "0 of 1"):
        with pytest.raises(
            Collision, match=rf"'coke can' at \({x:.2f}, {y:.2f}\) m is in the way.*{done} moves"
        ):
            robot.undo_turns()
    assert robot.state.held == "apple"
    robot._world.state = robot.state.moved([can])
    assert robot.undo_turns()
    assert same(before, robot.state)
    robot.close()
