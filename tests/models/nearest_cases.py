"""Everyday instructions with the effect each must have, to measure the offline model.

They were written down before the prompts and the method were tuned. `DECLINE` marks those that
no program of the ravens prompts serves: running anything for them is an error.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from nearest_world import World

SCENE: dict[str, tuple[float, float]] = {
    "red block": (-0.15, -0.35),
    "blue block": (0.12, -0.30),
    "green block": (-0.05, -0.62),
    "yellow block": (0.18, -0.55),
    "red bowl": (0.03, -0.45),
    "blue bowl": (-0.18, -0.55),
    "green bowl": (0.20, -0.72),
    "yellow bowl": (-0.05, -0.26),
}
BLOCKS = [name for name in SCENE if name.endswith("block")]


@dataclass(frozen=True)
class Case:
    """A short session and what must hold after its last instruction."""

    turns: tuple[str, ...]
    """The person's words."""
    holds: Callable[[World], object] | None
    """Predicate on the final world; None: the last instruction must be declined."""


DECLINE = None


def at(name: str, x: float, y: float, tolerance: float = 0.01) -> Callable[[World], bool]:
    """True if the object lies within `tolerance` metres of a point."""
    return lambda world: bool(np.hypot(*(world.xy[name] - (x, y))) <= tolerance)


def on(name: str, target: str) -> Callable[[World], bool]:
    """True if the object was last put on or in the target."""
    return lambda world: world.below[name] == target


def every(*checks: Callable[[World], bool]) -> Callable[[World], bool]:
    """True if all checks hold."""
    return lambda world: all(check(world) for check in checks)


def off(name: str, target: str, low: tuple[float, float], high: tuple[float, float]):  # noqa: ANN201
    """True if the object's offset from the target, in metres, lies in a box."""

    def check(world: World) -> bool:
        offset = world.xy[name] - world.xy[target]
        return bool(np.all(offset >= low) and np.all(offset <= high))

    return check


def shifted(name: str, dx: float, dy: float) -> Callable[[World], bool]:
    """True if the object moved by this much from where the scene had it."""
    return at(name, SCENE[name][0] + dx, SCENE[name][1] + dy, 0.002)


def said(*words: str) -> Callable[[World], bool]:
    """True if the last thing said holds one of the words."""
    return lambda world: bool(world.said) and any(
        word in world.said[-1].lower().replace(".", " ").replace(",", " ").split()
        for word in words
    )


def tower(world: World) -> bool:
    """True if all blocks stand on one another."""
    return sum(world.below[name] in BLOCKS for name in BLOCKS) == len(BLOCKS) - 1


def spread(axis: int) -> Callable[[World], bool]:
    """True if the blocks stand on a line along one axis, clear of one another."""

    def check(world: World) -> bool:
        points = np.array([world.xy[name] for name in BLOCKS])
        along, across = np.sort(points[:, axis]), points[:, 1 - axis]
        return bool(np.ptp(across) < 0.01 and np.all(np.diff(along) > 0.05))

    return check


def ring(world: World) -> bool:
    """True if the blocks stand on one circle, clear of one another."""
    points = np.array([world.xy[name] for name in BLOCKS])
    radii = np.hypot(*(points - points.mean(axis=0)).T)
    gaps = [np.hypot(*(a - b)) for i, a in enumerate(points) for b in points[:i]]
    return bool(np.ptp(radii) < 0.02 and radii.mean() > 0.05 and min(gaps) > 0.05)


def corners(world: World) -> bool:
    """True if the four blocks stand in four different corners."""
    places = {tuple(np.round(np.abs(world.xy[n] - (0, -0.5)), 2)) for n in BLOCKS}
    signs = {tuple(np.sign(world.xy[n] - (0, -0.5))) for n in BLOCKS}
    return places == {(0.25, 0.25)} and len(signs) == 4


def paired(same: bool) -> Callable[[World], bool]:
    """True if every block lies in a bowl of its own colour, or of another."""

    def check(world: World) -> bool:
        under = {name: world.below[name] or "" for name in BLOCKS}
        return all(
            target.endswith("bowl") and (name.split()[0] == target.split()[0]) is same
            for name, target in under.items()
        )

    return check


ALL_IN = {
    bowl: every(*(on(name, bowl) for name in BLOCKS))
    for bowl in ("green bowl", "yellow bowl", "blue bowl")
}

