"""A run as its exports show it: turns, each with what happened in it, read from the run's events.

Events of a newer version, and damaged ones, are counted; the rest of the run is shown.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from itertools import chain
from pathlib import Path
from typing import Any, NamedTuple

import msgspec

from cap.messages import (
    choice_line,
    counted,
    event_lines,
    short,
    shown_call,
    tried_line,
)
from cap.models.base import Usage
from cap.robot.view import Placement, Polyline, Shape
from cap.trace.reader import UNREADABLE, read_events, read_header

_SKIPPED = frozenset(
    (
        *("prompt", "look", "skills", "resumed", "unseen", "held", "rewound", "model"),
        *("answer", "considered", "example", "explanation", "policy", "generated"),
    )
)
"""Kinds of events that are shown elsewhere, or are of no use here."""
_SOMETIMES = ("moved", "effect", "learned")
"""Kinds of events that may have no sentence; a page marks none of theirs."""
TITLE_CHARS = 200
"""Longest instruction in a title; the turn has all of it."""
_SAY_CHARS = 10_000
"""How many characters are shown of what the robot said."""

_SIZES = {"box": 3, "cylinder": 2, "lathe": 0}
"""How many numbers a shape's size has."""


class _View(msgspec.Struct):
    """What a `view` event holds; the page's player draws only views of this form."""

    shapes: dict[str, list[Shape]] = {}
    placements: dict[str, Placement] = {}
    gone: list[str] = []
    lines: list[Polyline] = []

    def __post_init__(self) -> None:
        for shape in chain(*self.shapes.values()):
            if len(shape.size) != _SIZES[shape.kind] or (shape.kind == "lathe") != bool(
                shape.profile
            ):
                raise ValueError("a shape that cannot be drawn")


class _Call(msgspec.Struct):
    name: str
    args: list[Any]
    kwargs: dict[str, Any]
    result: Any
    error: str | None
    kind: str
    duration_s: float
    line: int | None = None


class Note(NamedTuple):
    """A sentence about what happened."""

    kind: str
    """The event's kind."""
    text: str
    style: str = ""
    """`bad`, `warn`, `dim` or "" for an ordinary one."""


@dataclass
class CalledRow:
    """One call, or several in a row with the same arguments and result."""

    call: _Call
    """The first call."""
    count: int = 1
    """How many calls there were."""
    seconds: float = 0.0
    """How long all of them took."""

    @property
    def name(self) -> str:
        """The function."""
        return self.call.name

    @property
    def text(self) -> str:
        """The first call, as code."""
        most = _SAY_CHARS if self.name == "say" else 60
        return shown_call(self.name, self.call.args, self.call.kwargs, most)

    @property
    def result(self) -> str:
        """What it returned, or ""."""
        return "" if self.call.result is None else short(self.call.result)

    def takes(self, call: _Call) -> bool:
        """Count a call that is like the first one; False if it is not."""
        first = msgspec.structs.replace(self.call, duration_s=call.duration_s, line=call.line)
        if call != first:
            return False
        self.count += 1
        self.seconds += call.duration_s
        return True


@dataclass
class ProgramRecord:
    """One program, and what it called."""

    lmp: str
    """Whose program it is: the instruction's own, or that of an LMP it calls."""
    source: str
    generated: list[tuple[str, str]]
    """Functions that were written for it: name and source."""
    depth: int
    """How many LMPs deep."""
    lines: set[int] = field(default_factory=set)
    """Its lines that called something."""
    failed_line: int | None = None
    calls: list[CalledRow] = field(default_factory=list)
    """What it called, in order."""


@dataclass
class TriedRecord:
    """One of several programs that were tried before one of them was run."""

    text: str
    """Its number, what it did, and what the goal check says of it."""
    source: str
    """The program; "" if it repeats another one."""
    chosen: bool
    failed: bool
    agrees: bool
    """Whether it did what the chosen one did."""


