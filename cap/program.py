"""From a model's raw answer to a program: fences, thoughts, stop strings and prose taken off."""

from __future__ import annotations

import ast
import re
import textwrap
from collections.abc import Sequence
from dataclasses import dataclass

from cap.errors import CheckFailed, EmptyCompletion

MAX_SOURCE_CHARS = 65_536
_THINK = re.compile(r"<think(?:ing)?>.*?(?:</think(?:ing)?>|\Z)", re.DOTALL | re.IGNORECASE)
_THINK_TAIL = re.compile(r"\A.*?</think(?:ing)?>", re.DOTALL | re.IGNORECASE)
_FENCE = re.compile(
    r"^[ \t]*(```+|~~~+)[ \t]*([\w+-]*)[^\n]*\n(.*?)(?:^[ \t]*\1[ \t]*$|\Z)",
    re.DOTALL | re.MULTILINE,
)
_CODE_TAGS = ("", "python", "py", "python3", "tool_code")
_SENTENCE = re.compile(r"[A-Z].*[.!?:]$")


class ProgramSyntaxError(CheckFailed):
    """The program is not valid Python."""

    def __init__(self, message: str, line: int | None = None) -> None:
        super().__init__(message)
        self.line = line


@dataclass(frozen=True)
class Program:
    """Source with its syntax tree."""

    source: str
    """What is shown, checked and run."""
    tree: ast.Module
    """The same, parsed."""
    notes: tuple[str, ...] = ()
    """What was taken off on the way, for the trace."""

    @classmethod
    def parse(cls, source: str, notes: Sequence[str] = ()) -> Program:
        """Parse source text.

        Raises:
            ProgramSyntaxError: Not valid Python, or too large or too deeply nested to be read.
        """
        if len(source) > MAX_SOURCE_CHARS:
            size = f"{len(source)} characters, the limit is {MAX_SOURCE_CHARS}"
            raise ProgramSyntaxError(f"the program is too long: {size}")
        try:
            return cls(source, ast.parse(source), tuple(notes))
        except SyntaxError as error:
            shown = (error.text or "").strip()
            where = f" in {shown!r}" if shown else ""
            raise ProgramSyntaxError(
                f"not valid Python: {error.msg}{where}", error.lineno
            ) from None
        except (ValueError, RecursionError, MemoryError) as error:
            raise ProgramSyntaxError(f"cannot be parsed: {error or type(error).__name__}") from None

    @classmethod
    def from_completion(cls, text: str, stop: Sequence[str] = ()) -> Program:
        """Extract the program from a model's answer.

        Raises:
            EmptyCompletion: No code in it.
            ProgramSyntaxError: Code that is not valid Python.
        """
        notes: list[str] = []
        bare = _THINK_TAIL.sub("", _THINK.sub("", text)) if "think" in text.lower() else text
        if bare != text:
            notes.append("thoughts removed")
        fenced = [body for _, tag, body in _FENCE.findall(bare) if tag.lower() in _CODE_TAGS]
        if fenced:
            notes.append("code taken from a fence")
            return cls.parse(_tidy(_best(fenced), stop), notes)
        source = _tidy(bare, stop)
        try:
            program = cls.parse(source, notes)
        except ProgramSyntaxError:
            program = cls._without_prose(source, notes)
        if not _does_something(program.tree):
            raise EmptyCompletion(_no_code(text))
        return program

    @classmethod
    def _without_prose(cls, source: str, notes: Sequence[str]) -> Program:
        """Try again without the lines of prose before and after the code."""
        lines = source.splitlines()
        while lines and _is_prose(lines[0]):
            lines.pop(0)
        while lines and _is_prose(lines[-1]):
            lines.pop()
        if not lines:
            raise EmptyCompletion(_no_code(source))
        return cls.parse(textwrap.dedent("\n".join(lines)) + "\n", [*notes, "prose removed"])

    def without_imports(self, names: frozenset[str]) -> Program:
        """Drop imports that bind only names already in scope; every chat model writes them."""
        doomed = [
            node
            for node in ast.walk(self.tree)
            if isinstance(node, ast.Import | ast.ImportFrom)
            and all((alias.asname or alias.name.split(".")[0]) in names for alias in node.names)
        ]
        if not doomed:
            return self
        lines = [line.encode() for line in self.source.split("\n")]
        for node in sorted(doomed, key=lambda node: (node.lineno, node.col_offset), reverse=True):
            first, last = node.lineno - 1, (node.end_lineno or node.lineno) - 1
            head, tail = lines[first][: node.col_offset], lines[last][node.end_col_offset :]
            alone = node in self.tree.body and not head.strip() and not tail.strip()
            lines[first : last + 1] = [] if alone else [head + b"pass" + tail]
        note = "removed, already in scope: " + "; ".join(ast.unparse(node) for node in doomed)
        return Program.parse(b"\n".join(lines).decode(), (*self.notes, note))


def _is_prose(line: str) -> bool:
    """Tell whether a line is words to a person (or blank), not code or part of it."""
    text = line.strip()
    if not text:
        return True
    if line[0].isspace() or _parses(text) or _parses(text + " pass"):
        return False
    return not re.search(r"[=(\[{]", text) or bool(_SENTENCE.match(text))


def _parses(source: str) -> bool:
    try:
        ast.parse(source)
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return False
    return True


def _best(blocks: Sequence[str]) -> str:
    """Join the fenced blocks if that parses; else the longest that does; else the first."""
    for source in ("\n".join(blocks), *sorted(blocks, key=len, reverse=True)):
        if _parses(textwrap.dedent(source)):
            return source
    return blocks[0]


def _tidy(text: str, stop: Sequence[str]) -> str:
    """Drop repeated comment lines at the start, cut at the first stop string, dedent."""
    lines = text.replace("\r\n", "\n").strip("\n").split("\n")
    while lines and (lines[0].startswith("#") or not lines[0].strip()):
        lines.pop(0)
    body = "\n".join(lines)
    cut = min((at for mark in stop if (at := body.find(mark)) >= 0), default=len(body))
    return textwrap.dedent(body[:cut]).strip("\n") + "\n"


def _does_something(tree: ast.Module) -> bool:
    """Return False for nothing, and for prose that happens to parse (a bare word or a string)."""
    return any(
        not (isinstance(node, ast.Expr) and isinstance(node.value, ast.Name | ast.Constant))
        for node in tree.body
    )


def _no_code(text: str) -> str:
    shown = " ".join(text.split())[:80]
    said = f"answered with prose: {shown!r}" if shown else "answered with nothing"
    return f"the model {said}; try again, or another model with -m"
