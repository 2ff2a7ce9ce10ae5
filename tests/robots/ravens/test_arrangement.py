"""Sets of objects taken to sets of places by program, judged on the world."""

from __future__ import annotations

import math
import random
from typing import Any

import numpy as np
import pytest

from cap.errors import Collision, RobotError
from cap.session.session import Session
from robots.arm.travel import PARK
from robots.ravens import RavensRobot, arrangement, create
from robots.ravens.scene import Body, Scene
from robots.ravens.world import WorldState

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


TURN = """
names = get_obj_names()
middle = get_obj_pos('middle')
t = np.arange(len(names)) / len(names)
points = 0.12 * np.stack([np.cos(2 * np.pi * t), np.sin(2 * np.pi * t)], axis=1)
arrange_objects(dict(zip(names, middle + points)))
c, s = np.cos(ANGLE), np.sin(ANGLE)
arrange_objects(dict(zip(names, middle + points @ np.array([[c, s], [-s, c]]))))
"""


@pytest.mark.sweep(share=0.02)
@by_program
def test_a_ring_is_turned_by_any_angle(mode: str, seed: int) -> None:
    chance = random.Random(seed)
    names, angle = BLOCKS[: chance.randint(4, 8)], chance.uniform(-math.pi, math.pi)
    with opened(mode, seed, names) as session:
        do(session, f"ANGLE = {angle}\n{TURN}")
        wanted = {}
        for number, name in enumerate(names):
            at = angle + 2 * math.pi * number / len(names)
            wanted[name] = (0.12 * math.cos(at), 0.12 * math.sin(at) - 0.5, 0.02)
        check_places(session.robot, wanted)


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


def some_turn(robot: RavensRobot, chance: random.Random) -> str:
    names = robot.get_obj_names()
    blocks = [name for name in names if name.endswith("block")]
    chance.shuffle(blocks)
    if chance.random() < 0.4:
        return f"stack_objects_in_order({blocks[:3]})"
    if chance.random() < 0.5:
        return f"put_first_on_second({blocks[0]!r}, {chance.choice(names)!r})"
    spot = [chance.uniform(-0.25, 0.25), chance.uniform(-0.75, -0.25)]
    return f"put_first_on_second({chance.choice(names)!r}, {spot})"


@pytest.mark.sweep(share=0.01)
@by_program
def test_three_turns_are_undone_by_program(mode: str, seed: int) -> None:
    chance = random.Random(seed)
    with opened(mode, seed) as session:
        do(session, "history = []")
        seen = []
        while len(seen) < 3:
            before = session.robot.positions()
            source = some_turn(session.robot, chance)
            if session.execute(f"history.append(get_layout())\n{source}").ok:
                seen.append(before)
        do(session, "arrange_objects(history[-3])")
        check_places(session.robot, dict(seen[0]))


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


def test_a_narrow_bridge_at_a_diagonal_stands() -> None:
    names = ["red block", "blue block", "pink block"]
    with opened("physics", 3, names) as session:
        do(
            session,
            f"""
along = 0.023 * np.array([1, 1]) / np.sqrt(2)
middle = np.array([0.05, -0.55])
arrange_objects(dict(zip({names}, [middle - along, middle + along, middle])))
""",
        )
        across = session.robot.positions()["pink block"]
    assert across == pytest.approx((0.05, -0.55, 0.06), abs=0.003)


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


@pytest.mark.inside
def test_places_that_overlap_are_refused_before_a_search(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(arrangement._Planner, "steps", lambda planner: pytest.fail("it searched"))
    robot = table(block("red", 0, -0.5), block("blue", 0.2, -0.6), block("pink", 0.1, -0.3))
    for places, why in (
        ({"red block": [0.1, -0.5], "blue block": [0.12, -0.5]}, r"'red block' is 2\.0 cm away"),
        ({"red block": [0.12, -0.3]}, r"'pink block' is 2\.0 cm away"),
    ):
        with pytest.raises(Collision, match=why):
            robot.arrange_objects(places)
