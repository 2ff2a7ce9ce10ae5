"""The trace: one event for every station an instruction passes, in a run folder and to listeners.

A run folder holds `run.json` (what was run, with what), `events.jsonl` (one event a line) and
`programs/` (every program complete, with what it uses of earlier turns: runnable by `cap exec`); of
a session also `start.json` and `session.json` (see `cap.session.session_file`).
"""

from __future__ import annotations

import contextlib
import hashlib
import json
import os
import platform
import re
import threading
import time
from collections.abc import Callable, Iterator, Mapping
from contextvars import ContextVar
from dataclasses import asdict, dataclass, is_dataclass
from datetime import UTC, datetime
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import Any

import numpy as np

from cap.errors import UsageError, stop_in
from cap.models.atomic_file import write_whole

FORMAT_VERSION = 1


@dataclass(frozen=True)
class Event:
    """One thing that happened."""

    kind: str
    """The station: instruction, prompt, completion, program, call, moved, failure, ..."""
    turn: int
    """Instruction number in the session, from 1."""
    depth: int
    """0 in the instruction's own LMP, 1 in one it called, and so on."""
    data: Mapping[str, Any]
    """What this kind of event tells."""


Listener = Callable[[Event], None]


def plain(value: Any) -> Any:
    """Return a value as JSON can hold it: arrays as lists, geometries as WKT, the rest by repr."""
    if value is None or isinstance(value, bool | int | str):
        return value
    if isinstance(value, float):
        return value if np.isfinite(value) else repr(value)
    if isinstance(value, np.ndarray | np.generic):
        return plain(value.tolist())
    if isinstance(value, Mapping):
        return {str(key): plain(entry) for key, entry in value.items()}
    if isinstance(value, list | tuple | set | frozenset):
        return [plain(entry) for entry in value]
    if is_dataclass(value) and not isinstance(value, type):
        return plain(asdict(value))
    return value.wkt if hasattr(value, "wkt") else repr(value)


@dataclass(frozen=True)
class _Place:
    """Where an event belongs."""

    trace: Trace
    turn: int
    depth: int


_place: ContextVar[_Place | None] = ContextVar("place", default=None)
"""That of the calling thread; it goes along to the robot's thread."""


