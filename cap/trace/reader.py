"""Reading a run folder: its header and its events, also of a run that was killed."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Annotated, Any

import msgspec

from cap.errors import UsageError
from cap.files import parsed_json, read_bytes, read_json
from cap.trace.trace import FORMAT_VERSION

UNREADABLE = "unreadable line"
"""The kind of event for a line that is no JSON object."""
_NO_JSON = object()
_Count = Annotated[int, msgspec.Meta(ge=0, lt=10**9)]


class _Event(msgspec.Struct):
    """What every line of `events.jsonl` holds."""

    kind: str
    turn: _Count
    depth: _Count
    data: dict[str, Any]


def read_header(folder: Path) -> dict[str, Any]:
    """Read a run folder's `run.json`.

    Raises:
        UsageError: Not a run folder, one of another format, or the file is damaged.
    """
    path = folder / "run.json"
    try:
        header = read_json(path)
    except FileNotFoundError:
        raise UsageError(f"{folder} is no run folder: it has no run.json") from None
    except (OSError, ValueError) as error:
        raise UsageError(f"cannot read {path}: {error}") from None
    if not isinstance(header, dict):
        raise UsageError(f"cannot read {path}: not a JSON object")
    if (found := header.get("format_version")) != FORMAT_VERSION:
        raise UsageError(f"{path} has format {found!r}, this version reads {FORMAT_VERSION}")
    if header.get("status") == "running" and not _alive(header.get("pid")):
        header["status"] = "killed"
    return header


def _alive(pid: Any) -> bool:
    """Return whether a process of that id runs on this machine."""
    try:
        os.kill(pid, 0)
    except (TypeError, ProcessLookupError, OverflowError):
        return False
    except OSError:  # it exists and belongs to another user
        return True
    return True


def read_events(folder: Path) -> list[dict[str, Any]]:
    """Read a run's events; a half-written last line (a killed run) is left out.

    Any other line that cannot be read becomes an event of kind `UNREADABLE`.

    Raises:
        UsageError: Not a run folder, or a line of it is no event.
    """
    path = folder / "events.jsonl"
    if not path.exists():
        raise UsageError(f"{folder} is no run folder: it has no events.jsonl")
    try:
        lines = read_bytes(path).split(b"\n")  # the words in a line may hold any other break
    except OSError as error:
        raise UsageError(f"cannot read {path}: {error.strerror or error}") from None
    found = [(number, _parsed(line)) for number, line in enumerate(lines, 1) if line.strip()]
    if found and found[-1][1] is _NO_JSON:  # half-written
        found.pop()
    events: list[dict[str, Any]] = []
    for number, event in found:
        if not isinstance(event, dict):
            turn = events[-1]["turn"] if events else 0
            event = {"turn": turn, "depth": 0, "kind": UNREADABLE, "data": {"line": number}}
        try:
            msgspec.convert(event, _Event)
        except msgspec.ValidationError:
            raise UsageError(f"{path}, line {number}: no event of a run; remove the line") from None
        events.append(event)
    return events


def _parsed(line: bytes) -> Any:
    try:
        return parsed_json(line)
    except ValueError:
        return _NO_JSON
