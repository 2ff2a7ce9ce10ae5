"""Values as lines: the context above an instruction, what else a program has, assignments."""

from __future__ import annotations

import ast
import math
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from cap.errors import PromptError
from cap.program.program import parsed

_LITERALS = (type(None), bool, int, str, bytes, complex)
_VALUE_CHARS = 400
"""How much of one value is shown."""
_DIGITS = 4
_MANY = 8
"""Of more things their number is shown as well, since not all of them may fit."""
_SOURCE_CHARS = 1_200
"""How much of a program is shown; of a longer one, the lines around the calls."""
_LINES_ABOUT, _WORDS_CHARS = 5, 200
_ASSIGNED_CHARS = 10_000
"""The longest text of one value in a program's file; a program has its limit too."""


@dataclass(frozen=True)
class Context:
    """Facts by name; they are made into text once, and travel beside it."""

    facts: Mapping[str, Any] = field(default_factory=dict)
    """What a program of the prompt finds bound."""
    text: str = ""
    """The same as assignment lines, values by repr so that no name can break out."""

    @classmethod
    def of(cls, facts: Mapping[str, Any]) -> Context:
        """Return facts with their lines.

        Raises:
            PromptError: A value cannot be written as a literal.
        """
        plain = {name: _plain(value, name) for name, value in facts.items()}
        return cls(plain, "\n".join(f"{name} = {value!r}" for name, value in plain.items()))

    @classmethod
    def read(cls, text: str, where: str = "context") -> Context:
        """Read assignment lines that somebody else wrote; only literals are accepted.

        Raises:
            PromptError: A line is not `name = literal`.
        """
        try:
            facts = {}
            for node in ast.parse(text).body:
                match node:
                    case ast.Assign(targets=[ast.Name(id=name)], value=value):
                        facts[name] = ast.literal_eval(value)
                    case _:
                        raise ValueError(f"line {node.lineno} is not an assignment to one name")
        except (SyntaxError, ValueError, TypeError, RecursionError, MemoryError) as error:
            raise PromptError(f"{where} must be lines of `name = literal`: {error}") from None
        return cls(facts, text)


def _plain(value: Any, name: str) -> Any:
    """Return a value without numpy's types, whose repr is no literal.

    Raises:
        PromptError: It is no literal then either.
    """
    if hasattr(value, "tolist"):
        value = value.tolist()
    kind = type(value)
    if kind in _LITERALS or (kind is float and math.isfinite(value)):
        return value
    if kind in (list, tuple, set):
        return kind(_plain(entry, name) for entry in value)
    if kind is dict:
        return {_plain(key, name): _plain(entry, name) for key, entry in value.items()}
    raise PromptError(
        f"the context '{name}' holds {value!r:.80}, which no line of a prompt can show; "
        "give numbers, words, lists and tables of them"
    )


def value_lines(given: Mapping[str, Any]) -> str:
    """Return a line for each of some variables: its kind and what is in it."""
    return "\n".join(f"{name} = {_described(value)}" for name, value in given.items())


def program_lines(words: str, source: str, lines: Iterable[int]) -> str:
    """Return the program that calls a function which is to be written, for its model to read.

    Args:
        words: The instruction that program was written for.
        source: Its text.
        lines: The lines that call the function, from 1.
    """
    shown = source.strip("\n")
    if len(shown) > _SOURCE_CHARS:
        every = shown.split("\n")
        near = {n for at in lines for n in range(at - _LINES_ABOUT, at + _LINES_ABOUT)}
        shown = "\n".join(line for n, line in enumerate(every, 1) if n in near)[:_SOURCE_CHARS]
    asked = f" for '{words[:_WORDS_CHARS]}'" if words else ""
    return f"It is called by this program{asked}, which is written already:\n{shown}"


def brief(value: Any, chars: int = 80) -> str:
    """Return a value's repr in one line of at most so many characters."""
    try:
        text = " ".join(repr(value).split())
    except ValueError:  # Python shows no integer of more than 4300 digits
        return f"<{type(value).__name__}>"
    return cut(text, chars)


def cut(text: str, chars: int) -> str:
    """Return a text of at most so many characters."""
    return text if len(text) <= chars else f"{text[: chars - 3]}..."


def _described(value: Any) -> str:
    kind = ""
    if isinstance(value, np.ndarray):
        kind = f"array of shape {value.shape}: "
        value = (np.round(value, _DIGITS) if value.dtype.kind in "biuf" else value).tolist()
    elif isinstance(value, float):
        value = round(value, _DIGITS)
    elif isinstance(value, list | tuple | set | dict) and len(value) > _MANY:
        kind = f"{type(value).__name__} of {len(value)}: "
    return kind + brief(value, _VALUE_CHARS)


class NoLiteral(Exception):
    """A value has no literal form; the message says why."""


def assignments(source: str, variables: Mapping[str, Any]) -> str:
    """Return assignments of those variables that a program reads; "" if it reads none.

    Args:
        source: The program.
        variables: Plain data by name.
    """
    reads = set()
    for node in ast.walk(parsed(source)) if variables else ():
        if isinstance(node, ast.AugAssign) and isinstance(node.target, ast.Name):
            reads.add(node.target.id)
        elif isinstance(node, ast.Name) and not isinstance(node.ctx, ast.Store):
            reads.add(node.id)
    lines = [_assignment(name, value) for name, value in variables.items() if name in reads]
    return "\n".join(["# Variables that were there before.", *lines, "\n"]) if lines else ""


def _assignment(name: str, value: Any) -> str:
    """Return `name = literal`, or a comment that says why there is none."""
    try:
        text = _literal(value)
        if len(text) > _ASSIGNED_CHARS:
            raise NoLiteral(f"it takes {len(text)} characters to write")
    except (NoLiteral, ValueError, RecursionError) as error:  # no repr of a very long integer
        return f"# {name}: its value cannot be written here ({error})"
    return f"{name} = {text}"


def _literal(value: Any) -> str:
    kind = type(value)
    if isinstance(value, np.ndarray | np.generic):
        inside = _literal(value.tolist())
        return f"np.array({inside})" if isinstance(value, np.ndarray) else inside
    if isinstance(value, float) and not math.isfinite(value):
        return f"float({str(value)!r})"
    if value is None or kind in (bool, int, float, str, bytes, range, complex):
        return repr(value)
    if kind is dict:
        entries = (f"{_literal(key)}: {_literal(entry)}" for key, entry in value.items())
        return f"{{{', '.join(entries)}}}"
    if kind in (list, tuple, set, frozenset):
        inside = ", ".join(map(_literal, value))
        return f"[{inside}]" if kind is list else f"{kind.__name__}([{inside}])"
    raise NoLiteral(f"a value of type '{kind.__name__}'")
