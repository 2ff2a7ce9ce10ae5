"""The dialogue a planner's model continues: examples, an instruction, steps, their feedback.

    Person: throw away the apple
    Robot: 1. find an apple.
    Robot: 2. pick up the apple.
    [success: no]
    Robot: 3. pick up the apple.

A blank line precedes each `Person:` that begins an episode. What a robot says rather than does has
lines of its own: `Robot goal:`, `Robot thought:`, `Robot question:`.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Literal

from cap.files import read_toml
from cap.models.base import Model, Request
from cap.planners.loop import Action, PlanEpisode

Kind = Literal["person", "explanation", "goal", "thought", "question", "step", "feedback"]
MARKS: Mapping[Kind, str] = {
    "person": "Person:",
    "explanation": "Explanation:",
    "goal": "Robot goal:",
    "thought": "Robot thought:",
    "question": "Robot question:",
    "step": "Robot:",
    "feedback": "",
}
"""What each kind of line begins with; of these marks the first that fits says what a line is."""
SPOKEN: tuple[Kind, ...] = ("goal", "thought", "question")
"""What a robot says rather than does."""
_EXAMPLES: Mapping[str, Kind] = {"Person": "person", **{kind: kind for kind in SPOKEN}}
"""What lines of examples begin with, without the marks of what a robot says."""
_NUMBER = re.compile(r"\d+\.(?:\s+|$)")
_FEEDBACK = ("Success", "Reached", "Scene")

CONTINUE = "You continue a text. Write only what comes next in it, in its form, and nothing else."
"""The system message for chat models, which would write a program without it."""
_QUESTIONS = (
    "Where the instruction leaves something open, the robot may ask the person before a step "
    "(Robot question: ...); the answer follows as a line of the person's."
)
_ARTICLE = re.compile(r"\b(?:a|an) ", re.I)
_ANY_ARTICLE = re.compile(r"\b(?:a|an|the)\s+")
_STEP_NUMBER = re.compile(r"(?:robot:\s*)?(?:step\s*)?\d+\s*[.):]\s+|robot:\s*")


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
class DialogueExample:
    """One episode that shows how it is done."""

    instruction: str
    """What the person says."""
    steps: tuple[str, ...]
    """The steps in words, `done` included; lines in brackets, goals and thoughts among them."""
    explanation: str = ""
    """Why, for the variant that explains itself first."""
    opening: str = ""
    """A line before the instruction: how the world is at first."""


@dataclass(frozen=True)
class DialoguePrompt:
    """The text before every dialogue with a model."""

    header: tuple[str, ...] = ()
    """Who the robot is and what there is, line by line."""
    examples: tuple[DialogueExample, ...] = ()
    """In the order they are shown."""
    names: tuple[str, ...] = ()
    """Of objects and places in the examples, for `nearest`."""
    synonyms: tuple[str, ...] = ()
    """Words that mean the same, such as `get = bring, fetch`, for `nearest`."""
    feedback: tuple[str, ...] = ()
    """Lines of the header about the feedback after each step."""

    def without_feedback(self) -> DialoguePrompt:
        """Return the prompt for a planner that is given no feedback after its steps."""
        examples = tuple(
            replace(each, steps=tuple(s for s in each.steps if _example_line(s).kind != "feedback"))
            for each in self.examples
        )
        return replace(self, examples=examples, feedback=())

    def with_questions(self) -> DialoguePrompt:
        """Return the prompt for a planner whose questions a person answers."""
        return replace(self, feedback=(*self.feedback, _QUESTIONS))


@dataclass
class Dialogue:
    """An episode as its model reads it."""

    prompt: DialoguePrompt
    """The text before it."""
    instruction: str
    """The person's words."""
    opening: Sequence[str] = ()
    """Lines before the first step."""
    explained: bool = False
    """Whether examples explain themselves."""
    lines: list[DialogueLine] = field(default_factory=list)
    """What followed the instruction."""

    @classmethod
    def begin(
        cls, prompt: DialoguePrompt, episode: PlanEpisode, *, explained: bool = False
    ) -> Dialogue:
        """Return an episode's dialogue before its first step."""
        shown = prompt.with_questions() if episode.asks else prompt
        return cls(shown, " ".join(episode.instruction.split()), episode.opening, explained)

    def steps(self) -> list[str]:
        """Return the steps so far, in words."""
        return [line.text for line in self.lines if line.kind == "step"]

    def add(self, kind: Kind, text: str, feedback: Sequence[str] = ()) -> None:
        """Add a line, and the feedback on it."""
        self.lines.append(DialogueLine(kind, " ".join(text.split())))
        for line in feedback:
            said = line.removeprefix("Person: ")
            self.lines.append(DialogueLine("feedback" if said == line else "person", said))

    def text(self) -> str:
        """Return all of it, to the end of the last line."""
        header = (*self.prompt.header, *self.prompt.feedback)
        blocks = ["\n".join(header)] if header else []
        for example in self.prompt.examples:
            lines = [example.opening] if example.opening else []
            lines.append(f"Person: {example.instruction}")
            if self.explained and example.explanation:
                lines.append(f"Explanation: {example.explanation}")
            blocks.append("\n".join([*lines, *_written(map(_example_line, example.steps))]))
        own = [*self.opening, f"Person: {self.instruction}"]
        blocks.append("\n".join([*own, *_written(self.lines)]))
        return "\n\n".join(blocks) + "\n"

    def before_step(self) -> str:
        """Return the text up to where the next step is said."""
        return f"{self.text()}Robot: {len(self.steps()) + 1}."

    def as_program(self, objects: Sequence[str]) -> str:
        """Return the prompt in the form of prompt files: each plan a list, the last one missing.

        Every article is `the`: `nearest` puts one name in the place of another as it stands.
        """
        names = sorted({*objects, *self.prompt.names})
        shown = [*(f"#: {words}" for words in self.prompt.synonyms), f"objects = {names!r}"]
        for example in self.prompt.examples:
            plan = [step for step in example.steps if _example_line(step).kind == "step"]
            plan = [_ARTICLE.sub("the ", step) for step in plan]
            shown.append(f"# {_ARTICLE.sub('the ', example.instruction)}.\nplan = {plan!r}")
        words = _ARTICLE.sub("the ", self.instruction.rstrip(".?!"))
        return "\n\n".join([*shown, f"# {words}.\n"])


