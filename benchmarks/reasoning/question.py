"""What a question is, and how it is put: in a scene where it has one clear answer."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np

from benchmarks.reasoning.question_scene import QuestionScene, draw

Kind = Literal["object", "position"]
SHAKE_M = 0.004
"""A clear answer stays the same while every object moves by up to this much."""
STEADY_M = 0.05
"""Positions asked for move by less than this meanwhile."""
_SHAKES = 12
_DRAWS = 400


@dataclass(frozen=True)
class ReasoningQuestion:
    """One question of the suite."""

    name: str
    """Short, for reports."""
    kind: Kind
    """Which objects, or which positions."""
    words: str
    """What is asked; `{block}`, `{bowl}` and the like are the scene's."""
    answer: Callable[[QuestionScene], Any]
    """Works the answer out from the scene: names; or points, xy in metres, shape (2,) or (n, 2)."""
    program: str
    """Another way to the answer: a program over the same primitives a model's programs have."""
    ordered: bool = False
    """True if several names or points must come in the order the words say."""


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
        answer = question.answer(scene)
        if len(answer) == 0:
            continue
        shaken = (question.answer(scene.shaken(rng, SHAKE_M)) for _ in range(_SHAKES))
        if question.kind == "object":
            clear = all(other == answer for other in shaken)
        else:
            clear = all(np.abs(np.asarray(other) - answer).max() < STEADY_M for other in shaken)
        if clear:
            slots = {
                "block": scene.block,
                "block2": scene.block2,
                "bowl": scene.bowl,
                "bowl2": scene.bowl2,
                "twin": scene.twin,
            }
            words, program = question.words, question.program
            for slot, name in slots.items():
                words = words.replace(f"{{{slot}}}", name)
                program = program.replace(f"{{{slot}}}", name)
            return PosedQuestion(question, scene, words, program, answer)
    raise AssertionError(f"question '{question.name}' is clear in no scene")