class Trace:
    """Writes events to a run folder, if it has one, and tells the listeners.

    Several threads may write: the turn and the depth of an event are those of its own thread.
    """

    def __init__(self, folder: Path | None = None, header: Mapping[str, Any] | None = None) -> None:
        self.folder = folder
        self.listeners: list[Listener] = []
        self.turn = 0
        self._lock = threading.Lock()
        self._start_s = time.monotonic()
        self._programs = self._looks = 0
        begin = {"format_version": FORMAT_VERSION, "status": "running", "pid": os.getpid()}
        self._header = {**begin, **(header or {})}
        if folder is not None:
            (folder / "programs").mkdir(parents=True, exist_ok=True)
            # half a character, in a model's text, is written as JSON's own escape of it
            self._events = (folder / "events.jsonl").open(
                "a", encoding="utf-8", buffering=1, errors="backslashreplace"
            )
            _open.append(self)
            self._write_header()

    @property
    def depth(self) -> int:
        """How many LMPs deep the calling thread is: 0 in the instruction's own."""
        return self._here().depth

    def _here(self) -> _Place:
        place = _place.get()
        return place if place and place.trace is self else _Place(self, self.turn, 0)

    @contextlib.contextmanager
    def begin_turn(self) -> Iterator[None]:
        """Inside, the calling thread is in the next turn, whatever others begin meanwhile."""
        with self._lock:
            self.turn += 1
            place = _Place(self, self.turn, 0)
        token = _place.set(place)
        try:
            yield
        finally:
            _place.reset(token)

    @contextlib.contextmanager
    def nested(self) -> Iterator[None]:
        """Inside, the calling thread is in an LMP that the program before called."""
        here = self._here()
        token = _place.set(_Place(self, here.turn, here.depth + 1))
        try:
            yield
        finally:
            _place.reset(token)

    def event(self, kind: str, /, **data: Any) -> None:
        """Record one event."""
        here = self._here()
        event = Event(kind, here.turn, here.depth, data)
        if self.folder is not None:
            line = {
                "t": round(time.monotonic() - self._start_s, 4),
                "turn": here.turn,
                "depth": here.depth,
                "kind": kind,
                "data": plain(data),
            }
            text = json.dumps(line, ensure_ascii=False) + "\n"
            with self._lock:
                self._events.write(text)
        for listener in self.listeners:
            listener(event)

    def progress(self, kind: str, /, **data: Any) -> None:
        """Tell the listeners of something that is still going on; nothing is written down."""
        here = self._here()
        for listener in self.listeners:
            listener(Event(kind, here.turn, here.depth, data))

    def program(self, name: str, source: str) -> Path | None:
        """Keep a complete program as a file; return where."""
        with self._lock:
            self._programs += 1
            number = self._programs
        if self.folder is None:
            return None
        path = self.folder / "programs" / f"{number:02d}_{name}.py"
        write_whole(path, source)
        return path

    def picture(self, png: bytes) -> None:
        """Keep a picture that a model is sent."""
        with self._lock:
            self._looks += 1
            name = f"look-{self._looks:02d}.png"
        if self.folder is not None:
            (self.folder / name).write_bytes(png)
        self.event("look", picture=name, sha256=hashlib.sha256(png).hexdigest())

    def update(self, **values: Any) -> None:
        """Add to `run.json`."""
        self._header |= values
        if self.folder is not None:
            self._write_header()

    def close(self, status: str) -> None:
        """Write the final status."""
        self.update(status=status, seconds=round(time.monotonic() - self._start_s, 3))
        if self.folder is not None:
            self._events.close()
        if self in _open:
            _open.remove(self)

    def _write_header(self) -> None:
        assert self.folder is not None
        text = json.dumps(plain(self._header), indent=2, ensure_ascii=False)
        write_whole(self.folder / "run.json", text + "\n")


_open: list[Trace] = []
"""Those with a folder that have not ended."""


def end_all() -> None:
    """End every trace that is still open: a stop came between its making and its `with`."""
    for trace in list(_open):
        with contextlib.suppress(OSError):
            trace.close("interrupted")


def status_after(error: BaseException) -> str:
    """Return what a trace ends with that an exception ended: a person's stop is no error."""
    stopped = stop_in(error) is not None or isinstance(error, SystemExit)
    return "interrupted" if stopped else "error"


def new_run_folder(runs: Path, robot: str, words: str) -> Path:
    """Name and make a folder for one run: time, robot, the first words; never one that exists."""
    stamp = datetime.now(UTC).strftime("%Y%m%d-%H%M%S")
    slug = re.sub(r"[^a-z0-9]+", "-", words.lower()).strip("-")[:40].strip("-") or "run"
    for number in range(1, 1000):
        suffix = "" if number == 1 else f"-{number}"
        folder = runs / f"{stamp}_{Path(robot).stem}_{slug}{suffix}"
        try:
            folder.mkdir(parents=True)
        except FileExistsError:
            continue
        except OSError as error:
            reason = error.strerror or str(error)
            raise UsageError(f"cannot make a run folder in {runs}: {reason}; use --out") from None
        return folder
    raise UsageError(f"cannot find a free name for a run folder in {runs}")


def versions() -> dict[str, str]:
    """Return what a reader needs to reproduce a run: our version, Python's, the system's."""
    found = {"python": platform.python_version(), "platform": platform.platform()}
    for name in ("code-as-policies", "numpy", "shapely", "openai", "pybullet"):
        try:
            found[name] = version(name)
        except PackageNotFoundError:
            continue
    return found