@dataclass
class ChoiceRecord:
    """Several programs that were tried in the world as it was, and the choice among them."""

    tried: list[TriedRecord]
    """In the order in which they were written."""
    why: str
    """Which one was run, and why."""


@dataclass
class TurnRecord:
    """One instruction and its result."""

    number: int
    """From 1, as in the session."""
    instruction: str
    """The user's words, or the name of their program."""
    begin_s: float = 0.0
    """When it began, seconds after the run."""
    end_s: float = 0.0
    ok: bool | None = None
    """How it ended; None if it did not."""
    parts: list[ProgramRecord | ChoiceRecord | Note] = field(default_factory=list)
    """Programs, choices and notes, in order."""
    model_s: float = 0.0
    """Seconds in the model."""
    robot_s: float = 0.0
    """Seconds in the robot."""
    usage: Usage = field(default_factory=Usage)
    """Requests, tokens, cost."""
    pictures: list[Path] = field(default_factory=list)
    """Pictures sent to the model, and of the world after the turn."""
    undone: bool = False

    def add_call(self, call: _Call, depth: int) -> None:
        """Add a call to the program that made it."""
        programs = [part for part in self.parts if isinstance(part, ProgramRecord)]
        own = next((part for part in reversed(programs) if part.depth == depth), None)
        if own is None:
            own = ProgramRecord("", "", [], depth)
            self.parts.append(own)
        if call.kind != "lmp":
            self.robot_s += call.duration_s
        if call.line is not None:
            own.lines.add(call.line)
        if not (own.calls and own.calls[-1].takes(call)):
            own.calls.append(CalledRow(call, seconds=call.duration_s))


