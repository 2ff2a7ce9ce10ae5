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
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from types import MappingProxyType
from typing import Any

import msgspec

from cap.checker.checker import check
from cap.checker.policy import EVERYWHERE
from cap.checker.undefined import undefined
from cap.engine.answer import State
from cap.errors import CapError, SkillError, UsageError, did_you_mean
from cap.files import read_text
from cap.program.program import Program
from cap.program.scope import Definition, Scope
from cap.prompt.prompt import one_line
from cap.session.state import needs_values

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


def read_skill(path: Path) -> Skill:
    """Read a skill file and check what is in it.

    Raises:
        SkillError: It cannot be used; with file and line.
    """
    try:
        text = read_text(path)
    except (OSError, UnicodeDecodeError) as error:
        reason = error.strerror if isinstance(error, OSError) else str(error)
        remedy = f"make it readable, or remove it: cap skills remove {path.stem}"
        raise SkillError(f"cannot read the skill {path}: {reason}; {remedy}") from None
    return parse_skill(text, path)


def parse_skill(text: str, path: Path) -> Skill:
    """Return the skill a file's text describes; the function must have the file's name.

    Raises:
        SkillError: It cannot be used; with file and line.
    """
    try:
        program = Program.parse(text)
    except CapError as error:
        raise _refused(path, getattr(error, "line", None), str(error)) from None
    for violation in check(program):
        raise _refused(path, violation.line, f"{violation.rule}: {violation.reason}")
    function, *more = program.tree.body or [ast.Pass(lineno=1)]
    docs = isinstance(function, ast.Expr) and isinstance(function.value, ast.Constant)
    if docs and more:  # a text above it
        function, *more = more
    if not isinstance(function, ast.FunctionDef) or more:
        line = (more or [function])[0].lineno
        raise _refused(path, line, "a skill is one function and nothing else")
    if function.decorator_list:
        raise _refused(path, function.lineno, "a skill has no decorators")
    if needs_values(function):
        raise _refused(path, function.lineno, "a skill's defaults must be constants")
    if function.name != path.stem:
        raise _refused(path, function.lineno, f"it defines '{function.name}', not '{path.stem}'")
    doc = one_line(ast.get_docstring(function) or "").split(". ")[0]
    lines = text.replace("\r\n", "\n").split("\n")[function.lineno - 1 : function.end_lineno]
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


def renamed(sources: Sequence[str], old: str, new: str) -> list[str]:
    """Return functions with one of them under another name, wherever they call it.

    Raises:
        UsageError: The new name is in use there, or the old one for something else as well.
    """
    trees = [ast.parse(source) for source in sources]
    nodes = [node for tree in trees for node in ast.walk(tree)]
    arguments = {node.arg for node in nodes if isinstance(node, ast.arg)}
    names = {getattr(node, "id", getattr(node, "name", None)) for node in nodes}
    if old in arguments or new in arguments | names:
        which = f"'{old}' is the name of an argument" if old in arguments else f"'{new}' is in use"
        raise UsageError(f"cannot rename '{old}' to '{new}': {which} there as well")
    for node in nodes:
        if isinstance(node, ast.Name) and node.id == old:
            node.id = new
        elif isinstance(node, ast.FunctionDef) and node.name == old:
            node.name = new
    return [ast.unparse(tree) + "\n" for tree in trees]


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
        return read_skill(self._existing(name))

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
        taken = self.names()
        for skill in skills:
            _check_name(skill.name)
            if skill.name in taken:
                raise UsageError(
                    f"there is a skill '{skill.name}' already, in {self.folder}; choose another "
                    f"name, or first: cap skills remove {skill.name}"
                )
            parse_skill(render(skill), self.folder / f"{skill.name}.py")
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
        skills = []
        for skill in kept:
            requires = tuple(need for need in skill.calls if need in old or need in names)
            if skill.name == first or not self._holds(skill):
                skills.append(msgspec.structs.replace(skill, requires=requires))
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
