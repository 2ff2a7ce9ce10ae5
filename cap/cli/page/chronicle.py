"""What the page shows of a session next to the robot: conversation, program, calls. As HTML.

A session's events are read as its exports read them (`RunRecord`); what goes on just now is added.
The template escapes all text of models, programs and objects: it is shown, never interpreted.
"""

from __future__ import annotations

import threading
from pathlib import Path
from typing import Any

from cap.messages import is_real, usage_line
from cap.result import plain
from cap.trace.export.pages import as_text, environment
from cap.trace.export.run_record import STYLES, Note, ProgramRecord, RunRecord, TurnRecord
from cap.trace.trace import Event

MOST_TURNS = 30
"""How many turns of the conversation are shown."""
MOST_ROWS = 40
"""How many rows of calls are shown, the last ones."""
ASKS = "waiting for your answer: may it run?"
READY = "ready: say what the robot should do, then Enter"
_STATUS = {
    "instruction": "working",
    "prompt": "asking {model}",
    "program": "running the program",
    "line": "running line {number}",
    "rehearsing": "rehearsing in the simulated twin: nothing real moves",
    "trying": "trying up to {samples} programs: nothing moves for good",
    "tried": "trying programs: {number}",
    "done": READY,
}
"""What goes on after an event, by its kind."""


class Chronicle:
    """Listens to a session; the page asks for what is new. Commands are shown here, too."""

    width = 48
    """Characters that a line of the panel holds, about."""
    is_terminal = True
    """Whether a person reads it."""
    is_page = True

    def __init__(self) -> None:
        """Tell nothing yet."""
        self._lock = threading.Lock()
        self._new = True
        self._record = RunRecord(Path(), {})
        templates = environment("cap.cli.page", as_text)
        self._panel: Any = templates.get_template("panel.html.jinja").module
        self._status = READY
        self._line = 0
        """The line that runs."""
        self._written = ""
        """What the model has written so far."""
        self._waiting: list[str] = []

    def __call__(self, event: Event) -> None:
        """Take in one event of the trace."""
        with self._lock:
            self._new = True
            self._note_moment(event)
            if event.depth:
                return
            data = plain(event.data) if event.kind == "call" else event.data
            self._record.add({"kind": event.kind, "turn": event.turn, "depth": 0, "data": data})
            if event.kind == "done" and "usage" in data and is_real(data["model"]):
                self._turn().parts.append(Note("usage", usage_line(data["usage"]), "dim"))

    def _note_moment(self, event: Event) -> None:
        """Note what goes on just now."""
        kind, data = event.kind, event.data
        if event.depth:
            if kind == "instruction":
                self._status = f"{data['lmp']}: {data['text']}"
            return
        if (status := _STATUS.get(kind)) is not None:
            self._status = status.format(**data)
        if kind in ("instruction", "program", "done"):
            self._line = 0
        if kind in ("instruction", "prompt"):
            self._written = ""
        if kind == "line":
            self._line = data["number"]
        elif kind == "text":
            self._written = self._written + data["text"] if data["text"] else ""

    def _turn(self) -> TurnRecord:
        if not self._record.turns:
            self._record.turns.append(TurnRecord(0, ""))
        return self._record.turns[-1]

    def show(self, text: str, style: str = "") -> None:
        """Show something that is no event, in a style of the terminal: what a command says."""
        with self._lock:
            self._turn().parts.append(Note("note", text, STYLES.get(style, "")))
            self._new = True

    def command(self, line: str) -> None:
        """Begin what a slash command shows."""
        with self._lock:
            self._record.turns.append(TurnRecord(0, line))
            self._new = True

    def wait_for(self, words: list[str]) -> None:
        """Tell what waits for the turn that runs."""
        self._waiting, self._new = words, True

    def say(self, status: str) -> None:
        """Tell what goes on just now; what asks for an answer stands out."""
        self._status, self._new = status, True

    def news(self) -> tuple[str, str, str, str] | None:
        """Return status, conversation, program and calls as HTML; None if nothing is new."""
        with self._lock:
            if not self._new:
                return None
            self._new = False
            turns = [turn for turn in self._record.turns if turn.number]
            parts = turns[-1].parts if turns else []
            programs = [part for part in parts if isinstance(part, ProgramRecord)]
            program = programs[-1] if programs else None
            shown = self._record.turns[: -MOST_TURNS - 1 : -1]
            return (
                str(self._panel.status(self._status, self._status == ASKS)),
                str(self._panel.turns(self._waiting, shown)),
                str(self._panel.program(program, self._line, self._written)),
                str(self._panel.calls(program, MOST_ROWS)),
            )
