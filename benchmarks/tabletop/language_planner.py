"""The planner without code: a model lists pick-and-place sentences, and primitives carry them out.

Its prompt, `prompts/ravens-nl/plan.py`, has the form of every other prompt file, so that any model
can be asked in the same way; but a plan is sentences and nothing else of the answer is used. They
name objects and places only: what needs a position in numbers cannot be said.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from typing import Any

from cap.errors import CheckFailed, EmptyCompletion
from cap.models.base import Model, Request
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
        return f"put_first_on_second({self.what!r}, {self.where!r})\n"


def plan(model: Model, instruction: str, facts: Mapping[str, Any]) -> tuple[PlanStep, ...]:
    """Ask a model for the steps of an instruction.

    Raises:
        ModelError: No answer, or no step in it.
    """
    asked = _prompt()
    request = Request(asked.render(instruction, Context.of(facts).text), asked.header.stop)
    steps = parse(model.complete(request).said(), asked.header.stop)
    if not steps:
        raise EmptyCompletion("the answer has no step 'Pick up the ... Place it on the ...'")
    return steps


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
