"""What is refused, and how things are carried, decided before anything moves."""

import math

import pytest

from cap.errors import Collision
from robots.ravens import transfer
from robots.ravens.scene import Body, Scene
from robots.table.geometry import yaw_quaternion


def block(color: str, x: float, y: float, level: int = 0, yaw: float = 0.0) -> Body:
    return Body(f"{color} block", (x, y, 0.02 + 0.04 * level), yaw_quaternion(yaw))


def bowl(color: str, x: float, y: float, z: float = 0.018) -> Body:
    return Body(f"{color} bowl", (x, y, z))


def scene(*bodies: Body) -> Scene:
    return Scene(bodies)


def test_a_block_lines_up_with_the_block_below() -> None:
    below = block("blue", 0.1, -0.4, yaw=0.3)
    planned = transfer.transfer(scene(block("red", -0.1, -0.4), below), "red block", below.xy)
    assert (planned.result[0].yaw - 0.3) % (math.pi / 2) == pytest.approx(0.0, abs=1e-9)


def test_a_load_is_carried_over_stacks_beside_its_way() -> None:
    # The tower is beside the way of the rim, where the gripper is, but in the way of the bowl.
    tower = [block(color, -0.06, -0.585, level) for level, color in enumerate(("red", "blue"))]
    planned = transfer.transfer(
        scene(bowl("pink", -0.23, -0.507), *tower), "pink bowl", (0.16, -0.51)
    )
    hang = planned.pick.tip[2]
    assert planned.travel_z - hang > 0.08


def test_a_leaning_object_is_left_alone() -> None:
    tilt = (math.sin(0.2), 0.0, 0.0, math.cos(0.2))
    leaning = Body("red bowl", (0.0, -0.5, 0.03), tilt)
    with pytest.raises(Collision, match="leans"):
        transfer.transfer(scene(leaning), "red bowl", (0.2, -0.7))
