"""Examples of skills, run before a skill is offered, and again where something changed.

An example is the turn a skill was learned from. It is in `examples/NAME.json` next to the skill:
the instruction, the session and the world as they were before it, the turn's program without the
skill, what LMPs answered it, and what it did.
"""

from __future__ import annotations

import contextlib
import functools
import hashlib
import inspect
import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
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
from cap.robot import registry
from cap.robot.registry import path_of
from cap.sandbox.frames import WireError
from cap.sandbox.limits import Limits
from cap.session.session_file import SavedSession, checked
from cap.session.skills.store import Skill, SkillStore
from cap.trace.trace import versions

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
    """A turn that a skill was learned from: the fields of its file, in order."""

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
    """What robot, prompts and skill were when it was run last: see `CheckedRobot.conditions`."""
    aside: str = ""
    """Why the skill is set aside; "" if its example did then what it is to do."""


def output_of(turn: Turn) -> tuple[Any, str] | None:
    """Return the value and printed text of a turn, if that is all it did."""
    return None if turn.effect.altered else (plain(turn.value), turn.stdout)


def spoken(words: str) -> str:
    """Return an instruction's words as they are compared."""
    return one_line(words).rstrip(".").rstrip()


def write_example(example: SkillExample, path: Path) -> None:
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


def read_example(path: Path) -> SkillExample | None:
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


Outcome = Literal["holds", "set aside", "not run", "no example"]


@dataclass(frozen=True)
class SkillCheck:
    """The result of a skill's example."""

    skill: str
    """Its name."""
    came: Outcome
    """`set aside` if its result was different or failed; `not run` if it could not be run."""
    reason: str = ""
    """Why."""


@dataclass(frozen=True)
class CheckedRobot:
    """A robot that examples are run with."""

    body: Any
    """The robot: its source is a part of what a skill depends on."""
    prompts: Mapping[str, Prompt]
    """Its prompts."""
    file: Path | None = None
    """The file it was made from."""

    def conditions(self, skills: Sequence[Skill]) -> str:
        """Return a hash of all that may change what a skill's example does."""
        parts = [versions().get("code-as-policies", ""), *(skill.source for skill in skills)]
        parts += [f"{name} {prompt.sha256}" for name, prompt in sorted(self.prompts.items())]
        try:
            path = Path(inspect.getfile(type(self.body)))
        except (TypeError, OSError):  # made by no file
            return hashlib.blake2s("\0".join(parts).encode()).hexdigest()
        packaged = (path.parent / "__init__.py").exists()
        paths = sorted(path.parent.glob("*.py")) if packaged else [path]
        parts += [one.read_text(encoding="utf-8", errors="replace") for one in paths]
        return hashlib.blake2s("\0".join(parts).encode()).hexdigest()

    def run(
        self, example: SkillExample, skills: Sequence[Definition], model: Model | None = None
    ) -> str:
        """Run an example in its world; return what is different from what it did then, or "".

        Args:
            example: The turn a skill was learned from.
            skills: The skill and those it needs, as they are now.
            model: What answers LMPs; by default they get the answers they had.

        Raises:
            SkillError: It cannot be run with this robot.
        """
        from cap.session.session import Session  # which learns by this file

        before, file = example.before, None if self.file is None else str(self.file)
        if not self.body.simulated:
            raise SkillError("examples are run in simulation alone")
        if before.body.file != file:
            whose = before.body.file or before.robot
            raise SkillError(f"its robot is {whose}; name it: -r {whose}")
        if before.world is None:
            raise SkillError("the world of its example is gone")
        names = {entry.name for entry in skills}
        others = [entry for entry in before.definitions if entry.name not in names]
        try:
            session = Session.resume(
                msgspec.structs.replace(before, definitions=(*others, *skills)),
                KnownAnswers(example.answers) if model is None else model,
                robot=file,
                prompts=self.prompts,
                limits=Limits(program_s=PROGRAM_S),
                rehearse=False,
            )
        except CapError as error:
            raise SkillError(f"its example cannot be run: {error}") from None
        with session:
            turn = session.execute(example.program, "example")
            ink = plain(getattr(session.robot, "strokes", None))
        if turn.failure is not None:
            return f"its example fails: {turn.failure}"
        now, then = turn.effect, example.effect
        same = (now.words, now.said) == (then.words, then.said) and now.agrees(then)
        if same and example.output in (None, output_of(turn)) and drawn_alike(ink, example.ink):
            return ""
        did = now.line or "something else"
        differs = ", but with different details" if did == then.line else ""
        return f"its example did: {then.line}; now: {did}{differs}"


