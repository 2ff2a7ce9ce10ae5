"""The dialogue a planner's model continues: examples, an instruction, steps, their feedback.

    Person: throw away the apple
    Robot: 1. find an apple.
    Robot: 2. pick up the apple.
    [success: no]
    Robot: 3. pick up the apple.

A blank line precedes each episode. What a robot says rather than does has lines of its own:
`Robot goal:`, `Robot thought:`, `Robot question:`.
"""

from __future__ import annotations

import re
import tomllib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Literal

import msgspec

from cap.models.base import Model, Request
from cap.planners.loop import PlanEpisode

Kind = Literal["person", "goal", "thought", "question", "step", "feedback"]
MARKS: Mapping[Kind, str] = {
    "person": "Person:",
    "goal": "Robot goal:",
    "thought": "Robot thought:",
    "question": "Robot question:",
    "step": "Robot:",
    "feedback": "",
}
"""What each kind of line begins with; of these marks the first that fits says what a line is."""
SPOKEN: tuple[Kind, ...] = ("goal", "thought", "question")
"""What a robot says rather than does."""
_NUMBER = re.compile(r"\d+\.(?:\s+|$)")

CONTINUE = "You continue a text. Write only what comes next in it, in its form, and nothing else."
"""The system message for chat models, which would write a program without it."""
_QUESTIONS = (
    "Where the instruction leaves something open, the robot may ask the person before a step "
    "(Robot question: ...); the answer follows as a line of the person's."
)
_ARTICLE = re.compile(r"\b(?:a|an) ", re.I)

LINE_TOKENS = 120
"""Tokens of one line, at most."""


def next_line(model: Model, prompt: str) -> str:
    """Return the line with which a model continues a text.

    Raises:
        ModelError: No usable answer.
    """
    request = Request(prompt, stop=("\n",), max_tokens=LINE_TOKENS, system=CONTINUE)
    return model.complete(request).said().strip().split("\n")[0]


@dataclass(frozen=True)
class DialogueLine:
    """One line of an episode."""

    kind: Kind
    """What it is."""
    text: str
    """Without the mark in front of it."""


@dataclass(frozen=True)
class DialoguePrompt:
    """The text before every dialogue with a model."""

    header: tuple[str, ...] = ()
    """Who the robot is and what there is, line by line."""
    examples: tuple[str, ...] = ()
    """Episodes that show how it is done, as the model reads them."""
    names: tuple[str, ...] = ()
    """Of objects and places in the examples, for `nearest`."""
    synonyms: tuple[str, ...] = ()
    """Words that mean the same, such as `get = bring, fetch`, for `nearest`."""
    feedback: tuple[str, ...] = ()
    """Lines of the header about the feedback after each step."""

    @classmethod
    def load(cls, path: Path) -> DialoguePrompt:
        """Read one of the shipped prompts, a TOML file with the fields of this class."""
        prompt = msgspec.convert(tomllib.loads(path.read_text(encoding="utf-8")), cls)
        return replace(prompt, examples=tuple(example.strip() for example in prompt.examples))

    def without_feedback(self) -> DialoguePrompt:
        """Return the prompt for a planner that is given no feedback after its steps."""
        examples = []
        for example in self.examples:
            opening, person, rest = example.partition(MARKS["person"])
            kept = [line for line in rest.split("\n") if _line(line).kind != "feedback"]
            instruction = rest.split("\n")[0]
            examples.append(opening + person + "\n".join([instruction, *kept]))
        return replace(self, examples=tuple(examples), feedback=())


