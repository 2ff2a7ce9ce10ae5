"""What the page tells of a session beside the robot: conversation, program, calls. As HTML.

All text of models, programs and objects is escaped: it is shown, never interpreted.
"""

from __future__ import annotations

import threading
from collections.abc import Mapping
from dataclasses import dataclass, field
from html import escape
from typing import Any

from cap.messages import (
    choice_line,
    counted,
    event_line,
    is_real,
    learned_lines,
    printable,
    short,
    shown_call,
    tried_line,
    usage_line,
)
from cap.result import plain
from cap.trace.terminal import MOST_PRINTED, PrintedLines
from cap.trace.trace import Event

MOST_TURNS = 30
"""How many turns of the conversation are shown."""
MOST_ROWS = 40
"""How many rows of calls are shown, the last ones."""
MOST_CHARS = 4000
ASKS = "waiting for your answer: may it run?"
READY = "ready: say what the robot should do, then Enter"
_BAD, _OK, _NOTE, _QUIET = "bad", "ok", "note", "quiet"
_STYLES = {"bold red": _BAD, "red": _BAD, "yellow": _NOTE, "bold yellow": _NOTE, "dim": _QUIET}
"""How the page shows what a terminal tells in a style: classes of page.css."""


@dataclass
class _Row:
    """Calls of one function in a row, or a line that the program printed among them."""

    text: str
    came: str = ""
    failed: bool = False
    name: str = ""
    """Empty of a line that was printed."""
    given: Any = None
    count: int = 1
    alike: bool = True
    """Whether all of them were the first: its arguments, and what it returned."""
    seconds: float = 0.0


@dataclass
class _Told:
    """One turn of the conversation, or one slash command."""

    number: int
    """0 of a command."""
    words: str
    mark: str = "…"
    notes: list[tuple[str, str]] = field(default_factory=list)
    """Class and text."""
    undone: bool = False


