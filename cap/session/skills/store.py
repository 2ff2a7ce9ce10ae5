"""A folder of skills: which there are, which of them a robot can use, keeping and removing.

A session's function is kept by itself, with what it needs and where it came from.
"""

from __future__ import annotations

import ast
import contextlib
import keyword
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from types import MappingProxyType
from typing import TYPE_CHECKING

from cap.checker.checker import check
from cap.checker.policy import EVERYWHERE
from cap.checker.undefined import undefined
from cap.errors import CapError, SkillError, UsageError, did_you_mean
from cap.program.program import Program
from cap.program.scope import Definition, Scope
from cap.session.skills.skill_file import ORIGIN, Skill, parse, read, renamed, render

if TYPE_CHECKING:
    from cap.engine.answer import State


@dataclass(frozen=True)
class Offer:
    """The skills of a folder that one robot's programs can use."""

    skills: tuple[Skill, ...] = ()
    """By name, sorted."""
    left_out: Mapping[str, str] = field(default_factory=dict)
    """The others, with the reason."""
    damaged: Mapping[str, str] = field(default_factory=dict)
    """Those that cannot be used, for their file or for a skill they need; with the remedy."""


class SkillStore:
    """A folder of skill files."""

    def __init__(self, folder: Path) -> None:
        """Keep the folder; it is made when the first skill is saved."""
        self.folder = folder

    def names(self) -> tuple[str, ...]:
        """Return the names of all files, also of damaged ones, sorted."""
        return tuple(sorted(path.stem for path in self.folder.glob("*.py")))

    def get(self, name: str) -> Skill:
        """Read one skill.

        Raises:
            UsageError: There is none of that name.
            SkillError: Its file cannot be used; with file and line.
        """
        return read(self._existing(name))

    def example(self, name: str) -> Path:
        """Return the file of a skill's example, whether it is there or not."""
        return self.folder / "examples" / f"{name}.json"

    def with_needs(self, name: str) -> tuple[Skill, ...]:
        """Read a skill and those it needs, itself last.

        Raises:
            UsageError: One of them is not there.
            SkillError: A file cannot be used.
        """
        order = [self.get(name)]
        for skill in order:  # grows on the way
            known = {entry.name for entry in order}
            order += [self.get(need) for need in dict.fromkeys(skill.requires) if need not in known]
        return tuple(order[::-1])

    def save(self, *skills: Skill) -> tuple[Path, ...]:
        """Write skills to files of their own, all or none; return where.

        Raises:
            UsageError: A name is taken or cannot be a skill's; nothing was written.
            SkillError: A skill would not pass its check.
        """
        taken = {name.casefold(): name for name in self.names()}
        for skill in skills:
            path = self.folder / f"{skill.name}.py"
            _check_name(skill.name)
            if (other := taken.get(skill.name.casefold())) is not None:
                raise UsageError(
                    f"there is a skill '{other}' already, in {self.folder}; choose another name, "
                    f"or first: cap skills remove {other}"
                )
            parse(render(skill), path)
        written: list[Path] = []
        try:
            self.folder.mkdir(parents=True, exist_ok=True)
            for skill in skills:
                path = self.folder / f"{skill.name}.py"
                with path.open("x", encoding="utf-8") as file:  # nobody's is overwritten
                    written.append(path)
                    file.write(render(skill))
        except OSError as error:
            for path in written:
                path.unlink(missing_ok=True)
            reason = error.strerror or str(error)
            raise UsageError(f"cannot write a skill to {self.folder}: {reason}") from None
        return tuple(written)

    def keep(
        self,
        state: State,
        name: str,
        rename_to: str | None,
        reserved: frozenset[str],
        made: Callable[[Definition, str, str], Skill],
    ) -> Path:
        """Save a session's function, with those it needs that are no skills yet; return its file.

        Args:
            state: The session's.
            name: The function.
            rename_to: The name it is to have as a skill; its own if None.
            reserved: Names of the robot's own.
            made: Describes a definition as a skill, of a name and with a source.

        Raises:
            UsageError: There is no such function, a name is taken, or it cannot stand by itself.
        """
        if name in reserved:
            raise UsageError(f"'{name}' is the robot's own, and every session has it")
        definitions = {entry.name: entry for entry in state.definitions}
        needed = needed_by(name, state)
        first = name if rename_to is None else rename_to
        _check_name(first)
        sources = [definitions[entry].source for entry in needed]
        if first != name:
            sources = renamed(sources, name, first)
        names = [*needed[:-1], first]
        if clash := sorted(reserved & {*names}):
            raise UsageError(f"'{clash[0]}' is a name of the robot's own; choose another")
        old = {entry.name for entry in state.definitions if entry.origin == ORIGIN}
        kept = [
            made(definitions[entry], as_name, source)
            for entry, as_name, source in zip(needed, names, sources, strict=True)
        ]
        skills = [
            replace(skill, requires=tuple(need for need in skill.calls if need in old | {*names}))
            for skill in kept
            if skill.name == first or not self._holds(skill)
        ]
        return self.save(*skills)[-1]

    def _holds(self, skill: Skill) -> bool:
        """Tell whether the very same function is here under the same name."""
        try:
            return skill.name in self.names() and self.get(skill.name).source == skill.source
        except SkillError:
            return False

    def remove(self, name: str) -> Path:
        """Remove one skill, also one whose file is damaged; return where it was.

        Raises:
            UsageError: There is none of that name, or others need it.
        """
        path = self._existing(name)
        users = []
        for other in self.names():
            with contextlib.suppress(CapError):  # a damaged one is never used
                if other != name and name in self.get(other).calls:
                    users.append(other)
        if users:
            raise UsageError(f"skill '{name}' is needed by {', '.join(users)}; remove those first")
        path.unlink()
        self.example(name).unlink(missing_ok=True)
        return path

    def offer(
        self, scope: Scope, reserved: Iterable[str], aside: Mapping[str, str] = MappingProxyType({})
    ) -> Offer:
        """Return the skills whose every name is known, by way of other skills too.

        Args:
            scope: What a program of the session may use.
            reserved: Names a skill may not have: the robot's primitives and LMPs.
            aside: Skills that are set aside, with the reason.
        """
        skills, damaged = dict[str, Skill](), dict(aside)
        for name in self.names():
            if name in aside:
                continue
            try:
                skills[name] = self.get(name)
            except SkillError as error:
                damaged[name] = str(error)
        taken, known = frozenset(reserved), scope.names() | EVERYWHERE
        clashes = "the robot has something of that name"
        left_out = {name: clashes for name in skills if name in taken}
        offered = {name: skill for name, skill in skills.items() if name not in taken}
        while lacking := {
            name: missing
            for name, skill in offered.items()
            if (missing := [need for need in skill.calls if need not in known | offered.keys()])
        }:
            for name, missing in lacking.items():
                skill = offered.pop(name)
                if lost := [
                    need for need in skill.requires if need in missing and need not in left_out
                ]:
                    again = f"to keep it again, /save {lost[0]} in a session that has defined it"
                    remedy = f"{again}; or: cap skills remove {name}"
                    damaged[name] = f"'{name}' needs {', '.join(lost)}, which is missing; {remedy}"
                else:
                    left_out[name] = f"needs {', '.join(missing)}"
        return Offer(tuple(offered.values()), left_out, damaged)

    def _existing(self, name: str) -> Path:
        names = self.names()
        if name not in names:
            hint = did_you_mean(name, names)
            raise UsageError(f"no skill '{name}' in {self.folder}.{hint} See: cap skills list")
        return self.folder / f"{name}.py"


