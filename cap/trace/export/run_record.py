"""A run as it is told to people: its turns, each with what happened in it, read from its events.

Events of a newer version, and those that do not hold what they should, are counted, not lost sight
of; the rest of the run is told all the same.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from cap.trace.export.view_shape import can_be_drawn
from cap.trace.reader import UNREADABLE, read_events, read_header
from cap.trace.terminal import counted, short, shown_call, told_choice, told_learned, told_tried

_SKIPPED = frozenset(("prompt", "look", "skills", "resumed", "unseen", "held", "rewound", "model"))
"""Kinds of events that are told elsewhere, or are of no use here."""
_SAID = 10_000
"""How many characters are told of what the robot said."""


@dataclass
class CalledRow:
    """One call, or several of one function in a row."""

    text: str
    """The first call, as code."""
    result: str
    """What it returned, or ""."""
    error: str
    """Why it failed, or ""."""
    kind: str
    """`perception`, `action` or `lmp`."""
    seconds: float
    """How long all of them took."""
    name: str
    """The function."""
    given: tuple[Any, ...]
    """Its arguments and its result, as the event has them."""
    count: int = 1
    """How many calls there were."""
    alike: bool = True
    """Whether all of them were the first one: its arguments, and what it returned."""

    @property
    def more(self) -> str:
        """How many calls there were beside the first, which they were not like; "" if none."""
        others = self.count - 1
        return "" if self.alike else f", and {counted(others, 'more call')} of {self.name}"


@dataclass
class ProgramRecord:
    """One program, and what it called."""

    lmp: str
    """Whose program it is: the instruction's own, or that of an LMP it calls."""
    source: str
    """The program itself."""
    generated: list[tuple[str, str]]
    """Functions that were written for it: name and source."""
    depth: int
    """How many LMPs deep."""
    path: str = ""
    """Its file in the run folder."""
    lines: set[int] = field(default_factory=set)
    """Its lines that called something."""
    failed_line: int | None = None
    """Its line that failed."""
    calls: list[CalledRow] = field(default_factory=list)
    """What it called, in order."""


@dataclass
class TriedRecord:
    """One of several programs that were tried before one of them was carried out."""

    told: str
    """Its number, what it did, and what the goal check says of it."""
    source: str
    """The program; "" of one that another had already."""
    chosen: bool
    """True of the one that was carried out."""
    failed: bool
    """True if it failed."""
    alike: bool
    """True if it did what the chosen one did."""


@dataclass
class ChoiceRecord:
    """Several programs that were tried in the world as it was, and the choice among them."""

    tried: list[TriedRecord]
    """In the order in which they were written."""
    why: str
    """Which is carried out, and why."""


@dataclass
class TurnRecord:
    """One instruction and all that came of it."""

    number: int
    """From 1 on, as in the session."""
    instruction: str
    """The person's words, or the name of their program."""
    begin_s: float = 0.0
    """When it began, seconds after the run."""
    end_s: float = 0.0
    """When it ended."""
    ok: bool | None = None
    """How it ended; None if it did not."""
    parts: list[ProgramRecord | ChoiceRecord | tuple[str, str]] = field(default_factory=list)
    """Programs, choices among some, and notes as (kind, text), in order."""
    model_s: float = 0.0
    """Seconds in the model."""
    robot_s: float = 0.0
    """Seconds in the robot."""
    usage: Mapping[str, Any] = field(default_factory=dict)
    """Requests, tokens, cost."""
    pictures: list[Path] = field(default_factory=list)
    """What was seen: sent to the model, and after the turn."""
    undone: bool = False
    """True if a person took it back."""


