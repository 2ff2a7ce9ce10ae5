"""What only looks like the drawing that was asked for is none; each row comes from a sentence."""

from __future__ import annotations

import re
from typing import Any

import numpy as np
import pytest

from benchmarks.suite import Outcome, Trial, suite
from robots.drawing import create
from tests.benchmarks.cheating import assert_judged_wrong, carried_out
from tests.rows import table

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
CHEATS = table(__file__, "cheats: cheats")

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


HONEST = table(__file__, "cheats: honest")


@pytest.mark.sweep(share=0.34)
@pytest.mark.parametrize("name", HONEST)
def test_an_honest_drawing_of_another_style_is_right(
    name: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    task, programs = HONEST[name]
    outcome = told_and_carried_out(task, programs, monkeypatch)
    assert outcome.success, outcome.failure