def check_skills(
    store: SkillStore,
    robot_of: Callable[[SkillExample], CheckedRobot | None],
    model: Model | None = None,
    *,
    changed_only: bool = False,
) -> tuple[SkillCheck, ...]:
    """Run the examples of skills; those that do not hold any more are set aside.

    Those that pass again are offered again.

    Args:
        store: The skills.
        robot_of: Returns the robot of an example; None leaves the skill alone.
        model: What answers LMPs; by default they get the answers they had.
        changed_only: Run those alone whose robot, prompts or source have changed.
    """
    found = []
    for name in store.names():
        try:
            kept = read_example(store.example(name))
            if kept is None:
                found.append(SkillCheck(name, "no example"))
            elif (robot := robot_of(kept)) is not None:
                try:
                    skills = store.with_needs(name)
                except SkillError:
                    if changed_only:  # the damaged file is reported by itself
                        continue
                    raise
                now = robot.conditions(skills)
                if not (changed_only and kept.held == now):
                    aside = robot.run(kept, [skill.definition for skill in skills], model)
                    kept = msgspec.structs.replace(kept, held=now, aside=aside)
                    write_example(kept, store.example(name))
                came: Outcome = "set aside" if kept.aside else "holds"
                found.append(SkillCheck(name, came, kept.aside))
        except CapError as error:
            found.append(SkillCheck(name, "not run", str(error)))
    return tuple(found)


def check_all(
    store: SkillStore,
    robot: str | None = None,
    model: Model | None = None,
    prompts: Path | None = None,
) -> tuple[SkillCheck, ...]:
    """Run the examples of all skills, each with its robot; see `check_skills`.

    Args:
        store: The skills.
        robot: Only those of this robot, or of the robot of this file, which is executed.
        model: What answers LMPs; by default they get the answers they had.
        prompts: Prompt files in place of the robot's own.

    Raises:
        UsageError: There is no such robot.
    """
    with contextlib.ExitStack() as closing:

        @functools.cache
        def named(name: str) -> CheckedRobot:
            body = registry.make_robot(name, mode="instant", seed=0, objects=None)
            closing.callback(body.close)
            return CheckedRobot(body, registry.robot_prompts(name, prompts), path_of(name))

        only = None if robot is None else named(robot)

        def robot_of(kept: SkillExample) -> CheckedRobot | None:
            if only is not None:
                return only if kept.before.robot == only.body.name else None
            if (file := kept.before.body.file) is not None:
                raise SkillError(f"its robot is the file {file}; name it: -r {file}")
            return named(kept.before.robot)

        return check_skills(store, robot_of, model)


def set_aside(store: SkillStore, checks: Sequence[SkillCheck]) -> dict[str, str]:
    """Return the skills that are not to be offered, each with the reason and the remedy.

    Of skills that were not checked now, it is the result of their last check.
    """
    reasons = {check.skill: check.reason for check in checks}
    for name in store.names():
        if name not in reasons:
            try:
                kept = read_example(store.example(name))
                reasons[name] = "" if kept is None else kept.aside
            except SkillError as error:
                reasons[name] = str(error)
    remedy = "correct it, then: cap skills check; or: cap skills remove"
    return {
        name: f"'{name}' is set aside: {reason}; {remedy} {name}"
        for name, reason in reasons.items()
        if reason
    }
