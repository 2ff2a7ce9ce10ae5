"""Batch files: sessions to be run, in TOML or JSONL, read and checked as a whole.

The format is in docs/batches.md. Nothing is run from a file in which anything is wrong; a message
names the file, the entry, its line where that is known, and the remedy.
"""

from __future__ import annotations

import hashlib
import re
import tomllib
from collections.abc import Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from types import MappingProxyType
from typing import Annotated, Any, Literal, TypeVar

import msgspec

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
    """By name, as plain data: every key of `SessionTable`, None where nothing was said."""
    models: Mapping[str, str]
    """Where the file names a model, for messages: entry by model."""


Words = Annotated[str, msgspec.Meta(min_length=1)]
Names = Annotated[list[Words], msgspec.Meta(min_length=1)]


class StepTable(msgspec.Struct, forbid_unknown_fields=True):
    """What an instruction may say."""

    text: Words
    expect: Any = None
    check: str | None = None


class Defaults(msgspec.Struct, kw_only=True, forbid_unknown_fields=True):
    """What `[defaults]` may say for all sessions."""

    robot: Words | None = None
    robot_options: dict[str, str | float | bool | list[Any] | dict[str, Any]] | None = None
    mode: Literal[*CHOICES["mode"]] | None = None  # type: ignore[valid-type]
    seed: Annotated[int, msgspec.Meta(ge=0, le=(1 << 63) - 1)] = 0
    objects: Names | None = None
    model: Words | None = None
    prompts: Words | None = None


class SessionTable(Defaults, kw_only=True, forbid_unknown_fields=True):
    """What a session may say."""

    name: Words = ""
    instructions: Annotated[list[Words | StepTable], msgspec.Meta(min_length=1)]
    expect: Any = None
    check: str | None = None


class BatchTable(msgspec.Struct, forbid_unknown_fields=True):
    """What a batch file in TOML holds."""

    defaults: dict[str, Any] = {}
    sessions: list[dict[str, Any]] = []


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
    table = _converted(values, BatchTable, str(path))
    _converted(table.defaults, Defaults, f"{path}, [defaults]")
    lines = [number for number, line in enumerate(text.split("\n"), 1) if _HEADER.match(line)]
    known = lines if len(lines) == len(table.sessions) else []
    return table.defaults, [
        _Entry(
            f"{path}, session {number}" + (f" (line {known[number - 1]})" if known else ""), entry
        )
        for number, entry in enumerate(table.sessions, 1)
    ]


_T = TypeVar("_T", bound=msgspec.Struct)


def _converted(values: Any, kind: type[_T], where: str) -> _T:
    """Return a table as what it is to be.

    Raises:
        UsageError: A key or a value in it cannot be; with its place.
    """
    known = kind.__struct_fields__
    for name in values:
        if name not in known:
            hint = did_you_mean(name, known) or f" Known: {', '.join(known)}."
            raise UsageError(f"{where}: unknown key {name!r}.{hint}")
    try:
        return msgspec.convert(values, kind)
    except msgspec.ValidationError as error:
        why, _, place = str(error).replace("`", "'").partition(" - at '$")
        at = place.rstrip("'").lstrip(".")
        raise UsageError(f"{where}: {at + ': ' if at else ''}{why}; see cap batch") from None


def _session(entry: _Entry, number: int, folder: Path) -> dict[str, Any]:
    """Return a session as plain data, with every key.

    Raises:
        UsageError: It cannot be used.
    """
    where = entry.where
    table = _converted(entry.values, SessionTable, where)
    _check(table, where)
    if "fails" in (table.expect or {}):
        raise UsageError(
            f"{where}: expect cannot say 'fails' for a whole session; say it of an instruction"
        )
    steps = [StepTable(one) if isinstance(one, str) else one for one in table.instructions]
    for place, step in enumerate(steps, 1):
        _check(step, f"{where}, instruction {place}")
    return {
        **msgspec.structs.asdict(table),
        "name": table.name or f"session-{number}",
        "robot": _robot(where, str(table.robot), folder),
        "prompts": None if table.prompts is None else _prompts(where, table.prompts, folder),
        "instructions": [msgspec.structs.asdict(step) for step in steps],
    }


def _check(table: SessionTable | StepTable, where: str) -> None:
    """Refuse effects and a check program that cannot be.

    Raises:
        UsageError: There are such.
    """
    if table.expect is not None and (wrong := wrong_effects(table.expect)):
        raise UsageError(f"{where}: expect {wrong}")
    if table.check is not None and (wrong := wrong_check(table.check)):
        raise UsageError(f"{where}: check cannot be run: {wrong}")


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
