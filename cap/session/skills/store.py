"""Skills: functions that were written once and are kept, one readable file each, in a folder.

A skill file is one Python function under a small header in comments:

    # /// skill
    # robot = "ravens"                  whose session it was written in
    # instruction = "..."               what it was written for
    # model = "..."                     what wrote it
    # prompt_sha256 = "..."             and which prompt it answered
    # date = "2026-01-31T12:00:00Z"
    # requires = ["get_area"]           skills it calls
    # ///
    def get_biggest(names):
        ...

Every key may be absent. The file is named after the function. It is read and checked again each
time, and nothing in it is ever executed outside the sandbox.
A session's function is kept by itself, with what it needs and where it came from.
"""

from __future__ import annotations

import ast
import contextlib
import json
import keyword
import re
import tomllib
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import msgspec

from cap.checker.checker import check
from cap.checker.policy import EVERYWHERE
from cap.checker.undefined import undefined
from cap.engine.answer import State
from cap.errors import CapError, SkillError, UsageError, did_you_mean
from cap.files import read_text, write_whole
from cap.program.program import Program
from cap.program.scope import Definition, Scope
from cap.prompt.prompt import one_line
from cap.session.kept_state import needs_values

ORIGIN = "skill"
"""`Definition.origin` of a skill."""
_HEADER = re.compile(r"\A\s*# /// skill\n(?P<body>(?:#[^\n]*\n)*?)# ///[ \t]*\n")
_DOC_CHARS = 100


