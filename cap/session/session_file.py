"""A session written down, and read back: one JSON file, nothing in it ever executed.

    {"format": "cap session", "version": 2, "robot": {...}, "seed": 0, "turns": 2,
     "variables": {"shown": {...}, "wire": "..."}, "definitions": [...], "history": [...],
     "dropped": {...}, "hints": [...], "world": "..." or null, ...}

`wire` and `world` are Base64 of the sandbox's wire format, plain data only: what a program may hand
back may stand there, and no more. `shown` is for people. A run folder holds two such files: the
session as it started (`start.json`), and as its last turn left it (`session.json`).
"""

from __future__ import annotations

import ast
import base64
import binascii
import contextlib
import json
import reprlib
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, fields
from pathlib import Path
from typing import TYPE_CHECKING, Any

from cap.checker.checker import examine
from cap.engine.answer import State
from cap.engine.best_of import Sampling
from cap.engine.repair import Repairs
from cap.errors import CapError, SavedError
from cap.files import read_bytes, read_json, write_whole
from cap.program.program import Program
from cap.program.scope import Definition, Scope
from cap.prompt.prompt import PastTurn
from cap.robot import registry, robot_facts, snapshots
from cap.robot.protocol import Rewindable, Robot
from cap.sandbox.frames import WireError
from cap.sandbox.wire import MAX_DEPTH, decode, encode

if TYPE_CHECKING:
    from cap.session.session import Session

FORMAT, VERSION = "cap session", 6
WORLDS = ("physics", "instant")
"""Modes that a simulated robot can be asked for."""
BEFORE_ENGINES = "pybullet"
"""What carried the physics of sessions that do not say it."""
DRY_RUN = "dry run"
"""The mode of a real robot that sends nothing: it is asked for as `instant`."""
_SAMPLING = ("samples", "agreement", "goal")
"""What is kept of how programs are tried: not the caller's own check, nor budgets."""
_SHARED_0_1 = b"\xc1"
"""Begins variables as version 0.1 saved them: a table of values and their parts."""
LATEST, START = "session.json", "start.json"


@dataclass(frozen=True)
class SavedSession:
    """Everything that decides how a session goes on."""

    robot: str
    """Its registered name."""
    mode: str | None
    """Its kind of world, where it has several."""
    engine: str | None
    """What carries its physics, where that can be chosen."""
    objects: tuple[str, ...] | None
    """What it was built with, where it is built with objects."""
    seed: int
    """Of the scene, and of random numbers in programs."""
    programs: int
    """Programs run so far."""
    turns: int
    """Turns finished so far, without those undone."""
    state: State
    """Variables, definitions, history, dropped names and hints."""
    origins: Mapping[str, str]
    """The instruction each definition was written for, by name."""
    history_tokens: int
    """Budget of the history."""
    repairs: Repairs
    """How often a program may be repaired: before it runs, and after it failed."""
    mends: bool
    """Whether its model can be asked to mend what it wrote."""
    sampling: Sampling
    """How many programs are tried for an instruction, and how one is chosen."""
    rounds: int = 1
    """How often the model may go on with an instruction."""
    world: bytes | None = None
    """The robot's snapshot in wire format; None where there is none."""
    world_lost: str = ""
    """Why a world that could be kept is not in the file."""
    file: str | None = None
    """The file its robot was made from, as an absolute path; None of a registered robot."""

    @classmethod
    def of(cls, session: Session) -> SavedSession:
        """Describe a session as it is now."""
        robot, engine = session.robot, session.engine
        # A real robot is not made by a mode; what it sees, in its dry run too, is not its own.
        mode = getattr(robot, "mode", None)
        asked = mode is None or mode in WORLDS
        objects = robot_facts.facts(robot).get("objects") if asked else None
        world, lost = world_of(robot)
        return cls(
            robot=robot.name,
            mode=mode if asked or mode == DRY_RUN else None,
            engine=getattr(robot, "engine", None),
            objects=None if objects is None else tuple(objects),
            seed=engine.seed,
            programs=engine.programs,
            turns=session.earlier + len(session.turns),
            state=session.state,
            origins=session.origins,
            history_tokens=session.history_tokens,
            repairs=engine.repairs,
            mends=engine.author.repairs,
            sampling=engine.settings.sampling,
            rounds=session.rounds,
            world=world,
            world_lost=lost,
            file=None if session.robot_file is None else str(session.robot_file),
        )

    def registered_robot(self) -> str:
        """Return its robot's registered name; what else a file names is never loaded.

        Raises:
            SavedError: Its robot came from a file, or is not registered.
        """
        if self.file is None and self.robot in registry.robots():
            return self.robot
        whose = repr(self.robot) if self.file is None else f"the file {self.file}"
        raise SavedError(
            f"the saved session's robot is {whose}, and a saved session executes no file; "
            f"name the robot's file again: add -r {self.file or 'FILE'}"
        )

    def engine_option(self, robot: str) -> dict[str, str]:
        """Return the option with which a robot's physics is what it was: none where it has none."""
        takes = self.engine is not None and registry.takes(robot, "engine")
        return {"engine": self.engine} if takes and self.engine else {}


