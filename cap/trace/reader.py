"""Reading a run folder: its header and its events, also of a run that was killed."""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import Any

from cap.errors import UsageError


def read_header(folder: Path) -> dict[str, Any]:
    """Read a run folder's `run.json`.

    Raises:
        UsageError: Not a run folder, or the file is damaged.
    """
    path = folder / "run.json"
    try:
        header = json.loads(path.read_text(encoding="utf-8"))
    except FileNotFoundError:
        raise UsageError(f"{folder} is no run folder: it has no run.json") from None
    except (OSError, ValueError) as error:
        raise UsageError(f"cannot read {path}: {error}") from None
    if not isinstance(header, dict):
        raise UsageError(f"cannot read {path}: not a JSON object")
    if header.get("status") == "running" and not alive(header.get("pid")):
        header["status"] = "killed"
    return header


def alive(pid: Any) -> bool:
    """Tell whether a process of that id runs on this machine."""
    if not isinstance(pid, int):
        return False
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    except OSError:  # it exists and is somebody else's
        return True
    return True


def read_events(folder: Path) -> list[dict[str, Any]]:
    """Read a run's events; a half-written last line (a killed run) is left out."""
    path = folder / "events.jsonl"
    if not path.exists():
        raise UsageError(f"{folder} is no run folder: it has no events.jsonl")
    events: list[dict[str, Any]] = []
    try:
        lines = path.read_bytes().split(b"\n")
    except OSError as error:
        raise UsageError(f"cannot read {path}: {error.strerror or error}") from None
    for line in lines:  # the words in a line may hold any other break
        try:
            events.append(json.loads(line))
        except ValueError:
            continue
    return events
