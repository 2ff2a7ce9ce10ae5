"""Batch files: sessions to be run, in TOML or JSONL, read and checked as a whole.

The format is in docs/batches.md. Nothing is run from a file in which anything is wrong; a message
names the file, the entry, its line where that is known, and the remedy.

What a session needs before it can begin, its robot, its scene and its prompts, is found out early.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from dataclasses import dataclass, replace
from functools import cache
from pathlib import Path
from types import MappingProxyType
from typing import Annotated, Any, Literal

import msgspec

from benchmarks import json_lines
from benchmarks.batch.effects import names_in, wrong_check, wrong_effects
from benchmarks.task_file import converted
from cap.config import CHOICES
from cap.errors import CapError, PromptError, UsageError, did_you_mean
from cap.files import read_bytes, read_toml
from cap.prompt.prompt import Prompt
from cap.robot import registry
from cap.robot.observation import Observation
from cap.robot.protocol import Containing, Robot
from cap.session.session import TOP
from robots.table.geometry import PLACES

AT: Mapping[str, Mapping[str, tuple[float, float]]] = {"ravens": PLACES, "tabletop": PLACES}
"""Places that effects may name, by robot: xy in metres."""


def robot_of(session: Mapping[str, Any]) -> Robot:
    """Make a session's robot.

    Raises:
        UsageError: It cannot be had, or it is real.
        RobotError: It could not be made.
    """
    robot = registry.make_robot(
        session["robot"],
        seed=session["seed"],
        mode=session["mode"],
        objects=session["objects"],
        **registry.own_options(session["robot_options"] or {}),
    )
    if not robot.simulated:
        robot.close()
        raise UsageError(
            f"robot '{session['robot']}' is real, and a batch needs a simulated robot; if it has a "
            'dry run, say mode = "instant"'
        )
    return robot


def prompts_of(session: Mapping[str, Any]) -> Mapping[str, Prompt]:
    """Load a session's prompts: a shipped set, a folder, or the robot's own.

    Raises:
        PromptError: They cannot be used, or nothing in them answers a person.
    """
    given, robot = session["prompts"], session["robot"]
    if not given:
        found = registry.robot_prompts(robot)
    else:
        shipped = registry.prompts_path() / given
        found = registry.load_prompts(shipped if shipped.is_dir() else Path(given))
    if TOP not in found:
        raise PromptError(f"prompts {given or robot!r} have no {TOP}.py; it answers a person")
    return found


_SCENE = ("robot", "robot_options", "mode", "objects")
"""What a session says of its scene, the seed apart."""


def _check_scene(session: Mapping[str, Any], seeds: dict[str, int]) -> None:
    """Refuse a session that could not begin, or that expects something of what is not there.

    Args:
        session: Which.
        seeds: The seed with which each scene is looked at; grows.

    Raises:
        CapError: With the reason.
    """
    _prompts_found(session["robot"], session["prompts"])
    scene = json.dumps({part: session[part] for part in _SCENE})
    known = _names(scene, seeds.setdefault(scene, session["seed"]))
    for expect in [session["expect"], *(step["expect"] for step in session["instructions"])]:
        for effect, name in names_in(expect or {}):
            # Objects may differ from seed to seed.
            if name not in known and name not in (known := _names(scene, session["seed"])):
                hint = did_you_mean(name, known) or f" There are: {', '.join(sorted(known))}."
                raise UsageError(f"'{effect}' is expected of {name!r}, which is not there.{hint}")


@cache
def _prompts_found(robot: str, prompts: str | None) -> None:
    prompts_of({"robot": robot, "prompts": prompts})


@cache
def _names(scene: str, seed: int) -> frozenset[str]:
    """Return the names in a scene; it is looked at once, whatever the number of sessions in it."""
    robot = robot_of({**json.loads(scene), "seed": seed})
    try:
        vessels = robot.contents() if isinstance(robot, Containing) else ()
        return frozenset([*Observation.of(robot).positions, *AT.get(robot.name, {}), *vessels])
    finally:
        robot.close()


_KINDS = (".toml", ".jsonl")


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
    defaults: Mapping[str, Any] = {}
    if path.suffix.lower() == ".jsonl":
        entries = [
            _Entry(f"{path}, line {number}", values)
            for number, values in json_lines.read(path, "batch")
        ]
    else:
        file = read_toml(path, "batch")
        file.refuse_unknown(("defaults", "sessions"))
        defaults = file.values.get("defaults", {})
        converted(defaults, Defaults, f"{path}, [defaults]")
        entries = [
            _Entry(f"{path}, session {number} (line {table.first})", table.values)
            for number, table in enumerate(file.tables("sessions"), 1)
        ]
    if not entries:
        raise UsageError(f"{path} has no session; see cap batch --example")
    sessions: dict[str, Mapping[str, Any]] = {}
    models: dict[str, str] = {}
    seeds: dict[str, int] = {}
    for number, entry in enumerate(entries, 1):
        whole = replace(entry, values={**usual, **defaults, **said, **entry.values})
        session = _session(whole, number, path.parent)
        if session["model"] not in (said.get("model"), usual["model"]):
            models.setdefault(session["model"], entry.where)
        if session["name"] in sessions:
            raise UsageError(f"{entry.where}: the name {session['name']!r} is taken; use another")
        try:
            _check_scene(session, seeds)
        except CapError as error:
            raise type(error)(f"{entry.where}: {error}") from None
        sessions[session["name"]] = session
    return Batch(hashlib.sha256(read_bytes(path)).hexdigest()[:12], sessions, models)


def _session(entry: _Entry, number: int, folder: Path) -> dict[str, Any]:
    """Return a session as plain data, with every key.

    Raises:
        UsageError: It cannot be used.
    """
    where = entry.where
    table = converted(entry.values, SessionTable, where)
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
    if registry.is_file(given):
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
