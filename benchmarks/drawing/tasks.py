"""The ten tasks: instructions, an oracle program, and what the board must show."""

from __future__ import annotations

from typing import Any

import numpy as np
from shapely.geometry import LineString, MultiLineString, Point

from benchmarks.drawing.judge import (
    TOLERANCE_M,
    circle,
    differs,
    differs_however_turned,
    differs_in_shape,
    encloses,
    ink,
    no_bisection,
    no_line,
    outlines,
    regular,
    too_little,
)
from benchmarks.robot_suite import Judge, RobotCase, RobotSuite, RobotTask, robot_task
from robots.drawing import DrawingRobot
from robots.ravens.scene import BLOCK_HALF
from robots.table.geometry import PLACES

MIDDLE = np.array(PLACES["middle"])
Rng = np.random.Generator
_RING = """
def ring(center, radius, corners):
    angles = np.linspace(0, 2 * np.pi, corners + 1)
    return np.array(center) + radius * np.stack([np.cos(angles), np.sin(angles)], axis=1)

middle = get_obj_pos('middle')
"""
TASKS: list[RobotTask] = []
"""In report order, that of this file."""


def _cm(rng: Rng, low: int, high: int) -> int:
    return int(rng.integers(low, high + 1))


def _block(rng: Rng, robot: DrawingRobot) -> str:
    return str(rng.choice(robot.get_obj_names()))


def _is_circle(center: np.ndarray[Any, Any], r_cm: int) -> Judge:
    """Return a judge of whether a circle is all that is on the board."""
    return lambda robot: differs(ink(robot), circle(center, r_cm / 100))


@robot_task(TASKS, "circle")
def _circle(rng: Rng, robot: DrawingRobot) -> RobotCase:
    r = _cm(rng, 4, 10)
    return RobotCase(
        (f"draw a {r} cm radius circle around the middle",),
        f"{_RING}draw(ring(middle, {r / 100}, 64))",
        _is_circle(MIDDLE, r),
    )


@robot_task(TASKS, "square")
def _square(rng: Rng, robot: DrawingRobot) -> RobotCase:
    side = _cm(rng, 6, 14)
    corners = MIDDLE + side / 200 * np.array([[-1, -1], [1, -1], [1, 1], [-1, 1], [-1, -1]])
    return RobotCase(
        (f"draw a {side} cm square around the middle",),
        f"{_RING}draw(ring(middle, {side / 100} / np.sqrt(2), 4))",
        lambda robot: differs_however_turned(ink(robot), corners, 4),
    )


@robot_task(TASKS, "hexagon")
def _hexagon(rng: Rng, robot: DrawingRobot) -> RobotCase:
    r = _cm(rng, 5, 10)
    return RobotCase(
        (f"draw a {r} cm radius hexagon around the middle",),
        f"{_RING}draw(ring(middle, {r / 100}, 6))",
        lambda robot: differs_however_turned(ink(robot), regular(MIDDLE, r / 100, 6), 6),
    )


@robot_task(TASKS, "circle-around-block")
def _around_block(rng: Rng, robot: DrawingRobot) -> RobotCase:
    name, r = _block(rng, robot), _cm(rng, 5, 8)
    where = robot.get_obj_pos(name)
    return RobotCase(
        (f"draw a {r} cm radius circle around the {name}",),
        f"{_RING}draw(ring(get_obj_pos('{name}'), {r / 100}, 64))",
        _is_circle(where, r),
    )


@robot_task(TASKS, "line-between-blocks")
def _line(rng: Rng, robot: DrawingRobot) -> RobotCase:
    first, second = (str(name) for name in rng.permutation(robot.get_obj_names())[:2])
    ends = [robot.get_obj_pos(name) for name in (first, second)]
    # A third block may stand in the way: then the two next to it are asked for.
    straight = LineString(ends)
    third = next(n for n in robot.get_obj_names() if n not in (first, second))
    if straight.distance(Point(robot.get_obj_pos(third))) < 2 * BLOCK_HALF + 0.01:
        second, third = third, second
        ends = [robot.get_obj_pos(name) for name in (first, second)]
        straight = LineString(ends)

    oracle = (
        f"a, b = get_obj_pos('{first}'), get_obj_pos('{second}')\n"
        "u = (b - a) / np.linalg.norm(b - a)\n"
        "draw(np.array([a + 0.05 * u, b - 0.05 * u]))"
    )
    return RobotCase(
        (f"draw a line from the {first} to the {second}",),
        oracle,
        lambda robot: no_line(ink(robot), straight),
    )


