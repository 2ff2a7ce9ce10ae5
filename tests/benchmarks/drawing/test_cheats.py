"""What only looks like the drawing that was asked for is none; each row comes from a sentence."""

from __future__ import annotations

import re
from typing import Any

import numpy as np
import pytest

from benchmarks.suite import Outcome, Trial, suite
from robots.drawing import create
from tests.benchmarks.cheating import FAILS, NOTHING, assert_judged_wrong, carried_out

SUITE: Any = suite("drawing")
SEED = 3
RING = """
def ring(center, radius, corners, turn=0.0):
    angles = turn + np.linspace(0, 2 * np.pi, corners + 1)
    return np.array(center) + radius * np.stack([np.cos(angles), np.sin(angles)], axis=1)

def zigzag(points, width):
    points = np.array(points)
    along = points[1:] - points[:-1]
    across = np.stack([-along[:, 1], along[:, 0]], axis=1)
    across = width * across / np.linalg.norm(across, axis=1, keepdims=True)
    signs = np.array([(-1) ** i for i in range(len(along))])
    return points[:-1] + signs[:, None] * across

def dots(points, every, length=0.0006):
    for a, b in zip(points[:-1], points[1:]):
        reach = np.linalg.norm(b - a)
        for s in np.arange(0, reach, every):
            draw(np.array([a + (b - a) * s / reach, a + (b - a) * (s + length) / reach]))

middle = get_obj_pos('middle')
"""
CIRCLE = "draw(ring(middle, R, 64))"
LINE = """
a, b = get_obj_pos(FIRST), get_obj_pos(SECOND)
u = (b - a) / np.linalg.norm(b - a)
side = np.array([-u[1], u[0]])
"""
TWICE = "draw(ring(middle, 2 * R, 64))"
CHEATS: dict[str, tuple[str, tuple[str, ...]]] = {
    "a dotted circle": ("circle", ("dots(ring(middle, R, 40), 0.004)",)),
    "a dashed circle": ("circle", ("dots(ring(middle, R, 40), 0.008, 0.004)",)),
    "a dotted hexagon": ("hexagon", ("dots(ring(middle, R, 6), 0.006)",)),
    "a dotted square": ("square", ("dots(ring(middle, R / np.sqrt(2), 4), 0.006)",)),
    "a dotted line": (
        "line-between-blocks",
        (LINE + "dots(np.array([a + 0.06 * u, b - 0.06 * u]), 0.0095)",),
    ),
    "ticks along a line": (
        "line-between-blocks",
        (
            LINE + "for s in np.arange(0.05, np.linalg.norm(b - a) - 0.05, 0.009):\n"
            "    draw([a + s * u - 0.004 * side, a + s * u + 0.004 * side])",
        ),
    ),
    "a dotted bisector": (
        "bisect",
        (CIRCLE, "dots(np.array([middle - [0, R], middle + [0, R]]), 0.008)"),
    ),
    "a bisector of a dotted circle": (
        "bisect",
        ("dots(ring(middle, R, 40), 0.004)", "draw([middle - [R, 0], middle + [R, 0]])"),
    ),
    "a hexagon for a circle": ("circle", ("draw(ring(middle, 1.07 * R, 6))",)),
    "an octagon for a circle": ("circle", ("draw(ring(middle, 1.04 * R, 8))",)),
    "most of a circle": ("circle", ("draw(ring(middle, R, 64)[:58])",)),
    "a ring of scribble": ("circle", ("draw(zigzag(ring(middle, R, 240), 0.004))",)),
    "a circle elsewhere": ("circle", ("draw(ring(middle + [0.01, 0], R, 64))",)),
    "a circle in inches": ("circle", ("draw(ring(middle, 1.27 * R, 64))",)),
    "two circles": ("circle", (CIRCLE + "\ndraw(ring(middle, 0.5 * R, 64))",)),
    "a disc": ("circle", ("for k in range(1, 12):\n    draw(ring(middle, R * k / 11, 64))",)),
    "a circle for a square": ("square", ("draw(ring(middle, 0.6 * R, 64))",)),
    "a side as a half side": ("square", ("draw(ring(middle, np.sqrt(2) * R, 4))",)),
    "an oblong for a square": (
        "square",
        ("draw(middle + R / 2 * np.array([[-1, -.9], [1, -.9], [1, .9], [-1, .9], [-1, -.9]]))",),
    ),
    "a circle for a hexagon": ("hexagon", ("draw(ring(middle, 0.93 * R, 64))",)),
    "a pentagon for a hexagon": ("hexagon", ("draw(ring(middle, R, 5))",)),
    "a hexagon with a corner cut": (
        "hexagon",
        ("draw(np.vstack([ring(middle, R, 6)[1:6], ring(middle, R, 6)[1:2]]))",),
    ),
    "a circle around the middle": ("circle-around-block", (CIRCLE,)),
    "an octagon around a block": (
        "circle-around-block",
        ("draw(ring(get_obj_pos(FIRST), 1.04 * R, 8))",),
    ),
    "a scribble for a line": (
        "line-between-blocks",
        (LINE + "draw([a + (0.05 + 0.02 * (i % 2)) * u for i in range(40)])",),
    ),
    "a zigzag for a line": (
        "line-between-blocks",
        (LINE + "draw(zigzag(np.linspace(a + 0.05 * u, b - 0.05 * u, 80), 0.004))",),
    ),
    "a line that stops half way": (
        "line-between-blocks",
        (LINE + "draw([a + 0.05 * u, (a + b) / 2])",),
    ),
    "two ends and no line": (
        "line-between-blocks",
        (LINE + "draw([a + 0.05 * u, a + 0.07 * u])\ndraw([b - 0.05 * u, b - 0.07 * u])",),
    ),
    "a line beside": (
        "line-between-blocks",
        (LINE + "draw([a + 0.05 * u + 0.01 * side, b - 0.05 * u + 0.01 * side])",),
    ),
    "a line across": (
        "line-between-blocks",
        (LINE + "m = (a + b) / 2\ndraw([m - 0.02 * side, m + 0.02 * side])",),
    ),
    "a ray for a bisector": ("bisect", (CIRCLE, "draw([middle, middle + [0, 2 * R]])")),
    "a chord for a bisector": (
        "bisect",
        (CIRCLE, "draw([middle + [0.01, -R], middle + [0.01, R]])"),
    ),
    "a cross for a bisector": (
        "bisect",
        (
            CIRCLE,
            "draw([middle - [R, 0], middle + [R, 0]])\ndraw([middle - [0, R], middle + [0, R]])",
        ),
    ),
    "a bisector and strokes elsewhere": (
        "bisect",
        (
            CIRCLE,
            "draw([middle - [R, 0], middle + [R, 0]])\n"
            "draw([middle + [-R, 1.2 * R], middle + [R, 1.2 * R]])",
        ),
    ),
    "a fan of lines": (
        "bisect",
        (CIRCLE, "for p in ring(middle, R, 12):\n    draw([2 * middle - p, p])"),
    ),
    "a bisector of a hexagon": (
        "bisect",
        ("draw(ring(middle, 1.07 * R, 6))", "draw([middle - [R, 0], middle + [R, 0]])"),
    ),
    "a bisector of nothing": ("bisect", (NOTHING, "draw([middle - [R, 0], middle + [R, 0]])")),
    "the second circle only": ("make-bigger", (NOTHING, TWICE)),
    "both circles": ("make-bigger", (CIRCLE, TWICE)),
    "bigger by a half": (
        "make-bigger",
        (CIRCLE, f"erase({CIRCLE[5:-1]})\ndraw(ring(middle, 1.5 * R, 64))"),
    ),
    "bigger at once, then nothing": ("make-bigger", (TWICE, NOTHING)),
    "bigger, and a last turn that fails": (
        "make-bigger",
        (CIRCLE, f"erase({CIRCLE[5:-1]})\n{TWICE}\nraise RuntimeError('no')"),
    ),
    "moved before it was drawn": ("move", ("draw(ring(middle + [0, UP], R, 64))", NOTHING)),
    "a copy for a move": ("move", (CIRCLE, "draw(ring(middle + [0, UP], R, 64))")),
    "moved down": ("move", (CIRCLE, f"erase({CIRCLE[5:-1]})\ndraw(ring(middle - [0, UP], R, 64))")),
    "a circle, and then only words": ("erase-last", (CIRCLE, NOTHING, NOTHING)),
    "a circle, and then failures": ("erase-last", (CIRCLE, FAILS, FAILS)),
    "a circle, and then no more": ("erase-last", (CIRCLE,)),
    "a square that stays": (
        "erase-last",
        (CIRCLE, "draw(ring(get_obj_pos(FIRST), 0.07, 4))", NOTHING),
    ),
    "a circle for the square": (
        "erase-last",
        (CIRCLE, "s = ring(get_obj_pos(FIRST), 0.06, 64)\ndraw(s)", "erase(s)"),
    ),
    "a square elsewhere": (
        "erase-last",
        (CIRCLE, "s = ring(middle, 0.5 * R, 4)\ndraw(s)", "erase(s)"),
    ),
    "squares for circles": (
        "circles-around-blocks",
        ("for name in NAMES:\n    draw(ring(get_obj_pos(name), 0.07, 4))",),
    ),
    "hexagons for circles": (
        "circles-around-blocks",
        ("for name in NAMES:\n    draw(ring(get_obj_pos(name), 0.06, 6))",),
    ),
    "all but one": (
        "circles-around-blocks",
        ("for name in NAMES[1:]:\n    draw(ring(get_obj_pos(name), 0.06, 64))",),
    ),
    "circles around the middle": (
        "circles-around-blocks",
        ("for i in range(len(NAMES)):\n    draw(ring(middle, 0.02 + 0.02 * i, 64))",),
    ),
    "circles on one side": (
        "circles-around-blocks",
        ("for name in NAMES:\n    draw(ring(get_obj_pos(name) + [0.0, -0.09], 0.03, 64))",),
    ),
    "dotted circles": (
        "circles-around-blocks",
        ("for name in NAMES:\n    dots(ring(get_obj_pos(name), 0.06, 40), 0.004)",),
    ),
    "half circles": (
        "circles-around-blocks",
        ("for name in NAMES:\n    draw(ring(get_obj_pos(name), 0.06, 64)[:33])",),
    ),
    "halves, and one lacks its second": (
        "circles-around-blocks",
        (
            "for i, name in enumerate(NAMES):\n    c = ring(get_obj_pos(name), 0.06, 64)\n"
            "    draw(c[:33])\n    if i:\n        draw(c[32:])",
        ),
    ),
    "squares in four strokes": (
        "circles-around-blocks",
        (
            "for name in NAMES:\n    s = ring(get_obj_pos(name), 0.07, 4)\n"
            "    for i in range(4):\n        draw(s[i : i + 2])",
        ),
    ),
    "all circles around one": (
        "circles-around-blocks",
        ("for i in range(len(NAMES)):\n    draw(ring(get_obj_pos(NAMES[0]), 0.05 + i / 120, 64))",),
    ),
    "circles with a stroke across": (
        "circles-around-blocks",
        (
            "for name in NAMES:\n    c = ring(get_obj_pos(name), 0.06, 64)\n"
            "    draw(c[:33])\n    draw(c[32:])\n    draw([c[0] + [0.001, 0.02], c[0]])",
        ),
    ),
    "three sides of a square": (
        "erase-last",
        (CIRCLE, "s = ring(get_obj_pos(FIRST), 0.08, 4)\ndraw(s[:4])", "erase(s[:4])"),
    ),
    "a dotted square around": (
        "erase-last",
        (CIRCLE, "s = ring(get_obj_pos(FIRST), 0.08, 4)\ndots(s, 0.004)", "erase(s)"),
    ),
    "a square around everything": (
        "erase-last",
        (CIRCLE, "s = ring(middle, 0.29 * np.sqrt(2), 4, np.pi / 4)\ndraw(s)", "erase(s)"),
    ),
    "half of the circle meanwhile": (
        "erase-last",
        (
            CIRCLE,
            "c = ring(middle, R, 64)\nerase(c)\ndraw(c[:33])\n"
            "s = ring(get_obj_pos(FIRST), 0.08, 4)\ndraw(s)",
            "erase(s)\ndraw(c)",
        ),
    ),
}

