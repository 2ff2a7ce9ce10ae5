"""Stand-ins for a language model that know the right plan, so that planners run with none.

    perfect-say                        says the right step
    perfect-say-with-distractors:N     the right one, and N others now and then
    noisy-say:P                        the right one with probability P, else some other
    even-say:N                         the right one and N others, all alike, and nothing else
    uniform-say                        everything alike: affordances alone decide
    copy-say                           copies the prompt's example with this task's names

They read the dialogue like any model: of the world they know only the feedback. The right step
after a dialogue comes from `Knowledge`, which a benchmark has of its own tasks. They are not
language models: every table that shows one also shows `what_it_knows` of it.
"""

from __future__ import annotations

import math
import re
import zlib
from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass
from itertools import islice, takewhile

import numpy as np

from cap.errors import NoMatch, UnknownModel
from cap.models.base import Completion, Request, Scores
from cap.planners.dialogue import DialogueLine, read
from cap.planners.loop import DONE
from cap.planners.saycan import ASK, ON

_RIGHT = "knows the right next step"
_KNOWN = {
    "perfect-say": _RIGHT,
    "perfect-say-with-distractors:N": f"{_RIGHT}, and says N others now and then",
    "noisy-say:P": f"{_RIGHT}, and says it with probability P",
    "even-say:N": f"{_RIGHT}, and says it and N others alike",
    "uniform-say": "knows nothing, and says all steps alike",
    "copy-say": "copies the prompt's example with this task's names",
    "nearest": "copies the prompt's nearest example",
}
"""What each form of a name stands for; `nearest` is none of these models, and is like them."""
FORMS = tuple(_KNOWN)[:-1]
"""How they are named."""
SHARE = 0.9
"""How likely the right steps are where there are others; among steps of the same plan, each has so
much of what those before it left."""
_FLOOR = 1e-9
_LONGEST = 30
"""Steps of a plan that is written whole."""
_NUMBERS = {"N": r"\d\d?|100", "P": r"0?\.\d+|[01](?:\.0*)?", "": ""}
"""What may stand for the letters in forms."""
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
    others: tuple[str, ...] = ()
    """Steps that could be said and are not right now."""


class Knowledge:
    """Knows what is right; this one knows nothing."""

    def advice(self, lines: Sequence[DialogueLine]) -> Advice | None:
        """Return what is right after the lines of an episode; None if it does not know."""
        return None

    def worded(self, step: str, generator: np.random.Generator) -> str:
        """Return a step in free words, as people say it."""
        return step

    def program(self, step: str) -> str:
        """Return a step as a line of a program.

        Raises:
            NoMatch: It knows no programs.
        """
        raise NoMatch("it knows no programs of this robot; use another model with -m")


def _form(name: str) -> str:
    """Return the form of a stand-in's name; "" for other models."""
    kind = name.partition(":")[0]
    return next((form for form in _KNOWN if form.partition(":")[0] == kind), "")


def what_it_knows(name: str) -> str:
    """Return what a stand-in for a language model knows, "" for a language model."""
    form, number = _form(name), name.partition(":")[2]
    known = re.sub(r"\b[NP]\b", number, _KNOWN[form]) if form else ""
    return known and f"{known}; not a language model"


def is_stand_in(name: str) -> bool:
    """Return whether a model's name is one of these, or is like them."""
    return "-say" in name and "/" not in name


