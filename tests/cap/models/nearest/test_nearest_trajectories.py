"""Trajectory instructions with the offline model: in many wordings, or declined; nothing picked."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from cap.errors import NoMatch
from tests.cap.models.nearest.nearest_world import Player, World

SCENE = {"red block": (0.1, -0.4), "green block": (-0.1, -0.5), "blue bowl": (0.15, -0.6)}
Follows = Callable[[Any, World], bool]


def run(*turns: str) -> World:
    world = World(SCENE)
    player = Player(world)
    for turn in turns:
        player.tell(turn)
    assert {name: tuple(xy) for name, xy in world.xy.items()} == SCENE
    return world


def around(name: str, radius: float) -> Follows:
    def holds(path: Any, world: World) -> bool:
        away = np.linalg.norm(path - world.get_obj_pos(name), axis=1)
        return len(path) > 16 and np.allclose(away, radius) and np.allclose(path[0], path[-1])

    return holds


def ends(*points: Any) -> Follows:
    def holds(path: Any, world: World) -> bool:
        wanted = [world.get_obj_pos(p) if isinstance(p, str) else np.array(p) for p in points]
        return bool(np.allclose(path[[0, -1]], wanted))

    return holds


def moved(dx: float, dy: float) -> Follows:
    return lambda path, world: bool(np.allclose(path[-1] - path[0], [dx, dy]))


def corners(count: int, name: str) -> Follows:
    def holds(path: Any, world: World) -> bool:
        away = np.linalg.norm(path - world.get_obj_pos(name), axis=1)
        return len(path) == count + 1 and np.allclose(away, away[0])

    return holds


SAID: list[tuple[str, Follows]] = [
    ("move the gripper in a 10 cm circle around the red block", around("red block", 0.1)),
    (
        "can you move your gripper in a circle of 6 cm around the red one?",
        around("red block", 0.06),
    ),
    ("trace a circle with a radius of 7 cm around the blue bowl", around("blue bowl", 0.07)),
    ("please trace a 7cm radius circle around the blue bowl", around("blue bowl", 0.07)),
    ("draw a circle around the green block", around("green block", 0.05)),
    ("circle the green block", around("green block", 0.05)),
    ("go around the green block", around("green block", 0.05)),
    ("trace a circle around the middle of the table", around("middle", 0.1)),
    ("trace a square around the blue bowl", corners(4, "blue bowl")),
    ("move the arm in a square around the red block", corners(4, "red block")),
    ("follow a triangle around the middle", corners(3, "middle")),
    ("trace a 5 cm radius hexagon around the middle", corners(6, "middle")),
    ("go along the table's diagonal", ends("bottom left corner", "top right corner")),
    ("follow the diagonal of the table", ends("bottom left corner", "top right corner")),
    ("trace the diagonal of the table", ends("bottom left corner", "top right corner")),
    ("trace a line from the red block to the blue bowl", ends("red block", "blue bowl")),
    (
        "move the gripper along a line from the green block to the red block",
        ends("green block", "red block"),
    ),
    (
        "trace a line from the top left corner to the middle",
        ends("top left corner", "middle"),
    ),
    (
        "trace a line from the bottom right corner to the top left corner",
        ends("bottom right corner", "top left corner"),
    ),
    ("trace a 16 cm vertical line through the middle", ends((0.0, -0.58), (0.0, -0.42))),
    ("go to the blue bowl", ends((0.0, -0.38), "blue bowl")),
    ("move the gripper to the red block", ends((0.0, -0.38), "red block")),
    ("go to the top right corner", ends((0.0, -0.38), "top right corner")),
    ("move the gripper 10 cm to the left", moved(-0.1, 0)),
    ("move the gripper to the right by 3 cm", moved(0.03, 0)),
    ("move the gripper forward", moved(0, 0.1)),
    ("move the gripper 5 cm backwards", moved(0, -0.05)),
    ("move the gripper a bit up", moved(0, 0.05)),
    ("move the gripper a little to the right", moved(0.05, 0)),
    ("move the arm a bit left", moved(-0.05, 0)),
    ("move the gripper to the right", moved(0.1, 0)),
    ("move the gripper down", moved(0, -0.1)),
    ("move your gripper left", moved(-0.1, 0)),
    (
        "go to the blue bowl while avoiding the red block",
        ends((0.0, -0.38), "blue bowl"),
    ),
    ("go to the blue bowl but avoid the green block", ends((0.0, -0.38), "blue bowl")),
    (
        "move to the bottom left corner while avoiding the blocks",
        ends((0.0, -0.38), "bottom left corner"),
    ),
]

CIRCLE = "trace a 4 cm radius circle around the green block"
AGAIN: list[tuple[str, Follows, float]] = [
    ("do that again", around("green block", 0.04), 0.25),
    ("again", around("green block", 0.04), 0.25),
    ("repeat that", around("green block", 0.04), 0.25),
    ("do that again but slower", around("green block", 0.04), 0.125),
    ("slower", around("green block", 0.04), 0.125),
    ("do it again, but faster", around("green block", 0.04), 0.5),
    ("do it again at 10 cm per second", around("green block", 0.04), 0.1),
    ("do that again but half as large", around("green block", 0.02), 0.25),
    ("do the same but twice as big", around("green block", 0.08), 0.25),
    ("once more but mirrored", around("green block", 0.04), 0.25),
    ("do that again but around the blue bowl", around("blue bowl", 0.04), 0.25),
    ("do that again but in reverse", around("green block", 0.04), 0.25),
]
BACK: list[tuple[str, Any]] = [
    ("do that again but mirrored", ((0.25, -0.75), (-0.25, -0.25))),
    ("do that again but backwards", ((0.25, -0.25), (-0.25, -0.75))),
    ("do it again but upside down", ((-0.25, -0.25), (0.25, -0.75))),
    ("do that again but half as large", ((-0.125, -0.625), (0.125, -0.375))),
    ("do that again but 5 cm to the right", ((-0.2, -0.75), (0.3, -0.25))),
    ("do that again but 4 cm down", ((-0.25, -0.79), (0.25, -0.29))),
    ("do that again but rotated by 90 degrees", ((0.25, -0.75), (-0.25, -0.25))),
]


@pytest.mark.sweep(share=0.34)
@pytest.mark.parametrize(("said", "follows"), SAID, ids=[said for said, _ in SAID])
def test_a_path_is_followed_in_many_wordings(said: str, follows: Follows) -> None:
    world = run(said)
    assert follows(world.followed[-1][0], world), world.followed[-1]


@pytest.mark.parametrize(("said", "follows", "speed"), AGAIN, ids=[said for said, *_ in AGAIN])
def test_a_path_is_followed_again_with_a_change(said: str, follows: Follows, speed: float) -> None:
    world = run(CIRCLE, said)
    path, kept = world.followed[-1]
    assert len(world.followed) == 2
    assert follows(path, world), path
    assert kept == pytest.approx(speed)


@pytest.mark.parametrize(("said", "wanted"), BACK, ids=[said for said, _ in BACK])
def test_a_path_is_changed_as_said(said: str, wanted: Any) -> None:
    world = run("trace the diagonal of the table", said)
    assert ends(*wanted)(world.followed[-1][0], world), world.followed[-1]


def test_one_change_builds_on_the_other() -> None:
    world = run(CIRCLE, "do that again but half as large", "do that again but slower")
    assert around("green block", 0.02)(world.followed[-1][0], world)
    assert world.followed[-1][1] == pytest.approx(0.125)


def test_only_what_is_to_be_avoided_is() -> None:
    world = run("go to the blue bowl while avoiding the red block")
    assert world.avoided == ["red block"]
    world = run("go to the bottom left corner while avoiding the blocks")
    assert world.avoided == ["red block", "green block"]


@pytest.mark.parametrize(
    "said",
    [
        "dance",
        "wave at me",
        "open the gripper",
        "close the gripper",
        "move the gripper down to the table",
        "touch the red block",
        "move the gripper in a heart around the red block",
        "go to bed",
        "do that again but louder",
    ],
)
def test_what_no_example_shows_is_declined(said: str) -> None:
    world = World(SCENE)
    player = Player(world)
    player.tell(CIRCLE)
    with pytest.raises(NoMatch):
        player.tell(said)
    assert len(world.followed) == 1
