"""The trace: one event for every stage an instruction passes, in a run folder and to listeners.

A run folder holds `run.json` (what was run, with what), `events.jsonl` (one event a line) and
`programs/` (every program complete, with what it uses of earlier turns: runnable by `cap exec`); of
a session also `start.json` and `session.json` (see `cap.session.session_file`).
"""

from __future__ import annotations

import contextlib
import functools
import hashlib
import json
import os
import platform
import re
import threading
import time
from collections.abc import Callable, Iterator, Mapping
from contextvars import ContextVar
from dataclasses import dataclass
from datetime import UTC, datetime
from importlib.metadata import PackageNotFoundError, version
from itertools import count
from pathlib import Path
from typing import Any

from cap.errors import UsageError, stop_in
from cap.files import write_whole
from cap.result import plain

FORMAT_VERSION = 1


@dataclass(frozen=True)
class Event:
    """One thing that happened."""

    kind: str
    """The stage: instruction, prompt, completion, program, call, moved, failure, ..."""
    turn: int
    """Instruction number in the session, from 1."""
    depth: int
    """0 in the instruction's own LMP, 1 in one it called, and so on."""
    data: Mapping[str, Any]
    """The fields of this kind of event."""


Listener = Callable[[Event], None]


@dataclass(frozen=True)
class _Place:
    """Where an event belongs."""

    trace: Trace
    turn: int
    depth: int


_place: ContextVar[_Place | None] = ContextVar("place", default=None)
"""That of the calling thread; it goes along to the robot's thread."""


class Trace:
    """Writes events to a run folder, if it has one, and passes them to listeners.

    Several threads may write: the turn and the depth of an event are those of its own thread. An
    error of the disk, or of a listener, is raised where the event happens.
    """

    def __init__(self, folder: Path | None = None, header: Mapping[str, Any] | None = None) -> None:
        """Begin a trace.

        Args:
            folder: Where it is written; None for listeners alone.
            header: Further fields of `run.json`.

        Raises:
            OSError: The folder cannot be made or written.
        """
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
            self.update()
            (folder / "events.jsonl").touch()

    @property
    def keyed(self) -> bool:
        """Whether completions are recorded with their keys: those of a run folder are."""
        return self.folder is not None

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
        """Record one event.

        Raises:
            OSError: It cannot be written.
        """
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
            path = self.folder / "events.jsonl"
            # Half a character is written as JSON's own escape of it.
            with self._lock, self._writing(path.name), path.open("ab") as file:
                file.write(text.encode("utf-8", "backslashreplace"))
        self._notify(event)

    @contextlib.contextmanager
    def _writing(self, name: str) -> Iterator[None]:
        """Inside, an error of the disk names a file: that of a full disk has no name by itself."""
        try:
            yield
        except OSError as error:
            error.filename = f"{self.folder}/{name}"
            raise

    def progress(self, kind: str, /, **data: Any) -> None:
        """Report something that is still going on to the listeners; nothing is recorded."""
        here = self._here()
        self._notify(Event(kind, here.turn, here.depth, data))

    def _notify(self, event: Event) -> None:
        for listener in list(self.listeners):
            listener(event)

    def program(self, name: str, source: str) -> Path | None:
        """Keep a complete program as a file; return where."""
        with self._lock:
            self._programs += 1
            number = self._programs
        return self.keep(f"programs/{number:02d}_{name}.py", source)

    def keep(self, name: str, content: str | bytes) -> Path | None:
        """Write a whole file into the run folder; return where."""
        if self.folder is None:
            return None
        with self._writing(name):
            write_whole(self.folder / name, content)
        return self.folder / name

    def picture(self, png: bytes) -> None:
        """Keep a picture that a model is sent."""
        with self._lock:
            self._looks += 1
            name = f"look-{self._looks:02d}.png"
        self.keep(name, png)
        self.event("look", picture=name, sha256=hashlib.sha256(png).hexdigest())

    def update(self, **values: Any) -> None:
        """Add to `run.json`."""
        self._header |= values
        text = json.dumps(plain(self._header), indent=2, ensure_ascii=False)
        self.keep("run.json", text + "\n")

    def close(self, status: str) -> None:
        """Write the final status.

        Raises:
            OSError: It cannot be written.
        """
        self.update(status=status, seconds=round(time.monotonic() - self._start_s, 3))


def status_after(error: BaseException) -> str:
    """Return what a trace ends with that an exception ended: a person's stop is no error."""
    stopped = stop_in(error) is not None or isinstance(error, SystemExit)
    return "interrupted" if stopped else "error"


def new_run_folder(runs: Path, robot: str, words: str) -> Path:
    """Name and make a folder for one run: time, robot, the first words; never one that exists.

    A robot's file that is called `robot.py` has the name of its folder.
    """
    stamp = datetime.now(UTC).strftime("%Y%m%d-%H%M%S")
    file = Path(robot)
    named = file.resolve().parent.name if file.name == "robot.py" else file.stem
    slug = re.sub(r"[^a-z0-9]+", "-", words.lower()).strip("-")[:40].strip("-") or "run"
    for number in count(1):
        suffix = "" if number == 1 else f"-{number}"
        folder = runs / f"{stamp}_{named}_{slug}{suffix}"
        try:
            folder.mkdir(parents=True)
        except FileExistsError:
            continue
        except OSError as error:
            reason = error.strerror or str(error)
            raise UsageError(f"cannot make a run folder in {runs}: {reason}; use --out") from None
        break
    return folder


@functools.cache  # installed packages are read from many files
def versions() -> Mapping[str, str]:
    """Return what a reader needs to reproduce a run: our version, Python's, the system's."""
    found = {"python": platform.python_version(), "platform": platform.platform()}
    for name in ("code-as-policies", "numpy", "shapely", "openai", "pybullet", "mujoco"):
        try:
            found[name] = version(name)
        except PackageNotFoundError:
            continue
    return found