def world_of(robot: Robot) -> tuple[bytes | None, str]:
    """Return a robot's world in wire format, or None and why it cannot be written."""
    if not isinstance(robot, Rewindable):
        return None, ""
    try:
        return encode(snapshots.pack(robot.snapshot(), snapshots.kind_of(robot))), ""
    except (snapshots.NotPlain, WireError) as error:
        return None, f"the world of '{robot.name}' cannot be written down: {error}"


def put_world(robot: Robot, saved: SavedSession) -> bool:
    """Put a saved world back into a robot; False if there is none.

    Raises:
        SavedError: It is not a world of this robot.
    """
    if saved.world is None or not isinstance(robot, Rewindable):
        return False
    try:
        robot.restore(snapshots.unpack(decode(saved.world), snapshots.kind_of(robot)))
    except (snapshots.NotPlain, WireError) as error:
        raise SavedError(f"the saved world is none of robot '{robot.name}': {error}") from None
    return True


def render(saved: SavedSession) -> str:
    """Return a session as the text of its file."""
    state = saved.state
    shown = {name: _shown(value) for name, value in state.variables.items()}
    values = {
        "format": FORMAT,
        "version": VERSION,
        "robot": {
            "name": saved.robot,
            "mode": saved.mode,
            "engine": saved.engine,
            "objects": saved.objects,
            "file": saved.file,
        },
        "seed": saved.seed,
        "programs": saved.programs,
        "turns": saved.turns,
        "variables": {"shown": shown, "wire": _text(encode(dict(state.variables)))},
        "definitions": [vars(entry) for entry in state.definitions],
        "history": [vars(entry) for entry in state.history],
        "dropped": dict(state.dropped),
        "hints": state.hints,
        "origins": dict(saved.origins),
        "history_tokens": saved.history_tokens,
        "repairs": vars(saved.repairs),
        "mends": saved.mends,
        "rounds": saved.rounds,
        "sampling": {name: getattr(saved.sampling, name) for name in _SAMPLING},
        "world": saved.world and _text(saved.world),
        "world_lost": saved.world_lost,
    }
    return json.dumps(values, ensure_ascii=False, indent=1) + "\n"


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
                f"no turn was finished in {path.parent}, so nothing goes on there; begin anew"
            ) from None
        raise SavedError(f"no saved session at {path}; name a run folder or its file") from None
    except (OSError, ValueError) as error:
        with contextlib.suppress(OSError):
            if read_bytes(path)[:1] != b"{":  # not even the beginning of one
                raise SavedError(f"{path} is not a saved session") from None
        raise SavedError(f"cannot read the saved session {path}: {error}") from None
    return parsed(values, path)


def parsed(values: Any, path: Path) -> SavedSession:
    """Return the saved session that JSON describes.

    Args:
        values: The JSON.
        path: Where it stands, for messages.

    Raises:
        SavedError: It is damaged, or none.
    """
    if not isinstance(values, dict) or values.get("format") != FORMAT:
        raise SavedError(f"{path} is not a saved session")
    if values.get("version") != VERSION:
        raise SavedError(
            f"{path} was saved in format {values.get('version')}; this version reads {VERSION}: go "
            "on with the version of cap that saved it, or begin a new session"
        )
    try:
        return _saved(values)
    except (KeyError, TypeError, ValueError, WireError, CapError) as error:
        reason = f"no {error}" if isinstance(error, KeyError) else error
        raise SavedError(f"{path} is damaged: {reason}; resume an earlier run") from None


