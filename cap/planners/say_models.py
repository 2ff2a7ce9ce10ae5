"""Stand-ins for a language model that know the right plan, so that planners run with none.

    perfect-say                        says the right step
    perfect-say-with-distractors:N     the right one, and N others now and then
    noisy-say:P                        the right one with probability P, else some other
    uniform-say                        everything alike: affordances alone decide

They read the dialogue like any model: of the world they know what feedback said and no more. What
the right step is after a dialogue, `Knowledge` tells them, which a benchmark has of its own tasks.
They are no language models, and every table that shows them says so.
"""

from __future__ import annotations

import math
import re
import zlib
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Protocol

import numpy as np

from cap.errors import NoMatch, UnknownModel
from cap.models.base import Completion, Request, Scores
from cap.planners.dialogue import DialogueLine, read
from cap.planners.saycan import ASK, ON
from cap.planners.world import DONE

FORMS = ("perfect-say", "perfect-say-with-distractors:N", "noisy-say:P", "uniform-say")
"""How they are named."""
SHARE = 0.9
"""How likely the right steps are where there are others; among steps of the same plan, each has so
much of what those before it left."""
_FLOOR = 1e-9
_FORM = re.compile(r"(perfect-say|uniform-say|perfect-say-with-distractors|noisy-say)(?::(.+))?")


@dataclass(frozen=True)
class Advice:
    """What is right after a dialogue."""

    steps: tuple[tuple[str, ...], ...]
    """Steps that are right now, then those that come after them in the plan, and so on."""
    goals: tuple[str, ...] = ()
    """What must be true at the end, each a sentence the world can read."""
    question: str = ""
    """What to ask the person first."""
    explanation: str = ""
    """What the person wants, in a sentence."""
    others: tuple[str, ...] = ()
    """Steps that could be said and are not right now."""


class Knowledge(Protocol):
    """Knows what is right."""

    def advice(self, lines: Sequence[DialogueLine]) -> Advice | None:
        """Return what is right after the lines of an episode; None if it does not know."""


def is_say_model(name: str) -> bool:
    """Return whether a model's name is one of these."""
    kind = name.split(":")[0]
    return "/" not in name and (_FORM.fullmatch(name) is not None or kind.endswith("-say"))


class SayModel:
    """One of `FORMS`."""

    endpoint = None
    repairs = False

    def __init__(self, name: str, knowledge: Knowledge, seed: int = 0) -> None:
        """Name it and give it what it knows.

        Raises:
            UnknownModel: It is none of `FORMS`.
        """
        match = _FORM.fullmatch(name)
        kind, number = (match[1], match[2]) if match else ("", None)
        self.name = name
        self._distractors, self._right = 0, 1.0
        try:
            if kind == "perfect-say-with-distractors":
                self._distractors = int(number or "")
            elif kind == "noisy-say":
                self._right = float(number or "")
            elif kind not in ("perfect-say", "uniform-say") or number is not None:
                raise ValueError
        except ValueError:
            raise UnknownModel(_unknown(name)) from None
        if not 0 <= self._distractors <= 100 or not 0 <= self._right <= 1:
            raise UnknownModel(_unknown(name))
        self._uniform = kind == "uniform-say"
        self._knowledge = knowledge
        self._seed = seed

    def score(self, prompt: str, continuations: Sequence[str]) -> Scores:
        """Return how likely each continuation is after a dialogue.

        Raises:
            NoMatch: It does not know what is right there.
        """
        advice = self._advice(prompt)
        if tuple(continuations) == (ON, ASK):
            asks = 1 - _FLOOR if advice.question else _FLOOR
            return Scores((math.log(1 - asks), math.log(asks)), "exact")
        if self._uniform:
            return Scores((-math.log(len(continuations)),) * len(continuations), "exact")
        options = [text.strip().rstrip(".") for text in continuations]
        weights = self._weights(advice, options, self._generator(prompt))
        total = math.fsum(weights)
        return Scores(tuple(math.log(weight / total) for weight in weights), "exact")

    def _weights(
        self, advice: Advice, options: Sequence[str], generator: np.random.Generator
    ) -> list[float]:
        weights = [_FLOOR] * len(options)
        share = 1.0
        for group in advice.steps:
            there = [text for text in group if text in options]
            for text in there:
                weights[options.index(text)] += SHARE * share
            share *= 1 - SHARE if there else 1.0
        right = {text for group in advice.steps for text in group}
        others = [n for n, text in enumerate(options) if text not in right]
        if self._distractors and others:
            count = min(self._distractors, len(others))
            for n in generator.choice(others, count, replace=False):
                weights[n] += (1 - SHARE) / count
        if self._right < 1 and others and generator.random() >= self._right:
            weights = [(1 - SHARE) * weight for weight in weights]
            weights[int(generator.choice(others))] += SHARE
        return weights

    def complete(self, request: Request) -> Completion:
        """Return what the robot says next: a goal, a question, an explanation or a step.

        Raises:
            NoMatch: It does not know what is right there.
        """
        advice = self._advice(request.prompt)
        if request.prompt.endswith(ASK):
            return Completion(f" {advice.question}", self.name, cost_usd=0.0)
        if request.prompt.endswith("Explanation:"):
            return Completion(f" {advice.explanation}", self.name, cost_usd=0.0)
        lines = read(request.prompt)
        since = max((n for n, line in enumerate(lines) if line.kind == "person"), default=0)
        stated = any(line.kind == "goal" for line in lines[since:])
        if advice.question:
            text = f" question: {advice.question}"
        elif "Robot goal:" in request.prompt and advice.goals and not stated:
            text = f" goal: {'; '.join(advice.goals)}"
        else:
            number = 1 + sum(line.kind == "step" for line in lines)
            text = f": {number}. {self._step(advice, request.prompt)}."
        return Completion(text, self.name, cost_usd=0.0)

    def _step(self, advice: Advice, prompt: str) -> str:
        """Return one step as it is said without options: it is as often wrong as scored."""
        right = next((group[0] for group in advice.steps if group), DONE.text)
        later = {text for group in advice.steps[1:] for text in group}
        others = sorted({*later, *advice.others, DONE.text} - {right})
        generator = self._generator(prompt)
        wrong = self._uniform or (self._right < 1 and generator.random() >= self._right)
        return str(generator.choice(others)) if wrong and others else right

    def _generator(self, prompt: str) -> np.random.Generator:
        """Return random numbers of this moment of an episode: the same whatever stands before."""
        moment = "\n".join(f"{line.kind} {line.text}" for line in read(prompt))
        return np.random.default_rng([self._seed, zlib.crc32(moment.encode())])

    def _advice(self, prompt: str) -> Advice:
        lines = read(prompt)
        advice = self._knowledge.advice(lines)
        if advice is None:
            words = next((line.text for line in lines if line.kind == "person"), "")
            raise NoMatch(
                f"{self.name} knows only the benchmark's own instructions, and {words!r} is none; "
                "say one of those, or use another model with -m"
            )
        return advice


def _unknown(name: str) -> str:
    return (
        f"unknown model {name!r}: N is a whole number up to 100, P a probability. "
        f"Forms: {', '.join(FORMS)}"
    )
