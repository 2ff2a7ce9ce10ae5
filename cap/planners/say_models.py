"""Stand-ins for a language model that know the right plan, so that planners run with none.

    perfect-say                        says the right step
    perfect-say-with-distractors:N     the right one, and N others now and then
    noisy-say:P                        the right one with probability P, else some other
    even-say:N                         the right one and N others, all alike, and nothing else
    uniform-say                        everything alike: affordances alone decide
    copy-say                           copies the prompt's example with this task's names

They read the dialogue like any model: of the world they know what feedback said and no more. What
the right step is after a dialogue, `Knowledge` tells them, which a benchmark has of its own tasks.
They are not language models: every table that shows one also shows `what_it_knows` of it.
"""

from __future__ import annotations

import math
import re
import zlib
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Protocol, runtime_checkable

import numpy as np

from cap.errors import NoMatch, UnknownModel
from cap.models.base import Completion, Request, Scores
from cap.planners.dialogue import DialogueLine, read
from cap.planners.loop import DONE
from cap.planners.saycan import ASK, ON

FORMS = (
    "perfect-say",
    "perfect-say-with-distractors:N",
    "noisy-say:P",
    "even-say:N",
    "uniform-say",
    "copy-say",
)
"""How they are named."""
SHARE = 0.9
"""How likely the right steps are where there are others; among steps of the same plan, each has so
much of what those before it left."""
_FLOOR = 1e-9
_LONGEST = 30
"""Steps of a plan that is written whole."""
_FORM = re.compile(
    r"(perfect-say|uniform-say|copy-say|even-say|perfect-say-with-distractors|noisy-say)(?::(.+))?"
)
_STEP = re.compile(r"Step \d+:(.*)")


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


@runtime_checkable
class Wording(Protocol):
    """Knowledge that can say a step in other words, as people do."""

    def worded(self, step: str, generator: np.random.Generator) -> str:
        """Return a step in words of one's own."""


def what_it_knows(name: str) -> str:
    """Return what a stand-in for a language model knows, "" for a language model."""
    kind, _, number = name.partition(":")
    right = "knows the right next step"
    known = {
        "perfect-say": right,
        "perfect-say-with-distractors": f"{right}, and says {number} others now and then",
        "noisy-say": f"{right}, and says it with probability {number}",
        "even-say": f"{right}, and says it and {number} others alike",
        "uniform-say": "knows nothing, and says all steps alike",
        "copy-say": "copies the prompt's example with this task's names",
        "nearest": "copies the prompt's nearest example",
    }
    return f"{known[kind]}; not a language model" if kind in known else ""


def is_say_model(name: str) -> bool:
    """Return whether a model's name is one of these."""
    kind = name.split(":")[0]
    return "/" not in name and (_FORM.fullmatch(name) is not None or kind.endswith("-say"))


