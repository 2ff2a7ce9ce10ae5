"""Thirty questions that ask where: offsets, fractions, mirrors, turns, boxes, lines and shapes."""

from __future__ import annotations

from collections.abc import Callable
from itertools import combinations
from math import cos, pi, sin
from typing import Any

import numpy as np

from benchmarks.reasoning.question import ReasoningQuestion
from benchmarks.reasoning.question_scene import Array, QuestionScene


def _all(scene: QuestionScene, names: list[str]) -> Array:
    """Return where some objects are, shape (n, 2)."""
    return np.array([scene.positions[name] for name in names])


def _side(scene: QuestionScene, names: list[str], axis: int, sign: int) -> Array:
    """Return where the object is that lies farthest along an axis, or against it."""
    return scene.at(max(names, key=lambda name: sign * scene.positions[name][axis]))


def _moved(point: Array, dx_m: float, dy_m: float) -> Array:
    return np.asarray(point + np.array([dx_m, dy_m]))


def _way(start: Array, end: Array, share: float) -> Array:
    return start + share * (end - start)


def _towards(start: Array, end: Array, distance_m: float) -> Array:
    way = end - start
    return np.asarray(start + distance_m * way / np.hypot(*way))


def _turned(point: Array, center: Array, degrees: float) -> Array:
    """Return a point turned counter-clockwise about another."""
    c, s = cos(degrees * pi / 180), sin(degrees * pi / 180)
    x, y = point - center
    return _moved(center, c * x - s * y, s * x + c * y)


def _foot(point: Array, start: Array, end: Array) -> Array:
    """Return the point of a line that is closest to another point."""
    way = end - start
    return np.asarray(start + way * np.dot(point - start, way) / np.dot(way, way))


def _ring(center: Array, radius_m: float, count: int, first_degrees: float) -> Array:
    first = _moved(center, radius_m, 0)
    steps = [first_degrees + 360 * step / count for step in range(count)]
    return np.array([_turned(first, center, degrees) for degrees in steps])


def _box(points: Array) -> Array:
    (left, bottom), (right, top) = points.min(axis=0), points.max(axis=0)
    return np.array([(left, bottom), (right, bottom), (right, top), (left, top)])


def _closest_pair_middle(scene: QuestionScene) -> Array:
    first, second = min(combinations(scene.bowls, 2), key=lambda pair: scene.gap(*pair))
    return _way(scene.at(first), scene.at(second), 0.5)


def _middles(scene: QuestionScene) -> Array:
    points = _all(scene, sorted(scene.blocks, key=lambda name: scene.positions[name][0]))
    return np.asarray((points[1:] + points[:-1]) / 2)


_A_B = "a, b = get_obj_pos('{block}'), get_obj_pos('{bowl}')\n"
_BLOCKS = "points = np.array([get_obj_pos(name) for name in objects if 'block' in name])\n"
_BOWLS = "points = np.array([get_obj_pos(name) for name in objects if 'bowl' in name])\n"


def _ask(
    name: str,
    words: str,
    answer: Callable[[QuestionScene], Any],
    program: str,
    ordered: bool = False,
) -> ReasoningQuestion:
    return ReasoningQuestion(name, "position", words, answer, program, ordered)


