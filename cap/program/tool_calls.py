"""Answers in the shape of a tool call: JSON that holds a program, or names a function to call."""

from __future__ import annotations

import enum
import json
import keyword
import re
from collections.abc import Iterator
from typing import Any

from cap.errors import AnswerFault
from cap.program.blocks import ONE_BLOCK, refuse_code

_SIGN = re.compile(r"\s*[\[{]")
_CODE_KEYS = (
    *("code", "python", "source", "program", "script", "source_code", "python_code"),
    "answer",
)
_ARGUMENTS = ("arguments", "parameters", "args", "input", "tool_input")
RUNNERS = frozenset(
    (
        *("python", "python3", "ipython", "code_interpreter", "interpreter", "execute", "exec"),
        *("execute_code", "run", "run_code", "run_python", "tool", "code", "function"),
    )
)
"""Names under which models are used to find an interpreter; none is a robot's function."""
_WORDS = ("text", "thinking", "reasoning")
"""Types of parts of a message that are no calls."""
_MAX_DEPTH = 6


class _Kind(enum.Enum):
    """What a piece of data is."""

    PROGRAM = enum.auto()
    CALL = enum.auto()
    """The program that stands for a call of a function by name."""
    WORDS = enum.auto()
    """Any other text: there must be no code in it."""
    UNUSABLE = enum.auto()
    """What stands where a call should."""


_Pieces = Iterator[tuple[_Kind, str]]


def called(text: str) -> list[str] | None:
    """Return the programs a text of nothing but JSON holds or stands for, or None.

    Code under a key such as `code` is a program. Calls of functions by name, each with its
    arguments by name, stand for one program that makes these calls one after another.

    Raises:
        AnswerFault: Beside a program there is other code, or a call that cannot be read.
    """
    if not _SIGN.match(text):
        return None
    values: list[Any] = []
    rest = text.strip()
    while rest:
        try:
            value, end = _DECODER.raw_decode(rest)
        except (ValueError, RecursionError):
            if _SIGN.match(rest) and _codes(values):
                raise AnswerFault(_UNREADABLE) from None
            return None
        values.append(value)
        rest = rest[end:].lstrip(" \t\n,;")
    return _codes(values)


def _codes(values: list[Any]) -> list[str]:
    """Return the programs that data holds, those that stand for calls as one."""
    found = [piece for value in values for piece in _pieces([value])]
    kinds = {kind for kind, _ in found}
    programs = [code for kind, code in found if kind in (_Kind.PROGRAM, _Kind.CALL)]
    if not programs:
        return []
    if _Kind.UNUSABLE in kinds:
        raise AnswerFault(_UNREADABLE)
    refuse_code("\n\n".join(text for kind, text in found if kind is _Kind.WORDS))
    return programs if _Kind.PROGRAM in kinds else ["\n".join(programs)]


def _pieces(value: Any, depth: int = 0) -> _Pieces:
    """Yield what data holds where calls are expected."""
    if depth > _MAX_DEPTH:
        yield _Kind.UNUSABLE, ""
    elif isinstance(value, list):
        for entry in value:
            found = list(_pieces(entry, depth + 1)) if isinstance(entry, dict | list) else []
            yield from found
            words = isinstance(entry, dict) and entry.get("type") in _WORDS
            if not words and all(kind is _Kind.WORDS for kind, _ in found):
                yield _Kind.UNUSABLE, ""
    elif isinstance(value, dict):
        for key in _CODE_KEYS:
            lines = value.get(key)
            if isinstance(lines, str):
                lines = [lines]
            if isinstance(lines, list) and all(isinstance(line, str) for line in lines):
                yield _Kind.PROGRAM, "\n".join(lines)
                yield from _words(value, key)
                return
        yield from _by_name(value, depth)


def _by_name(value: dict[str, Any], depth: int) -> _Pieces:
    """Yield what a call of a function by name stands for; or look into what it wraps."""
    name = _named(value)
    given = [key for key in _ARGUMENTS if key in value]
    if name and given:
        yield from _words(value, given[0])
        inner = _unpacked(value[given[0]])
        if isinstance(inner, str):
            yield (_Kind.PROGRAM if name.lower() in RUNNERS else _Kind.UNUSABLE), inner
            return
        found = list(_pieces(inner, depth + 1))
        if not isinstance(inner, dict) or any(kind is _Kind.PROGRAM for kind, _ in found):
            yield from found
        elif name.lower() not in RUNNERS and all(map(_is_name, [*name.split("."), *inner])):
            arguments = ", ".join(f"{key}={entry!r}" for key, entry in inner.items())
            yield _Kind.CALL, f"{name}({arguments})"
        return
    keys = ("function", "tool_calls", "tool_call", "function_call", *_ARGUMENTS)
    wrapped = [key for key in keys if isinstance(value.get(key), dict | list)]
    for key in wrapped:
        yield from _pieces(value[key], depth + 1)
    yield from _words(value, *wrapped)


def _named(value: dict[str, Any]) -> str:
    """Return the name of the function that a call calls, or ""."""
    name = value.get("name") or value.get("tool") or value.get("function")
    return name if isinstance(name, str) else ""


def _words(value: dict[str, Any], *but: str) -> _Pieces:
    """Yield all texts in data, except those under some keys; lines of a list are one text too."""
    left = [entry for key, entry in value.items() if key not in but]
    while left:
        entry = left.pop()
        if isinstance(entry, str) and (inner := _unpacked(entry)) is entry:
            yield _Kind.WORDS, entry
        elif isinstance(entry, str):
            left.append(inner)
        elif isinstance(entry, dict):
            if _named(entry) and any(key in entry for key in _ARGUMENTS):
                yield _Kind.UNUSABLE, ""  # a call in a place where none is looked for
            left.extend(entry.values())
        elif isinstance(entry, list):
            left.extend(entry)
            yield _Kind.WORDS, "\n".join(line for line in entry if isinstance(line, str))


def _object(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    """Return an object of JSON, of which no key may stand twice."""
    found = dict(pairs)
    if len(found) < len(pairs):
        raise AnswerFault(f"a key stands twice in one object; {ONE_BLOCK}")
    return found


_DECODER = json.JSONDecoder(strict=False, object_pairs_hook=_object)
_UNREADABLE = f"one of its calls cannot be read; {ONE_BLOCK}"


def _unpacked(value: Any) -> Any:
    """Return arguments as a mapping; some models write them as JSON in a string."""
    if isinstance(value, str) and _SIGN.match(value):
        try:
            return _DECODER.decode(value)
        except (ValueError, RecursionError):
            return value
    return value


def _is_name(word: str) -> bool:
    return word.isidentifier() and not keyword.iskeyword(word)