@dataclass
class RunRecord:
    """A whole run."""

    folder: Path
    """Where it is."""
    header: Mapping[str, Any]
    """What `run.json` holds."""
    turns: list[TurnRecord] = field(default_factory=list)
    """In order."""
    views: list[dict[str, Any]] = field(default_factory=list)
    """What the world looked like, each with the number of its turn: only what was new."""
    unknown: dict[str, int] = field(default_factory=dict)
    """Events that could not be told, by kind."""
    _redoable: list[TurnRecord] = field(default_factory=list)
    """Turns that were undone and can be put back, the one that comes first last."""

    @classmethod
    def read(cls, folder: Path) -> RunRecord:
        """Read a run folder.

        Raises:
            UsageError: It is none, or of another format, or damaged.
        """
        record = cls(folder, read_header(folder))
        for event in read_events(folder):
            try:
                record._add(event)
            except (KeyError, TypeError, ValueError, AttributeError, IndexError, OverflowError):
                record._miss(event["kind"])
        for turn in record.turns:
            stem = f"turn-{turn.number}"
            turn.pictures += sorted(folder.glob(f"{stem}-tried*.png"), key=lambda path: path.stem)
            turn.pictures += [folder / f"{stem}.png"] * (folder / f"{stem}.png").is_file()
        return record

    @property
    def begins(self) -> Path | None:
        """The picture of how it began, if there is one."""
        before = self.folder / "before.png"
        return before if before.is_file() else None

    def _miss(self, kind: str) -> None:
        self.unknown[kind] = self.unknown.get(kind, 0) + 1

    def _turn(self, event: Mapping[str, Any]) -> TurnRecord:
        """Return the turn an event is of; one that was never begun is begun."""
        if not self.turns or self.turns[-1].number != event["turn"]:
            self.turns.append(TurnRecord(event["turn"], "", _seconds(event)))
        return self.turns[-1]

    def _add(self, event: Mapping[str, Any]) -> None:
        """Take one event in."""
        kind, data, depth = event["kind"], event["data"], event["depth"]
        if kind == UNREADABLE or (kind == "view" and not can_be_drawn(data)):
            self._miss(kind)
            return
        if kind == "view":
            self.views.append({"turn": event["turn"], **data})
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
        if kind == "failure" and data["kind"] == "start":
            self._turn(event).parts.append(("failure", f"{data['error']}: {data['message']}"))
            return
        turn = self._turn(event)
        turn.end_s = _seconds(event)
        if kind == "instruction":
            if not depth:
                turn.instruction = str(data["text"])
                self._redoable.clear()
        elif kind in ("completion", "unanswered"):
            turn.model_s += float(data.get("duration_s", 0.0))
        elif kind == "program":
            generated = [(str(name), str(source)) for name, source in data["generated"]]
            turn.parts.append(
                ProgramRecord(
                    str(data["lmp"]), str(data["source"]), generated, depth, data.get("path") or ""
                )
            )
        elif kind == "call":
            _add_call(turn, data, depth)
        elif kind == "samples":
            turn.parts.append(_choice(data))
        elif kind == "look":
            picture = self.folder / Path(str(data["picture"])).name
            turn.pictures += [picture] if picture.is_file() else []
        elif kind == "done":
            if not depth:
                turn.ok = data["ok"] is True
                turn.usage = _usage(data["usage"])
        elif (notes := _notes(kind, data)) is not None:
            turn.parts += notes
            written = [
                part for part in turn.parts if isinstance(part, ProgramRecord) and not part.depth
            ]
            if kind == "failure" and not depth and written and isinstance(data.get("line"), int):
                written[-1].failed_line = data["line"]
        elif kind not in _SKIPPED:
            self._miss(kind)


def _usage(data: Mapping[str, Any]) -> Mapping[str, Any]:
    """Return what a turn took; a ValueError if any of it is no number."""
    for key in ("requests", "prompt_tokens", "completion_tokens", "cost_usd"):
        number = data.get(key, 0)
        free = key == "cost_usd" and number is None
        if isinstance(number, bool) or not (free or isinstance(number, int | float)):
            raise ValueError(f"{key} is {number!r}")
    return dict(data)


def _seconds(event: Mapping[str, Any]) -> float:
    found = event.get("t")
    return float(found) if isinstance(found, int | float) else 0.0


