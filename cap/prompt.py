"""Prompt files: a header, hints (imports) and examples (instruction comments with code).

A prompt file is Python text:

    # /// cap
    # returns = "ret_val"          the variable a program of this prompt must set
    # kind = ["name", "names"]     what that value may be
    # context = ["objects"]        facts shown before each instruction, as `objects = [...]`
    # session = false              whether variables and earlier turns are kept
    # actions = false              whether its programs may move the robot
    # ///
    import numpy as np
    from robot import get_obj_pos

    objects = ['red block', 'blue bowl']
    # the red block.
    ret_val = 'red block'

Lines `#: put = place, set` above the first example state synonyms. They serve `nearest`, which
knows no English of its own; language models are not sent them.

The header is TOML in comments and may be absent. The text sent to the model is the file less its
header, then the session's earlier turns, then this turn's context and instruction.
"""

from __future__ import annotations

import ast
import hashlib
import re
import tomllib
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, fields
from functools import cached_property
from pathlib import Path
from typing import Any

from cap.errors import PromptError

HEADER = re.compile(r"^# /// cap\n(?P<body>(?:#[^\n]*\n)*?)# ///[ \t]*\n", re.MULTILINE)
_OPENED = re.compile(r"^# /// cap[ \t]*$", re.MULTILINE)
_JOINERS = "\u200c\u200d"
"""Not printable, but part of words: Persian compounds, emoji of several signs."""
KINDS = ("any", "name", "names", "point", "points", "number", "boolean", "text")


@dataclass(frozen=True)
class Header:
    """A prompt file's metadata."""

    returns: str | None = None
    """Variable that holds the program's value, or None."""
    kind: tuple[str, ...] = ("any",)
    """What the value may be: any of `KINDS`."""
    context: tuple[str, ...] = ()
    """Robot facts shown before the instruction."""
    session: bool = False
    """Keep variables and earlier turns between instructions."""
    actions: bool = False
    """Programs may call action primitives."""
    stop: tuple[str, ...] = ("\n# ", "\nobjects = [")
    """Stop strings of the completion."""
    prefix: str = ""
    """Put before the instruction inside its comment, such as `define function: `."""
    arguments: Mapping[str, Any] = field(default_factory=dict)
    """Sample keyword arguments, for executing the examples."""


@dataclass(frozen=True)
class Example:
    """One instruction with its code."""

    instruction: str
    """The comment's text, without `# ` and the final full stop."""
    code: str
    """The program that answers it."""
    context: str
    """Assignment lines in force, from this or an earlier example; "" if none."""
    line: int
    """1-based line of the comment in the text."""
    follows: bool
    """True if it continues the example before it (no context line of its own)."""


@dataclass(frozen=True)
class Turn:
    """One finished instruction of a session, as later prompts show it."""

    instruction: str
    """The person's words."""
    code: str
    """The program's source."""
    context: str = ""
    """The context lines it was shown."""
    note: str = ""
    """How it failed, or ""."""


@dataclass(frozen=True)
class Prompt:
    """A loaded prompt file."""

    name: str
    """File stem; programs call the LMP by it."""
    header: Header
    """Metadata."""
    text: str
    """The file without its header: what the model reads first."""
    hints: tuple[str, ...]
    """Names its import lines bind, besides the library names."""
    examples: tuple[Example, ...]
    """Its examples, in order."""
    path: Path | None = None
    """Where it was read from."""

    @cached_property
    def sha256(self) -> str:
        """Hash of the text, for traces."""
        return hashlib.sha256(self.text.encode()).hexdigest()

    def render(
        self,
        instruction: str,
        context: str = "",
        history: Sequence[Turn] = (),
        hints: Sequence[str] = (),
    ) -> str:
        """Return the text of one request; it ends with the instruction's comment line.

        Args:
            instruction: The person's words.
            context: Assignment lines shown above them.
            history: Earlier turns, oldest first.
            hints: Lines that name what else exists, skills for one; between examples and history.
        """
        parts = [self.text.rstrip()]
        if hints:
            parts.append("\n".join(hints))
        parts += [
            _block(turn.context, self.header.prefix, turn.instruction, turn.code, turn.note)
            for turn in history
        ]
        parts.append(_block(context, self.header.prefix, instruction))
        return "\n\n".join(parts) + "\n"


def without_synonyms(text: str) -> str:
    """Return prompt text as a language model reads it: without its `#:` lines."""
    return "".join(line for line in text.splitlines(True) if not line.startswith("#: "))


def one_line(text: str) -> str:
    """Return words that cannot leave their comment line: control characters become spaces."""
    return " ".join("".join(c if c.isprintable() or c in _JOINERS else " " for c in text).split())


def comment(instruction: str, prefix: str = "") -> str:
    """Return the comment line that asks for a program."""
    words = one_line(instruction)
    return f"# {prefix}{words}" + ("" if words.endswith((".", "?", "!")) else ".")


def _block(context: str, prefix: str, instruction: str, code: str = "", note: str = "") -> str:
    lines = [context, comment(instruction, prefix), code.rstrip(), note and f"#! {one_line(note)}"]
    return "\n".join(line for line in lines if line)


def load(path: Path) -> Prompt:
    """Read a prompt file.

    Raises:
        PromptError: It cannot be read, or its header or its Python is wrong; with file and line.
    """
    try:
        text = path.read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError) as error:
        raise PromptError(f"cannot read prompt file {path}: {error}") from None
    return parse(text, name=path.stem, path=path)