def _saved(values: Mapping[str, Any]) -> SavedSession:
    robot = _mapping(values["robot"])
    objects, mode = robot["objects"], robot["mode"]
    first = BEFORE_ENGINES if mode == "physics" else None
    engine = robot.get("engine", first)
    repairs = _record(Repairs, values["repairs"])
    sampling = _mapping(values["sampling"])
    world = values["world"]
    return SavedSession(
        robot=_words(robot["name"]),
        mode=None if mode is None else _words(mode),
        engine=None if engine is None else _words(engine),
        objects=None if objects is None else tuple(map(_words, objects)),
        seed=_count(values["seed"]),
        programs=_count(values["programs"]),
        turns=_count(values["turns"]),
        state=_state(values),
        origins=_texts(values["origins"]),
        history_tokens=_count(values["history_tokens"]),
        repairs=Repairs(
            _count(repairs["static"]), _count(repairs["runtime"]), repairs["undo"] is True
        ),
        mends=values["mends"] is True,
        rounds=max(1, _count(values["rounds"])),
        sampling=Sampling(
            max(1, _count(sampling["samples"])),
            sampling["agreement"] is True,
            sampling["goal"] is True,
        ),
        world=None if world is None else _bytes(world),
        world_lost=_words(values["world_lost"]),
        file=_path(robot.get("file")),
    )


def _state(values: Mapping[str, Any]) -> State:
    variables = _variables(_bytes(_mapping(values["variables"])["wire"]))
    if not all(isinstance(name, str) and name.isidentifier() for name in _mapping(variables)):
        raise ValueError("'variables' holds what is no name")
    definitions = tuple(
        Definition(**_texts(_record(Definition, entry))) for entry in values["definitions"]
    )
    _check(definitions, variables)
    history: list[PastTurn] = []
    for entry in values["history"]:
        given = _record(PastTurn, entry)
        left_out = _count(given.pop("left_out"))
        history.append(PastTurn(**_texts(given), left_out=left_out))
    return State(
        variables=variables,
        definitions=definitions,
        history=tuple(history),
        dropped=_texts(values["dropped"]),
        hints=tuple(map(_words, values["hints"])),
    )


def _variables(data: bytes) -> Any:
    """Return the variables of a saved session, of version 0.1 as well."""
    if data[:1] != _SHARED_0_1:
        return decode(data)
    nodes = decode(data[1:])
    build: Mapping[str, Callable[[list[Any]], Any]] = {
        "dict": lambda parts: dict(zip(parts[::2], parts[1::2], strict=True)),
        **{kind.__name__: kind for kind in (list, tuple, set, frozenset)},
    }

    def value(place: int, depth: int) -> Any:
        node = nodes[place]
        if type(node) is not list:
            return node
        if depth > MAX_DEPTH:
            raise ValueError("its variables are nested too deeply")
        return build[node[0]]([value(part, depth + 1) for part in node[1:]])

    return value(0, 0)


def _check(definitions: Sequence[Definition], variables: Mapping[str, Any]) -> None:
    """Refuse what is no definition, or not allowed: a file may have been written by anybody.

    They are looked at together and beside the variables, as the programs that left them were.
    """
    for entry in definitions:
        program = Program.parse(entry.source)
        body = [n for n in program.tree.body if not isinstance(n, ast.Import | ast.ImportFrom)]
        if [getattr(node, "name", None) for node in body] != [entry.name]:
            raise ValueError(f"'{entry.name}' is not the definition of that name")
    whole = Program.parse("\n\n".join(entry.source for entry in definitions))
    for violation in examine(whole, Scope(variables=variables)).violations:
        raise ValueError(f"among the kept functions: {violation}")


def _record(kind: type, values: Any) -> dict[str, Any]:
    """Return what a record's fields are to be: those it has, and no other."""
    given = _mapping(values)
    if set(given) != {entry.name for entry in fields(kind)}:
        raise ValueError(f"a {kind.__name__.lower()} with other fields: {sorted(given)[:8]}")
    return dict(given)


def _mapping(value: Any) -> dict[str, Any]:
    if not isinstance(value, dict):
        raise TypeError(f"expected an object, got {type(value).__name__}")
    return value


def _texts(value: Any) -> dict[str, str]:
    return {name: _words(entry) for name, entry in _mapping(value).items()}


def _words(value: Any) -> str:
    if not isinstance(value, str):
        raise TypeError(f"expected text, got {type(value).__name__}")
    return value


def _path(value: Any) -> str | None:
    if value is not None and not (isinstance(value, str) and value.isprintable()):
        raise TypeError(f"expected a path, got {value!r:.80}")
    return value


def _count(value: Any) -> int:
    if type(value) is not int or not 0 <= value < 1 << 64:
        raise TypeError(f"expected a whole number below 2**64, got {_shown(value):.40}")
    return value


def _shown(value: Any) -> str:
    try:
        return reprlib.repr(value)
    except ValueError:  # Python shows no integer of more than 4300 digits
        return type(value).__name__


def _text(data: bytes) -> str:
    return base64.b64encode(data).decode("ascii")


def _bytes(text: Any) -> bytes:
    try:
        return base64.b64decode(_words(text), validate=True)
    except binascii.Error as error:
        raise ValueError(f"not Base64: {error}") from None