def _add_call(turn: TurnRecord, data: Mapping[str, Any], depth: int) -> None:
    """Add a call to the program that made it; one like the last is counted with that."""
    said = data["name"] == "say"
    row = CalledRow(
        shown_call(data["name"], data["args"], data["kwargs"], _SAID if said else 60),
        "" if data["result"] is None else short(data["result"]),
        "" if data["error"] is None else str(data["error"]),
        str(data["kind"]),
        float(data["duration_s"]),
        str(data["name"]),
        (data["args"], data["kwargs"], data["result"]),
    )
    if row.kind != "lmp":
        turn.robot_s += row.seconds
    programs = [part for part in turn.parts if isinstance(part, ProgramRecord)]
    own = next((part for part in reversed(programs) if part.depth == depth), None)
    if own is None:
        own = ProgramRecord("", "", [], depth)
        turn.parts.append(own)
    if isinstance(line := data.get("line"), int):
        own.lines.add(line)
    last = own.calls[-1] if own.calls else None
    same = last is not None and last.given == row.given
    group = last is not None and last.name == row.name and (same or not said)
    if last is not None and group and not (last.error or row.error):
        last.count += 1
        last.seconds += row.seconds
        last.alike = last.alike and same
    else:
        own.calls.append(row)


def _choice(data: Mapping[str, Any]) -> ChoiceRecord:
    tried = [
        TriedRecord(
            told_tried(one),
            "" if one["same_as"] else str(one["source"]),
            one["number"] == data["chosen"],
            bool(one["failed"]),
            bool(one["agrees"]),
        )
        for one in data["tried"]
    ]
    return ChoiceRecord(tried, told_choice(data))


def _notes(kind: str, data: Mapping[str, Any]) -> list[tuple[str, str]] | None:
    """Return what an event says in words, each with what kind of note it is; None if unknown."""
    if kind == "violations":
        return [("check", str(found)) for found in data["found"]]
    if kind == "repair":
        return [("repair", f"attempt {data['attempt']}: {data['reason']}")]
    if kind == "run_again":
        return [("repair", f"run again: {data['reason']}")]
    if kind == "same_again":
        return [("repair", "the same program again: it was not run, and no other is asked for")]
    if kind == "stdout":
        return [("output", str(data["text"]).rstrip())]
    if kind == "edit_refused":
        return [("check", f"a person's change was refused: {data['error']}: {data['message']}")]
    if kind == "failure":
        line = "" if data.get("line") is None else f" (line {data['line']})"
        return [("failure", f"{data['error']}{line}: {data['message']}")]
    if kind == "moved":
        return [("moved", f"{name}: {_xyz(a)} to {_xyz(b)}") for name, (a, b) in _pairs(data)]
    if kind == "effect":
        changed = [("changed", f"{k}: {short(a)} to {short(b)}") for k, (a, b) in _changes(data)]
        left = [("note", str(line)) for line in data.get("left_over", ())]
        still = [("note", str(data["still"]))] if data.get("still") else []
        return changed + left + still
    if kind == "rehearsal":
        moved = ", ".join(data["moved"]) or "nothing"
        failure = data["failure"]
        came = f"moved {moved}" if failure is None else f"failed: {failure['message']}"
        calls = counted(len(data["calls"]), "call")
        return [("rehearsal", f"{calls}, {data['sim_s']:.1f} s: {came}")]
    if kind == "otherwise":
        return [("note", f"the world changed since {data['since']}")]
    if kind == "round":
        came = str(data["came"]) or "what came of it cannot be seen"
        return [("round", f"{data['number']}, after the one before: {came}")]
    if kind == "rounds_ended":
        count = "1 round" if data["rounds"] == 1 else f"{data['rounds']} rounds"
        return [("rounds", f"{count}: {data['reason']}")]
    if kind == "undo_round":
        went = "with the world" if data["world"] else "but not the real world"
        return [("note", f"the last round was undone, {went}; rounds left: {data['rounds']}")]
    if kind == "untried":
        return [("check", str(data["reason"]))]
    if kind == "learned":
        return [("learned", told) for _, told in told_learned(data)]
    if kind in ("step", "said"):
        return [("step", str(data["text"]))]
    return [] if kind == "generated" else None


def _pairs(data: Mapping[str, Any]) -> Sequence[tuple[str, Any]]:
    return list(data["objects"].items())


def _changes(data: Mapping[str, Any]) -> Sequence[tuple[str, Any]]:
    return list(data["changed"].items())


def _xyz(point: Sequence[float]) -> str:
    return "(" + ", ".join(f"{number:.3f}" for number in point) + ")"
