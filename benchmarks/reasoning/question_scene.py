"""Scenes to ask about: four blocks and four bowls seen from above, where each stands in metres.

x points right and y away from the front edge (up in a picture); no two objects share an x or a y.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

COLORS = (
    *("blue", "red", "green", "orange", "yellow"),
    *("pink", "cyan", "brown", "gray", "purple"),
)
EACH = 4
"""Blocks, and bowls."""
SHARED = 2
"""Colors that both a block and a bowl have."""
_FIRST_M, _STRIDE_M = (-0.28, -0.78), 0.07
"""Of the eight stretches that objects are spread over, in x and y."""
_FREE_CM = 5
"""How far from its stretch's begin an object may be, centimetres, exclusive."""

Array = NDArray[np.float64]
Point = tuple[float, float]


@dataclass(frozen=True)
class QuestionScene:
    """Where everything is, and what a question's words speak of."""

    positions: Mapping[str, Point]
    """Every object, xy in metres, in the order a model is told of them."""
    block: str
    """What `{block}` in a question means."""
    block2: str
    """Another block: `{block2}`."""
    bowl: str
    """`{bowl}`."""
    bowl2: str
    """`{bowl2}`, another."""
    twin: str
    """`{twin}`: a bowl with a block of its color."""

    @property
    def objects(self) -> list[str]:
        """Every name."""
        return list(self.positions)

    @property
    def blocks(self) -> list[str]:
        """The names of the blocks."""
        return [name for name in self.positions if name.endswith("block")]

    @property
    def bowls(self) -> list[str]:
        """The names of the bowls."""
        return [name for name in self.positions if name.endswith("bowl")]

    def at(self, name: str) -> Array:
        """Return where an object is, xy in metres."""
        return np.array(self.positions[name])

    def gap(self, first: str, second: str) -> float:
        """Return the distance of two objects, metres."""
        return float(np.linalg.norm(self.at(first) - self.at(second)))

    def shaken(self, rng: np.random.Generator, most_m: float) -> QuestionScene:
        """Return the scene with every object moved by up to so much in x and in y."""
        moved = {
            name: (x + float(dx), y + float(dy))
            for (name, (x, y)), (dx, dy) in zip(
                self.positions.items(),
                rng.uniform(-most_m, most_m, (len(self.positions), 2)),
                strict=True,
            )
        }
        return replace(self, positions=moved)


def draw(rng: np.random.Generator) -> QuestionScene:
    """Return a scene; coordinates are whole centimetres."""
    colors = [str(color) for color in rng.permutation(COLORS)[: 2 * EACH - SHARED]]
    blocks = [f"{color} block" for color in colors[:EACH]]
    bowls = [f"{color} bowl" for color in colors[-EACH:]]
    names = [str(name) for name in rng.permutation([*blocks, *bowls])]
    axes = []
    for first_m in _FIRST_M:  # no two objects have the same stretch of an axis
        stretches = rng.permutation(len(names)).tolist()
        free_m = (rng.integers(_FREE_CM, size=len(names)) / 100).tolist()
        ends = zip(stretches, free_m, strict=True)
        axes.append([round(first_m + _STRIDE_M * stretch + more, 2) for stretch, more in ends])
    block, block2 = _two(rng, blocks)
    bowl, bowl2 = _two(rng, bowls)
    return QuestionScene(
        positions=dict(zip(names, zip(*axes, strict=True), strict=True)),
        block=block,
        block2=block2,
        bowl=bowl,
        bowl2=bowl2,
        twin=str(rng.choice(bowls[:SHARED])),
    )


def _two(rng: np.random.Generator, names: Sequence[str]) -> tuple[str, str]:
    first, second = rng.permutation(names)[:2]
    return str(first), str(second)
