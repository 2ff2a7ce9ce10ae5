"""The ten tasks: instructions, an oracle program, and what the board must show."""

from __future__ import annotations

import numpy as np
from shapely.geometry import LineString, Point

from benchmarks.drawing.judge import (
    TOLERANCE_M,
    circle,
    differs,
    differs_however_turned,
    encloses,
    ink,
    is_straight,
    regular,
)
from benchmarks.robot_suite import RobotCase, RobotSuite, RobotTask, robot_task
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


@robot_task(TASKS, "circle")
def _circle(rng: Rng, robot: DrawingRobot) -> RobotCase:
    r = _cm(rng, 4, 10)
    return RobotCase(
        (f"draw a {r} cm radius circle around the middle",),
        f"{_RING}draw(ring(middle, {r / 100}, 64))",
        lambda robot: differs(ink(robot), [circle(MIDDLE, r / 100)]),
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
        lambda robot: differs(ink(robot), [circle(where, r / 100)]),
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

    def missed(robot: DrawingRobot) -> str | None:
        found = ink(robot)
        if found.is_empty or not found.within(straight.buffer(TOLERANCE_M)):
            return "the ink does not run straight from one block to the other"
        if found.length < straight.length - 0.16:
            return "the line ends far from the blocks"
        return None

    oracle = (
        f"a, b = get_obj_pos('{first}'), get_obj_pos('{second}')\n"
        "u = (b - a) / np.linalg.norm(b - a)\n"
        "draw(np.array([a + 0.05 * u, b - 0.05 * u]))"
    )
    return RobotCase((f"draw a line from the {first} to the {second}",), oracle, missed)


@robot_task(TASKS, "bisect")
def _bisect(rng: Rng, robot: DrawingRobot) -> RobotCase:
    r = _cm(rng, 4, 8)
    whole = LineString(circle(MIDDLE, r / 100))

    def missed(robot: DrawingRobot) -> str | None:
        strokes = [LineString(stroke) for stroke in robot.state.strokes]
        lines = [line for line in strokes if is_straight(line)]
        if not any(
            line.distance(Point(MIDDLE)) <= TOLERANCE_M and line.length >= 2 * r / 100 - TOLERANCE_M
            for line in lines
        ):
            return "no straight line runs through the circle's middle from side to side"
        rest = [list(line.coords) for line in strokes if line not in lines]
        return differs(whole, [np.array(points) for points in rest]) if rest else "no circle"

    return RobotCase(
        (f"draw a {r} cm radius circle around the middle", "draw a line that bisects it"),
        f"{_RING}draw(ring(middle, {r / 100}, 64))\n"
        f"draw(np.array([middle - [0, {r / 100}], middle + [0, {r / 100}]]))",
        missed,
    )


@robot_task(TASKS, "make-bigger")
def _bigger(rng: Rng, robot: DrawingRobot) -> RobotCase:
    r = _cm(rng, 3, 5)
    return RobotCase(
        (f"draw a {r} cm radius circle around the middle", "make it 2 times bigger"),
        f"{_RING}first = ring(middle, {r / 100}, 64)\ndraw(first)\nerase(first)\n"
        f"draw(ring(middle, {2 * r / 100}, 64))",
        lambda robot: differs(ink(robot), [circle(MIDDLE, 2 * r / 100)]),
    )


@robot_task(TASKS, "move")
def _moved(rng: Rng, robot: DrawingRobot) -> RobotCase:
    r, up = _cm(rng, 3, 4), _cm(rng, 2, 4)
    return RobotCase(
        (f"draw a {r} cm radius circle around the middle", f"move it up by {up} cm"),
        f"{_RING}first = ring(middle, {r / 100}, 64)\ndraw(first)\nerase(first)\n"
        f"draw(first + np.array([0, {up / 100}]))",
        lambda robot: differs(ink(robot), [circle(MIDDLE + np.array([0, up / 100]), r / 100)]),
    )


@robot_task(TASKS, "erase-last")
def _erased(rng: Rng, robot: DrawingRobot) -> RobotCase:
    r, name = _cm(rng, 4, 8), _block(rng, robot)
    return RobotCase(
        (
            f"draw a {r} cm radius circle around the middle",
            f"also draw a square around the {name}",
            "erase it",
        ),
        f"{_RING}draw(ring(middle, {r / 100}, 64))\n"
        f"second = ring(get_obj_pos('{name}'), 0.07, 4)\ndraw(second)\nerase(second)",
        lambda robot: differs(ink(robot), [circle(MIDDLE, r / 100)]),
    )


@robot_task(TASKS, "circles-around-blocks")
def _rings(rng: Rng, robot: DrawingRobot) -> RobotCase:
    places = dict(robot.positions())

    def missed(robot: DrawingRobot) -> str | None:
        strokes = [LineString(stroke) for stroke in robot.state.strokes]
        if len(strokes) != len(places):
            return f"there are {len(strokes)} strokes for {len(places)} blocks"
        for name, (x, y, _) in places.items():
            if sum(encloses(stroke, (x, y)) for stroke in strokes) != 1:
                return f"there is not exactly one closed line around the {name}"
        return None

    oracle = f"{_RING}for name in get_obj_names():\n    draw(ring(get_obj_pos(name), 0.06, 32))"
    return RobotCase(("draw circles around the blocks",), oracle, missed)


def drawing() -> RobotSuite:
    """Return the suite."""
    return RobotSuite("drawing", "2", "drawing", TASKS)
