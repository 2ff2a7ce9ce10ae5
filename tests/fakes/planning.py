"""A world of texts, and models that answer in ways a planner must survive."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from cap.models.base import Completion, Request, Scores
from cap.planners.loop import DONE, Action, StepOutcome


class TextWorld:
    """Steps that are texts; each has an affordance, and those named fail."""

    name = "texts"

    def __init__(
        self, steps: Sequence[str], can: dict[str, float] | None = None, fail: Sequence[str] = ()
    ) -> None:
        self._actions = [Action("do", (text,), text) for text in steps]
        if steps:
            self._actions.append(DONE)
        self.can = can or {}
        self.fail = fail
        self.done: list[str] = []

    def actions(self) -> Sequence[Action]:
        return self._actions

    def visible(self) -> Sequence[str]:
        return [action.text for action in self._actions if action.skill == "do"]

    def achieved(self, action: Action) -> bool:
        return action.text in self.done

    def affordance(self, action: Action) -> float:
        return self.can.get(action.text, 1.0)

    def satisfied(self, goal: str) -> bool | None:
        return goal in self.done if goal in self.visible() else None

    def step(self, action: Action) -> StepOutcome:
        if action.text in self.fail:
            return StepOutcome(action, False, "it is not to be")
        self.done.append(action.text)
        return StepOutcome(action, True)


class Scorer:
    """Compares by a function of the prompt and one continuation; says the lines it was given."""

    name = "scorer"
    endpoint = None

    def __init__(self, of: Callable[[str, str], float], lines: Sequence[str] = ()) -> None:
        self.of = of
        self.lines = list(lines)
        self.prompts: list[str] = []

    def score(self, prompt: str, continuations: Sequence[str]) -> Scores:
        self.prompts.append(prompt)
        return Scores(tuple(self.of(prompt, text) for text in continuations), "exact")

    def complete(self, request: Request) -> Completion:
        self.prompts.append(request.prompt)
        return Completion(self.lines.pop(0) if len(self.lines) > 1 else self.lines[0], self.name)