@robot_task(TASKS, "bisect")
def _bisect(rng: Rng, robot: DrawingRobot) -> RobotCase:
    r = _cm(rng, 4, 8)
    return RobotCase(
        (f"draw a {r} cm radius circle around the middle", "draw a line that bisects it"),
        (
            f"{_RING}draw(ring(middle, {r / 100}, 64))",
            f"draw(np.array([middle - [0, {r / 100}], middle + [0, {r / 100}]]))",
        ),
        lambda robot: no_bisection(ink(robot), MIDDLE, r / 100),
        on_the_way=(_is_circle(MIDDLE, r),),
    )


@robot_task(TASKS, "make-bigger")
def _bigger(rng: Rng, robot: DrawingRobot) -> RobotCase:
    r = _cm(rng, 3, 5)
    return RobotCase(
        (f"draw a {r} cm radius circle around the middle", "make it 2 times bigger"),
        (
            f"{_RING}first = ring(middle, {r / 100}, 64)\ndraw(first)",
            f"erase(first)\ndraw(ring(middle, {2 * r / 100}, 64))",
        ),
        _is_circle(MIDDLE, 2 * r),
        on_the_way=(_is_circle(MIDDLE, r),),
    )


@robot_task(TASKS, "move")
def _moved(rng: Rng, robot: DrawingRobot) -> RobotCase:
    r, up = _cm(rng, 3, 4), _cm(rng, 2, 4)
    return RobotCase(
        (f"draw a {r} cm radius circle around the middle", f"move it up by {up} cm"),
        (
            f"{_RING}first = ring(middle, {r / 100}, 64)\ndraw(first)",
            f"erase(first)\ndraw(first + np.array([0, {up / 100}]))",
        ),
        _is_circle(MIDDLE + np.array([0, up / 100]), r),
        on_the_way=(_is_circle(MIDDLE, r),),
    )


@robot_task(TASKS, "erase-last")
def _erased(rng: Rng, robot: DrawingRobot) -> RobotCase:
    r, name = _cm(rng, 4, 8), _block(rng, robot)
    where = robot.get_obj_pos(name)
    others_xy = [xyz[:2] for other, xyz in robot.positions().items() if other != name]

    def both(robot: DrawingRobot) -> str | None:
        near = LineString(circle(MIDDLE, r / 100)).buffer(TOLERANCE_M)
        strokes = [LineString(stroke) for stroke in robot.state.strokes]
        first = MultiLineString([stroke for stroke in strokes if stroke.within(near)])
        if differs(first, circle(MIDDLE, r / 100)):
            return "the circle is gone"
        others = outlines([stroke for stroke in strokes if not stroke.within(near)])
        square = regular((0.0, 0.0), 0.1, 4)
        there = [differs_in_shape(outline, square, 4) for outline in others] == [None]
        around = there and encloses(others[0], where) and not too_little(ink(robot), others[0])
        if not around or any(encloses(others[0], xy) for xy in others_xy):
            return f"there is no square around the {name} alone"
        return None

    return RobotCase(
        (
            f"draw a {r} cm radius circle around the middle",
            f"also draw a square around the {name}",
            "erase it",
        ),
        (
            f"{_RING}draw(ring(middle, {r / 100}, 64))",
            f"second = ring(get_obj_pos('{name}'), 0.07, 4)\ndraw(second)",
            "erase(second)",
        ),
        _is_circle(MIDDLE, r),
        on_the_way=(_is_circle(MIDDLE, r), both),
    )


@robot_task(TASKS, "circles-around-blocks")
def _rings(rng: Rng, robot: DrawingRobot) -> RobotCase:
    places = dict(robot.positions())

    def missed(robot: DrawingRobot) -> str | None:
        found = outlines([LineString(stroke) for stroke in robot.state.strokes])
        if len(found) != len(places):
            return f"there are {len(found)} figures for {len(places)} blocks"
        for outline in found:
            if differs_in_shape(outline, circle((0.0, 0.0), 0.1)):
                return "not every figure is a circle"
            if lacking := too_little(ink(robot), outline):
                return lacking
        for name, (x, y, _) in places.items():
            if sum(encloses(outline, (x, y)) for outline in found) != 1:
                return f"there is not exactly one circle around the {name}"
        return None

    oracle = f"{_RING}for name in get_obj_names():\n    draw(ring(get_obj_pos(name), 0.06, 32))"
    return RobotCase(("draw circles around the blocks",), oracle, missed)


def drawing() -> RobotSuite:
    """Return the suite."""
    return RobotSuite("drawing", "5", "drawing", TASKS, "ten drawings, judged on the ink")
