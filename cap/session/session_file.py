"""A session written down, and read back: one JSON file, nothing in it ever executed.

    {"format": "cap session", "version": 6, "robot": {...}, "seed": 0, "turns": 2,
     "variables": {"shown": {...}, "wire": "..."}, "definitions": [...], "history": [...],
     "dropped": {...}, "hints": [...], "world": "..." or null, ...}

`wire` and `world` are Base64 of the sandbox's wire format, plain data only: what a program may hand
back may stand there, and no more. `shown` is for people. A run folder holds two such files: the
session as it started (`start.json`), and as its last turn left it (`session.json`).
"""

from __future__ import annotations

import ast
import contextlib
import json
from collections.abc import Mapping
from pathlib import Path
from typing import Annotated, Any, Literal

import msgspec

from cap.checker.checker import examine
from cap.engine.answer import State
from cap.engine.settings import Repairs
from cap.errors import CapError, SavedError
from cap.files import read_json, write_whole
from cap.program.program import Program
from cap.program.scope import Definition, Scope
from cap.prompt.context import brief
from cap.prompt.prompt import PastTurn
from cap.robot import observation, registry
from cap.robot.protocol import Rewindable, Robot
from cap.sandbox.frames import WireError
from cap.sandbox.wire import MAX_DEPTH, decode, encode

FORMAT, VERSION = "cap session", 6
WORLDS = ("physics", "instant")
"""Modes that a simulated robot can be asked for."""
BEFORE_ENGINES = "pybullet"
"""What carried the physics of sessions that do not say it."""
DRY_RUN = "dry run"
"""The mode of a real robot that sends nothing: it is asked for as `instant`."""
_SHARED_0_1 = b"\xc1"
"""Begins variables as version 0.1 saved them: a table of values and their parts."""
LATEST, START = "session.json", "start.json"
_Count = Annotated[int, msgspec.Meta(ge=0)]
_OneLine = Annotated[str, msgspec.Meta(pattern=r"^[^\x00-\x1f\x7f]*$")]


