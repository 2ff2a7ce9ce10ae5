"""Whether skills still hold: each is run against its example where something has changed."""

from __future__ import annotations

import hashlib
import inspect
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

import msgspec

from cap.errors import CapError, SkillError, UsageError
from cap.models.base import Model
from cap.prompt.prompt import Prompt
from cap.robot import registry
from cap.robot.robot_files import path_of
from cap.session.skills import example as skill_example
from cap.session.skills.example import SkillExample
from cap.session.skills.skill_file import Skill
from cap.session.skills.store import SkillStore
from cap.trace.trace import versions


@dataclass(frozen=True)
class SkillCheck:
    """The result of a skill's example."""

    skill: str
    """Its name."""
    came: Literal["holds", "set aside", "not run", "no example"]
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
        if before.file != file:
            whose = before.file or f"no file, but {before.robot}"
            return f"its robot is {whose}; name it: -r {before.file or before.robot}"
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
            kept = skill_example.read(store.example(name))
            if kept is None:
                found.append(SkillCheck(name, "no example"))
            elif kept.before.robot == robot.name:
                found.append(_check(store, kept, skills, robot, model, changed_only))
        except SkillError as error:
            found.append(SkillCheck(name, "not run", str(error)))
    return tuple(found)


def _check(
    store: SkillStore,
    kept: SkillExample,
    skills: Sequence[Skill],
    robot: CheckedRobot,
    model: Model | None,
    changed_only: bool,
) -> SkillCheck:
    """Run one example, unless nothing has changed, and record its result.

    Raises:
        SkillError: It cannot be run.
    """
    name, now = skills[-1].name, robot.conditions(skills)
    if not (changed_only and kept.held == now):
        if why := robot.cannot_run(kept):
            raise SkillError(why)
        definitions = [skill.definition for skill in skills]
        aside = kept.run(definitions, robot.prompts, model, kept.before.file)
        kept = msgspec.structs.replace(kept, held=now, aside=aside)
        skill_example.write(kept, store.example(name))
    return SkillCheck(name, "set aside" if kept.aside else "holds", kept.aside)


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
    found, robots = dict[str, SkillCheck](), dict[str, list[str]]()
    for name in store.names():
        found[name] = SkillCheck(name, "no example")
        try:
            store.with_needs(name)
            kept = skill_example.read(store.example(name))
        except UsageError as error:
            found[name] = SkillCheck(name, "not run", str(error))
            continue
        if kept is not None and kept.before.file is not None:
            file = kept.before.file
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
                kept = skill_example.read(store.example(name))
                reasons[name] = "" if kept is None else kept.aside
            except SkillError as error:
                reasons[name] = str(error)
    remedy = "correct it, then: cap skills check; or: cap skills remove"
    return {
        name: f"'{name}' is set aside: {reason}; {remedy} {name}"
        for name, reason in reasons.items()
        if reason
    }