def parse(text: str, name: str, path: Path | None = None) -> Prompt:
    """Parse prompt text; `path` is named in errors."""
    where = str(path or name)
    header, body, skipped = _header(text, where)
    try:
        tree = ast.parse(body)
    except SyntaxError as error:
        line = (error.lineno or 0) + skipped
        raise PromptError(
            f"{where}, line {line}: {error.msg}; a prompt must be valid Python"
        ) from None
    except (ValueError, RecursionError, MemoryError) as error:
        raise PromptError(f"{where}: {error or 'nested too deep'}; not valid Python") from None
    return Prompt(
        name=name,
        header=header,
        text=body.strip("\n") + "\n",
        hints=_hints(tree),
        examples=split_examples(body, header.prefix, first_line=skipped + 1),
        path=path,
    )


def _header(text: str, where: str) -> tuple[Header, str, int]:
    """Return the metadata, the text after it and how many lines it took."""
    match = HEADER.search(text)
    if match is None:
        if opened := _OPENED.search(text):
            line = text[: opened.start()].count("\n") + 1
            raise PromptError(f"{where}, line {line}: header has no end; close it with '# ///'")
        return Header(), text, 0
    toml = "\n".join(line[1:].removeprefix(" ") for line in match["body"].split("\n"))
    try:
        values = tomllib.loads(toml)
    except tomllib.TOMLDecodeError as error:
        raise PromptError(f"{where}: header is not valid TOML: {error}") from None
    known = {entry.name for entry in fields(Header)}
    if unknown := sorted(set(values) - known):
        raise PromptError(f"{where}: header has unknown keys {unknown}; known: {sorted(known)}")
    for key, value in values.items():
        if not _TYPES[key](value):
            raise PromptError(f"{where}: header '{key}' cannot be {value!r}")
        if key in _LISTS:
            values[key] = (value,) if isinstance(value, str) else tuple(value)
    if wrong := [kind for kind in values.get("kind", ()) if kind not in KINDS]:
        raise PromptError(f"{where}: header kind {wrong} unknown; known: {list(KINDS)}")
    body = text[: match.start()] + text[match.end() :]
    return Header(**values), body, match[0].count("\n")


def _is_words(value: object) -> bool:
    entries = value if isinstance(value, list) else [value]
    return all(isinstance(entry, str) for entry in entries)


_LISTS = ("kind", "context", "stop")
_TYPES: dict[str, Callable[[object], bool]] = {
    **dict.fromkeys(_LISTS, _is_words),
    **dict.fromkeys(("returns", "prefix"), lambda value: isinstance(value, str)),
    **dict.fromkeys(("session", "actions"), lambda value: isinstance(value, bool)),
    "arguments": lambda value: isinstance(value, dict),
}
"""What each key of a header may hold."""


def _hints(tree: ast.Module) -> tuple[str, ...]:
    """Return the names imported at the top, in order."""
    names: list[str] = []
    for node in tree.body:
        if isinstance(node, ast.Import | ast.ImportFrom):
            names += [(alias.asname or alias.name).split(".")[0] for alias in node.names]
    return tuple(dict.fromkeys(names))


_ASSIGNMENT = re.compile(r"^[A-Za-z]\w* = [\[\(\{'\"\d-]")


def split_examples(text: str, prefix: str = "", first_line: int = 1) -> tuple[Example, ...]:
    """Split prompt text into examples: context lines, an instruction comment, code.

    Context lines are literal assignments straight above the comment; they hold until replaced.
    A comment with no code under it (the request at the end) gives an example with empty code.
    """
    lines = text.split("\n")
    starts = [
        number
        for number, line in enumerate(lines)
        if line.startswith("# " + prefix) and line.strip() != "#"
    ]
    examples: list[Example] = []
    context = ""
    for number, start in enumerate(starts):
        above = _context_above(lines, start)
        end = starts[number + 1] if number + 1 < len(starts) else len(lines)
        if number + 1 < len(starts):
            end -= len(_context_above(lines, end))
        code = "\n".join(lines[start + 1 : end]).strip("\n").rstrip()
        context = "\n".join(above) or context
        instruction = lines[start][2 + len(prefix) :].strip().removesuffix(".")
        follows = not above and bool(examples)
        examples.append(Example(instruction, code, context, start + first_line, follows))
    return tuple(examples)


def _context_above(lines: Sequence[str], start: int) -> list[str]:
    """Return the literal assignments straight above a comment that stand after a blank line."""
    first = start
    while first > 0 and _ASSIGNMENT.match(lines[first - 1]):
        first -= 1
    if first > 0 and lines[first - 1].strip():
        return []
    return list(lines[first:start])


def render_context(facts: Mapping[str, Any]) -> str:
    """Return facts as assignment lines, values by repr so that no name can break out."""
    return "\n".join(f"{name} = {value!r}" for name, value in facts.items())


def parse_context(text: str, where: str = "context") -> dict[str, Any]:
    """Read assignment lines back into values; only literals are accepted.

    Raises:
        PromptError: A line is not `name = literal`.
    """
    try:
        values = {}
        for node in ast.parse(text).body:
            match node:
                case ast.Assign(targets=[ast.Name(id=name)], value=value):
                    values[name] = ast.literal_eval(value)
                case _:
                    raise ValueError(f"line {node.lineno} is not an assignment to one name")
    except (SyntaxError, ValueError, TypeError, RecursionError, MemoryError) as error:
        raise PromptError(f"{where} must be lines of `name = literal`: {error}") from None
    return values
