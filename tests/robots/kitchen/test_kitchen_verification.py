"""What the kitchen robot says of its arm's motions is what the world shows, in physics mode."""

from __future__ import annotations

import contextlib
import functools
import math
import random
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from cap.errors import Collision, RobotError
from robots.kitchen import KitchenRobot, create
from robots.kitchen.objects import KINDS
from tests.rows import table

pytest.importorskip("mujoco")

SMALL = ["egg", "lime", "plum", "strawberry", "lemon", "apple", "pear", "candy bar", "sponge"]
TALL = ["water bottle", "soap bottle", "chip bag", "cracker box", "coke can", "cup"]
DISHES = ["bowl", "red plate", "blue plate"]


def outcomes(robot: KitchenRobot, names: list[str], rng: random.Random) -> list[str]:
    """Pick and place at random; return what each was: ok, refused, or what was wrong."""
    found = []
    for _ in range(10):
        before, held = robot.state, robot.state.held
        others = [name for name in names if name != held]
        target, relation = rng.choice(others), rng.choice(["beside", "on", ""])
        moving = held or target
        load = [moving, *(thing.name for thing in before.contents(before[moving]))]
        words = f"{relation or 'at'} {target}" if held else "picked"
        try:
            if held is None:
                robot.pick_obj(moving)
            elif rng.random() < 0.4:
                words, target = "on the table", "table"
                robot.place_at_obj("table")
            else:
                robot.place_at_obj(target, relation)
        except RobotError as error:
            told = str(error)
            pushed = [name for name in others if _moved(robot, before, name) > 0.01]
            silent = [name for name in pushed if name not in load and repr(name) not in told]
            found.append(f"wrong: {moving} {words}: silent on {silent}" if silent else "refused")
            continue
        after = robot.state
        pushed = [n for n in names if n not in load and _moved(robot, before, n) > 0.01]
        if pushed:
            found.append(f"wrong: {moving} {words}: pushed {pushed}")
        elif held is not None and not _rests(robot, moving, target, relation):
            found.append(f"wrong: {moving} {words}: {after[moving].position}")
        else:
            found.append("ok" if held or after.held == moving else f"wrong: not held {moving}")
    return found


def _moved(robot: KitchenRobot, before: object, name: str) -> float:
    return math.dist(before[name].position, robot.positions()[name])  # type: ignore[index]


def _rests(robot: KitchenRobot, name: str, target: str, relation: str) -> bool:
    """Return whether a thing that was put down rests where that was said to be."""
    state = robot.state
    thing = state[name]
    if target == "table" or relation == "beside":
        table = state.room.locations["table"]
        apart = target == "table" or math.dist(thing.xy, state[target].xy) < 0.45
        return apart and abs(thing.bottom - table.floor_z) < 0.012
    if KINDS[target].shape == "dish":
        return name in [inside.name for inside in state.contents(state[target])]
    off = math.dist(thing.xy, state[target].xy)
    return off < 0.03 and abs(thing.bottom - state[target].top) < 0.012


@pytest.mark.sweep(share=0.05)
@pytest.mark.parametrize("seed", range(40))
def test_ok_means_that_it_rests_there_and_that_nothing_else_moved(seed: int) -> None:
    rng = random.Random(seed)
    names = [*rng.sample(SMALL, 3), *rng.sample(TALL, 2), rng.choice(DISHES)]
    robot = create(seed=seed, mode="physics", objects=names)
    names = [name for name in names if robot.state.location_of(name) == "table"]
    robot.goto_loc("table")
    found = outcomes(robot, names, rng)
    robot.close()
    assert not [outcome for outcome in found if outcome.startswith("wrong")]
    assert "ok" in found


