"""Examples of skills: whether skills still hold is found by running them where something changed.

An example is the turn a skill was learned from. It is in `examples/NAME.json` next to the skill:
the instruction, the session and the world as they were before it, the turn's program without the
skill, what LMPs answered it, and what it did.
"""

from __future__ import annotations

import hashlib
import inspect
import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

import msgspec

from cap.engine.best_of import drawn_alike
from cap.engine.effect import Effect
from cap.errors import CapError, NotRecorded, SkillError, UsageError
from cap.files import read_json, write_whole
from cap.models.base import Completion, Model, Request
from cap.program.scope import Definition
from cap.prompt.prompt import Prompt, one_line
from cap.result import plain
from cap.robot import registry
from cap.robot.robot_files import path_of
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
    """Set aside is what did otherwise or failed; what could not be run says nothing."""
    reason: str = ""
    """Why."""


@dataclass(frozen=True)
class CheckedRobot:
    """A robot that examples are run with."""

    name: str
    """Its registered name."""
    body: Any
    """One that was made: its source is a part of what a skill depends on."""
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
            path = None
        if path is not None:
            packaged = (path.parent / "__init__.py").exists()
            paths = sorted(path.parent.glob("*.py")) if packaged else [path]
            parts += [one.read_text(encoding="utf-8", errors="replace") for one in paths]
        return hashlib.blake2s("\0".join(parts).encode()).hexdigest()

    def cannot_run(self, kept: SkillExample) -> str:
        """Return why an example of this robot cannot be run with it; "" if it can."""
        before, file = kept.before, None if self.file is None else str(self.file)
        if not self.body.simulated:
            return "examples are run in simulation alone"
        if before.body.file != file:
            whose = before.body.file or f"no file, but {before.robot}"
            return f"its robot is {whose}; name it: -r {before.body.file or before.robot}"
        return "" if before.world is not None else "the world of its example is gone"


def check_skills(
    store: SkillStore, robot: CheckedRobot, model: Model | None = None, changed_only: bool = False
) -> tuple[SkillCheck, ...]:
    """Run the examples of a robot's skills; those that do not hold any more are set aside.

    Those that pass again are offered again. Damaged skills and those of other robots are left
    alone.

    Args:
        store: The skills.
        robot: Whose examples are run.
        model: What answers LMPs; by default they get the answers they had.
        changed_only: Run those alone whose robot, prompts or source have changed.
    """
    found = []
    for name in store.names():
        try:
            skills = store.with_needs(name)
        except UsageError:  # `cap skills list` has the reason
            continue
        try:
            kept = read_example(store.example(name))
            if kept is None:
                found.append(SkillCheck(name, "no example"))
            elif kept.before.robot == robot.name:
                now = robot.conditions(skills)
                if not (changed_only and kept.held == now):
                    if why := robot.cannot_run(kept):
                        raise SkillError(why)
                    definitions = [skill.definition for skill in skills]
                    aside = kept.run(definitions, robot.prompts, model, kept.before.body.file)
                    kept = msgspec.structs.replace(kept, held=now, aside=aside)
                    write_example(kept, store.example(name))
                came: Outcome = "set aside" if kept.aside else "holds"
                found.append(SkillCheck(name, came, kept.aside))
        except SkillError as error:
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
    if robot is not None:
        done = _checked_with(store, robot, model, prompts)
        return tuple(check for check in done if check.came != "no example")
    found = {name: SkillCheck(name, "no example") for name in store.names()}
    robots: dict[str, list[str]] = {}
    for name in found:
        try:
            store.with_needs(name)
            kept = read_example(store.example(name))
        except UsageError as error:
            found[name] = SkillCheck(name, "not run", str(error))
            continue
        if kept is not None and (file := kept.before.body.file) is not None:
            message = f"its robot is the file {file}; name it: -r {file}"
            found[name] = SkillCheck(name, "not run", message)
        elif kept is not None:
            robots.setdefault(kept.before.robot, []).append(name)
    for whose, names in robots.items():
        try:
            found |= {one.skill: one for one in _checked_with(store, whose, model, prompts)}
        except CapError as error:
            lost = f"its example cannot be run: {error}"
            found |= {name: SkillCheck(name, "not run", lost) for name in names}
    return tuple(found.values())


def _checked_with(
    store: SkillStore, robot: str, model: Model | None, prompts: Path | None
) -> tuple[SkillCheck, ...]:
    """Make a robot in its instant world, and run the examples of its skills."""
    body = registry.make_robot(robot, mode="instant", seed=0, objects=None)
    try:
        given = registry.robot_prompts(robot, prompts)
        return check_skills(store, CheckedRobot(body.name, body, given, path_of(robot)), model)
    finally:
        body.close()


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
