"""What the arm did is taken back: by program, and by saying so to the offline model."""

from __future__ import annotations

import math
from collections.abc import Sequence

import pytest

from cap.errors import Collision, NotFound, RobotError, Unreachable
from cap.robot.observation import kind_of, pack, unpack
from cap.session.session import Session
from robots.kitchen import KitchenRobot, create
from robots.kitchen.state import MOST_DEEDS, Deed, KitchenState

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


@pytest.mark.parametrize("words", ["undo", "take it back", "please undo that", "go back a step"])
def test_undo_has_everyday_wordings(words: str) -> None:
    with Session.open("kitchen", model="nearest", mode="instant", objects=OBJECTS) as session:
        session.run("go to the table")
        before = session.robot.state
        assert session.run("put the apple in the bowl").ok
        assert session.run(words).ok
        assert same(before, session.robot.state)


def test_a_program_of_another_model_is_a_turn_like_any_other(mode: str) -> None:
    objects = ["apple @ table", "bowl @ table", "egg @ table"]
    with Session.open("kitchen", model="nearest", mode=mode, objects=objects) as session:
        robot = session.robot
        assert isinstance(robot, KitchenRobot)
        assert session.run("go to the table").ok
        before = robot.state
        assert session.run("put the apple in the bowl").ok
        between = robot.state
        assert session.execute("pick_obj('egg')\nplace_at_obj('bowl', 'beside')").ok
        assert session.execute("get_visible_obj_names()").ok
        for expected in (between, before):
            turn = session.run("undo that")
            assert turn.ok, turn.failure
            assert same(expected, robot.state)


def test_a_drive_by_velocity_is_taken_back() -> None:
    with Session.open("kitchen", model="nearest", mode="instant") as session:
        before = session.robot.state
        assert session.execute("set_velocity(0, -0.1)").ok
        between = session.robot.state
        assert session.execute("wait(2)\nstop()").ok
        assert session.execute("undo_turns()").ok
        assert math.dist(session.robot.state.base.xy, between.base.xy) < 1e-6
        assert same(before, session.robot.state)


def test_what_is_taken_back_ends_in_the_drawer_it_was_in(mode: str) -> None:
    robot = create(seed=0, mode=mode, objects=OBJECTS)
    robot.goto_loc("desk")
    robot.end_turn()
    before = robot.state
    robot.goto_loc("bottom drawer")
    robot.open_drawer("bottom drawer")
    robot.goto_loc("desk")
    robot.pick_obj("sponge")
    robot.goto_loc("bottom drawer")
    robot.place_at_obj("bottom drawer")
    robot.close_drawer("bottom drawer")
    robot.end_turn()
    between = robot.state
    robot.goto_loc("table")
    robot.end_turn()
    assert robot.undo_turns()
    assert same(between, robot.state)
    assert robot.state.location_of("sponge") == "bottom drawer"
    assert robot.undo_turns()
    assert same(before, robot.state)
    assert robot.undo_turns()
    assert not robot.undo_turns()
    with pytest.raises(NotFound, match="0 remembered"):
        robot.undo_turns(2)
    robot.close()


@pytest.mark.parametrize("again", [False, True])
def test_what_is_gone_is_told_and_all_else_is_taken_back(again: bool) -> None:
    with Session.open("kitchen", model="nearest", mode="instant", objects=OBJECTS) as session:
        robot = session.robot
        assert isinstance(robot, KitchenRobot)
        assert session.run("go to the table").ok
        before = robot.state
        assert session.run("pick up the apple").ok
        robot.remove("apple")
        if again:
            robot.add("apple", "desk")
        assert session.run("put the coke can in the bowl").ok
        assert session.run("undo that").ok
        assert math.dist(robot.state["coke can"].position, before["coke can"].position) < 1e-6
        turn = session.run("undo that")
        told = "does not hold 'apple' any more" if again else "'apple' is not in the kitchen"
        assert turn.failure is not None
        assert told in turn.failure.message
        assert robot.state.base == before.base
        assert session.run("undo that").ok  # the way to the table
        assert not robot.undo_turns()


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


@pytest.mark.inside
def test_only_so_many_deeds_are_remembered_and_snapshots_hold_them() -> None:
    robot = create(seed=0, mode="instant", objects=OBJECTS)
    state, start = robot.state, robot.state.start
    for _ in range(MOST_DEEDS + 5):
        state = state.having_done(Deed("apple"))
    assert len(state.deeds) == MOST_DEEDS
    robot._world.state = state.since(start)
    robot.end_turn()
    with pytest.raises(Unreachable, match="too long ago"):
        robot.undo_turns()
    kind = kind_of(robot)
    assert unpack(pack(robot.snapshot(), kind), kind) == robot.snapshot()
    robot.close()


def test_the_answer_names_the_turn_that_is_taken_back() -> None:
    with Session.open("kitchen", model="nearest", mode="instant", objects=OBJECTS) as session:
        assert session.run("go to the countertop").ok
        assert not session.execute("pick_obj('pluto')").ok
        assert session.run("undo that").effect.undone == ("go to the countertop",)
        assert session.run("undo that").effect.undone == ()


@pytest.mark.parametrize("frames", [10, 12])
def test_what_slid_on_a_plate_that_was_stopped_is_put_back_as_well(frames: int) -> None:
    pytest.importorskip("mujoco")
    objects = ["apple @ table", "bowl @ table", "egg @ table", "red plate @ table"]
    robot = create(seed=0, mode="physics", objects=objects)
    left = [frames]

    def stop_after_frames() -> None:
        left[0] -= 1
        if left[0] == 0:
            robot.stop()

    try:
        robot.goto_loc("table")
        robot.pick_obj("egg")
        robot.place_at_obj("red plate")
        robot.end_turn()
        before = robot.state
        robot.on_frame = stop_after_frames
        with pytest.raises(RobotError, match="stopped"):
            robot.pick_obj("red plate")
        robot.on_frame = None
        robot.end_turn()
        assert robot.undo_turns()
        assert same(before, robot.state)
    finally:
        robot.close()