POSITIONS: tuple[ReasoningQuestion, ...] = (
    _ask(
        "right-of-block",
        "5 cm to the right of the {block}",
        lambda s: _moved(s.at(s.block), 0.05, 0),
        "ret_val = get_obj_pos('{block}') + [0.05, 0]",
    ),
    _ask(
        "above-bowl",
        "10 cm above the {bowl}",
        lambda s: _moved(s.at(s.bowl), 0, 0.1),
        "ret_val = get_obj_pos('{bowl}') + [0, 0.1]",
    ),
    _ask(
        "left-and-below",
        "12 cm to the left of the {block} and 4 cm below that",
        lambda s: _moved(s.at(s.block), -0.12, -0.04),
        "ret_val = get_obj_pos('{block}') + [-0.12, -0.04]",
    ),
    _ask(
        "halfway",
        "the point halfway between the {block} and the {bowl}",
        lambda s: _way(s.at(s.block), s.at(s.bowl), 0.5),
        _A_B + "ret_val = (a + b) / 2",
    ),
    _ask(
        "third-of-the-way",
        "the point a third of the way from the {block} to the {bowl}",
        lambda s: _way(s.at(s.block), s.at(s.bowl), 1 / 3),
        _A_B + "ret_val = (2 * a + b) / 3",
    ),
    _ask(
        "three-quarters-of-the-way",
        "the point three quarters of the way from the {bowl} to the {block}",
        lambda s: _way(s.at(s.bowl), s.at(s.block), 0.75),
        _A_B + "ret_val = 0.25 * b + 0.75 * a",
    ),
    _ask(
        "mean-of-blocks",
        "the mean position of all the blocks",
        lambda s: _all(s, s.blocks).mean(axis=0),
        _BLOCKS + "ret_val = sum(points) / len(points)",
    ),
    _ask(
        "mean-of-three",
        "the mean position of the {block}, the {bowl} and the {bowl2}",
        lambda s: _all(s, [s.block, s.bowl, s.bowl2]).mean(axis=0),
        _A_B + "ret_val = (a + b + get_obj_pos('{bowl2}')) / 3",
    ),
    _ask(
        "opposite-through-bowl",
        "the point opposite the {block}, with the {bowl} exactly in the middle between them",
        lambda s: _turned(s.at(s.block), s.at(s.bowl), 180),
        _A_B + "ret_val = 2 * b - a",
    ),
    _ask(
        "mirrored-left-right",
        "the mirror image of the {block} in the vertical line through the {bowl}",
        lambda s: s.at(s.block) + 2 * (s.at(s.bowl) - s.at(s.block)) * (1, 0),
        _A_B + "ret_val = [2 * b[0] - a[0], a[1]]",
    ),
    _ask(
        "mirrored-up-down",
        "the mirror image of the {bowl} in the horizontal line through the {block}",
        lambda s: s.at(s.bowl) + 2 * (s.at(s.block) - s.at(s.bowl)) * (0, 1),
        _A_B + "ret_val = [b[0], 2 * a[1] - b[1]]",
    ),
    _ask(
        "towards-bowl",
        "10 cm from the {block} in the direction of the {bowl}",
        lambda s: _towards(s.at(s.block), s.at(s.bowl), 0.1),
        _A_B + "ret_val = a + 0.1 * (b - a) / np.linalg.norm(b - a)",
    ),
    _ask(
        "away-from-block",
        "8 cm from the {bowl}, straight away from the {block}",
        lambda s: _towards(s.at(s.bowl), s.at(s.block), -0.08),
        _A_B + "ret_val = b + 0.08 * (b - a) / np.linalg.norm(b - a)",
    ),
    _ask(
        "crossing",
        "where the horizontal line through the {block} crosses the vertical line through the "
        "{bowl}",
        lambda s: np.array([s.positions[s.bowl][0], s.positions[s.block][1]]),
        _A_B + "ret_val = (b[0], a[1])",
    ),
    _ask(
        "closest-point-of-line",
        "the point closest to the {bowl2} on the straight line through the {block} and the {bowl}",
        lambda s: _foot(s.at(s.bowl2), s.at(s.block), s.at(s.bowl)),
        _A_B
        + "unit = (b - a) / np.linalg.norm(b - a)\n"
        + "ret_val = a + unit * np.dot(get_obj_pos('{bowl2}') - a, unit)",
    ),
    _ask(
        "quarter-turn",
        "where the {block} gets by a turn of 90 degrees counter-clockwise about the {bowl}",
        lambda s: _turned(s.at(s.block), s.at(s.bowl), 90),
        _A_B + "ret_val = b + [-(a - b)[1], (a - b)[0]]",
    ),
    _ask(
        "eighth-turn",
        "where the {bowl} gets by a turn of 45 degrees clockwise about the {block}",
        lambda s: _turned(s.at(s.bowl), s.at(s.block), -45),
        _A_B + "x, y = (b - a) * np.sqrt(0.5)\nret_val = a + [x + y, y - x]",
    ),
    _ask(
        "box-corner",
        "the bottom left corner of the smallest upright rectangle around all the objects' "
        "positions",
        lambda s: _all(s, s.objects).min(axis=0),
        "points = [get_obj_pos(name) for name in objects]\n"
        + "ret_val = [min(x for x, y in points), min(y for x, y in points)]",
    ),
    _ask(
        "box-center",
        "the center of the smallest upright rectangle around the positions of the blocks",
        lambda s: _box(_all(s, s.blocks)).mean(axis=0),
        _BLOCKS + "ret_val = (points.min(axis=0) + points.max(axis=0)) / 2",
    ),
    _ask(
        "above-topmost",
        "5 cm above the topmost block",
        lambda s: _moved(_side(s, s.blocks, 1, 1), 0, 0.05),
        _BLOCKS + "ret_val = points[np.argmax(points[:, 1])] + [0, 0.05]",
    ),
    _ask(
        "left-of-leftmost",
        "6 cm to the left of the leftmost bowl",
        lambda s: _moved(_side(s, s.bowls, 0, -1), -0.06, 0),
        _BOWLS + "ret_val = points[np.argmin(points[:, 0])] + [-0.06, 0]",
    ),
    _ask(
        "middle-of-closest-bowls",
        "the point halfway between the two bowls that are closest to each other",
        _closest_pair_middle,
        _BOWLS
        + "pairs = [(p, q) for i, p in enumerate(points) for q in points[:i]]\n"
        + "p, q = min(pairs, key=lambda pair: np.linalg.norm(pair[0] - pair[1]))\n"
        + "ret_val = (p + q) / 2",
    ),
    _ask(
        "below-nearest-block",
        "7 cm below the block that is closest to the {bowl}",
        lambda s: _moved(s.at(min(s.blocks, key=lambda name: s.gap(name, s.bowl))), 0, -0.07),
        _BLOCKS
        + "gaps = np.linalg.norm(points - get_obj_pos('{bowl}'), axis=1)\n"
        + "ret_val = points[np.argmin(gaps)] + [0, -0.07]",
    ),
    _ask(
        "line",
        "5 points evenly spaced from the {block} to the {bowl}, both ends included",
        lambda s: np.array([_way(s.at(s.block), s.at(s.bowl), i / 4) for i in range(5)]),
        _A_B + "ret_val = np.linspace(a, b, 5)",
        ordered=True,
    ),
    _ask(
        "column",
        "4 points in a vertical line, 5 cm from one to the next, from the {block} downwards, "
        "which is the first",
        lambda s: s.at(s.block) - np.array([(0, 0.05 * i) for i in range(4)]),
        "ret_val = [get_obj_pos('{block}') + [0, -0.05 * i] for i in range(4)]",
        ordered=True,
    ),
    _ask(
        "circle",
        "8 points evenly spaced on a circle of radius 15 cm around the {bowl}, the first one to "
        "its right and the others counter-clockwise from there",
        lambda s: _ring(s.at(s.bowl), 0.15, 8, 0),
        "angles = np.linspace(0, 2 * np.pi, 8, endpoint=False)\n"
        + "offsets = 0.15 * np.stack([np.cos(angles), np.sin(angles)], axis=1)\n"
        + "ret_val = get_obj_pos('{bowl}') + offsets",
        ordered=True,
    ),
    _ask(
        "middles-of-neighbors",
        "the three points halfway between neighbors in the row of blocks taken from left to "
        "right, in that order",
        _middles,
        _BLOCKS
        + "points = points[np.argsort(points[:, 0])]\n"
        + "ret_val = [(points[i] + points[i + 1]) / 2 for i in range(3)]",
        ordered=True,
    ),
    _ask(
        "square",
        "the corners of an upright square with sides of 20 cm around the {bowl}",
        lambda s: np.array([_moved(s.at(s.bowl), x, y) for x in (-0.1, 0.1) for y in (-0.1, 0.1)]),
        "x, y = get_obj_pos('{bowl}')\n"
        + "ret_val = list(box(x - 0.1, y - 0.1, x + 0.1, y + 0.1).exterior.coords)[:4]",
    ),
    _ask(
        "triangle",
        "the corners of an equilateral triangle, each 12 cm from the {block} and one of them "
        "straight above it",
        lambda s: _ring(s.at(s.block), 0.12, 3, 90),
        "x, y = get_obj_pos('{block}')\n"
        + "half = 0.12 * np.sqrt(3) / 2\n"
        + "ret_val = [(x, y + 0.12), (x - half, y - 0.06), (x + half, y - 0.06)]",
    ),
    _ask(
        "box-corners",
        "the corners of the smallest upright rectangle around the positions of the bowls",
        lambda s: _box(_all(s, s.bowls)),
        _BOWLS
        + "xs, ys = sorted(points[:, 0]), sorted(points[:, 1])\n"
        + "ret_val = [(x, y) for x in (xs[0], xs[-1]) for y in (ys[0], ys[-1])]",
    ),
)