class Skill(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """A kept function with where it came from."""

    name: str
    """The function's name."""
    source: str
    """Its `def` statement."""
    signature: str = ""
    """Name and parameters as a caller writes them: `get_biggest(names, n=1)`."""
    doc: str = ""
    """The first line of its docstring."""
    instruction: str = ""
    """The person's words it was written for."""
    model: str = ""
    """What wrote it."""
    prompt_sha256: str = ""
    """Hash of the prompt it answered."""
    requires: tuple[str, ...] = ()
    """Other skills it calls."""
    robot: str = ""
    """Whose session it was written in."""
    date: str = ""
    """When, in UTC."""

    @property
    def calls(self) -> tuple[str, ...]:
        """Every name it needs that is not the library's: skills, primitives and LMPs."""
        program = Program.parse(self.source)
        return tuple(entry.name for entry in undefined(program, EVERYWHERE))

    @property
    def hint(self) -> str:
        """The line that describes it to a model."""
        summary = f"{self.signature}: {self.doc}" if self.doc else self.signature
        return f"from skills import {self.name}  # {summary}"

    @property
    def definition(self) -> Definition:
        """What a session puts in place."""
        return Definition(self.name, self.source, ORIGIN)


_ORIGIN_KEYS = ("robot", "instruction", "model", "prompt_sha256", "date", "requires")


def parse_skill(text: str, path: Path) -> Skill:
    """Return the skill a file's text describes; the function must have the file's name.

    Raises:
        SkillError: It cannot be used; with file and line.
    """
    try:
        program = Program.parse(text)
    except CapError as error:
        raise _refused(path, error.line, str(error)) from None
    for violation in check(program):
        raise _refused(path, violation.line, f"{violation.rule}: {violation.reason}")
    function = (program.tree.body or [ast.Pass(lineno=1)])[-1]
    if len(program.tree.body) != 1 or not isinstance(function, ast.FunctionDef):
        raise _refused(path, function.lineno, "a skill is one function and nothing else")
    if needs_values(function):
        what = "a skill has no decorators, and its defaults must be constants"
        raise _refused(path, function.lineno, what)
    if function.name != path.stem:
        raise _refused(path, function.lineno, f"it defines '{function.name}', not '{path.stem}'")
    doc = one_line(ast.get_docstring(function) or "").split(". ")[0]
    lines = text.split("\n")[function.lineno - 1 : function.end_lineno]
    made = {
        **_header(text, path),
        "name": function.name,
        "source": "\n".join(lines).rstrip() + "\n",
        "signature": f"{function.name}({ast.unparse(function.args)})",
        "doc": doc if len(doc) <= _DOC_CHARS else f"{doc[:_DOC_CHARS]}...",
    }
    try:
        return msgspec.convert(made, Skill)
    except msgspec.ValidationError as error:
        raise _refused(path, 1, f"the header: {error}") from None


def render(skill: Skill) -> str:
    """Return the text of a skill's file."""
    lines = []
    for key in _ORIGIN_KEYS:
        if value := getattr(skill, key):
            plain = [*value] if isinstance(value, tuple) else one_line(value)
            # JSON's strings and lists of strings are TOML's too
            lines.append(f"# {key} = {json.dumps(plain, ensure_ascii=False)}")
    return "\n".join(["# /// skill", *lines, "# ///", skill.source.strip(), ""])


def _header(text: str, path: Path) -> dict[str, Any]:
    match = _HEADER.match(text)
    if match is None:
        return {}
    toml = "\n".join(line[1:].removeprefix(" ") for line in match["body"].split("\n"))
    try:
        return tomllib.loads(toml)
    except tomllib.TOMLDecodeError as error:
        raise _refused(path, 1, f"the header is not valid TOML: {error}") from None


def _refused(path: Path, line: int | None, reason: str) -> SkillError:
    where = f"{path}, line {line}" if line else str(path)
    return SkillError(
        f"{where}: {reason}; correct the file, or remove it: cap skills remove {path.stem}"
    )


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
        path = self._existing(name)
        try:
            return parse_skill(read_text(path), path)
        except (OSError, UnicodeDecodeError) as error:
            raise _refused(path, None, f"it cannot be read: {error}") from None

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

    def save(self, *skills: Skill) -> Path:
        """Write each skill to its own file; return the last file.

        Raises:
            UsageError: A name is taken or cannot be a skill's; nothing was written.
            SkillError: A skill would not pass its check.
        """
        taken = self.names()
        texts = {self.folder / f"{skill.name}.py": render(skill) for skill in skills}
        for skill, (path, text) in zip(skills, texts.items(), strict=True):
            _check_name(skill.name)
            if skill.name in taken:
                raise UsageError(
                    f"there is a skill '{skill.name}' already, in {self.folder}; first: cap skills "
                    f"remove {skill.name}"
                )
            parse_skill(text, path)
        try:
            self.folder.mkdir(parents=True, exist_ok=True)
            for path, text in texts.items():
                write_whole(path, text)
        except OSError as error:
            reason = error.strerror or str(error)
            raise UsageError(f"cannot write a skill to {self.folder}: {reason}") from None
        return path

    def keep(
        self,
        state: State,
        name: str,
        reserved: frozenset[str],
        described: Callable[[Definition], Skill],
    ) -> Path:
        """Save a session's function, with those it needs that are no skills yet; return its file.

        Args:
            state: The session's.
            name: The function.
            reserved: Names of the robot's own.
            described: Describes a definition as a skill.

        Raises:
            UsageError: There is no such function, a name is taken, or it cannot stand by itself.
        """
        if name in reserved:
            raise UsageError(f"'{name}' is the robot's own, and every session has it")
        definitions = {one.name: one for one in state.definitions}
        needed, skills = needed_by(name, state), []
        known = {*needed, *(one.name for one in state.definitions if one.origin == ORIGIN)}
        for need in needed:
            skill = described(definitions[need])
            if need == name or not self._holds(skill):
                requires = tuple(called for called in skill.calls if called in known)
                skills.append(msgspec.structs.replace(skill, requires=requires))
        return self.save(*skills)

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

    def offer(self, scope: Scope, reserved: frozenset[str], aside: Mapping[str, str]) -> Offer:
        """Return the skills whose every name is known, by way of other skills too.

        Args:
            scope: What a program of the session may use.
            reserved: Names a skill may not have: the robot's primitives and LMPs.
            aside: Skills that are set aside, with the reason.
        """
        offered, left_out, damaged = dict[str, Skill](), dict[str, str](), dict(aside)
        for name in self.names():
            try:
                if name in reserved:
                    left_out[name] = "the robot has something of that name"
                elif name not in aside:
                    offered[name] = self.get(name)
            except SkillError as error:
                damaged[name] = str(error)
        known = scope.names() | EVERYWHERE
        while lacking := {
            name: missing
            for name, skill in offered.items()
            if (missing := [need for need in skill.calls if need not in known | offered.keys()])
        }:
            for name, missing in lacking.items():
                del offered[name]
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
        for entry in undefined(Program.parse(definitions[reader].source), EVERYWHERE):
            if entry.name in state.variables:
                raise UsageError(
                    f"'{reader}' reads '{entry.name}', a variable of this session only; "
                    "have it made an argument first"
                )
            kept = definitions.get(entry.name)
            if kept is not None and kept.origin != ORIGIN and kept.name not in order:
                order.append(kept.name)
    return order[::-1]