CASES = [
    Case(("put the green block in the blue bowl",), on("green block", "blue bowl")),
    Case(("place the yellow block on the red block",), on("yellow block", "red block")),
    Case(("please move the blue block to the bottom left corner",), at("blue block", -0.25, -0.75)),
    Case(("could you put the red block on the right side of the table",), at("red block", 0.25, -0.5)),
    Case(("put all the blocks in the green bowl",), ALL_IN["green bowl"]),
    Case(("drop every block into the yellow bowl",), ALL_IN["yellow bowl"]),
    Case(("put the blocks in the bowls of the same color",), paired(True)),
    Case(("sort the blocks into the bowls with matching colors",), paired(True)),
    Case(("put the blocks in bowls with mismatched colors",), paired(False)),
    Case(("stack all the blocks",), tower),
    Case(("make a tower out of the blocks",), tower),
    Case(
        ("stack the blocks in the top right corner",),
        every(tower, *(at(name, 0.25, -0.25) for name in BLOCKS)),
    ),
    Case(("arrange the blocks in a horizontal line",), spread(0)),
    Case(("line the blocks up vertically",), spread(1)),
    Case(("put the blocks in a circle",), ring),
    Case(("put the blocks in different corners",), corners),
    Case(("move the red block 5 cm to the right",), shifted("red block", 0.05, 0)),
    Case(("push the green block 10cm up",), shifted("green block", 0, 0.10)),
    Case(
        ("put the blue block between the red bowl and the green bowl",),
        at("blue block", 0.115, -0.585),
    ),
    Case(
        ("put the yellow block next to the blue bowl",),
        lambda world: 0.08 < np.hypot(*(world.xy["yellow block"] - world.xy["blue bowl"])) < 0.2,
    ),
    Case(
        ("put the red block a little above the blue bowl",),
        off("red block", "blue bowl", (-0.01, 0.07), (0.01, 0.14)),
    ),
    Case(
        ("place the green block far to the right of the blue bowl",),
        off("green block", "blue bowl", (0.17, -0.01), (0.45, 0.01)),
    ),
    Case(("put the leftmost block in the red bowl",), on("red block", "red bowl")),
    Case(("put the second block from the right in the blue bowl",), on("blue block", "blue bowl")),
    Case(
        ("move the block closest to the green bowl to the middle",), at("yellow block", 0.0, -0.5)
    ),
    Case(
        ("put the block that is farthest from the red bowl in the yellow bowl",),
        on("red block", "yellow bowl"),
    ),
    Case(("put the topmost block on the bottommost block",), on("blue block", "green block")),
    Case(
        ("swap the red block and the blue block",),
        every(at("red block", 0.12, -0.30), at("blue block", -0.15, -0.35)),
    ),
    Case(("is the red block to the left of the blue bowl?",), said("no")),
    Case(("how many bowls are there?",), said("4", "four")),
    Case(("how many blocks are above the red bowl?",), said("2", "two")),
    Case(("what color is the leftmost block?",), said("red")),
    Case(("which block is closest to the top left corner?",), said("red")),
    Case(("where is the yellow block?",), said("right")),
    Case(
        ("put the red block in the blue bowl", "now move it to the top right corner"),
        at("red block", 0.25, -0.25),
    ),
    Case(("put the green block in the red bowl", "undo that"), shifted("green block", 0, 0)),
    Case(
        ("stack all the blocks", "put them back"),
        every(*(shifted(name, 0, 0) for name in BLOCKS)),
    ),
    Case(
        ("move the blue block to the left side", "do the same with the red block"),
        at("red block", -0.25, -0.5),
    ),
    Case(
        ("put the red and green blocks in the blue bowl",),
        every(on("red block", "blue bowl"), on("green block", "blue bowl")),
    ),
    Case(
        ("put the blocks other than the red block in the green bowl",),
        every(
            on("blue block", "green bowl"),
            on("green block", "green bowl"),
            on("yellow block", "green bowl"),
            shifted("red block", 0, 0),
        ),
    ),
    Case(("put the red block on the opposite side of the table",), lambda w: w.xy["red block"][0] > 0.1),
    Case(("point at the blue bowl",), lambda w: np.allclose(w.pointed, w.xy["blue bowl"], atol=0.01)),
    Case(("pour the coffee",), DECLINE),
    Case(("sing a song",), DECLINE),
    Case(("put the lemon in the red bowl",), DECLINE),
    Case(("throw the red block at the wall",), DECLINE),
    Case(("put the red block under the table",), DECLINE),
    Case(("don't touch the red block",), DECLINE),
    Case(("put the purple block in the blue bowl",), DECLINE),
]
