"""What the page shows of a session next to the robot: conversation, program, calls. As HTML.

A session's events are read as its exports read them (`RunRecord`); what goes on just now is added.
All text of models, programs and objects is escaped: it is shown, never interpreted.
"""

from __future__ import annotations

import threading
from collections.abc import Iterator
from html import escape
from pathlib import Path

from cap.messages import counted, is_real, printable, usage_line
from cap.result import plain
from cap.trace.export.run_record import (
    STYLES,
    ChoiceRecord,
    Note,
    ProgramRecord,
    RunRecord,
    TurnRecord,
)
from cap.trace.trace import Event

MOST_TURNS = 30
"""How many turns of the conversation are shown."""
MOST_ROWS = 40
"""How many rows of calls are shown, the last ones."""
MOST_CHARS = 4000
MOST_PRINTED = 10
"""How many of the lines that a program printed are shown, the last ones."""
ASKS = "waiting for your answer: may it run?"
READY = "ready: say what the robot should do, then Enter"


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
        self._status = READY
        self._line = 0
        """The line that runs."""
        self._written = ""
        """What the model has written so far."""
        self._printed: list[str] = []
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
        data = event.data
        match event.kind:
            case "instruction" if event.depth:
                self._status = f"{data['lmp']}: {data['text']}"
            case "text" if not event.depth:
                self._written = self._written + data["text"] if data["text"] else ""
            case _ if event.depth:
                pass
            case "instruction":
                self._status, self._line, self._written, self._printed = "working", 0, "", []
            case "prompt":
                self._status, self._written = f"asking {data['model']}", ""
            case "program":
                self._status, self._line = "running the program", 0
            case "line":
                self._line = data["number"]
                self._status = f"running line {self._line}"
            case "printed":
                self._printed += data["text"].removesuffix("\n").split("\n")
            case "rehearsing":
                self._status = "rehearsing in the simulated twin: nothing real moves"
            case "trying":
                self._status = f"trying up to {data['samples']} programs: nothing moves for good"
            case "tried":
                self._status = f"trying programs: {data['number']}"
            case "done":
                self._status, self._line = READY, 0

    def _turn(self) -> TurnRecord:
        if not self._record.turns:
            self._record.turns.append(TurnRecord(0, ""))
        return self._record.turns[-1]

    def note(self, text: str, style: str = "yellow") -> None:
        """Show something that is no event, in a style of the terminal."""
        with self._lock:
            self._turn().parts.append(Note("note", text, STYLES.get(style, "")))
            self._new = True

    def show(self, text: str, style: str = "") -> None:
        """Show what a command says, as a terminal does."""
        self.note(text, style)

    def command(self, line: str) -> None:
        """Begin what a slash command shows."""
        with self._lock:
            self._record.turns.append(TurnRecord(0, line))
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
            turns = [turn for turn in self._record.turns if turn.number]
            parts = turns[-1].parts if turns else []
            programs = [part for part in parts if isinstance(part, ProgramRecord)]
            program = programs[-1] if programs else ProgramRecord("", "", [], 0)
            return status, self._program(program), self._calls(program), self._conversation()

    def _program(self, program: ProgramRecord) -> str:
        lines = []
        for number, line in enumerate(program.source.rstrip("\n").split("\n"), start=1):
            mark, kind = ("▶", "here") if number == self._line else ("&nbsp;", "")
            count = f'<span class="dim">{number:3}</span>'
            lines.append(f'<div class="{kind}">{mark} {count}  {_text(line)}</div>')
        more = "".join(
            f"<details><summary>generated {_text(name)}</summary>"
            f"<pre>{_text(source)}</pre></details>"
            for name, source in program.generated
        )
        waits = f'<div class="dim">{_text(self._written) or "none yet"}</div>'
        body = "".join(lines) if program.source else waits
        return f'<div data-cap="program" class="code">{body}{more}</div>'

    def _calls(self, program: ProgramRecord) -> str:
        rows = []
        if (hidden := len(program.calls) - MOST_ROWS) > 0:
            rows.append(f'<div class="dim">… {hidden} rows before</div>')
        for row in program.calls[-MOST_ROWS:]:
            times = f" <b>× {row.count}</b>" if row.count > 1 and row.alike else ""
            came = _marked(f"= {row.result}", "ok") if row.result else ""
            came = _marked(row.call.error, "bad") if row.call.error else came
            seconds = f'<span class="dim">{row.seconds:.2f} s</span>'
            rows.append(f"<div>→ {_text(row.text)}{times}{came}{_text(row.more)} {seconds}</div>")
        if (hidden := len(self._printed) - MOST_PRINTED) > 0:
            rows.append(f'<div class="dim">… {counted(hidden, "line")} printed before</div>')
        rows += [f"<div>| {_text(line)}</div>" for line in self._printed[-MOST_PRINTED:]]
        return f'<div data-cap="calls" class="code">{"".join(rows)}</div>'

    def _conversation(self) -> str:
        rows = [f'<div class="warn">waits: {_text(words)}</div>' for words in self._waiting]
        for turn in reversed(self._record.turns[-MOST_TURNS:]):
            mark = {True: "✓", False: "✗", None: "…"}[turn.ok] if turn.number else "›"
            words = f"{mark} {turn.number}. {turn.instruction}" if turn.number else ""
            words = words or (f"{mark} {turn.instruction}" if turn.instruction else "")
            notes = "".join(
                f'<div class="text {kind}">{_text(text)}</div>' for text, kind in _notes(turn)
            )
            rows.append(f'<div class="turn"><b>{_text(words)}</b>{notes}</div>')
        return f'<div data-cap="turns">{"".join(rows)}</div>'


def _notes(turn: TurnRecord) -> Iterator[tuple[str, str]]:
    """Yield what a turn did and said, each with its class."""
    for part in turn.parts:
        if isinstance(part, Note):
            yield part.text, part.style
        elif isinstance(part, ChoiceRecord):
            for one in part.tried:
                yield f"{'▶' if one.chosen else '·'} {one.text}", "bad" if one.failed else "dim"
            yield part.why, "warn"
        else:
            for row in part.calls:
                if row.name == "say" and not row.call.error:
                    words = [*row.call.args, *row.call.kwargs.values()]
                    yield f"robot says: “{words[0] if words else ''}”", "ok"
    if turn.undone:
        yield "undone", "warn"


def _marked(text: str, kind: str) -> str:
    return f' <span class="{kind}">{_text(text)}</span>'


def _text(text: str) -> str:
    shown = printable(text[:MOST_CHARS]) + ("…" if len(text) > MOST_CHARS else "")
    return escape(shown)
