"""Tasks as data: a suite's `tasks.toml`, with a table `[[task]]` for each, or its `tasks.jsonl`."""

from __future__ import annotations

import re
import tomllib
from collections.abc import Mapping
from pathlib import Path
from typing import Any, TypeVar

import msgspec

from benchmarks import json_lines
from cap.errors import UsageError, did_you_mean
from cap.files import read_text

T = TypeVar("T", bound=msgspec.Struct)
Table = TypeVar("Table")
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
    return tuple(
        converted(values, kind, f"{path}, line {line}")
        for line, values in json_lines.read(path, "tasks")
    )


def converted(
    values: Mapping[str, Any], kind: type[T], where: str, error: type[UsageError] = UsageError
) -> T:
    """Return a table as what it is to be.

    Args:
        values: The table.
        kind: A `msgspec.Struct`.
        where: Its place, for messages.
        error: What is raised.

    Raises:
        UsageError: A key or a value in it cannot be; with its place.
    """
    known = [field.name for field in msgspec.structs.fields(kind)]
    for name in values:
        if name not in known:
            hint = did_you_mean(name, known) or f" Known: {', '.join(known)}."
            raise error(f"{where}: unknown key {name!r}.{hint}")
    try:
        return msgspec.convert(values, kind)
    except msgspec.ValidationError as wrong:
        raise error(f"{where}: {_plain(wrong)}") from None


def load_whole(path: Path, kind: type[Table]) -> Table:
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
