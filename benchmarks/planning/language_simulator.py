"""SayCan's language-based simulator: a world made of an instruction and its solution alone.

Affordances agree with the solution as far as it has been followed, and with distractors beside it:
other objects can be found everywhere, and some that nobody asked for can be picked up.
"""

from __future__ import annotations

import zlib
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from benchmarks.planning.kitchen_skills import near
from benchmarks.planning.puzzles import UnseenWorld
from cap.planners.dialogue import DialogueLine
from cap.planners.loop import DONE, Action, StepOutcome
from cap.planners.saycan import TERMINATE
from cap.planners.stand_in_models import Advice, Knowledge

DISTRACTORS = 2
"""Objects in reach that have nothing to do with the solution."""


@dataclass(frozen=True)
class Solution:
    """An instruction and the steps that solve it, `done` left out."""

    instruction: str
    """The person's words."""
    steps: tuple[str, ...]
    """In words, as the kitchen's steps have them."""


class LanguageWorld(UnseenWorld):
    """Follows one solution; a step that is not of it changes nothing."""

    name = "language"

    def __init__(self, solution: Solution, actions: Sequence[Action], seed: int = 0) -> None:
        """Offer the steps of a kitchen."""
        super().__init__(actions)
        self.solution = solution
        self.followed = 0
        """Steps of the solution that were taken."""
        self.strayed = False
        """Whether another one was, or one after the last."""
        self.solved = False
        """Whether the solution was followed to its last step, whatever came then."""
        self._seed = seed

    @property
    def recovered(self) -> bool:
        """Whether the steps taken are the solution."""
        return not self.strayed and self.followed == len(self.solution.steps)

    def achieved(self, action: Action) -> bool:
        """Return whether a step was the last one: it need not be taken twice in a row."""
        last = self.solution.steps[self.followed - 1] if self.followed else ""
        return action.text == last and action.text != self._due

    @property
    def _due(self) -> str:
        steps = self.solution.steps
        return steps[self.followed] if self.followed < len(steps) else DONE.text

    def affordance(self, action: Action) -> float:
        """Return what agrees with the solution so far, and with the distractors in reach."""
        right = action.text == self._due
        match action.skill:
            case "find" | "go" | "bring":
                return near(5.0)
            case "pick":
                return float(right or action.args[0] in self._near())
            case "put":
                return 1.0
            case "open" | "close" | "stow":
                return float(right)
        return TERMINATE

    def _near(self) -> list[str]:
        """Return the distractors in reach where the robot is now."""
        names = sorted({action.args[0] for action in self._actions if action.skill == "pick"})
        moment = zlib.crc32(f"{self.solution.instruction}/{self.followed}".encode())
        generator = np.random.default_rng([self._seed, moment])
        return [str(name) for name in generator.choice(names, DISTRACTORS, replace=False)]

    def step(self, action: Action) -> StepOutcome:
        """Take a step."""
        right = action.text == self._due
        self.strayed = self.strayed or not right
        self.followed += right
        self.solved = self.solved or self.recovered
        return StepOutcome(action, right, "" if right else "it is not of the solution")


class SolutionKnowledge(Knowledge):
    """Knows the solutions of some instructions."""

    def __init__(self, solutions: Sequence[Solution]) -> None:
        """Know them by their words."""
        self._solutions = {entry.instruction: entry for entry in solutions}

    def advice(self, lines: Sequence[DialogueLine]) -> Advice | None:
        """Return the steps of the solution that are left."""
        words = next((line.text for line in lines if line.kind == "person"), "")
        found = self._solutions.get(words.rstrip(".")) or self._solutions.get(words)
        if found is None:
            return None
        done = sum(line.kind == "step" for line in lines)
        return Advice(tuple((step,) for step in (*found.steps, DONE.text)[done:]))