@dataclass
class RunRecord:
    """A whole run."""

    folder: Path
    header: Mapping[str, Any]
    """What `run.json` holds."""
    turns: list[TurnRecord] = field(default_factory=list)
    views: list[dict[str, Any]] = field(default_factory=list)
    """What the world looked like, each with the number of its turn: only what was new."""
    unknown: dict[str, int] = field(default_factory=dict)
    """How many events are not shown, by kind."""
    _redoable: list[TurnRecord] = field(default_factory=list)
    """Turns that were undone and can be redone, the first one last."""

    @classmethod
    def read(cls, folder: Path) -> RunRecord:
        """Read a run folder.

        Raises:
            UsageError: It is none, or of another format, or damaged.
        """
        record = cls(folder, read_header(folder))
        for event in read_events(folder):
            record.add(event)
        for turn in record.turns:
            stem = f"turn-{turn.number}"
            turn.pictures += [folder / f"{stem}.png"] * (folder / f"{stem}.png").is_file()
        return record

    @property
    def name(self) -> str:
        """The folder's name."""
        return self.folder.resolve().name

    @property
    def title(self) -> str:
        """The first instruction, and how many follow; the folder's name if there is none."""
        words = next((turn.instruction for turn in self.turns if turn.instruction), self.name)
        words = words if len(words) <= TITLE_CHARS else f"{words[: TITLE_CHARS - 1]}…"
        more = len(self.turns) - 1
        return f"{words}, and {counted(more, 'more turn')}" if more > 0 else words

    @property
    def facts(self) -> dict[str, str]:
        """What was run, with what, and how it ended."""
        known = {key: self.header.get(key) for key in ("status", "robot", "mode", "model", "seed")}
        return {key: str(value) for key, value in known.items() if value is not None}

    @property
    def begins(self) -> Path | None:
        """The picture of how it began, if there is one."""
        before = self.folder / "before.png"
        return before if before.is_file() else None

    def add(self, event: Mapping[str, Any]) -> None:
        """Add what one event holds; one that cannot be read is counted."""
        try:
            self._add(event)
        except Exception:  # a damaged event may be damaged in any way
            self.unknown[event["kind"]] = self.unknown.get(event["kind"], 0) + 1

    def _turn(self, event: Mapping[str, Any]) -> TurnRecord:
        """Return an event's turn; begin it if it has none yet."""
        begin_s = event.get("t")
        now_s = float(begin_s) if isinstance(begin_s, int | float) else 0.0
        number = event["turn"]
        # What a live page shows between turns has the number 0.
        own = next((turn for turn in reversed(self.turns) if turn.number or not number), None)
        if own is None or own.number != number:
            own = TurnRecord(number, "", now_s, now_s)
            self.turns.append(own)
        if event["kind"] != "failure" or event["data"]["kind"] != "start":
            own.end_s = now_s
        return own

    def _add(self, event: Mapping[str, Any]) -> None:
        """Add what one event holds."""
        kind, data, depth = event["kind"], event["data"], event["depth"]
        if kind == "view":
            msgspec.convert(data, _View)
            known = {key: data[key] for key in _View.__struct_fields__ if key in data}
            self.views.append({**known, "turn": event["turn"]})
            return
        if kind == "undo":
            alive = [turn for turn in self.turns if not turn.undone]
            for turn in reversed(alive[-data["turns"] :]):
                turn.undone = True
                self._redoable.append(turn)
            return
        if kind == "redo":
            for _ in range(min(data["turns"], len(self._redoable))):
                self._redoable.pop().undone = False
            return
        if kind == UNREADABLE:
            raise ValueError(kind)
        turn = self._turn(event)
        if kind == "instruction":
            if not depth:
                turn.instruction = str(data["text"])
                self._redoable.clear()
        elif kind in ("completion", "unanswered"):
            turn.model_s += float(data.get("duration_s", 0.0))
        elif kind == "program":
            generated = [(str(name), str(source)) for name, source in data["generated"]]
            lmp, source = str(data["lmp"]), str(data["source"])
            turn.parts.append(ProgramRecord(lmp, source, generated, depth))
        elif kind == "call":
            turn.add_call(msgspec.convert(data, _Call), depth)
        elif kind == "samples":
            turn.parts.append(_choice(data))
        elif kind == "look":
            picture = self.folder / Path(str(data["picture"])).name
            turn.pictures += [picture] if picture.is_file() else []
        elif kind == "done":
            if not depth:
                turn.ok = data["ok"] is True
                turn.usage = msgspec.convert(data["usage"], Usage)
        elif kind not in _SKIPPED:
            turn.parts += _notes(kind, data)
            if kind == "failure" and not depth and isinstance(data.get("line"), int):
                own = [p for p in turn.parts if isinstance(p, ProgramRecord) and not p.depth]
                if own:
                    own[-1].failed_line = data["line"]


def _choice(data: Mapping[str, Any]) -> ChoiceRecord:
    tried = [
        TriedRecord(
            tried_line(one),
            "" if one["same_as"] else str(one["source"]),
            one["number"] == data["chosen"],
            bool(one["failed"]),
            bool(one["agrees"]),
        )
        for one in data["tried"]
    ]
    return ChoiceRecord(tried, choice_line(data))


STYLES = {
    "bold red": "bad",
    "red": "bad",
    "yellow": "warn",
    "bold yellow": "warn",
    "dim": "dim",
    "green": "ok",
}
"""How a page shows what a terminal shows in a style."""


def _notes(kind: str, data: Mapping[str, Any]) -> list[Note]:
    """Return the sentences about an event.

    Raises:
        ValueError: There are none for this kind.
    """
    if kind == "stdout":
        return [Note(kind, f"printed: {str(data['text']).rstrip()}")]
    notes = [Note(kind, text, STYLES.get(style, "")) for text, style in event_lines(kind, data)]
    if not notes and kind not in _SOMETIMES:
        raise ValueError(kind)
    if kind == "step":
        notes[0] = notes[0]._replace(text=f"step: {notes[0].text}")
    return [note._replace(style="") for note in notes] if kind in _SOMETIMES else notes
