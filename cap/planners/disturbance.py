"""What makes skills fail that should not: at random, or when a schedule says so."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Protocol

import numpy as np

from cap.planners.world import Action


class Disturbance(Protocol):
    """Decides which steps go wrong."""

    def strikes(self, action: Action, number: int) -> str:
        """Return why a step fails without effect, "" if it does not; called once for each step.

        Args:
            action: The step.
            number: How many were taken before it.
        """


@dataclass
class SkillFailure:
    """Skills that succeed with a probability; the same seed and steps fail in the same way."""

    seed: int
    """Of the random numbers."""
    success: Mapping[str, float]
    """Probability of success by skill; those not named never fail."""

    def strikes(self, action: Action, number: int) -> str:
        """Return why a step fails, "" if it does not."""
        draw = np.random.default_rng([self.seed, number, 31]).random()
        return "the skill failed" if draw >= self.success.get(action.skill, 1.0) else ""


@dataclass
class ForcedFailure:
    """Somebody makes the first attempts of a skill fail, and may change the world as well."""

    skills: tuple[str, ...]
    """Those that are made to fail."""
    times: int = 1
    """How often: once is transient; many times, and the planner must do something else."""
    meddle: Callable[[Action], None] | None = None
    """What is changed at the first failure, such as an object that is taken elsewhere."""
    further: Disturbance | None = None
    """What goes wrong besides."""
    _struck: dict[Action, int] = field(default_factory=dict)

    def strikes(self, action: Action, number: int) -> str:
        """Return why a step fails, "" if it does not."""
        forced = action.skill in self.skills and (not self._struck or action in self._struck)
        if forced and self._struck.get(action, 0) < self.times:
            if not self._struck and self.meddle is not None:
                self.meddle(action)
            self._struck[action] = self._struck.get(action, 0) + 1
            return "somebody kept it from succeeding"
        return self.further.strikes(action, number) if self.further else ""
