"""What a planner is told after its steps: objects, success, progress, and a person's words.

Success has Inner Monologue's two forms: on a tabletop a line after every step (`Success: no`), in a
kitchen a note after a step that failed (`[success: no]`). All else has one form.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Literal, Protocol

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
    answers: bool = False

    def opening(self, world: World) -> list[str]:
        """Return the objects there are."""
        return [self._line(world)]

    def after(self, outcome: StepOutcome, world: World) -> list[str]:
        """Return the objects seen now, in the kitchen."""
        moves = outcome.action.skill not in _SILENT
        return [self._line(world)] if moves and self.form == "kitchen" else []

    def _line(self, world: World) -> str:
        return scene_line(world.visible())


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
    """Whether the last step succeeded."""

    form: Form = "kitchen"
    """How it is written."""
    answers: bool = False

    def opening(self, world: World) -> list[str]:
        """Return nothing."""
        return []

    def after(self, outcome: StepOutcome, world: World) -> list[str]:
        """Return whether it succeeded; in the kitchen only if it did not."""
        if outcome.action.skill in _SILENT:
            return []
        if self.form == "kitchen":
            return [] if outcome.ok else ["[success: no]"]
        return [f"Success: {'yes' if outcome.ok else 'no'}"]


@dataclass
class SceneFeedback:
    """Which of its goals are reached, when the planner states them and after each step."""

    answers: bool = False
    _goals: tuple[str, ...] = ()

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
        reached = [goal for goal in self._goals if world.satisfied(goal)]
        return [f"Reached: {'; '.join(reached) or 'nothing'}"] if self._goals else []


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
