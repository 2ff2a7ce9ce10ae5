"""The example of a skill: the turn it was learned from, so that it can be run again.

It stands in `examples/NAME.json` beside the skill: the instruction, the session and the world as
they were before it, the turn's program without the skill, what LMPs answered it, and what it did.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

import msgspec

from cap.engine.best_of import drawn_alike
from cap.engine.effect import Effect
from cap.errors import CapError, NotRecorded, SkillError
from cap.files import read_json, write_whole
from cap.models.base import Completion, Model, Request
from cap.program.scope import Definition
from cap.prompt.prompt import Prompt, one_line
from cap.result import plain
from cap.sandbox.frames import WireError
from cap.sandbox.limits import Limits
from cap.session.session_file import SavedSession, checked

if TYPE_CHECKING:
    from cap.session.turn import Turn

PROGRAM_S = 5.0
"""A skill that never ends is stopped after so long."""


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


class SkillExample(msgspec.Struct, frozen=True, kw_only=True):
    """A turn that a skill was learned from; what stands in its file, in its order."""

    format: Literal["cap skill example"] = "cap skill example"
    version: Literal[1] = 1
    instruction: str
    """The person's words."""
    program: str
    """The turn's program, without the skill and what it needs."""
    effect: Effect
    """What it did."""
    ink: Any
    """All that was drawn then, if the robot draws."""
    output: tuple[Any, str] | None = None
    """The value and the printed text of a turn that changed nothing; else None."""
    answers: tuple[tuple[str, str], ...]
    """What LMPs were asked, and the program that gives each answer, in order."""
    before: SavedSession
    """Session and world before it."""
    held: str = ""
    """What robot, prompts and skill were when it was run last: see `skill_check.conditions`."""
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
        others = [entry for entry in self.before.definitions if entry.name not in names]
        before = msgspec.structs.replace(self.before, definitions=(*others, *skills))
        options: dict[str, Any] = {} if prompts is None else {"prompts": prompts}
        try:
            session = Session.resume(
                before,
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


def write(example: SkillExample, path: Path) -> None:
    """Write an example.

    Raises:
        SkillError: It cannot be written there.
    """
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        values = msgspec.to_builtins(example, enc_hook=plain)
        write_whole(path, json.dumps(values, ensure_ascii=False, indent=1) + "\n")
    except OSError as error:
        reason = error.strerror or str(error)
        raise SkillError(f"cannot write the example {path}: {reason}") from None


def read(path: Path) -> SkillExample | None:
    """Read an example; None if there is none.

    Raises:
        SkillError: It is damaged; with the remedy.
    """
    try:
        example = msgspec.convert(read_json(path), SkillExample)
        checked(example.before)
    except FileNotFoundError:
        return None
    except (OSError, ValueError, RecursionError, CapError, WireError) as error:
        raise SkillError(
            f"the example {path} cannot be used: {error}; remove it, or learn it again"
        ) from None
    return example
