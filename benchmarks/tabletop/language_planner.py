"""The planner without code: a model lists pick-and-place sentences, and primitives carry them out.

Its prompt, `prompts/ravens-nl/plan.py`, has the form of every other prompt file, so that any model
can be asked in the same way; but a plan is sentences and nothing else of the answer is used. They
name objects and places only: what needs a position in numbers cannot be said.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cache
from typing import Any

from cap.errors import CheckFailed, EmptyCompletion
from cap.models.base import Model, Request, ScoreRequest
from cap.models.wrapper import Wrapped
from cap.program.extraction import program_in
from cap.prompt import prompt
from cap.prompt.context import Context
from cap.prompt.prompt import Prompt
from cap.robot import registry

_STEP = re.compile(
    r"pick up (?P<what>[\w ]+?)(?:[\s.,;'\"\d)-]| and\b| then\b)+"
    r"(?:place|put) it (?:on top of|on|into|in|at) (?P<where>[\w ]+)",
    re.IGNORECASE,
)
_THOUGHTS = re.compile(r"<think(?:ing)?>.*?(?:</think(?:ing)?>|\Z)", re.DOTALL | re.IGNORECASE)


@dataclass(frozen=True)
class PlanStep:
    """One sentence of a plan."""

    what: str
    """The object to pick up."""
    where: str
    """The object or place to put it on."""

    def __str__(self) -> str:
        """Return the sentence."""
        return f"Pick up the {self.what}. Place it on the {self.where}."

    @property
    def call(self) -> str:
        """The statement that carries it out."""
        return f"put_first_on_second({self.what!r}, {self.where!r})"


class LanguagePlanner(Wrapped):
    """A model that is asked for the steps of one instruction, whatever it is asked."""

    repairs = False

    def __init__(self, model: Model, instruction: str, facts: Mapping[str, Any]) -> None:
        """Take the instruction and the robot's facts."""
        super().__init__(model)
        self._instruction, self._facts = instruction, facts

    def _adjusted(self, request: Request) -> Request:
        asked = _prompt()
        text = asked.render(self._instruction, Context.of(self._facts).text)
        return Request(text, asked.header.stop)

    def _through(self, asked: Request | ScoreRequest, ask: Callable[[], Any]) -> Any:
        """Return the steps as a program, each with its sentence.

        Raises:
            ModelError: No answer, or no step in it.
        """
        answer = ask()
        steps = parse(answer.said(), _prompt().header.stop)
        if not steps:
            raise EmptyCompletion("the answer has no step 'Pick up the ... Place it on the ...'")
        return replace(answer, text="".join(f"{step.call}  # {step}\n" for step in steps))


def parse(text: str, stop: Sequence[str] = ()) -> tuple[PlanStep, ...]:
    """Return the steps in a model's answer, whatever stands around them."""
    try:
        text = program_in(text, stop).source
    except (CheckFailed, EmptyCompletion):
        text = _THOUGHTS.sub("", text)
    found = _STEP.finditer(" ".join(text.split()))
    return tuple(PlanStep(_name(match["what"]), _name(match["where"])) for match in found)


def _name(words: str) -> str:
    return words.strip().lower().removeprefix("the ")


@cache
def _prompt() -> Prompt:
    return prompt.load(registry.prompts_path() / "ravens-nl" / "plan.py")