class Chronicle:
    """Listens to a session and tells it; the page asks for what is new. Commands show here, too."""

    width = 48
    """Characters that a line of the panel holds, about."""
    is_terminal = True
    """Whether a person reads it."""
    is_page = True

    def __init__(self) -> None:
        """Tell nothing yet."""
        self._lock = threading.Lock()
        self._new = True
        self._status = READY
        self._source: list[str] = []
        self._generated: list[tuple[str, str]] = []
        self._line = 0
        self._written = ""
        self._rows: list[_Row] = []
        self._lines = PrintedLines(MOST_PRINTED)
        self._turns: list[_Told] = []
        self._waiting: list[str] = []

    def __call__(self, event: Event) -> None:
        """Take in one event of the trace."""
        if event.depth and event.kind not in ("instruction", "text"):
            return
        with self._lock:
            if tell := _TELLS.get(event.kind):
                tell(self, event.data, event)
            elif told := event_line(event.kind, event.data):
                self._note(_STYLES.get(told[1], ""), told[0])
            else:
                return
            self._new = True

    def note(self, text: str, style: str = "yellow") -> None:
        """Tell something that no event tells, in a style of the terminal."""
        with self._lock:
            if not self._turns:
                self._turns.append(_Told(0, "", ""))
            self._turns[-1].notes.append((_STYLES.get(style, ""), text))
            self._new = True

    def show(self, text: str, style: str = "") -> None:
        """Show what a command says, as a terminal does."""
        self.note(text, style)

    def command(self, line: str) -> None:
        """Begin what a slash command shows."""
        with self._lock:
            self._turns.append(_Told(0, line, "›"))
            self._new = True

    def wait_for(self, words: list[str]) -> None:
        """Tell what waits for the turn that runs."""
        with self._lock:
            self._waiting, self._new = words, True

    def say(self, status: str) -> None:
        """Tell what goes on just now; what asks for an answer stands out."""
        with self._lock:
            self._status, self._new = status, True

    def news(self) -> tuple[str, str, str, str] | None:
        """Return status, program, calls and conversation as HTML; None if nothing is new."""
        with self._lock:
            if not self._new:
                return None
            self._new = False
            kind = "status asks" if self._status == ASKS else "status"
            status = f'<div data-cap="status" class="{kind}">{_text(self._status)}</div>'
            return status, self._program_html(), self._calls_html(), self._turns_html()

    def _program_html(self) -> str:
        lines = []
        for number, line in enumerate(self._source, start=1):
            mark, kind = ("▶", "here") if number == self._line else ("&nbsp;", "")
            count = f'<span class="quiet">{number:3}</span>'
            lines.append(f'<div class="{kind}">{mark} {count}  {_text(line)}</div>')
        more = "".join(
            f"<details><summary>generated {_text(name)}</summary>"
            f"<pre>{_text(source)}</pre></details>"
            for name, source in self._generated
        )
        body = "".join(lines) or f'<div class="quiet">{_text(self._written) or "none yet"}</div>'
        return f'<div data-cap="program" class="code">{body}{more}</div>'

    def _calls_html(self) -> str:
        rows = []
        hidden = len(self._rows) - MOST_ROWS
        for row in self._rows[-MOST_ROWS:]:
            if not row.name:
                rows.append(f"<div>{_text(row.text)}</div>")
                continue
            times = f" <b>× {row.count}</b>" if row.count > 1 and row.alike else ""
            came = f' <span class="{_BAD if row.failed else _OK}">{_text(row.came)}</span>'
            more = f", and {counted(row.count - 1, 'more call')}" if not row.alike else ""
            seconds = f'<span class="quiet">{row.seconds:.2f} s</span>'
            told = f"{_text(row.text)}{times}{came if row.came else ''}{more}"
            rows.append(f"<div>→ {told} {seconds}</div>")
        first = f'<div class="quiet">… {hidden} rows before</div>' if hidden > 0 else ""
        return f'<div data-cap="calls" class="code">{first}{"".join(rows)}</div>'

    def _turns_html(self) -> str:
        told = [f'<div class="note">waits: {_text(words)}</div>' for words in self._waiting]
        for turn in reversed(self._turns[-MOST_TURNS:]):
            notes = "".join(
                f'<div class="told {kind}">{_text(text)}</div>' for kind, text in turn.notes
            )
            number = f"{turn.number}. " if turn.number else ""
            words = f"{turn.mark} {number}{turn.words}".strip()
            told.append(f'<div class="turn"><b>{_text(words)}</b>{notes}</div>')
        return f'<div data-cap="turns">{"".join(told)}</div>'

    # What each kind of event changes.

    def _instruction(self, data: Mapping[str, Any], event: Event) -> None:
        words = str(data["text"])
        if event.depth:
            self._status = f"{data['lmp']}: {words}"
            return
        self._turns.append(_Told(event.turn, words))
        self._source, self._generated, self._rows = [], [], []
        self._line, self._written, self._lines = 0, "", PrintedLines(MOST_PRINTED)
        self._status = "working"

    def _prompt(self, data: Mapping[str, Any], event: Event) -> None:
        self._status = f"asking {data['model']}"
        self._written = ""

    def _text_piece(self, data: Mapping[str, Any], event: Event) -> None:
        if event.depth == 0:
            self._written = self._written + data["text"] if data["text"] else ""

    def _program(self, data: Mapping[str, Any], event: Event) -> None:
        self._source = str(data["source"]).rstrip("\n").split("\n")
        self._generated = list(data["generated"])
        self._line, self._rows, self._status = 0, [], "running the program"

    def _running(self, data: Mapping[str, Any], event: Event) -> None:
        self._line = data["number"]
        self._status = f"running line {self._line}"

    def _call(self, data: Mapping[str, Any], event: Event) -> None:
        name, error = str(data["name"]), data["error"]
        if name == "say" and error is None:
            words = [*data["args"], *data["kwargs"].values()]
            self._note(_OK, f"robot says: “{words[0] if words else ''}”")
        last = self._rows[-1] if self._rows else None
        came = "" if data["result"] is None else f"= {short(data['result'])}"
        text = shown_call(name, data["args"], data["kwargs"])
        given = plain([data["args"], data["kwargs"], data["result"]])
        same = last is not None and last.given == given
        group = last is not None and last.name == name and (same or name != "say")
        if last is not None and group and error is None and not last.failed:
            last.count += 1
            last.alike = last.alike and same
        else:
            last = _Row(text, came if error is None else str(error), error is not None, name, given)
            self._rows.append(last)
        last.seconds += data["duration_s"]

    def _rehearsing(self, data: Mapping[str, Any], event: Event) -> None:
        self._status = "rehearsing in the simulated twin: nothing real moves"

    def _rehearsal(self, data: Mapping[str, Any], event: Event) -> None:
        if data["failure"] is None:
            moved = ", ".join(data["moved"]) or "nothing"
            took = f"{counted(len(data['calls']), 'call')}, {data['sim_s']:.1f} s simulated"
            self._note("", f"rehearsed: {took}, moved: {moved}")

    def _printed(self, data: Mapping[str, Any], event: Event) -> None:
        self._rows += [_Row(line) for line in self._lines.told(data["text"])]

    def _stdout(self, data: Mapping[str, Any], event: Event) -> None:
        more, last = self._lines.rest()
        self._rows += [_Row(line) for line in (more, *last) if line]
        lines = str(data["text"]).rstrip().split("\n")
        left = len(lines) - MOST_PRINTED
        told = [*lines[:MOST_PRINTED], f"… {counted(left, 'more line')}"] if left > 0 else lines
        self._note("", "\n".join(told))

    def _moved(self, data: Mapping[str, Any], event: Event) -> None:
        if names := list(data["objects"]):
            self._note(_OK, f"moved: {', '.join(names)}")

    def _effect(self, data: Mapping[str, Any], event: Event) -> None:
        undone = data.get("undone")  # a trace of an earlier version tells none
        for line in filter(None, (*data["left_over"], undone, data["still"])):
            self._note(_NOTE, str(line))

    def _undo(self, data: Mapping[str, Any], event: Event) -> None:
        told = "undone" if data["world"] else "undone: the variables, not the world"
        alive = [turn for turn in self._turns if turn.number and not turn.undone]
        for turn in alive[-data["turns"] :]:
            turn.undone = True
            turn.notes.append((_NOTE, told))

    def _trying(self, data: Mapping[str, Any], event: Event) -> None:
        if event.kind == "trying":
            self._status = f"trying up to {data['samples']} programs: nothing moves for good"
        else:
            self._status = f"trying programs: {data['number']}"

    def _samples(self, data: Mapping[str, Any], event: Event) -> None:
        for one in data["tried"]:
            mark = "▶" if one["number"] == data["chosen"] else "·"
            self._note(_BAD if one["failed"] else _QUIET, f"{mark} {tried_line(one)}")
        self._note(_NOTE, choice_line(data))

    def _learned(self, data: Mapping[str, Any], event: Event) -> None:
        for kind, told in learned_lines(data):
            self._note({"learned": _OK, "left": _NOTE}.get(kind, _QUIET), told)

    def _done(self, data: Mapping[str, Any], event: Event) -> None:
        if self._turns:
            self._turns[-1].mark = "✓" if data["ok"] else "✗"
        self._line = 0
        self._status = READY
        if "usage" in data and is_real(data["model"]):
            self._note(_QUIET, usage_line(data["usage"]))

    def _note(self, style: str, text: str) -> None:
        if self._turns:
            self._turns[-1].notes.append((style, text))


_TELLS = {
    "instruction": Chronicle._instruction,
    "prompt": Chronicle._prompt,
    "text": Chronicle._text_piece,
    "program": Chronicle._program,
    "line": Chronicle._running,
    "call": Chronicle._call,
    "printed": Chronicle._printed,
    "rehearsing": Chronicle._rehearsing,
    "rehearsal": Chronicle._rehearsal,
    "stdout": Chronicle._stdout,
    "moved": Chronicle._moved,
    "effect": Chronicle._effect,
    "undo": Chronicle._undo,
    "trying": Chronicle._trying,
    "tried": Chronicle._trying,
    "samples": Chronicle._samples,
    "learned": Chronicle._learned,
    "done": Chronicle._done,
}
"""What is told in another way than in one line, by the kind of the event."""


def _text(text: str) -> str:
    shown = printable(text[:MOST_CHARS]) + ("…" if len(text) > MOST_CHARS else "")
    return escape(shown)
