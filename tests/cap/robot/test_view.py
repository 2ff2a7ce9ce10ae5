"""What a world looks like: every body has shapes, only what is new is told, motion is seen."""

import math
from collections.abc import Callable
from typing import Any

import pytest

import robots.drawing
import robots.kitchen
import robots.ravens
from cap.robot.view import Viewable, ViewLog, lathe_mesh

ROBOTS: dict[str, Callable[..., Any]] = {
    "ravens": robots.ravens.create,
    "kitchen": robots.kitchen.create,
    "drawing": robots.drawing.create,
}
MOVES: dict[str, Callable[[Any], object]] = {
    "ravens": lambda robot: robot.put_first_on_second("red block", "blue bowl"),
    "kitchen": lambda robot: robot.goto_loc("desk"),
    "drawing": lambda robot: robot.draw([(0.0, -0.5), (0.1, -0.5), (0.1, -0.4)]),
}


@pytest.mark.parametrize("mode", ["instant", "physics"])
@pytest.mark.parametrize("name", ROBOTS)
def test_every_body_has_shapes_and_moves_as_the_world_does(name: str, mode: str) -> None:
    if mode == "physics":
        pytest.importorskip("mujoco", reason="the extra 'sim' is not installed")
    robot = ROBOTS[name](seed=0, mode=mode)
    try:
        assert isinstance(robot, Viewable)
        before = robot.view()
        assert before.placements.keys() == robot.shapes().keys()
        for body, place in before.placements.items():
            assert math.hypot(*place[3:]) == pytest.approx(1.0), body
        for body, position in robot.positions().items():
            assert before.placements[f"objects/{body}"][:3] == pytest.approx(position)
        seen: list[Any] = []
        robot.frame_every_s = 0.05
        robot.on_frame = lambda: seen.append(robot.view())
        MOVES[name](robot)
        robot.on_frame = None
        after = robot.view()
        assert (after.placements, after.lines) != (before.placements, before.lines)
        if mode == "physics":
            hands = {view.placements["arm/hand"] for view in seen}
            assert len(hands) > 10
    finally:
        robot.close()


def test_only_what_is_new_is_told() -> None:
    robot = robots.ravens.create(seed=0, mode="instant")
    log = ViewLog()
    first = log.news(robot)
    assert first["shapes"].keys() == first["placements"].keys() == robot.shapes().keys()
    assert log.news(robot) == {}
    robot.put_first_on_second("red block", "blue bowl")
    assert log.news(robot).keys() == {"placements"}
    assert log.news(robot) == {}


def test_what_goes_and_what_comes_is_told() -> None:
    robot = robots.kitchen.create(seed=0, mode="instant")
    log = ViewLog()
    log.news(robot)
    robot.remove("apple")
    assert log.news(robot)["gone"] == ["objects/apple"]
    robot.add("apple", "desk")
    again = log.news(robot)
    assert list(again["placements"]) == ["objects/apple"]


def test_a_lathe_is_a_closed_surface() -> None:
    vertices, faces = lathe_mesh(((0.05, 0.0), (0.06, 0.03), (0.0, 0.005)))
    edges = [tuple(sorted(pair)) for a, b, c in faces for pair in ((a, b), (b, c), (c, a))]
    assert all(edges.count(edge) == 2 for edge in edges)
    assert max(z for *_, z in vertices) == 0.03
