"""Batch files: sessions to be run, in TOML or JSONL, read and checked as a whole.

The format is in docs/batches.md. Nothing is run from a file in which anything is wrong; a message
names the file, the entry, its line where that is known, and the remedy.
"""

from __future__ import annotations

import hashlib
import json
import re
import tomllib
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from types import MappingProxyType
from typing import Any

from benchmarks.batch.effects import wrong_check, wrong_effects
from benchmarks.batch.session_setup import SessionChecker
from cap.config import CHOICES
from cap.errors import CapError, UsageError, did_you_mean
from cap.files import parsed_json, read_bytes
from cap.robot import registry, robot_files

_KINDS = (".toml", ".jsonl")
_HEADER = re.compile(r"^\s*\[\[\s*sessions\s*\]\]")


@dataclass(frozen=True)
class Batch:
    """A batch file that was read."""

    version: str
    """Changes with every byte of the file."""
    sessions: Mapping[str, Mapping[str, Any]]
    """By name, as plain data: every key of `SESSION`, None where nothing was said."""
    models: Mapping[str, str]
    """Where the file names a model, for messages: entry by model."""


@dataclass(frozen=True)
class _Entry:
    """One session as it stands in the file."""

    where: str
    """File, entry and line, for messages."""
    values: Mapping[str, Any]
    """Its keys."""


def read(
    path: Path, usual: Mapping[str, Any], said: Mapping[str, Any] = MappingProxyType({})
) -> Batch:
    """Read a batch file.

    Args:
        path: The file. A robot's file that it names is executed.
        usual: `robot`, `mode` and `model` of sessions for which nothing else says them.
        said: Keys of a session that the command line gives: they come before `[defaults]`, and
            after what a session says itself.

    Raises:
        CapError: Anything in it cannot be used.
    """
    if path.suffix.lower() not in _KINDS:
        raise UsageError(f"{path}: a batch is a .toml or .jsonl file; see cap batch --example")
    try:
        data = read_bytes(path)
        text = data.decode("utf-8")
    except (OSError, UnicodeDecodeError) as error:
        reason = getattr(error, "strerror", None) or str(error)
        raise UsageError(f"cannot read {path}: {reason}") from None
    jsonl = path.suffix.lower() == ".jsonl"
    defaults, entries = ({}, _jsonl(path, text)) if jsonl else _toml(path, text)
    if not entries:
        raise UsageError(f"{path} has no session; see cap batch --example")
    sessions: dict[str, Mapping[str, Any]] = {}
    models: dict[str, str] = {}
    scenes = SessionChecker()
    for number, entry in enumerate(entries, 1):
        whole = replace(entry, values={**usual, **defaults, **said, **entry.values})
        session = _session(whole, number, path.parent)
        if session["model"] not in (said.get("model"), usual["model"]):
            models.setdefault(session["model"], entry.where)
        if session["name"] in sessions:
            raise UsageError(f"{entry.where}: the name {session['name']!r} is taken; use another")
        try:
            scenes.check(session)
        except CapError as error:
            raise type(error)(f"{entry.where}: {error}") from None
        sessions[session["name"]] = session
    return Batch(hashlib.sha256(data).hexdigest()[:12], sessions, models)


def _jsonl(path: Path, text: str) -> list[_Entry]:
    entries = []
    for number, line in enumerate(text.split("\n"), 1):
        if not line.strip():
            continue
        where = f"{path}, line {number}"
        try:
            values = parsed_json(line)
        except (ValueError, RecursionError) as error:
            raise UsageError(f"{where}: not JSON: {error}; one session a line") from None
        if not isinstance(values, dict):
            raise UsageError(f"{where}: a session is an object {{...}}, not {line[:40]!r}")
        entries.append(_Entry(where, values))
    return entries


def _toml(path: Path, text: str) -> tuple[Mapping[str, Any], list[_Entry]]:
    """Return the defaults and the sessions."""
    try:
        values = tomllib.loads(text)
    except (tomllib.TOMLDecodeError, RecursionError) as error:
        raise UsageError(f"{path}: not TOML: {error}; see cap batch --example") from None
    _refuse_unknown(str(path), values, ("defaults", "sessions"))
    defaults, sessions = values.get("defaults", {}), values.get("sessions", [])
    if not isinstance(defaults, dict):
        raise UsageError(f"{path}: defaults must be a table [defaults]")
    _refuse_unknown(f"{path}, [defaults]", defaults, DEFAULTS)
    if not isinstance(sessions, list) or not all(isinstance(entry, dict) for entry in sessions):
        raise UsageError(f"{path}: sessions must be tables [[sessions]]")
    lines = [number for number, line in enumerate(text.split("\n"), 1) if _HEADER.match(line)]
    known = lines if len(lines) == len(sessions) else []
    return defaults, [
        _Entry(
            f"{path}, session {number}" + (f" (line {known[number - 1]})" if known else ""), entry
        )
        for number, entry in enumerate(sessions, 1)
    ]


