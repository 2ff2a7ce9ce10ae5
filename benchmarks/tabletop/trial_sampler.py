"""From a task and a seed to one trial: objects, words, scene, and what must be true at the end.

A scene is a seed of the world's own sampler: scenes are drawn until one meets the task's
conditions.
"""

from __future__ import annotations

import zlib
from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np

from benchmarks.tabletop.goals import NTH, Goal, apart
from benchmarks.tabletop.judge import Positions, judge
from benchmarks.tabletop.tasks import Attributes, Task
from cap.errors import UsageError
from robots.ravens.scene import sample_scene

_DRAWS = 20_000
"""Scenes that are tried for one trial."""


@dataclass(frozen=True)
class Setup:
    """One trial, ready to be run."""

    objects: tuple[str, ...]
    """Names, in a random order."""
    words: Mapping[str, str]
    """The template's words."""
    instruction: str
    """What the person says."""
    scene_seed: int
    """The world's seed."""
    before: Positions
    """Where each object starts, xyz in metres."""
    goal: Goal
    """What must be true at the end."""


def prepare(task: Task, attributes: Attributes, split: str, seed: int) -> Setup:
    """Draw one trial; the same arguments give the same one everywhere.

    Raises:
        UsageError: No scene meets the task's conditions.
    """
    cell = zlib.crc32(f"{split}/{task.name}".encode())
    rng = np.random.default_rng([seed, cell])
    objects, words = draw(task, attributes, rng)

    for _ in range(_DRAWS):
        scene_seed = int(rng.integers(2**31))
        scene = sample_scene(objects, np.random.default_rng(scene_seed))
        before = {body.name: body.position for body in scene.bodies}
        if task.apart and not apart(before):
            continue
        goal = task.goal_in(words, before)
        if goal is not None and judge(goal, before, before, ()) is not None:
            instruction = task.template.format(**words) + "."
            return Setup(objects, words, instruction, scene_seed, before, goal)
    raise UsageError(f"no scene of {', '.join(objects)} meets the task's conditions; use fewer")


def draw(
    task: Task, attributes: Attributes, rng: np.random.Generator
) -> tuple[tuple[str, ...], Mapping[str, str]]:
    """Draw the objects, in a random order, and the words of one trial."""
    slots = task.template
    words = {
        slot: str(rng.choice(values))
        for slot, values in (
            ("place", attributes.places),
            ("direction", attributes.directions),
            ("distance", attributes.distances),
            ("magnitude", attributes.magnitudes),
            ("ordinal", attributes.ordinals),
            ("line", attributes.lines),
        )
        if f"{{{slot}}}" in slots
    }
    least = max(task.blocks[0], NTH.get(words.get("ordinal", ""), 0))
    blocks, bowls = _objects(task, least, attributes, rng)
    named = {"block": blocks[0], "bowl": bowls[0] if bowls else "", "target": ""}
    if "{target}" in slots:
        named["target"] = blocks[1] if rng.random() < 0.5 else bowls[0]
    words |= {slot: name for slot, name in named.items() if f"{{{slot}}}" in slots}
    objects = [*blocks, *bowls]
    return tuple(objects[i] for i in rng.permutation(len(objects))), words


def _objects(
    task: Task, least: int, attributes: Attributes, rng: np.random.Generator
) -> tuple[list[str], list[str]]:
    """Return the blocks and the bowls of a scene."""
    colors = [str(color) for color in rng.permutation(attributes.colors)]
    count = int(rng.integers(least, task.blocks[1], endpoint=True))
    more = int(rng.integers(task.bowls[0], task.bowls[1], endpoint=True))
    blocks = colors[:count]
    if task.own_bowls:
        bowls = colors[: count + more]
    else:
        bowls = [str(color) for color in rng.permutation(attributes.colors)[:more]]
    return [f"{color} block" for color in blocks], [f"{color} bowl" for color in bowls]
