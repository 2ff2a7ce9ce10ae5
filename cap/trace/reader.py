"""Reading a run folder: its header and its events, also of a run that was killed."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

from cap.errors import UsageError
from cap.files import parsed_json, read_bytes, read_json
from cap.trace.trace import FORMAT_VERSION

_EVENT = {"kind": str, "turn": int, "depth": int, "data": dict}
"""What every line of `events.jsonl` holds."""
_MOST = 10**9
"""No run has so many turns."""
UNREADABLE = "unreadable line"
"""The kind of event for a line that is no JSON object."""
_NO_JSON = object()


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
    if header.get("status") == "running" and not alive(header.get("pid")):
        header["status"] = "killed"
    return header


def alive(pid: Any) -> bool:
    """Return whether a process of that id runs on this machine."""
    if not isinstance(pid, int):
        return False
    try:
        os.kill(pid, 0)
    except (ProcessLookupError, OverflowError):
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
    events: list[dict[str, Any]] = []
    found = read_lines(folder)
    for number, event in found:
        if event is _NO_JSON and number == found[-1][0]:  # half-written
            continue
        if not isinstance(event, dict):
            turn = events[-1]["turn"] if events else 0
            data = {"line": number}
            events.append({"turn": turn, "depth": 0, "kind": UNREADABLE, "data": data})
            continue
        if not all(type(event.get(key)) is kind for key, kind in _EVENT.items()) or not all(
            0 <= event[key] < _MOST for key in ("turn", "depth")
        ):
            path = folder / "events.jsonl"
            raise UsageError(f"{path}, line {number}: no event of a run; remove the line")
        events.append(event)
    return events


def read_lines(folder: Path) -> list[tuple[int, Any]]:
    """Return each line of a run's events that is not empty, with its number, as JSON.

    What is no JSON object is no event; `_NO_JSON` is for what is no JSON.

    Raises:
        UsageError: Not a run folder.
    """
    path = folder / "events.jsonl"
    if not path.exists():
        raise UsageError(f"{folder} is no run folder: it has no events.jsonl")
    try:
        lines = read_bytes(path).split(b"\n")
    except OSError as error:
        raise UsageError(f"cannot read {path}: {error.strerror or error}") from None
    found: list[tuple[int, Any]] = []
    for number, line in enumerate(lines, 1):  # the words in a line may hold any other break
        if not line.strip():
            continue
        try:
            found.append((number, parsed_json(line)))
        except ValueError:
            found.append((number, _NO_JSON))
    return found
