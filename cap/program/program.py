"""A program: its source and its syntax tree, from a user's text or a model's answer."""

from __future__ import annotations

import ast
import re
import symtable
import threading
import warnings
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property, lru_cache

from cap.errors import AnswerFault, CheckFailed

MAX_SOURCE_CHARS = 65_536
"""The longest program that is read."""
MAX_NODES = 20_000
"""The largest syntax tree."""
MAX_DEPTH = 100
"""The deepest nesting of the syntax tree."""
MAX_ANSWER_CHARS = 16 * MAX_SOURCE_CHARS
_WITHOUT_WARNINGS = threading.Lock()
"""Guards `warnings.filters`, which all threads share."""
MAX_SHOWN_CHARS = 120
"""How much of a line, or of an answer in words, a message repeats."""
_CONTROL = re.compile(r"[\x01-\x08\x0b\x0e-\x1f\x7f\x80-\x9f]")


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
    def table(self) -> symtable.SymbolTable:
        """Python's own symbol table of it."""
        with _WITHOUT_WARNINGS, warnings.catch_warnings(action="ignore"):
            return symtable.symtable(self.source, "<program>", "exec")

    def sets(self, name: str) -> bool:
        """Tell whether it assigns a variable outside of its functions."""
        return name in self.table.get_identifiers() and self.table.lookup(name).is_assigned()

    @classmethod
    def parse(cls, source: str | bytes, notes: Sequence[str] = ()) -> Program:
        """Parse source text.

        Raises:
            ProgramSyntaxError: Not valid Python, or too long or too deeply nested to be read.
        """
        # The parser reads every line end as "\n".
        source = _text(source).replace("\r\n", "\n").replace("\r", "\n")
        # A kept program must not steer the terminal it is shown in.
        if found := _CONTROL.search(source):
            what = f"control character U+{ord(found[0]):04X}; write it as an escape"
            line = source.count("\n", 0, found.start()) + 1
            raise ProgramSyntaxError(f"the program holds {what}", line)
        try:
            program = cls(source, parsed(source), tuple(notes))
            _refuse_misplaced(program.tree)
            program.table  # noqa: B018 finds what the grammar lets pass: a parameter twice
            return program
        except SyntaxError as error:
            shown = (error.text or "").strip()
            where = f" in {shown[:MAX_SHOWN_CHARS]!r}" if shown else ""
            raise ProgramSyntaxError(
                f"not valid Python: {error.msg}{where}", error.lineno, error.offset
            ) from None
        except (RecursionError, MemoryError):  # of the parser's own stack
            raise ProgramSyntaxError("cannot be parsed: it is nested too deeply") from None
        except ValueError as error:
            raise ProgramSyntaxError(f"cannot be parsed: {error}") from None

    def without(
        self, doomed: Sequence[ast.stmt], why: str = "removed, already in scope"
    ) -> Program:
        """Return it without some of its statements; every other keeps its line.

        Args:
            doomed: Statements of its tree.
            why: What a note says of them.
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
        note = f"{why}: " + "; ".join(ast.unparse(node) for node in doomed)
        return Program.parse(b"\n".join(lines).decode(), (*self.notes, note))


@lru_cache(maxsize=4)
def parsed(source: str) -> ast.Module:
    """Return the syntax tree of a source; it is kept for the next caller, who may not change it.

    Raises:
        SyntaxError, ValueError, RecursionError, MemoryError: It has none.
    """
    with _WITHOUT_WARNINGS, warnings.catch_warnings(action="ignore"):  # `x is 1` is style
        tree = ast.parse(source)
    level: list[ast.AST] = [tree]
    count = 0
    for _ in range(MAX_DEPTH):
        count += len(level)
        level = [
            child
            for node in level
            for child in ast.iter_child_nodes(node)
            if not isinstance(child, ast.expr_context)
        ]
        if not level:
            return tree
        if count + len(level) > MAX_NODES:
            raise ValueError(f"it has more than {MAX_NODES} parts; do it in several programs")
    raise ValueError(f"it is nested deeper than {MAX_DEPTH} levels; write functions and loops")


@lru_cache(maxsize=64)
def parses(source: str) -> bool:
    """Return True for a text that is Python, and no longer than a program may be."""
    if len(source) > MAX_SOURCE_CHARS:
        return False
    try:
        parsed(source)
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return False
    return True


_FUNCTIONS = (ast.FunctionDef, ast.AsyncFunctionDef, ast.Lambda)
_LOOPS = (ast.For, ast.AsyncFor, ast.While)


def _refuse_misplaced(tree: ast.Module) -> None:
    """Refuse what only the compiler refuses: `return` outside a function, `break` outside a loop.

    Raises:
        ProgramSyntaxError: There is one.
    """
    left: list[tuple[ast.AST, bool, bool]] = [(tree, False, False)]
    while left:
        node, in_function, in_loop = left.pop()
        match node:
            case ast.Return() if not in_function:
                what = "'return' outside function"
            case ast.Yield() | ast.YieldFrom() if not in_function:
                what = "'yield' outside function"
            case ast.Break() | ast.Continue() if not in_loop:
                what = f"'{type(node).__name__.lower()}' outside loop"
            case _:
                what = ""
        if what:
            line, column = node.lineno, node.col_offset  # type: ignore[attr-defined]
            raise ProgramSyntaxError(f"not valid Python: {what}", line, column + 1)
        for child in ast.iter_child_nodes(node):
            if isinstance(node, _FUNCTIONS):
                left.append((child, True, False))
            elif isinstance(node, ast.ClassDef):
                left.append((child, False, False))
            else:
                body = isinstance(node, _LOOPS) and child not in node.orelse
                left.append((child, in_function, in_loop or body))


def check_size(text: str | bytes, limit_chars: int) -> None:
    """Raise `ProgramSyntaxError` for a text beyond a limit."""
    if len(text) > limit_chars:
        size = f"{len(text)} characters, the limit is {limit_chars}"
        raise ProgramSyntaxError(f"the program is too long: {size}")


def _text(source: str | bytes) -> str:
    """Return a source that is text and not too long; bytes are read as UTF-8."""
    if not isinstance(source, str | bytes):
        raise ProgramSyntaxError(f"the program is not text but '{type(source).__name__}'")
    check_size(source, MAX_SOURCE_CHARS)
    try:
        return source if isinstance(source, str) else source.decode()
    except UnicodeDecodeError as error:
        raise ProgramSyntaxError(f"the program is not text: {error.reason}") from None
