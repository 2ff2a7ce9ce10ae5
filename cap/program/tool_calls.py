"""Answers in the shape of a tool call: JSON that holds a program, or names a function to call."""

from __future__ import annotations

import json
import keyword
import re
from collections.abc import Iterator
from typing import Any

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
_MAX_DEPTH = 6


def called(text: str) -> list[str] | None:
    """Return the programs a text of nothing but JSON holds or stands for, or None.

    Code under a key such as `code` is a program. Calls of functions by name, each with its
    arguments by name, stand for one program that makes these calls one after another.
    """
    if not _SIGN.match(text):
        return None
    decoder, values = json.JSONDecoder(strict=False), []
    rest = text.strip()
    while rest:
        try:
            value, end = decoder.raw_decode(rest)
        except (ValueError, RecursionError):
            return None
        values.append(value)
        rest = rest[end:].lstrip(" \t\n,;")
    found = [program for value in values for program in _programs(value)]
    calls = [code for code, named in found if named]
    if len(calls) == len(found):
        return ["\n".join(calls)] if calls else None
    return [code for code, _ in found]


def _programs(value: Any, depth: int = 0) -> Iterator[tuple[str, bool]]:
    """Yield programs, each with whether it stands for one call of a function by name."""
    if depth > _MAX_DEPTH:
        return
    if isinstance(value, list):
        for entry in value:
            if isinstance(entry, dict):
                yield from _programs(entry, depth + 1)
    elif isinstance(value, dict):
        for key in _CODE_KEYS:
            if isinstance(value.get(key), str):
                yield value[key], False
                return
            if isinstance(lines := value.get(key), list) and all(isinstance(x, str) for x in lines):
                yield "\n".join(lines), False
                return
        yield from _by_name(value, depth)


def _by_name(value: dict[str, Any], depth: int) -> Iterator[tuple[str, bool]]:
    """Yield what a call of a function by name stands for; or look into what it wraps."""
    name = value.get("name") or value.get("tool") or value.get("function")
    found = [_unpacked(value[key]) for key in _ARGUMENTS if key in value]
    if isinstance(name, str) and found:
        inner = found[0]
        if isinstance(inner, str):
            yield from [(inner, False)] if name.lower() in RUNNERS else []
            return
        programs = list(_programs(inner, depth + 1))
        if programs or not isinstance(inner, dict):
            yield from programs
        elif name.lower() not in RUNNERS and all(map(_is_name, [*name.split("."), *inner])):
            given = ", ".join(f"{key}={entry!r}" for key, entry in inner.items())
            yield f"{name}({given})", True
        return
    for key in ("function", "tool_calls", "tool_call", "function_call", *_ARGUMENTS):
        if isinstance(value.get(key), dict | list):
            yield from _programs(value[key], depth + 1)


def _unpacked(value: Any) -> Any:
    """Return arguments as a mapping; some models write them as JSON in a string."""
    if isinstance(value, str) and _SIGN.match(value):
        try:
            return json.loads(value, strict=False)
        except (ValueError, RecursionError):
            return value
    return value


def _is_name(word: str) -> bool:
    return word.isidentifier() and not keyword.iskeyword(word)