@dataclass
class Dialogue:
    """An episode as its model reads it."""

    prompt: DialoguePrompt
    """The text before it."""
    instruction: str
    """The person's words."""
    opening: Sequence[str] = ()
    """Lines before the first step."""
    lines: list[DialogueLine] = field(default_factory=list)
    """What followed the instruction."""

    @classmethod
    def begin(cls, prompt: DialoguePrompt, episode: PlanEpisode) -> Dialogue:
        """Return an episode's dialogue before its first step."""
        if episode.asks:
            prompt = replace(prompt, feedback=(*prompt.feedback, _QUESTIONS))
        return cls(prompt, " ".join(episode.instruction.split()), episode.opening)

    def steps(self) -> list[str]:
        """Return the steps so far, in words."""
        return [line.text for line in self.lines if line.kind == "step"]

    def add(self, kind: Kind, text: str, feedback: Sequence[str] = ()) -> None:
        """Add a line, and the feedback on it."""
        self.lines.append(DialogueLine(kind, " ".join(text.split())))
        self.lines += map(_line, feedback)

    def text(self) -> str:
        """Return all of it, to the end of the last line; steps are numbered."""
        own = [*self.opening, f"Person: {self.instruction}"]
        number = 0
        for line in self.lines:
            number += line.kind == "step"
            text = f"{number}. {line.text}." if line.kind == "step" else line.text
            own.append(f"{MARKS[line.kind]} {text}".lstrip())
        header = "\n".join([*self.prompt.header, *self.prompt.feedback])
        return "\n\n".join(filter(None, [header, *self.prompt.examples, "\n".join(own)])) + "\n"

    def before_step(self) -> str:
        """Return the text up to where the next step is said."""
        return f"{self.text()}Robot: {len(self.steps()) + 1}."

    def as_program(self, objects: Sequence[str]) -> str:
        """Return the prompt in the form of prompt files: each plan a list, the last one missing.

        Every article is `the`: `nearest` puts one name in the place of another as it stands.
        """
        names = sorted({*objects, *self.prompt.names})
        shown = [*(f"#: {words}" for words in self.prompt.synonyms), f"objects = {names!r}"]
        for instruction, steps in map(plan_in, self.prompt.examples):
            plan = [_ARTICLE.sub("the ", step) for step in steps]
            shown.append(f"# {_ARTICLE.sub('the ', instruction)}.\nplan = {plan!r}")
        words = _ARTICLE.sub("the ", self.instruction.rstrip(".?!"))
        return "\n\n".join([*shown, f"# {words}.\n"])


def _line(text: str) -> DialogueLine:
    """Return a line of a dialogue without its mark and number."""
    text = text.strip()
    kind = next(kind for kind, mark in MARKS.items() if text.startswith(mark))
    said = text.removeprefix(MARKS[kind]).strip()
    return DialogueLine(kind, _NUMBER.sub("", said, count=1) if kind == "step" else said)


def read(text: str) -> tuple[DialogueLine, ...]:
    """Return the lines of the last episode in a dialogue's text, without full stops at their ends.

    A stand-in for a language model knows no more of an episode than these lines.
    """
    lines = map(_line, text.rstrip().rsplit("\n\n", 1)[-1].splitlines())
    return tuple(
        line if line.kind in SPOKEN else replace(line, text=line.text.rstrip("."))
        for line in lines
        if line.text  # else it is the step that is due
    )


def plan_in(example: str) -> tuple[str, tuple[str, ...]]:
    """Return the instruction of an example and its steps."""
    lines = read(example)
    instruction = next(line.text for line in lines if line.kind == "person")
    return instruction, tuple(line.text for line in lines if line.kind == "step")


def next_robot_line(model: Model, text: str) -> tuple[str, DialogueLine | None]:
    """Return what a model writes as the robot's next line, and how it is read; None if empty.

    Raises:
        ModelError: No usable answer.
    """
    said = next_line(model, f"{text}Robot").removeprefix("Robot").lstrip()
    mark = "" if said[:1] == ":" else " " if said.startswith(SPOKEN) else ": "
    written = f"Robot{mark}{said}"
    return written, next(iter(read(written)), None)


def plain(text: str) -> str:
    """Return a text in small letters, without articles and marks."""
    words = re.findall(r"[^\W_]+", text.lower())
    return " ".join(word for word in words if word not in ("the", "a", "an"))


def match(text: str, steps: Sequence[str]) -> int | None:
    """Return the number of the step that a model's words are; None if they are none of them.

    Case, articles, marks and the number of a step do not count.
    """
    words = plain(_NUMBER.sub("", text.strip(), count=1))
    return next((number for number, step in enumerate(steps) if plain(step) == words), None)
