"""Tasks as data: a suite's `tasks.toml`, with a table `[[task]]` for each, or its `tasks.jsonl`."""

from __future__ import annotations

import re
import tomllib
from pathlib import Path
from typing import Any, TypeVar

import msgspec

from benchmarks import json_lines
from cap.errors import UsageError
from cap.files import read_text

T = TypeVar("T")
_TASK = re.compile(r"\$\.task\[(\d+)\]")


def load(path: Path, kind: type[T]) -> tuple[T, ...]:
    """Return a file's tasks, in its order.

    Args:
        path: A `.toml` file with nothing but tasks, or a `.jsonl` file.
        kind: What a task is: a `msgspec.Struct`, whose fields are the keys a task may have.

    Raises:
        UsageError: It cannot be read, or a task in it is none; with the line.
    """
    if path.suffix != ".jsonl":
        whole = msgspec.defstruct("Tasks", [("task", list[kind])], forbid_unknown_fields=True)  # type: ignore[valid-type]
        found: Any = load_whole(path, whole)
        return tuple(found.task)
    tasks = []
    for line, values in json_lines.read(path, "tasks"):
        try:
            tasks.append(msgspec.convert(values, kind))
        except msgspec.ValidationError as error:
            raise UsageError(f"{path}, line {line}: {_plain(error)}") from None
    return tuple(tasks)


def load_whole(path: Path, kind: type[T]) -> T:
    """Return what a `tasks.toml` holds, tasks and all else.

    Raises:
        UsageError: It cannot be read, or something in it is wrong; with the line of its task.
    """
    try:
        text = read_text(path)
        return msgspec.convert(tomllib.loads(text), kind)
    except (OSError, tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
        why = getattr(error, "strerror", None) or error
        raise UsageError(f"cannot read tasks {path}: {why}") from None
    except msgspec.ValidationError as error:
        place = _TASK.search(str(error))
        headers = list(re.finditer(r"^\s*\[\[\s*task\s*\]\]", text, re.MULTILINE))
        line = ""
        if place is not None and int(place[1]) < len(headers):
            line = f", line {text.count(chr(10), 0, headers[int(place[1])].end()) + 1}"
        raise UsageError(f"{path}{line}: {_plain(error)}") from None


def _plain(error: msgspec.ValidationError) -> str:
    return _TASK.sub("task", str(error)).replace("`", "'").replace("$.", "")
