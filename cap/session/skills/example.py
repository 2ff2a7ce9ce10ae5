"""The example of a skill: the turn it was learned from, so that it can be run again.

It stands in `examples/NAME.json` beside the skill: the instruction, the session and the world as
they were before it, the turn's program without the skill, what LMPs answered it, and what it did.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, fields, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from cap.engine.best_of import drawn_alike
from cap.engine.effect import Effect
from cap.errors import CapError, NotRecorded, SavedError, SkillError
from cap.files import read_json, write_whole
from cap.models.base import Completion, Model, Request
from cap.program.scope import Definition
from cap.prompt.prompt import Prompt, one_line
from cap.result import plain
from cap.sandbox.limits import Limits
from cap.session import session_file
from cap.session.session_file import SavedSession

if TYPE_CHECKING:
    from cap.session.turn import Turn

FORMAT, VERSION = "cap skill example", 1
PROGRAM_S = 5.0
"""A skill that never ends is stopped after so long."""
_KEYS = ("instruction", "program", "effect", "ink", "output", "answers", "before", "held", "aside")


class KnownAnswers:
    """A model that gives an example's LMPs the answers they had, and has no others."""

    name = "example"
    repairs = False

    def __init__(self, answers: Sequence[tuple[str, str]]) -> None:
        """Take them, in their order."""
        self._left = list(answers)

    def complete(self, request: Request) -> Completion:
        """Answer with the value that was found then.

        Raises:
            NotRecorded: This was not asked then.
        """
        asked = spoken(request.prompt.rstrip().splitlines()[-1].removeprefix("# "))
        for number, (words, program) in enumerate(self._left):
            if words == asked:
                del self._left[number]
                return Completion(program, self.name)
        raise NotRecorded(
            f"its example has no answer to '{asked}'; to ask a model: cap skills check -m MODEL"
        )


@dataclass(frozen=True)
class SkillExample:
    """A turn that a skill was learned from."""

    instruction: str
    """The person's words."""
    program: str
    """The turn's program, without the skill and what it needs."""
    effect: Effect
    """What it did."""
    ink: Any
    """All that was drawn then, if the robot draws."""
    answers: tuple[tuple[str, str], ...]
    """What LMPs were asked, and the program that gives each answer, in order."""
    before: SavedSession
    """Session and world before it."""
    held: str = ""
    """What robot, prompts and skill were when it was run last: see `skill_check.conditions`."""
    output: tuple[Any, str] | None = None
    """The value and the printed text of a turn that changed nothing; else None."""
    aside: str = ""
    """Why the skill is set aside; "" if its example did then what it is to do."""

    def run(
        self,
        skills: Sequence[Definition],
        prompts: Mapping[str, Prompt] | None = None,
        model: Model | None = None,
        robot: str | None = None,
    ) -> str:
        """Carry the example out in its world; return what is otherwise than it was, or "".

        Args:
            skills: The skill and those it needs, as they are now.
            prompts: Those of the robot by default.
            model: What answers LMPs; by default they get the answers they had.
            robot: The robot's file, where it is one.

        Raises:
            SkillError: It cannot be run.
        """
        from cap.session.session import Session  # which learns by this file

        names = {entry.name for entry in skills}
        others = [entry for entry in self.before.state.definitions if entry.name not in names]
        state = replace(self.before.state, definitions=(*others, *skills))
        options: dict[str, Any] = {} if prompts is None else {"prompts": prompts}
        try:
            session = Session.resume(
                replace(self.before, state=state),
                KnownAnswers(self.answers) if model is None else model,
                robot=robot,
                limits=Limits(program_s=PROGRAM_S),
                rehearse=False,
                **options,
            )
        except CapError as error:
            raise SkillError(f"its example cannot be run: {error}") from None
        with session:
            turn = session.execute(self.program, "example")
            ink = plain(getattr(session.robot, "strokes", None))
        if turn.failure is not None:
            return f"its example fails: {turn.failure}"
        same = turn.effect.words == self.effect.words and turn.effect.agrees(self.effect)
        same = same and turn.effect.said == self.effect.said
        same = same and (self.output is None or self.output == output_of(turn))
        if same and drawn_alike(ink, self.ink):
            return ""
        did = turn.effect.line or "something else"
        then = self.effect.line
        return f"its example did: {then}; now: {did}{', otherwise' if did == then else ''}"


def output_of(turn: Turn) -> tuple[Any, str] | None:
    """Return the value and printed text of a turn, if that is all it did."""
    return None if turn.effect.altered else (plain(turn.value), turn.stdout)


def spoken(words: str) -> str:
    """Return an instruction's words as they are compared."""
    return one_line(words).rstrip(".").rstrip()


def render(example: SkillExample) -> str:
    """Return the text of an example's file."""
    values = {name: getattr(example, name) for name in _KEYS}
    values["effect"] = plain(vars(example.effect))
    values["before"] = json.loads(session_file.render(example.before))
    shown = {"format": FORMAT, "version": VERSION, **values}
    return json.dumps(shown, ensure_ascii=False, indent=1) + "\n"


def write(example: SkillExample, path: Path) -> None:
    """Write an example.

    Raises:
        SkillError: It cannot be written there.
    """
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        write_whole(path, render(example))
    except OSError as error:
        reason = error.strerror or str(error)
        raise SkillError(f"cannot write the example {path}: {reason}") from None


def read(path: Path) -> SkillExample | None:
    """Read an example; None if there is none.

    Raises:
        SkillError: It is damaged; with the remedy.
    """
    try:
        values = read_json(path)
        if not isinstance(values, dict) or values.get("format") != FORMAT:
            raise ValueError("it is no example of a skill")
        if values.get("version") != VERSION:
            raise ValueError(f"it has format {values.get('version')}; this version reads {VERSION}")
        texts = {name: values[name] for name in ("instruction", "program", "held", "aside")}
        if not all(isinstance(text, str) for text in texts.values()):
            raise TypeError("its words are no text")
        answers = tuple((str(words), str(program)) for words, program in values["answers"])
        before = session_file.parsed(values["before"], path)
        return SkillExample(
            **texts,
            effect=_effect(values["effect"]),
            ink=values["ink"],
            output=None
            if values.get("output") is None
            else (values["output"][0], str(values["output"][1])),
            answers=answers,
            before=before,
        )
    except FileNotFoundError:
        return None
    except SavedError as error:
        reason = str(error)
    except (OSError, KeyError, TypeError, ValueError, RecursionError) as error:
        reason = f"no {error}" if isinstance(error, KeyError) else str(error)
    raise SkillError(f"the example {path} cannot be used: {reason}; remove it, or learn it again")


def _effect(values: Mapping[str, Any]) -> Effect:
    """Return an effect from its JSON.

    Raises:
        ValueError: It is none.
    """
    known = {entry.name for entry in fields(Effect)}
    values = {"undone": (), **values}  # an example of an earlier version has none
    if set(values) != known:
        raise ValueError("its effect has other fields")
    listed = ("no_longer_seen", "newly_seen", "said", "left_over", "undone")
    moved = {
        name: ((float(a), float(b), float(c)), (float(d), float(e), float(f)))
        for name, ((a, b, c), (d, e, f)) in values["moved"].items()
    }
    pairs = {
        name: {key: (was, now) for key, (was, now) in values[name].items()}
        for name in ("places", "changed")
    }
    texts = {name: tuple(map(str, values[name])) for name in listed}
    return Effect(**{**values, **pairs, **texts, "moved": moved})