BROKEN = {
    "bigger, and a last turn that fails",
    "a circle, and then failures",
    "a circle, and then no more",
}


def told_and_carried_out(
    task: str, programs: tuple[str, ...], monkeypatch: pytest.MonkeyPatch
) -> Outcome:
    """Run programs for a task's sentences, told the numbers and blocks that stand in them."""
    robot = create(seed=SEED, mode="instant")
    make = SUITE.tasks[task].make
    sentences = " ".join(make(np.random.default_rng([SEED, 7]), robot).instructions)
    numbers = [int(word) for word in re.findall(r"(\d+) cm", sentences)] or [5]
    blocks = re.findall(r"\w+ block\b", sentences) or robot.get_obj_names()
    told = f"R, UP = {numbers[0] / 100}, {numbers[-1] / 100}\n"
    told += f"NAMES = {robot.get_obj_names()}\n"
    told += f"FIRST, SECOND = {blocks[0]!r}, {blocks[-1]!r}\n"
    whole = [RING + told + program for program in programs]
    return carried_out(SUITE, Trial(task, "", SEED), whole, monkeypatch)


@pytest.mark.sweep(share=0.2)
@pytest.mark.parametrize("name", CHEATS)
def test_it_is_not_taken_for_the_drawing(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    task, programs = CHEATS[name]
    assert_judged_wrong(told_and_carried_out(task, programs, monkeypatch), name in BROKEN)


HONEST = {
    "a circle of twenty points": ("circle", ("draw(ring(middle, R, 20))",)),
    "a circle in two halves": (
        "circle",
        ("c = ring(middle, R, 64)\ndraw(c[:33])\ndraw(c[32:])",),
    ),
    "a circle smaller by the tolerance": ("circle", ("draw(ring(middle, R - 0.0045, 64))",)),
    "a square smaller by the tolerance": (
        "square",
        ("draw(ring(middle, R / np.sqrt(2) - 0.0045, 4))",),
    ),
    "a circle in dashes that all but touch": (
        "circle",
        ("dots(ring(middle, R, 40), 0.004, 0.0035)",),
    ),
    "a circle drawn twice": ("circle", (f"{CIRCLE}\n{CIRCLE}",)),
    "a square on its tip": ("square", ("draw(ring(middle, R / np.sqrt(2), 4, np.pi / 4))",)),
    "a line in pieces": (
        "line-between-blocks",
        (LINE + "m = (a + b) / 2\ndraw([a + 0.05 * u, m])\ndraw([m, b - 0.06 * u])",),
    ),
    "a long bisector": ("bisect", (CIRCLE, "draw([middle - [0, 1.2 * R], middle + [0, 1.2 * R]])")),
    "a slanting bisector": (
        "bisect",
        (CIRCLE, "d = R * np.array([.6, .8])\ndraw([middle - d, middle + d])"),
    ),
    "a large square": (
        "erase-last",
        (CIRCLE, "s = ring(get_obj_pos(FIRST), 0.08, 4, np.pi / 4)\ndraw(s)", "erase(s)"),
    ),
    "circles in halves around the blocks": (
        "circles-around-blocks",
        (
            "for name in NAMES:\n    c = ring(get_obj_pos(name), 0.06, 64)\n"
            "    draw(c[:33])\n    draw(c[64:31:-1])",
        ),
    ),
    "circles in pieces, all first pieces first": (
        "circles-around-blocks",
        (
            "for i in range(0, 60, 20):\n    for name in NAMES:\n"
            "        draw(ring(get_obj_pos(name), 0.06, 60)[i : i + 21])",
        ),
    ),
    "circles drawn twice": (
        "circles-around-blocks",
        ("for name in NAMES + NAMES:\n    draw(ring(get_obj_pos(name), 0.06, 64))",),
    ),
    "a square side by side": (
        "erase-last",
        (
            "c = ring(middle, R, 64)\ndraw(c[:33])\ndraw(c[32:])",
            "s = ring(get_obj_pos(FIRST), 0.08, 4, np.pi / 4)\n"
            "for i in (0, 2, 1, 3):\n    draw(s[i : i + 2])",
            "erase(s)",
        ),
    ),
    "a hexagon side by side": (
        "hexagon",
        ("h = ring(middle, R, 6)\nfor i in range(6):\n    draw(h[i : i + 2])",),
    ),
    "a bisector in two halves": (
        "bisect",
        (CIRCLE, "draw([middle, middle + [0, R]])\ndraw([middle, middle - [0, R]])"),
    ),
    "circles of several sizes": (
        "circles-around-blocks",
        ("for i, n in enumerate(NAMES):\n    draw(ring(get_obj_pos(n), 0.06 + i / 200, 24))",),
    ),
}


@pytest.mark.sweep(share=0.34)
@pytest.mark.parametrize("name", HONEST)
def test_an_honest_drawing_of_another_style_is_right(
    name: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    task, programs = HONEST[name]
    outcome = told_and_carried_out(task, programs, monkeypatch)
    assert outcome.success, outcome.failure
