"""A folder of skills: which there are, which of them a robot can use, saving and removing."""

from __future__ import annotations

import keyword
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from pathlib import Path

from cap.checker.allowlist import EVERYWHERE
from cap.errors import CapError, UsageError, did_you_mean
from cap.scope import Definition, Scope
from cap.session.skills.skill_file import ORIGIN, Skill, parse, read, render

__all__ = ["ORIGIN", "Offer", "Skill", "SkillStore"]


@dataclass(frozen=True)
class Offer:
    """The skills of a folder that one robot's programs can use."""

    skills: tuple[Skill, ...] = ()
    """By name, sorted."""
    left_out: Mapping[str, str] = field(default_factory=dict)
    """The others, with the reason."""

    @property
    def hints(self) -> tuple[str, ...]:
        """Lines that tell a model of them."""
        return tuple(skill.hint for skill in self.skills)

    @property
    def definitions(self) -> tuple[Definition, ...]:
        """What a session puts in place."""
        return tuple(skill.definition for skill in self.skills)


class SkillStore:
    """A folder of skill files."""

    def __init__(self, folder: Path) -> None:
        """Keep the folder; it is made when the first skill is saved."""
        self.folder = folder

    def names(self) -> tuple[str, ...]:
        """Return the names of all files, also of damaged ones, sorted."""
        return tuple(sorted(path.stem for path in self.folder.glob("*.py")))

    def list(self) -> tuple[Skill, ...]:
        """Return every skill, sorted by name.

        Raises:
            SkillError: A file cannot be used; with file and line.
        """
        return tuple(map(self.get, self.names()))

    def get(self, name: str) -> Skill:
        """Read one skill.

        Raises:
            UsageError: There is none of that name.
            SkillError: Its file cannot be used; with file and line.
        """
        return read(self._existing(name))

    def save(self, *skills: Skill) -> tuple[Path, ...]:
        """Write skills to files of their own, all or none; return where.

        Raises:
            UsageError: A name is taken or cannot be a skill's; nothing was written.
            SkillError: A skill would not pass its check.
        """
        taken = {name.casefold(): name for name in self.names()}
        for skill in skills:
            path = self.folder / f"{skill.name}.py"
            check_name(skill.name)
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

    def holds(self, skill: Skill) -> bool:
        """Tell whether the very same function is here under the same name."""
        return skill.name in self.names() and self.get(skill.name).source == skill.source

    def remove(self, name: str) -> Path:
        """Remove one skill, also one whose file is damaged; return where it was.

        Raises:
            UsageError: There is none of that name, or others need it.
        """
        path = self._existing(name)
        if users := [other for other in self.names() if other != name and self._needs(other, name)]:
            raise UsageError(f"skill '{name}' is needed by {', '.join(users)}; remove those first")
        path.unlink()
        return path

    def offer(self, scope: Scope, reserved: Iterable[str]) -> Offer:
        """Return the skills whose every name is known, by way of other skills too.

        Args:
            scope: What a program of the session may use.
            reserved: Names a skill may not have: the robot's primitives and LMPs.

        Raises:
            SkillError: A file cannot be used; with file and line.
        """
        skills = {skill.name: skill for skill in self.list()}
        known, taken = scope.names() | EVERYWHERE, frozenset(reserved)
        left_out = {
            name: "the robot has something of that name" for name in skills if name in taken
        }
        needs = {name: skill.calls for name, skill in skills.items()}
        while True:
            offered = [name for name in skills if name not in left_out]
            lacking = {
                name: missing
                for name in offered
                if (missing := [need for need in needs[name] if need not in known | {*offered}])
            }
            if not lacking:
                return Offer(tuple(skills[name] for name in offered), left_out)
            left_out |= {name: f"needs {', '.join(names)}" for name, names in lacking.items()}

    def _existing(self, name: str) -> Path:
        names = self.names()
        if name not in names:
            hint = did_you_mean(name, names)
            raise UsageError(f"no skill '{name}' in {self.folder}.{hint} See: cap skills list")
        return self.folder / f"{name}.py"

    def _needs(self, other: str, name: str) -> bool:
        try:
            return name in self.get(other).calls
        except CapError:  # a damaged one is never used
            return False


def check_name(name: str) -> None:
    """Refuse a name that no skill may have.

    Raises:
        UsageError: It is none of a function, or every program has it.
    """
    if not name.isidentifier() or keyword.iskeyword(name) or name.startswith("_"):
        raise UsageError(f"'{name}' cannot be a skill's name; a function's name can")
    if name in EVERYWHERE or name == "robot":
        raise UsageError(f"'{name}' is a name every program has; choose another for the skill")
