"""From a task and a seed to one trial: objects, words, scene, and what must be true at the end."""

from __future__ import annotations

import zlib
from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np

from benchmarks.tabletop import scenes
from benchmarks.tabletop.attributes import NTH, Attributes
from benchmarks.tabletop.goals import Goal
from benchmarks.tabletop.judge import Positions, judge
from benchmarks.tabletop.tasks import Task


@dataclass(frozen=True)
class Draw:
    """What is drawn for one trial before the scene."""

    objects: tuple[str, ...]
    """Names, in a random order."""
    words: Mapping[str, str]
    """The template's words."""


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
    drawn = draw(task, attributes, rng)

    def fits(scene: Positions) -> bool:
        if task.apart and not scenes.apart(scene):
            return False
        goal = task.goal(drawn.words, scene, task.near)
        return goal is not None and judge(goal, scene, scene, ()) is not None

    scene_seed, before = scenes.draw_scene(drawn.objects, rng, fits)
    goal = task.goal(drawn.words, before, task.near)
    assert goal is not None
    words = task.template.format(**drawn.words) + "."
    return Setup(drawn.objects, drawn.words, words, scene_seed, before, goal)


def draw(task: Task, attributes: Attributes, rng: np.random.Generator) -> Draw:
    """Draw the objects and the words of one trial."""
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
    return Draw(tuple(objects[i] for i in rng.permutation(len(objects))), words)


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
