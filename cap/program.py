"""From a model's raw answer to a program: fences, thoughts, stop strings and prose taken off."""

from __future__ import annotations

import ast
import re
import textwrap
import threading
import types
import warnings
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import dropwhile

from cap.errors import CheckFailed, EmptyCompletion

MAX_SOURCE_CHARS = 65_536
MAX_SHOWN_CHARS = 120
"""How much of a line a message repeats."""
_CONTROL = re.compile(r"[\x01-\x08\x0b\x0e-\x1f\x7f\x80-\x9f]")
MAX_ANSWER_CHARS = 16 * MAX_SOURCE_CHARS
_FLAGS = re.DOTALL | re.MULTILINE | re.IGNORECASE
_THINK = re.compile(r"^[ \t]*<think(?:ing)?>.*?(?:</think(?:ing)?>|\Z)", _FLAGS)
_MARKS = re.compile(r"```|~~~|</?think", re.IGNORECASE)
_THINK_END = re.compile(r"</think(?:ing)?>", _FLAGS)
# Possessive quantifiers: a long run of backticks or letters must not backtrack.
_FENCE = re.compile(r"^[ \t]*+(```++|~~~++)[ \t]*+([\w+-]*+)[^\n]*+\n(.*?)(?:\1[ \t]*$|\Z)", _FLAGS)
_CODE_TAGS = ("", "python", "py", "python3", "tool_code")
_SENTENCE = re.compile(r"[A-Z].*[.!?:]$")
_OPENS = re.compile(r"try:|@|match .*:$")
"""Lines that begin a statement, and are none with a mere `pass` behind."""
_QUIET = threading.Lock()


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

    @cached_property
    def code(self) -> types.CodeType:
        """The program compiled, once for all who need it; never executed in this process."""
        return compiled(self.tree)

    @classmethod
    def parse(cls, source: str | bytes, notes: Sequence[str] = ()) -> Program:
        """Parse source text.

        Raises:
            ProgramSyntaxError: Not valid Python, or too large or too deeply nested to be read.
        """
        source = _newlines(_text(source))
        _check_characters(source)
        try:
            tree = _parse(source)
            program = cls(source, tree, tuple(notes))
            program.code  # noqa: B018 finds what the grammar lets pass: `return` outside a function
            return program
        except SyntaxError as error:
            shown = (error.text or "").strip()
            where = f" in {shown[:MAX_SHOWN_CHARS]!r}" if shown else ""
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
        _check_size(text, MAX_ANSWER_CHARS)
        bare, notes = _newlines(text).removeprefix("\ufeff"), list[str]()
        fenced: list[str] = []
        # In a program, tags and fences are inside its strings.
        if _MARKS.search(bare) and not _parses(bare):
            bare = _without_thoughts(bare, notes)
            fenced = _fenced(bare)
            bare = bare if fenced else _FENCE.sub("", bare)
        if fenced:
            # A fence ends by itself; a stop string in it would be a comment of the program's own.
            program = cls.parse(_tidy(_best(fenced)), [*notes, "code taken from a fence"])
        else:
            program = cls._unfenced(bare, stop, notes)
        if not _does_something(program.tree):
            raise EmptyCompletion(_no_code(text))
        return program

    @classmethod
    def _unfenced(cls, text: str, stop: Sequence[str], notes: list[str]) -> Program:
        """Take the text up to the first stop string, without prose if there is any."""
        source = _tidy(text)
        cut = min((at for mark in stop if (at := source.find(mark)) >= 0), default=len(source))
        if source[cut:].strip():
            notes.append("cut at a stop string")
        source = _tidy(source[:cut])
        _check_size(source, MAX_SOURCE_CHARS)
        try:
            program = cls.parse(source, notes)
        except ProgramSyntaxError:
            return cls._without_prose(source, notes)
        if _is_word(source.split("\n", 1)[0]):
            return cls._without_prose(source, notes)
        return program

    @classmethod
    def _without_prose(cls, source: str, notes: Sequence[str]) -> Program:
        """Try again without the lines of prose before and after the code."""
        lines = source.split("\n")
        while lines and _is_prose(lines[0]):
            lines.pop(0)
        while lines and _is_prose(lines[-1]):
            lines.pop()
        if not lines:
            raise EmptyCompletion(_no_code(source))
        return cls.parse(textwrap.dedent("\n".join(lines)) + "\n", [*notes, "prose removed"])

    def without_imports(self, names: frozenset[str]) -> Program:
        """Drop imports that bind only names already in scope; every chat model writes them."""
        if "import" not in self.source:  # the usual case, without a walk
            return self
        doomed = [
            node
            for node in ast.walk(self.tree)
            if isinstance(node, ast.Import | ast.ImportFrom)
            and all(
                {alias.name.split(".")[0], alias.asname or alias.name.split(".")[0]} <= names
                for alias in node.names
            )
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
    if not text or _is_word(text):
        return True
    if line[0].isspace() or _OPENS.match(line) or _parses(text) or _parses(text + " pass"):
        return False
    return not re.search(r"[=(\[{]", text) or bool(_SENTENCE.match(text))


def _is_word(line: str) -> bool:
    """Tell whether a line is one polite word, such as `Certainly`; it parses as a name."""
    return line[:1].isupper() and line.isidentifier() and line not in ("None", "True", "False")


def compiled(program: ast.Module | str, file_name: str = "<program>") -> types.CodeType:
    """Return a code object, for its names or for a worker; it is never executed here."""
    with _QUIET, warnings.catch_warnings():
        warnings.simplefilter("ignore")  # about the model's style: `x is 1`
        return compile(program, file_name, "exec", dont_inherit=True)


def _parse(source: str) -> ast.Module:
    with _QUIET, warnings.catch_warnings():
        warnings.simplefilter("ignore")  # about the model's style: an escape like '\d'
        return ast.parse(source)


def _parses(source: str) -> bool:
    if len(source) > MAX_SOURCE_CHARS:
        return False
    try:
        _parse(source)
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return False
    return True


def _best(blocks: Sequence[str]) -> str:
    """Join the fenced blocks if that parses; else the longest that does; else the first."""
    for source in ("\n".join(blocks), *sorted(blocks, key=len, reverse=True)):
        if _parses(textwrap.dedent(source)):
            return source
    return blocks[0]


def _check_characters(source: str) -> None:
    """Refuse raw control characters: a kept program must not steer the terminal it is shown in."""
    for number, line in enumerate(source.split("\n"), 1):
        if found := _CONTROL.search(line):
            what = f"control character U+{ord(found[0]):04X}; write it as an escape"
            raise ProgramSyntaxError(f"the program holds {what}", number)


def _check_size(text: str | bytes, limit_chars: int) -> None:
    if len(text) > limit_chars:
        size = f"{len(text)} characters, the limit is {limit_chars}"
        raise ProgramSyntaxError(f"the program is too long: {size}")


def _text(source: str | bytes) -> str:
    """Return a source that is text and not too long; bytes are read as UTF-8."""
    if not isinstance(source, str | bytes):
        raise ProgramSyntaxError(f"the program is not text but '{type(source).__name__}'")
    _check_size(source, MAX_SOURCE_CHARS)
    try:
        return source if isinstance(source, str) else source.decode()
    except UnicodeDecodeError as error:
        raise ProgramSyntaxError(f"the program is not text: {error.reason}") from None


def _newlines(text: str) -> str:
    """Write every line end as the parser reads it."""
    return text.replace("\r\n", "\n").replace("\r", "\n")


def _without_thoughts(text: str, notes: list[str]) -> str:
    """Drop what a model says to itself before it answers, up to the last closing tag."""
    bare = _THINK.sub("", text)
    if ends := list(_THINK_END.finditer(bare)):
        before, after = bare[: ends[-1].start()], bare[ends[-1].end() :]
        rest_of_line = after.partition("\n")[0]
        opens_line = not before.rpartition("\n")[2].strip()
        if opens_line or not ("'" in rest_of_line or '"' in rest_of_line):  # else in a string
            bare = after
    if bare != text:
        notes.append("thoughts removed")
    return bare


def _fenced(text: str) -> list[str]:
    """Return the fenced blocks that may be Python; a lone fence at the end holds nothing."""
    blocks = _FENCE.findall(text)
    return [body for _, tag, body in blocks if tag.lower() in _CODE_TAGS and body.strip()]


def _tidy(text: str) -> str:
    """Drop repeated comment lines at the start, dedent; no program begins indented."""
    lines = dropwhile(lambda line: line.startswith("#") or not line.strip(), text.split("\n"))
    return textwrap.dedent("\n".join(lines)).strip("\n").lstrip(" \t") + "\n"


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
