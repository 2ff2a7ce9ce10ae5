"""Tasks as data: a suite's `tasks.toml`, with a table `[[task]]` for each, or its `tasks.jsonl`."""

from __future__ import annotations

import re
import tomllib
from collections.abc import Iterator
from pathlib import Path
from typing import Any, TypeVar

import msgspec

from benchmarks import json_lines
from cap.errors import UsageError
from cap.files import read_text

T = TypeVar("T")


def load(path: Path, kind: type[T]) -> tuple[T, ...]:
    """Return a file's tasks, in its order.

    Args:
        path: A `.toml` or `.jsonl` file.
        kind: What a task is: a `msgspec.Struct`, whose fields are the keys a task may have.

    Raises:
        UsageError: It cannot be read, or a task in it is none; with the line.
    """
    found = []
    for line, values in _entries(path):
        try:
            found.append(msgspec.convert(values, kind))
        except msgspec.ValidationError as error:
            why = str(error).replace("`", "'")
            raise UsageError(f"{path}, line {line}: no task of this suite: {why}") from None
    if not found:
        raise UsageError(f"{path} has no task; give it at least one")
    return tuple(found)


def _entries(path: Path) -> Iterator[tuple[int, Any]]:
    """Yield each task with the line it begins in."""
    if path.suffix == ".jsonl":
        yield from json_lines.read(path, "tasks")
        return
    try:
        text = read_text(path)
        values = tomllib.loads(text)
    except (OSError, ValueError) as error:
        raise UsageError(f"cannot read tasks {path}: {error}") from None
    if unknown := sorted(set(values) - {"task"}):
        raise UsageError(f"{path}: unknown key '{unknown[0]}'; tasks are tables [[task]]")
    headers = re.finditer(r"^\s*\[\[\s*task\s*\]\]", text, re.MULTILINE)
    lines = (text.count("\n", 0, header.end()) + 1 for header in headers)
    yield from zip(lines, values.get("task", ()), strict=True)