def _check_name(name: str) -> None:
    """Refuse a name that no skill may have.

    Raises:
        UsageError: It is none of a function, or every program has it.
    """
    if not name.isidentifier() or keyword.iskeyword(name) or name.startswith("_"):
        raise UsageError(f"'{name}' cannot be a skill's name; a function's name can")
    if name in EVERYWHERE or name == "robot":
        raise UsageError(f"'{name}' is a name every program has; choose another for the skill")


def needed_by(name: str, state: State) -> list[str]:
    """Return the names of a session's function and of those it needs that are no skills, it last.

    Raises:
        UsageError: There is no such function, or it cannot stand by itself.
    """
    definitions = {entry.name: entry for entry in state.definitions}
    if name not in definitions:
        hint = did_you_mean(name, definitions)
        listed = ", ".join(definitions) or "none yet"
        raise UsageError(f"this session has no function '{name}'.{hint} It has: {listed}")
    if definitions[name].origin == ORIGIN:
        raise UsageError(f"'{name}' is a skill already")
    order = [name]
    for reader in order:  # grows on the way
        program = Program.parse(definitions[reader].source)
        if isinstance(program.tree.body[0], ast.ClassDef):
            what = "is a class" if reader == name else f"needs the class '{reader}'"
            raise UsageError(f"'{name}' {what}, and a skill is one function")
        for violation in check(program):  # what a class of the session allows it, for one
            raise UsageError(f"'{reader}' cannot stand by itself: {violation.reason}")
        for entry in undefined(program, EVERYWHERE):
            if entry.name in state.variables:
                raise UsageError(
                    f"'{reader}' reads '{entry.name}', a variable of this session only; "
                    "have it made an argument first"
                )
            kept = definitions.get(entry.name)
            if kept is not None and kept.origin != ORIGIN and kept.name not in order:
                order.append(kept.name)
    return order[::-1]