class SavedRobot(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """What the robot was made with."""

    name: str
    """Its registered name."""
    mode: str | None
    """Its kind of world, where it has several."""
    objects: tuple[str, ...] | None
    """What it was built with, where it is built with objects."""
    engine: str | msgspec.UnsetType | None = msgspec.UNSET
    """What carries its physics, where that can be chosen; not in the oldest files."""
    file: _OneLine | None = None
    """The file it was made from, as an absolute path; None of a registered robot."""


class SavedVariables(msgspec.Struct, frozen=True):
    """Variables, for people and for programs."""

    shown: dict[str, str]
    wire: bytes

    @classmethod
    def of(cls, variables: Mapping[str, Any]) -> SavedVariables:
        """Write variables down."""
        shown = {name: brief(value) for name, value in variables.items()}
        return cls(shown, encode(dict(variables)))


class SavedSampling(msgspec.Struct, frozen=True):
    """How many programs are tried for an instruction, and by what one is chosen."""

    samples: _Count
    agreement: bool
    goal: bool


class SavedSession(
    msgspec.Struct,
    frozen=True,
    kw_only=True,
    forbid_unknown_fields=True,
    rename={"body": "robot", "model_repairs": "mends"},
):
    """Everything that decides how a session goes on; what stands in a file, in its order."""

    format: Literal["cap session"] = "cap session"
    version: int = VERSION
    body: SavedRobot
    """The robot."""
    seed: _Count
    """Of the scene, and of random numbers in programs."""
    programs: _Count
    """Programs run so far."""
    turns: _Count
    """Turns finished so far, without those undone."""
    variables: SavedVariables
    """As `State` has them, like the next four."""
    definitions: tuple[Definition, ...]
    history: tuple[PastTurn, ...]
    dropped: dict[str, str]
    hints: tuple[str, ...]
    origins: dict[str, str]
    """The instruction each definition was written for, by name."""
    history_tokens: _Count
    """Budget of the history."""
    repairs: Repairs
    """How often a program may be repaired: before it runs, and after it failed."""
    model_repairs: bool
    """Whether its model can be asked to repair what it wrote."""
    rounds: Annotated[int, msgspec.Meta(ge=1)]
    """How often the model may go on with an instruction."""
    sampling: SavedSampling
    """How many programs are tried for an instruction."""
    world: bytes | None
    """The robot's snapshot in wire format; None where there is none."""
    world_lost: str
    """Why a world that could be kept is not in the file."""

    @property
    def robot(self) -> str:
        """The robot's registered name."""
        return self.body.name

    @property
    def mode(self) -> str | None:
        """The robot's kind of world, where it has several."""
        return self.body.mode

    @property
    def objects(self) -> tuple[str, ...] | None:
        """What the robot was built with, where it is built with objects."""
        return self.body.objects

    @property
    def engine(self) -> str | None:
        """What carries the robot's physics, where that can be chosen."""
        if isinstance(self.body.engine, msgspec.UnsetType):
            return BEFORE_ENGINES if self.mode == "physics" else None
        return self.body.engine or None

    @property
    def state(self) -> State:
        """Variables, definitions, history, dropped names and hints."""
        known = self.definitions, self.history, self.dropped, self.hints
        return State(_variables(self.variables.wire), *known)

    def registered_robot(self) -> str:
        """Return its robot's registered name; what else a file names is never loaded.

        Raises:
            SavedError: Its robot came from a file, or is not registered.
        """
        file = self.body.file
        if file is None and self.robot in registry.robots():
            return self.robot
        whose = repr(self.robot) if file is None else f"the file {file}"
        raise SavedError(
            f"the saved session's robot is {whose}, and a saved session executes no file; "
            f"name the robot's file again: add -r {file or 'FILE'}"
        )

    def engine_option(self, robot: str) -> dict[str, str]:
        """Return the option with which a robot's physics is what it was: none where it has none."""
        engine = self.engine
        return {"engine": engine} if engine and registry.takes(robot, "engine") else {}


def packed_world(robot: Robot, world: Any) -> tuple[bytes | None, str]:
    """Return a robot's snapshot in wire format, or None and why it cannot be written."""
    if world is None or not isinstance(robot, Rewindable):
        return None, ""
    try:
        return encode(observation.pack(world, observation.kind_of(robot))), ""
    except (observation.NotPlain, WireError) as error:
        return None, f"the world of '{robot.name}' cannot be written down: {error}"


def put_world(robot: Robot, saved: SavedSession) -> bool:
    """Put a saved world back into a robot; False if there is none.

    Raises:
        SavedError: It is not a world of this robot.
    """
    if saved.world is None or not isinstance(robot, Rewindable):
        return False
    try:
        robot.restore(observation.unpack(decode(saved.world), observation.kind_of(robot)))
    except (observation.NotPlain, WireError) as error:
        raise SavedError(f"the saved world is none of robot '{robot.name}': {error}") from None
    return True


def render(saved: SavedSession) -> str:
    """Return a session as the text of its file."""
    return json.dumps(msgspec.to_builtins(saved), ensure_ascii=False, indent=1) + "\n"


def write(saved: SavedSession, path: Path) -> None:
    """Write a session; a reader finds the old file or the new one, never half of one.

    Raises:
        SavedError: It cannot be written there, or something else is there.
    """
    try:
        if path.exists():
            there = None
            with contextlib.suppress(ValueError):
                there = read_json(path)
            if not isinstance(there, dict) or there.get("format") != FORMAT:
                raise SavedError(f"{path} is there, and is no saved session; name another")
        write_whole(path, render(saved))
    except OSError as error:
        reason = error.strerror or str(error)
        raise SavedError(f"cannot save the session as {path}: {reason}; name another") from None


def read(path: Path, name: str = LATEST) -> SavedSession:
    """Read a saved session: a file, or the one of that name in a run folder.

    Raises:
        SavedError: There is none, or it is damaged or not a saved session.
    """
    path = path / name if path.is_dir() else path
    try:
        values = read_json(path)
    except FileNotFoundError:
        if path.with_name(START).exists():
            raise SavedError(
                f"no turn was finished in {path.parent}, so there is nothing to resume; "
                "start a new session"
            ) from None
        raise SavedError(f"no saved session at {path}; name a run folder or its file") from None
    except ValueError as error:
        raise SavedError(f"{path} is not a saved session: {error}") from None
    except OSError as error:
        raise SavedError(f"cannot read the saved session {path}: {error}") from None
    if not isinstance(values, dict) or values.get("format") != FORMAT:
        raise SavedError(f"{path} is not a saved session")
    if values.get("version") != VERSION:
        raise SavedError(
            f"{path} was saved in format {values.get('version')}; this version reads {VERSION}: go "
            "on with the version of cap that saved it, or begin a new session"
        )
    try:
        return checked(msgspec.convert(values, SavedSession))
    except (msgspec.ValidationError, ValueError, TypeError, KeyError, WireError, CapError) as error:
        reason = f"no {error}" if isinstance(error, KeyError) else error
        raise SavedError(f"{path} is damaged: {reason}; resume an earlier run") from None


def checked(saved: SavedSession) -> SavedSession:
    """Return a session as it was read, once its values are checked: anybody may have written it.

    Raises:
        CapError: A kept function is no function, or not allowed.
        ValueError: Its variables are none, or its seed is too large.
        WireError: Its variables cannot be read.
    """
    if saved.seed >> 64:
        raise ValueError(f"its seed is {brief(saved.seed):.40}; it must be below 2**64")
    variables: Any = saved.state.variables
    if not isinstance(variables, dict) or not all(
        isinstance(name, str) and name.isidentifier() for name in variables
    ):
        raise ValueError("'variables' holds what is no name")
    for entry in saved.definitions:
        program = Program.parse(entry.source)
        body = [n for n in program.tree.body if not isinstance(n, ast.Import | ast.ImportFrom)]
        if [getattr(node, "name", None) for node in body] != [entry.name]:
            raise ValueError(f"'{entry.name}' is not the definition of that name")
    # They are looked at together and with the variables, as the programs that left them were.
    whole = Program.parse("\n\n".join(entry.source for entry in saved.definitions))
    for violation in examine(whole, Scope(variables=variables)).violations:
        raise ValueError(f"among the kept functions: {violation}")
    return saved


def _variables(data: bytes) -> Any:
    """Return the variables of a saved session, of version 0.1 as well."""
    if data[:1] != _SHARED_0_1:
        return decode(data)
    nodes = decode(data[1:])
    kinds = {kind.__name__: kind for kind in (list, tuple, set, frozenset)}

    def value(place: int, depth: int) -> Any:
        node = nodes[place]
        if type(node) is not list:
            return node
        if depth > MAX_DEPTH:
            raise ValueError("its variables are nested too deeply")
        kind, *parts = node
        found = [value(part, depth + 1) for part in parts]
        if kind == "dict":
            return dict(zip(found[::2], found[1::2], strict=True))
        return kinds[kind](found)

    return value(0, 0)