def _session(entry: _Entry, number: int, folder: Path) -> dict[str, Any]:
    """Return a session as plain data, with every key.

    Raises:
        UsageError: It cannot be used.
    """
    where, values = entry.where, entry.values
    _check_keys(where, values, SESSION)
    if "fails" in values.get("expect", {}):
        raise UsageError(
            f"{where}: expect cannot say 'fails' for a whole session; say it of an instruction"
        )
    if "instructions" not in values:
        raise UsageError(f"{where}: it has no instructions; give at least one")
    steps = [
        _step(f"{where}, instruction {place}", given)
        for place, given in enumerate(values["instructions"], 1)
    ]
    prompts = values.get("prompts")
    return {name: values.get(name) for name in SESSION} | {
        "name": values.get("name", f"session-{number}"),
        "robot": _robot(where, values["robot"], folder),
        "seed": values.get("seed", 0),
        "prompts": None if prompts is None else _prompts(where, prompts, folder),
        "instructions": steps,
    }


def _step(where: str, given: Any) -> dict[str, Any]:
    """Return an instruction with what is expected of it."""
    values = {"text": given} if isinstance(given, str) else given
    if not isinstance(values, dict):
        raise UsageError(f"{where}: an instruction is words, or a table with text and expect")
    _check_keys(where, values, STEP)
    if "text" not in values:
        raise UsageError(f"{where}: it has no text; say what the robot should do")
    return {name: values.get(name) for name in STEP}


def _robot(where: str, given: str, folder: Path) -> str:
    """Return a registered robot's name, or the path of a robot's file beside the batch file."""
    if robot_files.is_file(given):
        path = (folder / Path(given).expanduser()).resolve()
        if not path.is_file():
            raise UsageError(f"{where}: no robot file {path}")
        return str(path)
    if given not in (known := registry.robots()):
        hint = did_you_mean(given, known)
        raise UsageError(f"{where}: unknown robot {given!r}.{hint} Known: {', '.join(known)}")
    return given


def _prompts(where: str, given: str, folder: Path) -> str:
    """Return a shipped prompt set's name, or the path of a folder beside the file."""
    if (registry.prompts_path() / given).is_dir():
        return given
    path = (folder / given).resolve()
    if not path.is_dir():
        raise UsageError(f"{where}: no prompts {given!r}, shipped or at {path}")
    return str(path)


def _check_keys(
    where: str, values: Mapping[str, Any], known: Mapping[str, Callable[[Any], str | None]]
) -> None:
    """Refuse keys that are not known, and values that cannot be."""
    _refuse_unknown(where, values, known)
    for name, value in values.items():
        if (wrong := known[name](value)) is not None:
            raise UsageError(f"{where}: {name} {wrong}")


def _refuse_unknown(where: str, values: Mapping[str, Any], known: Any) -> None:
    for name in values:
        if name not in known:
            hint = did_you_mean(name, known) or f" Known: {', '.join(known)}."
            raise UsageError(f"{where}: unknown key {name!r}.{hint}")


def _short(value: Any) -> str:
    text = repr(value)
    return text if len(text) <= 60 else f"{text[:57]}..."


def _words(value: Any) -> str | None:
    good = isinstance(value, str) and value.strip()
    return None if good else f"must be words, not {_short(value)}"


def _seed(value: Any) -> str | None:
    good = type(value) is int and 0 <= value < 1 << 63
    return (
        None if good else f"must be a whole number from 0 to {(1 << 63) - 1}, not {_short(value)}"
    )


def _table(value: Any) -> str | None:
    try:
        json.dumps(value, allow_nan=False)
    except (TypeError, ValueError):
        return f"must hold words, finite numbers, lists and tables, not {_short(value)}"
    return None if isinstance(value, dict) else f"must be a table, not {_short(value)}"


def _objects(value: Any) -> str | None:
    good = isinstance(value, list) and all(isinstance(name, str) and name.strip() for name in value)
    return None if good and value else f"must be a list of names, not {_short(value)}"


def _instructions(value: Any) -> str | None:
    good = isinstance(value, list) and value
    return None if good else f"must be a list with at least one, not {_short(value)}"


def _mode(value: Any) -> str | None:
    known = CHOICES["mode"]
    return None if value in known else f"must be {' or '.join(known)}, not {_short(value)}"


def _check(value: Any) -> str | None:
    if not isinstance(value, str) or not value.strip():
        return f"must be a program, not {_short(value)}"
    wrong = wrong_check(value)
    return None if wrong is None else f"cannot be run: {wrong}"


_Wrong = Callable[[Any], str | None]
STEP: Mapping[str, _Wrong] = {"text": _words, "expect": wrong_effects, "check": _check}
"""What an instruction may say, with what says how a value is wrong."""
_COMMON: Mapping[str, _Wrong] = {
    "robot": _words,
    "robot_options": _table,
    "mode": _mode,
    "seed": _seed,
    "objects": _objects,
    "model": _words,
    "prompts": _words,
}
SESSION: Mapping[str, _Wrong] = {
    "name": _words,
    **_COMMON,
    "instructions": _instructions,
    "expect": wrong_effects,
    "check": _check,
}
"""What a session may say."""
DEFAULTS = tuple(_COMMON)
"""What `[defaults]` may say for all of them."""