def _example_line(text: str) -> DialogueLine:
    """Return a line of an example."""
    mark, _, said = text.partition(": ")
    if mark in _EXAMPLES:
        return DialogueLine(_EXAMPLES[mark], said)
    return DialogueLine("feedback" if mark in _FEEDBACK or text[0] == "[" else "step", text)


def _written(lines: Iterable[DialogueLine]) -> list[str]:
    """Return lines with the marks in front of them; steps are numbered and end in a full stop."""
    written: list[str] = []
    number = 0
    for line in lines:
        number += line.kind == "step"
        text = f"{number}. {line.text}." if line.kind == "step" else line.text
        written.append(f"{MARKS[line.kind]} {text}" if MARKS[line.kind] else text)
    return written


def read(text: str) -> tuple[DialogueLine, ...]:
    """Return the lines of the last episode in a dialogue's text, numbers and all left out.

    A stand-in for a language model knows no more of an episode than these lines.
    """
    found: list[DialogueLine] = []
    for line in text.rstrip().rsplit("\n\n", 1)[-1].splitlines():
        kind = next(kind for kind, mark in MARKS.items() if line.strip().startswith(mark))
        said = line.strip().removeprefix(MARKS[kind]).strip()
        if kind == "step":
            said = _NUMBER.sub("", said, count=1)
        if said:  # else it is the step that is due
            found.append(DialogueLine(kind, said if kind in SPOKEN else said.rstrip(".")))
    return tuple(found)


def next_robot_line(model: Model, text: str) -> tuple[str, DialogueLine | None]:
    """Return what a model writes as the robot's next line, and how it is read; None if empty.

    Raises:
        ModelError: No usable answer.
    """
    said = next_line(model, f"{text}Robot").removeprefix("Robot").lstrip()
    mark = "" if said[:1] == ":" else " " if said.startswith(SPOKEN) else ": "
    written = f"Robot{mark}{said}"
    return written, next(iter(read(written)), None)


def with_article(name: str) -> str:
    """Return a name with the article it takes: `an apple`, `the rice chips`."""
    if name.endswith("s") and not name.endswith("ss"):
        return f"the {name}"
    return f"{'an' if name[0] in 'aeiou' else 'a'} {name}"


def continuation(action: Action) -> str:
    """Return a step as it continues `before_step`: with its end, so that no step begins another.

    Of `pick up the apple` and `pick up the apple juice` the first is else always as likely.
    """
    return f" {action.text}."


def match(text: str, steps: Sequence[str]) -> int | None:
    """Return the number of the step that a model's words are; None if they are none of them.

    Case, spaces, marks at the ends, articles and the number of a step do not count; what follows
    the step must be set off by a mark or a new line.
    """
    words, options = _plain(text), list(map(_plain, steps))
    begun = [
        number
        for number, each in enumerate(options)
        if each and re.match(rf"{re.escape(each)}(?:\s*[.,;:!?\n]|$)", words)
    ]
    return max(begun, key=lambda n: len(options[n]), default=None)  # "yes, all" before "yes"


def _plain(text: str) -> str:
    """Return the text in lower case, without fence, end marks, articles and a step's number."""
    lines = [" ".join(line.split()).strip(" .,;:!*`\"'") for line in text.lower().splitlines()]
    kept = [line for line in lines if re.search(r"\w", line) and line != "python"]
    return _ANY_ARTICLE.sub("", _STEP_NUMBER.sub("", "\n".join(kept), count=1))


def load(path: Path) -> DialoguePrompt:
    """Read a prompt from a TOML file: `header`, `names`, `synonyms` and `[[example]]` tables.

    Raises:
        ConfigError: The file cannot be used; the message says the line and the remedy.
    """
    file = read_toml(path, "planner's prompt")
    file.refuse_unknown(("header", "feedback", "example", "names", "synonyms"))
    examples = []
    for table in file.tables("example"):
        table.refuse_unknown(("instruction", "steps", "explanation", "opening"))
        examples.append(
            DialogueExample(
                str(table.text("instruction")),
                table.texts("steps"),
                table.text("explanation", needed=False) or "",
                table.text("opening", needed=False) or "",
            )
        )
    return DialoguePrompt(
        file.texts("header"),
        tuple(examples),
        file.texts("names"),
        file.texts("synonyms"),
        file.texts("feedback"),
    )