class StandIn:
    """One of `FORMS`."""

    endpoint = None
    repairs = False

    def __init__(self, name: str, knowledge: Knowledge, seed: int = 0) -> None:
        """Name it and give it what it knows.

        Raises:
            UnknownModel: It is none of `FORMS`.
        """
        kind, _, number = name.partition(":")
        form = _form(name)
        letter = form.partition(":")[2]
        if form not in FORMS or not re.fullmatch(_NUMBERS[letter], number):
            raise UnknownModel(
                f"unknown model {name!r}: N is a whole number up to 100, P a probability. "
                f"Forms: {', '.join(FORMS)}"
            )
        self.name = name
        self._kind = kind
        self._others = int(number) if letter == "N" else 0
        self._right = float(number) if letter == "P" else 1.0
        if kind == "uniform-say":
            self._right = 0.0
        if kind == "even-say":  # without options it is right as often as with them
            self._right = 1 / (1 + self._others)
        self._knowledge = knowledge
        self._seed = seed

    def score(self, prompt: str, continuations: Sequence[str]) -> Scores:
        """Return how likely each continuation is after a dialogue.

        Raises:
            NoMatch: It does not know what is right there.
        """
        lines = read(prompt)
        advice = self._advice(lines)
        options = [text.strip().rstrip(".") for text in continuations]
        if tuple(continuations) == (ON, ASK):
            asks = 1 - _FLOOR if advice.question else _FLOOR
            weights = [1 - asks, asks]
        elif self._kind == "uniform-say":
            weights = [1.0] * len(options)
        else:
            weights = self._weights(advice, options, self._generator(_moment(lines)))
        total = math.fsum(weights)
        return Scores(tuple(math.log(weight / total) for weight in weights), "exact")

    def _weights(
        self, advice: Advice, options: Sequence[str], generator: np.random.Generator
    ) -> list[float]:
        plan = [
            [options.index(text) for text in group if text in options] for group in advice.steps
        ]
        even = self._kind == "even-say"
        right = [n for group in plan for n in group][: 1 if even else None]
        others = [n for n in range(len(options)) if n not in right]
        count = min(self._others, len(others))
        drawn = generator.choice(others, count, replace=False).tolist() if count else []
        weights = [_FLOOR] * len(options)
        if even:  # they differ by chance alone
            for n in (*drawn, *right):
                weights[n] = 1.0 + 1e-6 * float(generator.random())
            return weights
        share = 1.0
        for group in plan:
            for n in group:
                weights[n] += SHARE * share
            share *= 1 - SHARE if group else 1.0
        for n in drawn:
            weights[n] += (1 - SHARE) / count
        if self._right < 1 and others and generator.random() >= self._right:
            weights = [(1 - SHARE) * weight for weight in weights]
            weights[int(generator.choice(others))] += SHARE
        return weights

    def complete(self, request: Request) -> Completion:
        """Return what the robot says next: a goal, a question or a step.

        Of a zero-shot planner's prompt that is a step in free words or the rest of the plan, of a
        prompt for a program a program.

        Raises:
            NoMatch: It does not know what is right there.
        """
        last = (request.prompt.rstrip().splitlines() or [""])[-1]
        if last.startswith("# "):
            text = self._program(last.removeprefix("# ").strip())
        elif tasks := _tasks(request.prompt):
            text = self._free_text(request, tasks)
        else:
            text = self._line(request.prompt)
        return Completion(text, self.name, cost_usd=0.0)

    def _line(self, prompt: str) -> str:
        """Return the next line of a dialogue."""
        lines = read(prompt)
        advice = self._advice(lines)
        if prompt.endswith(ASK):
            return f" {advice.question}"
        if advice.question:
            return f" question: {advice.question}"
        since = takewhile(lambda line: line.kind != "person", reversed(lines))
        stated = any(line.kind == "goal" for line in since)
        if "Robot goal:" in prompt and advice.goals and not stated:
            return f" goal: {'; '.join(advice.goals)}"
        later = {text for group in advice.steps[1:] for text in group}
        generator = self._generator(_moment(lines))
        step = self._said(advice, {*later, *advice.others, DONE.text}, generator)
        number = 1 + sum(line.kind == "step" for line in lines)
        return f": {number}. {step}."

    def _said(self, advice: Advice, others: Collection[str], generator: np.random.Generator) -> str:
        """Return one step as it is said without options: it is wrong as often as when scored."""
        right = next((group[0] for group in advice.steps if group), DONE.text)
        wrong = self._right < 1 and generator.random() >= self._right
        left = sorted({*others} - {right})
        return str(generator.choice(left)) if wrong and left else right

    def _plan(
        self,
        lines: list[DialogueLine],
        generator: np.random.Generator,
        others: Collection[str] = (),
    ) -> Iterator[str]:
        """Yield the steps of a whole plan after some lines.

        Args:
            lines: The instruction, and the steps so far.
            generator: Of the mistakes.
            others: What may be said wrongly as well, such as `done`.
        """
        for _ in range(_LONGEST):
            advice = self._advice(lines)
            step = self._said(advice, {*advice.others, *others}, generator)
            if step == DONE.text:
                return
            yield step
            lines.append(DialogueLine("step", step))

    def _free_text(self, request: Request, tasks: Sequence[tuple[str, list[str]]]) -> str:
        """Return the next step of a plan in free words, or all that are left."""
        *shown, (task, steps) = tasks
        most = 1 if "\n" in request.stop else _LONGEST
        if self._kind == "copy-say":
            theirs, plan = shown[-1] if shown else ("", [])
            found = [_renamed(step, theirs, task) for step in plan[len(steps) :]][:most]
        else:
            lines = [DialogueLine("person", task), *(DialogueLine("step", step) for step in steps)]
            generator = self._generator("\n".join([task, *steps]), request.seed or 0)
            left = islice(self._plan(lines, generator), most)
            found = [self._knowledge.worded(step, generator) for step in left]
        numbered = enumerate(found, start=len(steps) + 1)
        text = "\n".join(f"Step {number}: {step}" for number, step in numbered)
        return text.removeprefix(f"Step {len(steps) + 1}:")

    def _program(self, instruction: str) -> str:
        """Return a program for an instruction: each step is wrong as often as any other's."""
        lines = [DialogueLine("person", instruction)]
        steps = self._plan(lines, self._generator(instruction), {DONE.text})
        written = [self._knowledge.program(step) for step in steps]
        return "\n".join([*(written or ["pass"]), ""])

    def _generator(self, moment: str, *seeds: int) -> np.random.Generator:
        """Return random numbers of a moment of an episode, which a text stands for."""
        return np.random.default_rng([self._seed, *seeds, zlib.crc32(moment.encode())])

    def _advice(self, lines: Sequence[DialogueLine]) -> Advice:
        advice = self._knowledge.advice(lines)
        if advice is None:
            words = next((line.text for line in lines if line.kind == "person"), "")
            raise NoMatch(
                f"{self.name} knows only the benchmark's own instructions, and {words!r} is none; "
                "say one of those, or use another model with -m"
            )
        return advice


def _moment(lines: Sequence[DialogueLine]) -> str:
    """Return what stands for a moment of an episode: the same whatever is before the episode.

    Feedback is named as in version 0.1: with that the same seeds draw the same.
    """
    return "\n".join(
        f"{'told' if line.kind == 'feedback' else line.kind} {line.text}" for line in lines
    )


def _tasks(prompt: str) -> list[tuple[str, list[str]]]:
    """Return the tasks of a zero-shot planner's prompt with their steps; none of another prompt."""
    found = []
    for block in prompt.split("\n\n"):
        first, *rest = block.splitlines() or [""]
        if first.startswith("Task:"):
            steps = [match[1].strip() for line in rest if (match := _STEP.fullmatch(line))]
            found.append((first.removeprefix("Task:").strip(), [step for step in steps if step]))
    return found


def _renamed(step: str, theirs: str, ours: str) -> str:
    """Return a step of one task with the words that are another's instead."""
    old, new = theirs.lower().split(), ours.lower().split()
    gone, come = ([w for w in one if w not in other] for one, other in ((old, new), (new, old)))
    for word, other in zip(gone, come, strict=False):
        step = re.sub(rf"\b{re.escape(word)}\b", other, step)
    return step
