"""Values as the record keeps them: plain JSON, with what differs from run to run taken out."""

from __future__ import annotations

import json
import math
import re
from collections.abc import Mapping, Set
from pathlib import Path
from typing import Any

DIGITS = 6
"""Of every number after the point; a part may compare more loosely."""

_UNSTEADY = [
    (re.compile(r"\b\d{4}-\d\d-\d\d[T_ -]?\d\d[:-]?\d\d(?:[:-]?\d\d)?(?:\.\d+)?Z?"), "<time>"),
    (re.compile(r"\b\d{8}[-_T]\d{6}(?!\d)"), "<time>"),
    (re.compile(r"\b0x[0-9a-f]{6,}"), "<address>"),
    (re.compile(r"\b\d+(?:\.\d+)? ?(?:ms|us|s)\b(?!/)"), "<seconds>"),
    (re.compile(r"\b\d+\.\d+\.\d+(?:[.\w+-]*\w)?"), "<version>"),
    (re.compile(r"Linux-<version>[\w.-]*"), "<platform>"),
]
UNSTEADY_KEYS = re.compile(
    r"(?:^|_)(?:s|t|ms|seconds|time|times|took|start|duration|clock|pid|platform|versions?|sha256|sandbox|layers|extras)$"
)
"""Of what JSON has under such a name only the type is kept."""
WORDING_KEYS = {
    *("message", "hint", "why", "missed", "reason", "about", "doc", "description", "note"),
    *("notes", "left_over", "undone", "told", "text", "remedy", "judged", "what", "words"),
    *("why_empty", "explanation", "example", "rule", "title", "failure_text"),
}
"""What JSON has under such a name is a sentence for people."""


def steady(text: str, *folders: Path) -> str:
    """Return a text without times, versions, addresses and the paths of some folders."""
    for number, folder in enumerate(folders):
        text = text.replace(str(folder), f"<folder {number}>" if number else "<here>")
    for pattern, instead in _UNSTEADY:
        text = pattern.sub(instead, text)
    return "\n".join(line.rstrip() for line in text.split("\n"))


def plain(value: Any, digits: int = DIGITS) -> Any:
    """Return a value as JSON has it, numbers rounded; arrays are lists, other objects their type.

    What JSON has no form for keeps its type's name: `1.0` and `1` differ, a tuple is no list.
    """
    if value is None or isinstance(value, bool | str):
        return value
    if isinstance(value, int):
        return value
    if isinstance(value, float):
        return round(value, digits) + 0.0 if math.isfinite(value) else repr(value)
    if isinstance(value, Mapping):
        return {str(key): plain(each, digits) for key, each in value.items()}
    if isinstance(value, list | tuple):
        return [plain(each, digits) for each in value]
    if isinstance(value, Set):
        return sorted((plain(each, digits) for each in value), key=json.dumps)
    if hasattr(value, "tolist"):
        return plain(value.tolist(), digits)
    return f"<{type(value).__name__}> {value}"


def parted(value: Any, *folders: Path) -> tuple[Any, Any]:
    """Return what a JSON value says of behaviour, and what of wording."""
    if isinstance(value, dict):
        behaviour, wording = {}, {}
        for key, each in value.items():
            name = steady(key, *folders)
            if UNSTEADY_KEYS.search(key):
                behaviour[name] = f"<{type(each).__name__}>"
            elif key in WORDING_KEYS:
                wording[name] = _steady_all(each, *folders)
            else:
                behaviour[name], words = parted(each, *folders)
                if words:
                    wording[name] = words
        return behaviour, wording
    if isinstance(value, list):
        pairs = [parted(each, *folders) for each in value]
        words = {str(number): words for number, (_, words) in enumerate(pairs) if words}
        return [each for each, _ in pairs], words
    return _steady_all(value, *folders), {}


def _steady_all(value: Any, *folders: Path) -> Any:
    if isinstance(value, str):
        return steady(value, *folders)
    if isinstance(value, list):
        return [_steady_all(each, *folders) for each in value]
    if isinstance(value, dict):
        return {steady(key, *folders): _steady_all(each, *folders) for key, each in value.items()}
    return plain(value)
