"""What a planner is told after its steps: objects, success, progress, and a person's words.

Success has Inner Monologue's two forms: on a tabletop a line after every step (`Success: no`), in a
kitchen a note after a step that failed (`[success: no]`). All else has one form.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Literal, Protocol

import numpy as np

from cap.planners.world import Action, StepOutcome, World

Form = Literal["tabletop", "kitchen"]
NO_ANSWER = "(no answer)"
"""What stands where a person says nothing."""


class Feedback(Protocol):
    """Something that tells a planner's model, in words, of what is and what happened."""

    answers: bool
    """Whether it answers questions."""

    def opening(self, world: World) -> list[str]:
        """Return what is said before the first step."""

    def after(self, outcome: StepOutcome, world: World) -> list[str]:
        """Return what is said after a step, or after what a planner said."""


@dataclass(frozen=True)
class DetectorErrors:
    """How often a detector is wrong; its errors depend on the seed and the step alone."""

    false_positive: float = 0.0
    """Probability of a yes where it is no."""
    false_negative: float = 0.0
    """Probability of a no where it is yes."""
    seed: int = 0
    """Of the random numbers."""

    def seen(self, truth: bool, *moment: int) -> bool:
        """Return what the detector says of a truth."""
        wrong = self.false_negative if truth else self.false_positive
        if not wrong:
            return truth
        return truth ^ bool(np.random.default_rng([self.seed, *moment]).random() < wrong)


_SILENT = ("ask", "goal", "think")
"""After these nothing has changed."""


def scene_line(names: Sequence[str]) -> str:
    """Return the line that names the objects there are."""
    return f"Scene: there is {', '.join(names) or 'nothing'}."


@dataclass
class ObjectFeedback:
    """Names of the objects seen: on a tabletop once, in a kitchen at the start and after steps."""

    form: Form = "kitchen"
    """Where it is: in the kitchen what is seen changes."""
    detector: DetectorErrors = field(default_factory=DetectorErrors)
    """Of each object that is seen; objects that are not are never made up."""
    answers: bool = False
    _looks: int = 0

    def opening(self, world: World) -> list[str]:
        """Return the objects there are."""
        return [self._line(world)]

    def after(self, outcome: StepOutcome, world: World) -> list[str]:
        """Return the objects seen now, in the kitchen."""
        moves = outcome.action.skill not in _SILENT
        return [self._line(world)] if moves and self.form == "kitchen" else []

    def _line(self, world: World) -> str:
        self._looks += 1
        names = [
            name
            for number, name in enumerate(world.visible())
            if self.detector.seen(True, self._looks, number)
        ]
        return scene_line(names)


@dataclass
class OpeningFeedback:
    """How it is at first, in words, and nothing later."""

    text: str
    """What is told."""
    answers: bool = False

    def opening(self, world: World) -> list[str]:
        """Return what is told."""
        return [self.text]

    def after(self, outcome: StepOutcome, world: World) -> list[str]:
        """Return nothing."""
        return []


@dataclass
class SuccessFeedback:
    """Whether the last step succeeded, as a detector sees it."""

    form: Form = "kitchen"
    """How it is written."""
    detector: DetectorErrors = field(default_factory=DetectorErrors)
    """How often it is wrong."""
    answers: bool = False
    _steps: int = 0

    def opening(self, world: World) -> list[str]:
        """Return nothing."""
        return []

    def after(self, outcome: StepOutcome, world: World) -> list[str]:
        """Return whether it succeeded; in the kitchen only if it did not."""
        if outcome.action.skill in _SILENT:
            return []
        self._steps += 1
        ok = self.detector.seen(outcome.ok, self._steps, 5)
        if self.form == "kitchen":
            return [] if ok else ["[success: no]"]
        return [f"Success: {'yes' if ok else 'no'}"]


@dataclass
class SceneFeedback:
    """Which of its goals are reached, when the planner states them and after each step."""

    detector: DetectorErrors = field(default_factory=DetectorErrors)
    """How often it is wrong about one goal."""
    answers: bool = False
    _goals: tuple[str, ...] = ()
    _steps: int = 0

    def opening(self, world: World) -> list[str]:
        """Return nothing."""
        return []

    def after(self, outcome: StepOutcome, world: World) -> list[str]:
        """Return the goals reached; goals that are stated replace those before."""
        action = outcome.action
        if action.skill == "goal":
            self._goals = action.args
        elif action.skill in _SILENT:
            return []
        else:
            self._steps += 1
        if not self._goals:
            return []
        reached = [
            goal
            for number, goal in enumerate(self._goals)
            if (truth := world.satisfied(goal)) is not None
            and self.detector.seen(truth, self._steps, number, 9)
        ]
        return [f"Reached: {'; '.join(reached) or 'nothing'}"]


@dataclass
class HumanFeedback:
    """A person who answers what is asked, and may change their mind on the way."""

    answer: Callable[[str], str]
    """Answers a question; "" where the person says nothing."""
    interjections: Sequence[tuple[int, str]] = ()
    """What the person says by themselves: after how many steps, and the words."""
    answers: bool = True
    _steps: int = 0

    def opening(self, world: World) -> list[str]:
        """Return nothing."""
        return []

    def after(self, outcome: StepOutcome, world: World) -> list[str]:
        """Return the answer to a question, or what the person says after a step."""
        action: Action = outcome.action
        if action.skill == "ask":
            return [f"Person: {' '.join(self.answer(action.args[0]).split()) or NO_ANSWER}"]
        if action.skill in ("goal", "think"):
            return []
        self._steps += 1
        return [f"Person: {words}" for after, words in self.interjections if after == self._steps]