@pytest.mark.parametrize(
    ("small", "tall", "gap_m", "angle"),
    table(__file__, "what_stands_beside_a_tall_thing_is_taken_without_it_or_not_at_all").values(),
)
def test_what_stands_beside_a_tall_thing_is_taken_without_it_or_not_at_all(
    small: str, tall: str, gap_m: float, angle: float, tmp_path: Path
) -> None:
    x, y = -0.05, -0.28
    away = KINDS[small].size[0] / 2 + KINDS[tall].size[0] / 2 + gap_m
    if KINDS[tall].shape == "box":
        away = KINDS[small].size[0] / 2 + math.hypot(*KINDS[tall].size[:2]) / 2 + gap_m
    other = (x + away * math.cos(angle), y + away * math.sin(angle))
    scene = tmp_path / "pair.toml"
    scene.write_text(
        "".join(
            f'[[objects]]\nname = "{name}"\nposition_m = [{place[0]:.4f}, {place[1]:.4f}]\n'
            for name, place in ((small, (x, y)), (tall, other))
        )
    )
    robot = create(seed=0, mode="physics", scene=str(scene))
    before = robot.state
    robot.goto_loc("table")
    try:
        robot.pick_obj(small)
    except Collision as error:
        assert repr(tall) in str(error)  # noqa: PT017
        assert f"({other[0]:.2f}, {other[1]:.2f}) m is in the way" in str(error)  # noqa: PT017
        assert robot.state.held is None
    assert math.dist(robot.state[tall].position, before[tall].position) < 0.003
    robot.close()


@pytest.mark.inside
@pytest.mark.parametrize(
    ("calls", "thing", "by", "turn", "told"),
    table(__file__, "what_went_wrong_in_a_motion_is_told").values(),
)
def test_what_went_wrong_in_a_motion_is_told(
    calls: list[list[str]],
    thing: str,
    by: list[float],
    turn: float,
    told: str,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """In the last of some calls a thing ends elsewhere: so far right, back and up, and turned."""
    robot = create(
        seed=2, mode="instant", objects=["apple", "cup", "red plate", "bowl", "cracker box"]
    )
    for name, *arguments in calls[:-1]:
        getattr(robot, name)(*arguments)

    def astray(really: Callable[[Any], None], planned: Any) -> None:
        really(planned)
        was = robot.state[thing]
        x, y, z = (a + b for a, b in zip(was.position, by, strict=True))
        tilted = (math.sin(turn / 2), 0.0, 0.0, math.cos(turn / 2)) if turn else was.quaternion
        moved = replace(was, position=(x, y, z), quaternion=tilted)
        robot._world.state = robot.state.moved([moved])

    for motion in ("pick", "place"):
        really = getattr(robot._world, motion)
        monkeypatch.setattr(robot._world, motion, functools.partial(astray, really))
    name, *arguments = calls[-1]
    with pytest.raises(Collision, match=told) if told else contextlib.nullcontext():
        getattr(robot, name)(*arguments)


def test_nothing_creeps_while_other_things_are_moved() -> None:
    things = ["apple", "red plate", "water bottle", "chip bag", "egg"]
    robot = create(seed=2, mode="physics", objects=things)
    robot.goto_loc("table")
    robot.pick_obj("egg")
    robot.place_at_obj("red plate")
    before = robot.positions()
    for _ in range(2):
        robot.pick_obj("apple")
        robot.place_at_obj("table")
    after = robot.positions()
    assert {name: after[name] for name in things[1:]} == {name: before[name] for name in things[1:]}
    robot.close()


@pytest.mark.parametrize("mode", ["instant", "physics"])
def test_the_base_ends_where_it_is_asked_to_be_however_often(mode: str) -> None:
    robot = create(seed=0, mode=mode, objects=["apple"])
    robot.goto_loc("table")
    x, y, _ = robot.get_robot_pos()
    for turn in range(12):
        goal = (x + 0.1 * (turn % 3), y - 0.2)
        assert math.dist(robot.goto_pos([*goal, 0.0], angle=0.5 * turn)[:2], goal) < 1e-9
    robot.pick_obj("apple")
    base = robot.state.base
    for _ in range(4):
        robot.goto_pos([*base.xy, 0.0])
    assert math.dist(robot.state.base.xy, base.xy) < 1e-9
    robot.close()
