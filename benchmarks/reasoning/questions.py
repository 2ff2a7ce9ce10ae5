"""Questions about a scene, and how one is put: in a scene where it has one clear answer.

A scene has four blocks and four bowls seen from above; x points right and y away from the front
edge (up in a picture), metres; no two objects share an x or a y.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from types import CodeType
from typing import Any, Literal

import msgspec
import numpy as np
from numpy.typing import NDArray
from shapely.geometry import box

from benchmarks import task_file
from benchmarks.suite_folder import filled

SHAKE_M = 0.004
"""A clear answer stays the same while every object moves by up to this much."""
STEADY_M = 0.05
"""Positions asked for move by less than this meanwhile."""
_SHAKES = 12
_DRAWS = 400
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
    """Every object, xy in metres, in the order a model reads them."""
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

    def at(self, name: str) -> Array:
        """Return where an object is, xy in metres."""
        return np.array(self.positions[name])

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


class ReasoningQuestion(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """One question of the suite."""

    name: str
    """Short, for reports."""
    kind: Literal["object", "position"]
    """Which objects, or which positions."""
    words: str
    """What is asked; `{block}`, `{bowl}` and the like are the scene's."""
    program: str
    """Works the answer out: names; or points, xy in metres. It is the oracle's program, too."""
    ordered: bool = False
    """True if several names or points must come in the order the words say."""


QUESTIONS = task_file.load(Path(__file__).with_name("tasks.toml"), ReasoningQuestion)


@dataclass(frozen=True)
class PosedQuestion:
    """A question put in a scene."""

    question: ReasoningQuestion
    """Which."""
    scene: QuestionScene
    """Where."""
    words: str
    """What is asked, in full."""
    program: str
    """The oracle's program for it."""
    answer: Any
    """What is right: names in a list, or an array of xy."""


def put(question: ReasoningQuestion, seed: int) -> PosedQuestion:
    """Put a question in the first scene from a seed in which its answer is clear.

    Clear means that small motions of every object change no name, and no position by much; and
    that a question for several objects is not answered by none of them.
    """
    rng = np.random.default_rng([seed, len(question.name), *question.name.encode()])
    for _ in range(_DRAWS):
        scene = draw(rng)
        program = filled(question.program, vars(scene))
        code = compile(program, f"<{question.name}>", "exec")
        right = _answer(question, code, scene)
        if len(right) == 0:
            continue
        shaken = (_answer(question, code, scene.shaken(rng, SHAKE_M)) for _ in range(_SHAKES))
        if all(_alike(question, right, other) for other in shaken):
            return PosedQuestion(
                question, scene, filled(question.words, vars(scene)), program, right
            )
    raise AssertionError(f"question '{question.name}' is clear in no scene")


def _answer(question: ReasoningQuestion, code: CodeType, scene: QuestionScene) -> Any:
    """Return what a question's own program finds in a scene."""
    space: dict[str, Any] = {"np": np, "box": box}
    space |= {"objects": scene.objects, "get_obj_pos": scene.at}
    exec(code, space)
    found = space["ret_val"]
    if question.kind == "object":
        return [found] if isinstance(found, str) else found
    return np.asarray(found)


def _alike(question: ReasoningQuestion, right: Any, other: Any) -> bool:
    if question.kind == "position":
        return bool(np.abs(other - right).max() < STEADY_M)
    return bool(other == right if question.ordered else sorted(other) == sorted(right))
