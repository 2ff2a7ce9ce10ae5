"""Sets of objects taken to sets of places by program, judged on the world."""

from __future__ import annotations

import math
import random
from typing import Any

import numpy as np
import pytest

from cap.errors import Collision, RobotError
from cap.session.session import Session
from robots.arm.motion import PARK
from robots.ravens import RavensRobot, arrangement, create
from robots.ravens.scene import Body, Scene
from robots.ravens.state import WorldState

COLORS = ("red", "green", "blue", "pink", "cyan", "gray", "yellow", "orange")
BLOCKS = [f"{color} block" for color in COLORS]
NEAR_M = 0.01
SEEDS = [
    pytest.param(mode, seed, marks=pytest.mark.sweep(share=0.1))
    for mode in ("instant", "physics")
    for seed in range(20)
]
by_program = pytest.mark.parametrize(("mode", "seed"), SEEDS)


def opened(mode: str, seed: int, objects: list[str] | None = None) -> Session:
    if mode == "physics":
        pytest.importorskip("mujoco")
    return Session.open("ravens", model="nearest", seed=seed, mode=mode, objects=objects)


def do(session: Session, source: str) -> None:
    turn = session.execute(source)
    assert turn.ok, turn.failure


def check_places(robot: RavensRobot, wanted: dict[str, tuple[float, ...]]) -> None:
    """Look where the objects truly are: xy, or xyz, in metres."""
    for name, place in wanted.items():
        found = robot.positions()[name][: len(place)]
        assert math.dist(found, place) < NEAR_M, f"{name} is at {found}, not at {place}"


PYRAMID = """
names = get_obj_names()
along = 0.06 * np.array([np.cos(ANGLE), np.sin(ANGLE)])
steps = [-1, 0, 1, -0.5, 0.5, 0]
middle = find_free_region([0.3, 0.3], moving=names)
arrange_objects({name: middle + step * along for name, step in zip(names, steps)})
"""


@by_program
def test_six_blocks_become_a_pyramid(mode: str, seed: int) -> None:
    angle = random.Random(seed).uniform(0, math.pi)
    with opened(mode, seed, BLOCKS[:6]) as session:
        do(session, f"ANGLE = {angle}\n{PYRAMID}")
        heights = [session.robot.positions()[name][2] for name in BLOCKS[:6]]
        assert heights == pytest.approx([0.02, 0.02, 0.02, 0.06, 0.06, 0.10], abs=0.003)
        left, right = (session.robot.get_obj_pos(name) for name in (BLOCKS[0], BLOCKS[2]))
        along = 0.12 * np.array([math.cos(angle), math.sin(angle)])
        assert right - left == pytest.approx(along, abs=NEAR_M)


def table(*bodies: Body) -> RavensRobot:
    robot = create(seed=0, mode="instant", objects=[body.name for body in bodies])
    robot.restore((WorldState(Scene(bodies), PARK.joints()), ()))
    return robot


def block(color: str, x: float, y: float, level: int = 0) -> Body:
    return Body(f"{color} block", (x, y, 0.02 + 0.04 * level))


def test_a_stack_that_does_not_hold_is_a_failure() -> None:
    scene = Scene((block("red", 0, -0.5), block("blue", 0.1, -0.5)))
    with pytest.raises(Collision, match="'blue block' should be at"):
        arrangement.check(scene, {"red block": (0, -0.5), "blue block": (0, -0.5)})
    arrangement.check(scene, {"red block": (0, -0.5), "blue block": (0.1, -0.5)})


@pytest.mark.sweep(share=0.05)
@pytest.mark.parametrize("apart", [0.045, 0.05, 0.056, 0.06, 0.069])
@pytest.mark.parametrize("degrees", [0, 30, 45, 70, 135])
def test_a_bridge_is_built_at_any_angle(degrees: int, apart: float) -> None:
    angle = math.radians(degrees)
    middle, along = np.array([0.02, -0.5]), np.array([math.cos(angle), math.sin(angle)])
    places = {
        "red block": middle - apart / 2 * along,
        "blue block": middle + apart / 2 * along,
        "pink block": middle,
    }
    start = block("red", -0.2, -0.3), block("blue", -0.2, -0.5), block("pink", -0.2, -0.7)
    robot = table(*start)
    robot.arrange_objects(places)
    check_places(robot, {name: tuple(xy) for name, xy in places.items()})
    assert robot.positions()["pink block"][2] == pytest.approx(0.06, abs=0.002)
    robot = table(*start)  # the block across comes by itself
    robot.arrange_objects({name: places[name] for name in ("red block", "blue block")})
    robot.put_first_on_second("pink block", middle)
    assert robot.positions()["pink block"][2] == pytest.approx(0.06, abs=0.002)


def test_a_bowl_does_not_creep_while_other_things_move() -> None:
    pytest.importorskip("mujoco")
    robot = create(seed=3)
    robot.put_first_on_second("red block", "blue bowl")
    before = robot.state.scene
    for place in ("bottom side", "top side") * 3:
        robot.put_first_on_second("green block", place)
    for body in before.others("green block"):
        assert robot.state.scene[body.name] == body
    robot.close()


@pytest.mark.sweep
@pytest.mark.parametrize("seed", range(40))
def test_stacks_of_any_order_end_as_asked_or_are_refused_untouched(seed: int) -> None:
    chance = random.Random(seed)
    blocks = BLOCKS[: chance.randint(3, 6)]
    robot = create(seed=seed, mode="instant", objects=[*blocks, "brown bowl", "purple bowl"])
    for _ in range(4):
        chance.shuffle(blocks)
        place = chance.choice([None, "middle", "top side", "bottom right corner"])
        before = robot.positions()
        try:
            robot.stack_objects_in_order([place, *blocks] if place else blocks)
        except RobotError:
            assert robot.positions() == before
            continue
        heights = [robot.positions()[name][2] for name in blocks]
        assert np.diff(heights) == pytest.approx([0.04] * (len(blocks) - 1), abs=1e-6)
        if place:
            apart = robot.get_obj_pos(blocks[0]) - robot.get_obj_pos(place)
            assert np.linalg.norm(apart) < 0.06


def test_a_stop_ends_the_planning(monkeypatch: pytest.MonkeyPatch) -> None:
    robot = create(mode="instant", seed=0, objects=["red block", "blue block"])
    looked, searches = arrangement.transfer.check_target, []

    def look(xy: Any) -> None:
        searches.append(xy)
        if len(searches) == 3:
            robot.stop()  # as from another thread
        looked(xy)

    monkeypatch.setattr(arrangement.transfer, "check_target", look)
    before = robot.positions()
    with pytest.raises(RobotError, match="stopped"):
        robot.arrange_objects({"red block": (0.1, -0.4), "blue block": (-0.1, -0.6)})
    assert robot.positions() == before
    assert len(searches) == 3
