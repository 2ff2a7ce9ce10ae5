"""Transfers among towers, from wherever the gripper is: nothing moves but what was to."""

from __future__ import annotations

import math
import random

import pytest

from cap.errors import RobotError
from robots.arm.motion import PARK
from robots.ravens import create, transfer
from robots.ravens.scene import Body, Scene
from robots.ravens.state import WorldState
from robots.table.geometry import PLACES

pytest.importorskip("mujoco")

_MOVED_M = 0.01
COLORS = ("red", "green", "blue", "pink", "cyan", "gray", "yellow", "orange")


def towers(chance: random.Random) -> Scene:
    """Return blocks in one to three stacks, and two bowls, apart from each other."""
    spots: list[tuple[float, float]] = []
    while len(spots) < 6:
        spot = chance.uniform(-0.24, 0.24), chance.uniform(-0.72, -0.3)
        if all(math.dist(spot, other) > 0.15 for other in spots):
            spots.append(spot)
    bodies = [Body(f"{c} bowl", (*spots.pop(), 0.018)) for c in ("brown", "purple")]
    heights = [0] * chance.randint(1, 3)
    for color in COLORS:
        level = chance.randrange(len(heights) + 1)
        if level < len(heights) and heights[level] < 5:
            bodies.append(Body(f"{color} block", (*spots[level], 0.02 + 0.04 * heights[level])))
            heights[level] += 1
    return Scene(tuple(bodies))


@pytest.mark.sweep
@pytest.mark.parametrize("seed", range(150))
def test_no_bystander_moves(seed: int) -> None:
    chance = random.Random(seed)
    scene = towers(chance)
    robot = create(seed=seed, objects=scene.names)
    robot.restore((WorldState(scene, PARK.joints()), ()))
    carried_out = 0
    for _ in range(40):
        if carried_out == 8:
            break
        if chance.random() < 0.5:
            pointed = chance.choice([*robot.get_obj_names(), *PLACES])
            chance.choice([robot.point_gripper_to, robot.goto_pos])(pointed)
        before = robot.state.scene
        name = chance.choice(before.names)
        target = chance.choice(
            [
                chance.choice(before.names),
                chance.choice([*PLACES]),
                (chance.uniform(-0.26, 0.26), chance.uniform(-0.76, -0.26)),
            ]
        )
        if before[name].kind == "bowl":  # on a tower it sways by itself
            target = chance.choice([*PLACES])
            if any(math.dist(PLACES[target], body.xy) < 0.15 for body in before.bodies):
                continue
        load = {body.name for body in transfer.resting_on(before, name)}
        try:
            robot.put_first_on_second(name, target)
            carried_out += 1
        except RobotError:
            pass
        after = robot.state.scene
        for body in before.others(name, *load):
            apart = math.dist(body.position, after[body.name].position)
            assert apart < _MOVED_M, f"{body.name} moved {apart:.3f} m as {name} went to {target}"
    assert carried_out > 0
    robot.close()


TOWER = [Body(f"{c} block", (0.0, -0.53, 0.02 + 0.04 * n)) for n, c in enumerate(COLORS[2:6])]
AROUND = (Body("red block", (0.24, -0.74, 0.02)), Body("green block", (-0.25, -0.28, 0.02)))


@pytest.mark.parametrize("stopped_s", [0.6, 0.8])
def test_from_where_it_was_stopped_the_gripper_goes_over_a_tower(stopped_s: float) -> None:
    robot = create(seed=0)
    robot.restore((WorldState(Scene((*AROUND, *TOWER)), PARK.joints()), ()))
    robot.frame_every_s = stopped_s
    robot.on_frame = robot.stop
    with pytest.raises(RobotError, match="stopped"):
        robot.put_first_on_second("red block", (0.2, -0.5))
    robot.on_frame = None
    robot.put_first_on_second("green block", (-0.25, -0.42))
    for body in TOWER:
        assert robot.positions()[body.name] == pytest.approx(body.position, abs=0.005)
    robot.close()
