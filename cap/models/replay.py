"""Recordings: completions given again, keyed by the request.

A recording is a JSONL file, one completion a line:

    {"key": "...", "prompt_end": "...", "text": "...", "model": "...", "usage": {...}}

`key` is the SHA-256 of the request; `prompt_end` is for people; `usage` holds `prompt_tokens` and
`completion_tokens`. A line with `error`, an error's name, says that the model gave no completion
then, and why in `text`; run folders are replayed with such lines. Order does not matter. Where a
key stands twice the later line holds, so recording again into the same file corrects it; sample
one prompt several times with a seed each.
"""

from __future__ import annotations

import hashlib
import json
import re
import threading
from pathlib import Path
from typing import Any, cast, get_args

from cap.errors import ModelError, NotRecorded, UsageError
from cap.models.base import Completion, Ended, Model, Request
from cap.models.wrapper import Ask, Wrapped

SHOWN_LINES = 6
"""How many of a prompt's last lines a recording shows."""


def request_key(request: Request) -> str:
    """Return the SHA-256, in hex, of a request's canonical JSON: everything but the model."""
    parts: dict[str, Any] = {
        "prompt": request.prompt,
        "stop": list(request.stop),
        "max_tokens": request.max_tokens,
        "temperature": float(request.temperature),
        "seed": request.seed,
    }
    if request.system is not None:
        parts["system"] = request.system
    text = json.dumps(parts, sort_keys=True, separators=(",", ":"), ensure_ascii=True)
    return hashlib.sha256(text.encode()).hexdigest()


class Replay:
    """A model that answers from a recording, and nothing else."""

    def __init__(self, path: Path) -> None:
        """Read the recording.

        Raises:
            UsageError: It cannot be read, or a line is not a recorded completion; with the line.
        """
        self.name = f"replay/{path}"
        self._path = path
        self._completions: dict[str, Completion | ModelError] = {}
        self._instructions: set[str] = set()
        for number, line in enumerate(_lines(path), start=1):
            if line.strip():
                key, prompt_end, completion = _entry(line, f"{path}, line {number}")
                self._completions[key] = completion
                self._instructions.add(_last_line(prompt_end))

    def complete(self, request: Request) -> Completion:
        """Return the recorded completion.

        Raises:
            NotRecorded: This very request was never recorded.
            ModelError: It was, and the model gave no completion then either.
        """
        found = self._completions.get(request_key(request))
        if found is None:
            raise NotRecorded(self._missing(request))
        if isinstance(found, ModelError):
            raise type(found)(str(found))
        return found

    def _missing(self, request: Request) -> str:
        line = _last_line(request.prompt)
        shown = line if len(line) <= 120 else line[:117] + "..."
        why = ""
        if line in self._instructions:
            why = (
                " (it is recorded, but after other text or with other options: the prompt changed)"
            )
        remedy = f"record it with a model that can answer: -m PROVIDER/NAME --record {self._path}"
        return f"{self._path} holds no completion for {shown!r}{why}; {remedy}"


class Recorder(Wrapped):
    """Any model, with each of its completions appended to a recording."""

    def __init__(self, model: Model, path: Path) -> None:
        """Open the recording for appending; its folder is made if need be.

        Raises:
            UsageError: The file cannot be written.
        """
        super().__init__(model)
        self._path = path
        self._lock = threading.Lock()
        self._append("")

    def _through(self, request: Request, ask: Ask) -> Completion:
        completion = ask()
        entry: dict[str, Any] = {
            "key": request_key(request),
            "prompt_end": _end(request.prompt),
            "text": completion.text,
            "model": completion.model,
            "usage": {
                "prompt_tokens": completion.prompt_tokens,
                "completion_tokens": completion.completion_tokens,
            },
        }
        if completion.ended != "whole":
            entry["ended"] = completion.ended
        if completion.continues:
            entry["continues"] = True
        if completion.why_empty:
            entry["why_empty"] = completion.why_empty
        self._append(json.dumps(entry) + "\n")
        return completion

    def _append(self, line: str) -> None:
        """Append with a single write, so that no other writer's line can come between."""
        try:
            with self._lock:
                self._path.parent.mkdir(parents=True, exist_ok=True)
                with self._path.open("ab", buffering=0) as file:
                    file.write(line.encode())
        except OSError as error:
            raise UsageError(
                f"cannot write the recording {self._path}: {error.strerror or error}; "
                "choose another file for --record"
            ) from None


_KINDS: tuple[type[ModelError], ...] = (ModelError, *ModelError.__subclasses__())
_ERRORS = {kind.__name__: kind for kind in _KINDS}


def _lines(path: Path) -> list[str]:
    try:
        return path.read_text(encoding="utf-8").split("\n")
    except FileNotFoundError:
        raise UsageError(
            f"no recording {path}; make one with -m PROVIDER/NAME --record {path}"
        ) from None
    except (OSError, UnicodeDecodeError) as error:
        raise UsageError(f"cannot read the recording {path}: {error}") from None


def _entry(line: str, where: str) -> tuple[str, str, Completion | ModelError]:
    """Return one line's key, prompt end and completion, or why there was none."""
    try:
        values = json.loads(line)
    except ValueError as error:
        raise UsageError(f"{where}: not JSON ({error}); remove or record it again") from None
    if not isinstance(values, dict):
        raise UsageError(f"{where}: not a JSON object; remove or record it again")
    usage = values.get("usage") or {}
    key = _field(values, "key", where)
    if not re.fullmatch(r"[0-9a-f]{64}", key):
        raise UsageError(f"{where}: 'key' is not a SHA-256 in hex; remove or record it again")
    if "error" in values:
        kind = _ERRORS.get(_field(values, "error", where), ModelError)
        return key, _field(values, "prompt_end", where), kind(_field(values, "text", where))
    completion = Completion(
        text=_field(values, "text", where),
        model=_field(values, "model", where),
        prompt_tokens=_tokens(usage, "prompt_tokens", where),
        completion_tokens=_tokens(usage, "completion_tokens", where),
        ended=_ended(values, where),
        continues=values.get("continues") is True,
        why_empty=_field({"why_empty": "", **values}, "why_empty", where),
    )
    return key, _field(values, "prompt_end", where), completion


def _field(values: dict[str, Any], name: str, where: str) -> str:
    value = values.get(name)
    if not isinstance(value, str):
        raise UsageError(f"{where}: {name!r} must be text; remove or record it again")
    return value


def _ended(values: dict[str, Any], where: str) -> Ended:
    """Return how a recorded answer ended; one that says nothing was whole."""
    found = values.get("ended", "whole")
    for known in get_args(Ended):
        if found == known:
            return cast(Ended, known)
    raise UsageError(f"{where}: 'ended' must be one of {', '.join(get_args(Ended))}")


def _tokens(usage: Any, name: str, where: str) -> int:
    value = usage.get(name, 0) if isinstance(usage, dict) else None
    if not isinstance(value, int):
        raise UsageError(f"{where}: usage {name!r} must be a whole number")
    return value


def _end(prompt: str) -> str:
    return "\n".join(prompt.rstrip().splitlines()[-SHOWN_LINES:])


def _last_line(prompt: str) -> str:
    return next(iter(prompt.rstrip().splitlines()[-1:]), "")
