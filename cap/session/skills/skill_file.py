"""Skills: functions that were written once and are kept, one readable file each.

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
"""

from __future__ import annotations

import ast
import json
import re
import tomllib
from collections.abc import Sequence
from dataclasses import dataclass, fields
from pathlib import Path
from typing import Any

import msgspec

from cap.checker.checker import check
from cap.checker.policy import EVERYWHERE
from cap.checker.undefined import undefined
from cap.errors import CapError, SkillError, UsageError
from cap.files import read_text
from cap.program.program import Program
from cap.program.scope import Definition
from cap.prompt.prompt import one_line
from cap.session.state import needs_values

ORIGIN = "skill"
"""`Definition.origin` of a skill."""
_HEADER = re.compile(r"\A\s*# /// skill\n(?P<body>(?:#[^\n]*\n)*?)# ///[ \t]*\n")
_DOC_CHARS = 100


@dataclass(frozen=True)
class Skill:
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
assert set(_ORIGIN_KEYS) <= {entry.name for entry in fields(Skill)}


def read(path: Path) -> Skill:
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
    return parse(text, path)


def parse(text: str, path: Path) -> Skill:
    """Return the skill a file's text describes; the function must have the file's name.

    Raises:
        SkillError: It cannot be used; with file and line.
    """
    header = _header(text, path)
    try:
        program = Program.parse(text)
    except CapError as error:
        raise _refused(path, getattr(error, "line", None), str(error)) from None
    for violation in check(program):
        raise _refused(path, violation.line, f"{violation.rule}: {violation.reason}")
    function = _function(program.tree, path)
    if function.name != path.stem:
        raise _refused(path, function.lineno, f"it defines '{function.name}', not '{path.stem}'")
    doc = one_line(ast.get_docstring(function) or "").split(". ")[0]
    return Skill(
        name=function.name,
        source=_source(text, function),
        signature=f"{function.name}({ast.unparse(function.args)})",
        doc=doc if len(doc) <= _DOC_CHARS else f"{doc[:_DOC_CHARS]}...",
        **header,
    )


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
    names = {node.id for node in nodes if isinstance(node, ast.Name)}
    functions = {node.name for node in nodes if isinstance(node, ast.FunctionDef)}
    if new in arguments | names | functions:
        raise UsageError(f"cannot rename '{old}' to '{new}': it uses that name itself")
    if old in arguments:
        raise UsageError(f"cannot rename '{old}': it is the name of an argument as well")
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
        values = tomllib.loads(toml)
    except tomllib.TOMLDecodeError as error:
        raise _refused(path, 1, f"the header is not valid TOML: {error}") from None
    for key, value in values.items():
        if key not in _ORIGIN_KEYS:
            raise _refused(path, 1, f"unknown key {key!r} in the header")
        try:
            values[key] = msgspec.convert(value, tuple[str, ...] if key == "requires" else str)
        except msgspec.ValidationError:
            raise _refused(path, 1, f"{key} cannot be {value!r}") from None
    return values


def _function(tree: ast.Module, path: Path) -> ast.FunctionDef:
    """Return the one function of a file; putting it in place must run nothing."""
    functions = [node for node in tree.body if isinstance(node, ast.FunctionDef)]
    for node in tree.body:
        text = isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant)
        if not text and (node not in functions or node is not functions[0]):
            raise _refused(path, node.lineno, "a skill is one function and nothing else")
    if not functions:
        raise _refused(path, 1, "it defines no function")
    (function,) = functions
    if function.decorator_list:
        raise _refused(path, function.lineno, "a skill has no decorators")
    if needs_values(function):
        raise _refused(path, function.lineno, "a skill's defaults must be constants")
    return function


def _source(text: str, function: ast.FunctionDef) -> str:
    lines = text.replace("\r\n", "\n").split("\n")
    return "\n".join(lines[function.lineno - 1 : function.end_lineno]).rstrip() + "\n"


def _refused(path: Path, line: int | None, reason: str) -> SkillError:
    where = f"{path}, line {line}" if line else str(path)
    return SkillError(
        f"{where}: {reason}; correct the file, or remove it: cap skills remove {path.stem}"
    )