@runtime_checkable
class Programs(Protocol):
    """Knowledge that can say a step as a line of a program."""

    def program(self, step: str) -> str:
        """Return a step as a line of a program."""


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
            if kind in ("perfect-say-with-distractors", "even-say"):
                self._distractors = int(number or "")
            elif kind == "noisy-say":
                self._right = float(number or "")
            elif kind not in ("perfect-say", "uniform-say", "copy-say") or number is not None:
                raise ValueError
        except ValueError:
            raise UnknownModel(_unknown(name)) from None
        if not 0 <= self._distractors <= 100 or not 0 <= self._right <= 1:
            raise UnknownModel(_unknown(name))
        self._uniform = kind == "uniform-say"
        self._even = kind == "even-say"
        if self._even:  # without options it is right as often as with them
            self._right = 1 / (1 + self._distractors)
        self._copies = kind == "copy-say"
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
        if self._even:
            return self._alike(advice, options, generator)
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

    def _alike(
        self, advice: Advice, options: Sequence[str], generator: np.random.Generator
    ) -> list[float]:
        """Return weights of a right step and some others that differ by chance alone."""
        right = next((t for group in advice.steps for t in group if t in options), "")
        others = [n for n, text in enumerate(options) if text != right]
        count = min(self._distractors, len(others))
        drawn = [int(n) for n in generator.choice(others, count, replace=False)] if count else []
        drawn += [options.index(right)] if right else []
        weights = [_FLOOR] * len(options)
        for n in drawn:
            weights[n] = 1.0 + 1e-6 * float(generator.random())
        return weights

    def complete(self, request: Request) -> Completion:
        """Return what the robot says next: a goal, a question, an explanation or a step.

        Raises:
            NoMatch: It does not know what is right there.
        """
        last = (request.prompt.rstrip().splitlines() or [""])[-1]
        instruction = last.removeprefix("# ").strip() if last.startswith("# ") else ""
        if instruction and isinstance(self._knowledge, Programs):
            return Completion(self._program(self._knowledge, instruction), self.name, cost_usd=0.0)
        if _tasks(request.prompt):
            return Completion(self._free(request), self.name, cost_usd=0.0)
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

    def _free(self, request: Request) -> str:
        """Return the next step of a plan in words of its own, or all that are left."""
        *shown, (task, steps) = _tasks(request.prompt)
        if self._copies:
            if not shown:
                return ""
            right = [_renamed(step, shown[-1][0], task) for step in shown[-1][1]]
            return self._whole(right[len(steps) :], len(steps), request)
        lines = [DialogueLine("person", task), *(DialogueLine("step", step) for step in steps)]
        found: list[str] = []
        moment = zlib.crc32("\n".join([task, *steps]).encode())
        generator = np.random.default_rng([self._seed, request.seed or 0, moment])
        while len(found) < _LONGEST:
            advice = self._knowledge.advice(lines)
            if advice is None:
                raise NoMatch(f"{self.name} knows only the benchmark's tasks, and {task!r} is none")
            right_now = next((group[0] for group in advice.steps if group), DONE.text)
            wrong = self._uniform or (self._right < 1 and generator.random() >= self._right)
            if wrong and advice.others:
                right_now = str(generator.choice(sorted(advice.others)))
            if right_now == DONE.text:
                break
            known = self._knowledge
            found.append(
                known.worded(right_now, generator) if isinstance(known, Wording) else right_now
            )
            if "\n" in request.stop:
                break
            lines.append(DialogueLine("step", right_now))
        return self._whole(found, len(steps), request)

    def _program(self, knowledge: Programs, instruction: str) -> str:
        """Return a program for an instruction: every step is as often wrong as any other's."""
        lines = [DialogueLine("person", instruction)]
        generator = np.random.default_rng([self._seed, zlib.crc32(instruction.encode())])
        written: list[str] = []
        while len(written) < _LONGEST:
            advice = self._knowledge.advice(lines)
            if advice is None:
                raise NoMatch(f"{self.name} knows only the benchmark's tasks; use another model")
            right = next((group[0] for group in advice.steps if group), DONE.text)
            said = right
            if self._uniform or (self._right < 1 and generator.random() >= self._right):
                others = sorted({*advice.others, DONE.text} - {right})
                said = str(generator.choice(others))
            if said == DONE.text:
                break
            written.append(knowledge.program(said))
            lines.append(DialogueLine("step", said))
        return "\n".join(written) + "\n" if written else "pass\n"

    @staticmethod
    def _whole(left: Sequence[str], done: int, request: Request) -> str:
        """Return steps as they continue a prompt: one where the end of a line ends the answer."""
        if "\n" in request.stop:
            left = left[:1]
        numbered = enumerate(left, start=done + 1)
        text = "\n".join(f"Step {number}: {step}" for number, step in numbered)
        return text.removeprefix(f"Step {done + 1}:")

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


def _tasks(prompt: str) -> list[tuple[str, list[str]]]:
    """Return the tasks of a zero-shot planner's prompt with their steps; none of another prompt."""
    found = []
    for block in prompt.split("\n\n"):
        first, *rest = block.splitlines() or [""]
        if not first.startswith("Task:"):
            continue
        steps = [match[1].strip() for line in rest if (match := _STEP.fullmatch(line))]
        found.append((first.removeprefix("Task:").strip(), [step for step in steps if step]))
    return found


def _renamed(step: str, theirs: str, ours: str) -> str:
    """Return a step of one task with the words that are another's instead."""
    old, new = theirs.lower().split(), ours.lower().split()
    gone = [word for word in old if word not in new]
    come = [word for word in new if word not in old]
    for word, other in zip(gone, come, strict=False):
        step = re.sub(rf"\b{re.escape(word)}\b", other, step)
    return step


def _unknown(name: str) -> str:
    return (
        f"unknown model {name!r}: N is a whole number up to 100, P a probability. "
        f"Forms: {', '.join(FORMS)}"
    )
