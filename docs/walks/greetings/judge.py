from math import dist
from typing import Any


def greeted(before: Any, robot: Any, words: Any) -> str | None:
    greeting = f"hello {words['name']}"
    return None if greeting in robot.spoken else f"it did not say: {greeting}"


def moved_alone(before: Any, robot: Any, words: Any) -> str | None:
    now = robot.positions()
    moved = [name for name, place in before.positions.items() if dist(place, now[name]) > 0.01]
    return None if moved == ["red block"] else f"what moved: {moved}"


def greeted_often(before: Any, robot: Any, words: Any) -> str | None:
    times = robot.spoken.count("hello")
    return None if times == words["n"] else f"it said hello {times} times"


def stacked(before: Any, robot: Any, words: Any) -> str | None:
    now = robot.positions()
    (x, y, z), (a, b, c) = now["red block"], now["blue block"]
    near = dist((x, y), (a, b)) < 0.02 and z > c + 0.02
    return None if near else "the red block is not on the blue one"
