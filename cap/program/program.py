"""A program: its source, its syntax tree, its code object; from a person's text or a model's."""

from __future__ import annotations

import ast
import contextlib
import io
import keyword
import re
import tokenize
import types
import unicodedata
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property, lru_cache

from cap.errors import ANOTHER, AnswerFault, CheckFailed, EmptyCompletion
from cap.program.expansion import expands
from cap.program.parser import MAX_SOURCE_CHARS, compiled, parsed
from cap.program.private_names import MARK

__all__ = ["MAX_ANSWER_CHARS", "MAX_SOURCE_CHARS", "Program", "ProgramSyntaxError", "compiled"]

MAX_ANSWER_CHARS = 16 * MAX_SOURCE_CHARS
MAX_SHOWN_CHARS = 120
"""How much of a line a message repeats."""
_SHOWN_WORDS = 120
"""How much of an answer in words a message repeats."""
_REFUSED = re.compile(rf"[\x01-\x08\x0b\x0e-\x1f\x7f\x80-\x9f{MARK}]")


class ProgramSyntaxError(CheckFailed):
    """The program is not valid Python."""

    def __init__(self, message: str, line: int | None = None, column: int | None = None) -> None:
        super().__init__(message)
        self.line, self.column = line, column


class AnsweredInWords(AnswerFault):
    """An answer that holds no code: a refusal, a question, an explanation."""


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
        return _code(self.source)

    @cached_property
    def expands(self) -> bool:
        """True if the compiler would make too much of it; then it has no `code`."""
        return expands(self.tree, self.source)

    @classmethod
    def parse(cls, source: str | bytes, notes: Sequence[str] = ()) -> Program:
        """Parse source text.

        Raises:
            ProgramSyntaxError: Not valid Python, or too long or too deeply nested to be read.
        """
        # The parser reads every line end as "\n".
        source = _text(source).replace("\r\n", "\n").replace("\r", "\n")
        # A kept program must not steer the terminal it is shown in, and no program writes the mark
        # of private names itself.
        if found := _REFUSED.search(source):
            noun = "the character" if found[0] == MARK else "control character"
            what = f"{noun} U+{ord(found[0]):04X}; write it as an escape"
            line = source.count("\n", 0, found.start()) + 1
            raise ProgramSyntaxError(f"the program holds {what}", line)
        try:
            tree = parsed(source)
            if not source.isascii():
                _refuse_disguises(source)
            program = cls(source, tree, tuple(notes))
            if not program.expands:  # the check says so, with its rule
                program.code  # noqa: B018 finds what the grammar lets pass: a stray `return`
            return program
        except SyntaxError as error:
            shown = (error.text or "").strip()
            where = f" in {shown[:MAX_SHOWN_CHARS]!r}" if shown else ""
            raise ProgramSyntaxError(
                f"not valid Python: {error.msg}{where}", error.lineno, error.offset
            ) from None
        except (ValueError, RecursionError, MemoryError) as error:
            why = str(error) or "it is nested too deeply"  # of the parser's own stack
            raise ProgramSyntaxError(f"cannot be parsed: {why}") from None

    @classmethod
    def from_completion(cls, text: str, stop: Sequence[str] = ()) -> Program:
        """Extract the program from a model's answer.

        Args:
            text: The answer.
            stop: Strings that begin a next turn, as in the request.

        Raises:
            EmptyCompletion: Nothing in it.
            AnsweredInWords: No code in it.
            AnswerFault: Code in it, but not of one whole program.
            ProgramSyntaxError: Code that is not valid Python.
        """
        from cap.program.extraction import program_text  # which a program of a person's needs not

        _check_size(text, MAX_ANSWER_CHARS)
        if not stop and (comments := _only_comments(text)):
            return cls.parse(comments, ("it only comments; nothing is done",))
        source, notes = program_text(text, stop)
        program = cls.parse(source, notes)
        if not _does_something(program.tree):
            if shown := " ".join(text.split())[:_SHOWN_WORDS]:
                raise AnsweredInWords(f"the model answered with prose: {shown!r}{ANOTHER}")
            raise EmptyCompletion(f"the model answered with nothing{ANOTHER}")
        return program

    def without(self, doomed: Sequence[ast.stmt]) -> Program:
        """Return it without some of its statements; every other keeps its line.

        Args:
            doomed: Statements of its tree.
        """
        if not doomed:
            return self
        lines = [line.encode() for line in self.source.split("\n")]
        for node in sorted(doomed, key=lambda node: (node.lineno, node.col_offset), reverse=True):
            first, last = node.lineno - 1, (node.end_lineno or node.lineno) - 1
            head, tail = lines[first][: node.col_offset], lines[last][node.end_col_offset :]
            alone = node in self.tree.body and not head.strip() and not tail.strip()
            empty = [b""] * (last - first)
            lines[first : last + 1] = [b"" if alone else head + b"pass" + tail, *empty]
        note = "removed, already in scope: " + "; ".join(ast.unparse(node) for node in doomed)
        return Program.parse(b"\n".join(lines).decode(), (*self.notes, note))


@lru_cache(maxsize=4)
def _code(source: str) -> types.CodeType:
    return compiled(source, parsed(source))


def _refuse_disguises(source: str) -> None:
    """Refuse names that Python reads as a keyword's letters: written anew they are no program."""
    with contextlib.suppress(tokenize.TokenError, IndentationError):
        for token in tokenize.generate_tokens(io.StringIO(source).readline):
            if token.type == tokenize.NAME and not token.string.isascii():
                plain = unicodedata.normalize("NFKC", token.string)
                if keyword.iskeyword(plain):
                    what = f"the name {token.string!r} reads as the keyword '{plain}'"
                    line, column = token.start
                    raise ProgramSyntaxError(f"not valid Python: {what}", line, column + 1)


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


def _does_something(tree: ast.Module) -> bool:
    """Return False for nothing, for mere imports, and for prose or data that happens to parse."""
    return any(
        not isinstance(node, ast.Import | ast.ImportFrom)
        and not (isinstance(node, ast.AnnAssign) and node.value is None)
        and not (
            isinstance(node, ast.Expr)
            and all(isinstance(part, _DATA) for part in ast.walk(node.value))
        )
        for node in tree.body
    )


_DATA = (
    *(ast.Name, ast.Constant, ast.List, ast.Tuple, ast.Set, ast.Dict, ast.UnaryOp),
    *(ast.expr_context, ast.unaryop),
)


def _only_comments(text: str) -> str:
    """Return an answer of nothing but comments, without the fence around it; "" of any other."""
    lines = [line.strip() for line in text.splitlines() if line.strip()]
    if len(lines) > 2 and lines[0][:3] == lines[-1] == "```":
        lines = lines[1:-1]
    return "\n".join(lines) + "\n" if all(line[:1] == "#" for line in lines) and lines else ""
