"""The trace: one event for every stage an instruction passes, in a run folder and to listeners.

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
import warnings
from collections.abc import Callable, Iterator, Mapping
from contextvars import ContextVar
from dataclasses import dataclass
from datetime import UTC, datetime
from functools import cache
from importlib.metadata import PackageNotFoundError, version
from io import BufferedWriter
from pathlib import Path
from typing import Any

from cap.errors import CapError, UsageError, stop_in
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

    Several threads may write: the turn and the depth of an event are those of its own thread. On a
    full disk a run goes on without further events in its folder; listeners hear of that once.
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
        self._trouble: OSError | None = None
        """Why not everything is written."""
        begin = {"format_version": FORMAT_VERSION, "status": "running", "pid": os.getpid()}
        self._header = {**begin, **(header or {})}
        self._events: BufferedWriter | None = None
        if folder is not None:
            (folder / "programs").mkdir(parents=True, exist_ok=True)
            self.update()
            if self._trouble is not None:  # it has not begun, so it need not
                raise self._trouble
            self._events = (folder / "events.jsonl").open("ab")
            _open.append(self)

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
            with self._writing("events.jsonl"), self._lock:
                if self._events is not None:
                    # Half a character is written as JSON's own escape of it.
                    self._events.write(text.encode("utf-8", "backslashreplace"))
                    self._events.flush()
        self._notify(event)

    @contextlib.contextmanager
    def _writing(self, name: str) -> Iterator[None]:
        """Inside, an error of the disk ends the writing of events, and listeners hear of it."""
        try:
            yield
        except OSError as error:
            first, self._trouble = self._trouble is None, self._trouble or error
            self._trouble.filename = self._trouble.filename or f"{self.folder}/{name}"
            self._end_events()
            if first:
                why = error.strerror or str(error)
                self.progress("unwritten", folder=str(self.folder), why=why)

    def _end_events(self) -> None:
        """Close the file of events."""
        if self._events is not None:
            with contextlib.suppress(OSError):
                self._events.close()
            self._events = None

    def progress(self, kind: str, /, **data: Any) -> None:
        """Report something that is still going on to the listeners; nothing is recorded."""
        here = self._here()
        self._notify(Event(kind, here.turn, here.depth, data))

    def _notify(self, event: Event) -> None:
        """Call the listeners; one that fails is called no more, and a warning says so.

        Only one of ours ends the run, such as by a terminal that is gone.
        """
        for listener in list(self.listeners):
            try:
                listener(event)
            except Exception as error:  # a user's own may fail in any way
                own = str(getattr(listener, "__module__", "")).startswith("cap.")
                if own and isinstance(error, OSError | CapError):
                    raise
                self.listeners[:] = [one for one in self.listeners if one is not listener]
                name = getattr(listener, "__qualname__", repr(listener))
                why = f"{type(error).__name__}: {error}"
                warnings.warn(f"the listener {name} failed: {why}", RuntimeWarning, stacklevel=3)

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
            OSError: Not everything could be written.
        """
        self.update(status=status, seconds=round(time.monotonic() - self._start_s, 3))
        if self in _open:
            _open.remove(self)
        self._end_events()
        if self._trouble is not None:
            raise self._trouble


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


_version = cache(version)  # which parses a whole page for it


def versions() -> dict[str, str]:
    """Return what a reader needs to reproduce a run: our version, Python's, the system's."""
    found = {"python": platform.python_version(), "platform": platform.platform()}
    for name in ("code-as-policies", "numpy", "shapely", "openai", "pybullet", "mujoco"):
        try:
            found[name] = _version(name)
        except PackageNotFoundError:
            continue
    return found
