"""What makes steps fail on purpose: chance, or somebody who keeps one from succeeding."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

import numpy as np

from cap.planners.loop import Action, Disturbance


def skill_failure(seed: int, success: Mapping[str, float]) -> Disturbance:
    """Return a disturbance by chance; the same seed and steps fail in the same way.

    Args:
        seed: Of the random numbers.
        success: Probability of success by skill; those not named never fail.
    """

    def strikes(action: Action, number: int) -> str:
        draw = np.random.default_rng([seed, number, 31]).random()
        return "the skill failed" if draw >= success.get(action.skill, 1.0) else ""

    return strikes


def forced_failure(
    skills: Sequence[str],
    meddle: Callable[[Action], None] | None = None,
    further: Disturbance | None = None,
) -> Disturbance:
    """Return a disturbance that makes the first step with one of some skills fail.

    Args:
        skills: Which.
        meddle: Changes the world then, such as moving an object elsewhere.
        further: What goes wrong in addition.
    """
    struck: list[Action] = []

    def strikes(action: Action, number: int) -> str:
        if struck or action.skill not in skills:
            return further(action, number) if further else ""
        struck.append(action)
        if meddle is not None:
            meddle(action)
        return "somebody kept it from succeeding"

    return strikes
