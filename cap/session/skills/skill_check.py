"""Whether skills still hold: each is run against its example where something has changed."""

from __future__ import annotations

import hashlib
import inspect
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, Literal

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
        path = store.example(name)
        try:
            kept = skill_example.read(path)
        except SkillError as error:
            found.append(SkillCheck(name, "not run", str(error)))
            continue
        if kept is None:
            found.append(SkillCheck(name, "no example"))
        elif robot.name not in (kept.before.robot, skills[-1].robot):
            continue
        elif skills[-1].robot not in ("", kept.before.robot):
            message = f"its file says robot '{skills[-1].robot}', its example '{kept.before.robot}'"
            found.append(SkillCheck(name, "not run", f"{message}; correct its line `# robot`"))
        elif kept.before.robot != robot.name:
            continue
        elif not robot.body.simulated:
            found.append(SkillCheck(name, "not run", "examples are run in simulation alone"))
        else:
            found.append(_check(kept, path, skills, robot, model, changed_only))
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
    names = [] if robot is None else [robot]
    found: dict[str, SkillCheck] = {}
    for name in store.names():
        found[name] = SkillCheck(name, "no example")
        try:
            store.with_needs(name)
            kept = skill_example.read(store.example(name))
        except UsageError as error:
            found[name] = SkillCheck(name, "not run", str(error))
            continue
        if kept is None:
            continue
        whose = kept.before.robot
        message = f"its robot is the file {kept.before.file}; name it: -r {kept.before.file}"
        found[name] = SkillCheck(name, "not run", message if kept.before.file else "")
        if robot is None and kept.before.file is None and whose not in names:
            names.append(whose)
    for whose in names:
        try:
            body = registry.make_robot(whose, mode="instant", seed=0, objects=None)
        except CapError as error:
            if robot is not None:
                raise
            lost = f"its example cannot be run: {error}"
            found |= {
                name: SkillCheck(name, "not run", lost)
                for name, check in found.items()
                if check.came == "not run" and not check.reason
            }
            continue
        try:
            given = registry.robot_prompts(whose, prompts)
            checked = CheckedRobot(body.name, body, given, path_of(whose))
            done = check_skills(store, checked, model)
        finally:
            body.close()
        found |= {check.skill: check for check in done}
        if robot is not None:
            return tuple(check for check in done if check.came != "no example")
    return tuple(found.values())


def _check(
    kept: SkillExample,
    path: Path,
    skills: Sequence[Skill],
    robot: CheckedRobot,
    model: Model | None,
    changed_only: bool,
) -> SkillCheck:
    """Run one example, unless nothing has changed, and record its result."""
    name, now = skills[-1].name, robot.conditions(skills)
    if not (changed_only and kept.held == now):
        file = None if robot.file is None else str(robot.file)
        if kept.before.file != file:
            whose = kept.before.file or f"no file, but {kept.before.robot}"
            message = f"its robot is {whose}; name it: -r {kept.before.file or kept.before.robot}"
            return SkillCheck(name, "not run", message)
        if kept.before.world is None:
            return SkillCheck(name, "not run", f"the world of the example {path} is gone")
        try:
            aside = kept.run([skill.definition for skill in skills], robot.prompts, model, file)
        except SkillError as error:
            return SkillCheck(name, "not run", str(error))
        kept = replace(kept, held=now, aside=aside)
        skill_example.write(kept, path)
    return SkillCheck(name, "set aside" if kept.aside else "holds", kept.aside)


def set_aside(store: SkillStore, checks: Sequence[SkillCheck]) -> dict[str, str]:
    """Return the skills that are not to be offered, each with the reason and the remedy.

    Of skills that were not checked now, it is the result of their last check.
    """
    known = {check.skill: check for check in checks}
    found = {}
    for name in store.names():
        check = known.get(name)
        if check is None:
            try:
                kept = skill_example.read(store.example(name))
            except SkillError as error:
                check = SkillCheck(name, "not run", str(error))
            else:
                check = SkillCheck(name, "set aside", kept.aside if kept else "")
        if check.reason:
            remedy = f"correct it, then: cap skills check; or: cap skills remove {name}"
            found[name] = f"'{name}' is set aside: {check.reason}; {remedy}"
    return found
