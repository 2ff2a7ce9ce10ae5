"""How a session looks in a terminal: the program first, then each call, then what moved.

Text from models, programs and objects is printed as text: no markup, no control characters.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from rich.console import Console
from rich.syntax import Syntax
from rich.text import Text

from cap.models.base import Usage
from cap.result import Failure
from cap.trace.trace import Event, plain

INDENT = "  "
MOST_ALIKE = 5
"""Calls of one function in a row that are shown; of more, only their number."""
_HIGHLIGHTER = Syntax("", "python", theme="ansi_dark", background_color="default")


def printable(text: str) -> str:
    """Return text that cannot steer a terminal: control characters are shown, not sent."""
    return "".join(
        char if char.isprintable() or char == "\n" else f"\\x{ord(char):02x}" for char in text
    )


def clipped(text: str, limit: int = 1000) -> str:
    """Return printable text of bounded length; the trace has the rest."""
    more = len(text) - limit
    shown = printable(text[:limit])
    return shown if more <= 0 else f"{shown}… ({more} more characters in the trace)"


def short(value: Any, width: int = 60) -> str:
    """Return a value in one line, numbers to a tenth of a millimetre."""
    text = printable(_brief(plain(value)))
    return text if len(text) <= width else text[: width - 1] + "…"


def shown_call(name: str, args: Sequence[Any], kwargs: Mapping[str, Any]) -> str:
    """Return one call as a line of text."""
    given = [short(value) for value in args]
    given += [f"{key}={short(value)}" for key, value in kwargs.items()]
    return f"{name}({', '.join(given)})"


def _brief(value: Any) -> str:
    if isinstance(value, float):
        return f"{0.0 if abs(value) < 1e-12 else value:.4g}"
    if isinstance(value, list):
        return "[" + ", ".join(map(_brief, value)) + "]"
    if isinstance(value, dict):
        return "{" + ", ".join(f"{key}: {_brief(entry)}" for key, entry in value.items()) + "}"
    return repr(value)


def is_real(model: str) -> bool:
    """Tell whether a model, by its name, is a language model that was asked just now."""
    return model.split("/")[0] not in ("nearest", "replay")


def usage_line(usage: Usage | Mapping[str, Any]) -> str:
    """Return what a model took as one line: requests, tokens read and written, price if known."""
    known = usage if isinstance(usage, Mapping) else vars(usage)
    requests, cost = known["requests"], known["cost_usd"]
    line = f"{requests} {'request' if requests == 1 else 'requests'}"
    line += f", {known['prompt_tokens']} + {known['completion_tokens']} tokens"
    return line if cost is None else f"{line}, ${cost:.4f}"


class Live:
    """A trace listener that prints a session as it happens."""

    def __init__(self, console: Console, verbose: bool = False, echo: bool = True) -> None:
        """Print to a console.

        Args:
            console: Where.
            verbose: Nested LMPs and perception calls as well.
            echo: Repeat the instruction; not where the person has just typed it.
        """
        self.console = console
        self.verbose = verbose
        self.echo = echo
        self._written = ""
        """What of a completion under way is on the screen."""
        self._whole = ""
        """The last completion that was shown as it was written."""
        self._row: tuple[str, int] = "", 0
        """The function that was called last, and how often in a row."""

    def __call__(self, event: Event) -> None:
        """Print one event, if a person wants to see it."""
        show = getattr(self, f"_{event.kind}", None)
        if show is not None and (event.depth == 0 or self.verbose):
            if event.kind != "text":
                self._end_text()
            if event.kind != "call":
                self._end_row(event.depth)
            show(event.data, event.depth)

    def _text(self, data: Mapping[str, Any], depth: int) -> None:
        """Print a piece of a completion as it is written; a pipe gets whole programs only."""
        if not self.console.is_terminal:
            return
        indent = INDENT * (depth + 1)
        piece = data["text"]
        if not piece:  # the answer broke off and begins again
            self._end_text()
            return
        if not self._written or self._written.endswith("\n"):
            piece = indent + piece
        self._written += data["text"]
        body, newline = (piece[:-1], "\n") if piece.endswith("\n") else (piece, "")
        shown = printable(body).replace("\n", f"\n{indent}") + newline
        self.console.print(Text(shown, style="dim"), end="", soft_wrap=True)

    def _end_text(self) -> None:
        if self._written and not self._written.endswith("\n"):
            self.console.print()
        self._whole = self._written or self._whole
        self._written = ""

    def _end_row(self, depth: int) -> None:
        """Tell how many calls of a long row were not shown."""
        name, count = self._row
        if count > MOST_ALIKE:
            self._line(f"→ {name} {count - MOST_ALIKE} times more", "dim", depth + 1)
        self._row = "", 0

    def _repair(self, data: Mapping[str, Any], depth: int) -> None:
        self._line(f"attempt {data['attempt']}: {clipped(data['reason'])}", "yellow", depth + 1)

    def _skills(self, data: Mapping[str, Any], depth: int) -> None:
        if data["offered"]:
            self._line(f"skills: {printable(', '.join(data['offered']))}", "dim", depth)

    def _undo(self, data: Mapping[str, Any], depth: int) -> None:
        count = "the last turn" if data["turns"] == 1 else f"{data['turns']} turns"
        self._line(f"undone: {count}", "dim", depth + 1)

    def _done(self, data: Mapping[str, Any], depth: int) -> None:
        if "usage" in data and is_real(data["model"]):
            self._line(f"model: {usage_line(data['usage'])}", "dim", depth + 1)

    def _instruction(self, data: Mapping[str, Any], depth: int) -> None:
        words = clipped(data["text"])
        if depth == 0 and self.echo:
            self._print(Text(f"\n{words}", style="bold"))
        elif depth:
            self._line(f"{data['lmp']}: {words}", "cyan", depth)

    def _prompt(self, data: Mapping[str, Any], depth: int) -> None:
        if is_real(data["model"]):
            self._line(f"asking {printable(data['model'])} ...", "dim", depth + 1)

    def _program(self, data: Mapping[str, Any], depth: int) -> None:
        for name, source in data["generated"]:
            self._line(f"generated {name}:", "dim", depth + 1)
            self._code(source, depth + 1)
        if data["source"].strip() != self._whole.strip():  # else it is on the screen already
            self._code(data["source"], depth + 1)
        self._whole = ""
        for note in data["notes"]:
            self._line(note, "dim", depth + 1)

    def _code(self, source: str, depth: int) -> None:
        code = printable(source.strip())
        plain = self.console.color_system is None  # as a pipe is: nothing to colour
        for line in (Text(code) if plain else _HIGHLIGHTER.highlight(code)).split():
            self._print(Text(INDENT * depth).append_text(line))

    def _rehearsal(self, data: Mapping[str, Any], depth: int) -> None:
        for lmp, source in data["programs"]:
            self._line(f"in the rehearsal, {lmp}:", "dim", depth + 1)
            self._code(source, depth + 2)
        if data["failure"] is None:
            calls = len(data["calls"])
            moved = ", ".join(map(printable, data["moved"])) or "nothing"
            text = f"rehearsed: {calls} calls, {data['sim_s']:.1f} s simulated, moved: {moved}"
            self._line(text, "dim", depth + 1)

    def _otherwise(self, data: Mapping[str, Any], depth: int) -> None:
        pairs = {**data["moved"], **data["changed"]}
        changes = [f"{name} {_seen(was)} to {_seen(now)}" for name, (was, now) in pairs.items()]
        told = ", ".join(map(printable, changes))
        text = f"changed since {data['since']}, so once more: {told}"
        self._line(text, "bold yellow", depth + 1)

    def _call(self, data: Mapping[str, Any], depth: int) -> None:
        name = data["name"]
        if data["kind"] == "perception" and data["error"] is None and not self.verbose:
            return
        if name == "say" and data["error"] is None:
            self._line(f'robot says: "{_said(data)}"', "bold green", depth + 1)
            return
        if self._row[0] != name:
            self._end_row(depth)
        if data["error"] is None:
            self._row = name, self._row[1] + 1
            if self._row[1] > MOST_ALIKE:
                return
        shown = shown_call(name, data["args"], data["kwargs"])
        text = Text(f"{INDENT * (depth + 1)}→ {shown}")
        if data["error"] is not None:
            text.append(f"  {printable(data['error'])}", style="red")
        elif data["result"] is not None:
            text.append(f" = {short(data['result'])}", style="green")
        whose = "model and program " if data["kind"] == "lmp" else ""
        text.append(f"  {whose}{data['duration_s']:.2f} s", style="dim")
        self._print(text)

    def _stdout(self, data: Mapping[str, Any], depth: int) -> None:
        self._line(clipped(data["text"].rstrip(), 4000), "", depth + 1)

    def _moved(self, data: Mapping[str, Any], depth: int) -> None:
        for name, (before, after) in data["objects"].items():
            begin, end = (f"({x:.3f}, {y:.3f}, {z:.3f})" for x, y, z in (before, after))
            self._line(f"moved {printable(name)}: {begin} to {end}", "yellow", depth + 1)

    def _effect(self, data: Mapping[str, Any], depth: int) -> None:
        for name, (before, after) in data["changed"].items():
            self._line(f"{printable(name)}: {_seen(before)} to {_seen(after)}", "yellow", depth + 1)
        for line in data["left_over"]:
            self._line(clipped(line), "yellow", depth + 1)
        if data["still"]:
            style = "bold yellow" if "nothing" in data["words"] else "dim"
            self._line(data["still"], style, depth + 1)

    def _failure(self, data: Mapping[str, Any], depth: int, what: str = "failed") -> None:
        known: dict[str, Any] = {key: data.get(key) for key in ("kind", "error", "message", "line")}
        self._line(f"{what}: {clipped(str(Failure(**known)))}", "bold red", depth + 1)

    def _edit_refused(self, data: Mapping[str, Any], depth: int) -> None:
        self._failure(data, depth, "the edited program is refused, so it is as before")

    def _held(self, data: Mapping[str, Any], depth: int) -> None:
        told = f"in the gripper: {clipped(str(data['name']))}; it stays there"
        self._line(told, "bold yellow", depth + 1)

    def _line(self, text: str, style: str, depth: int) -> None:
        self._print(Text(INDENT * depth + text, style=style))

    def _print(self, text: Text) -> None:
        """Print a line; it wraps in a terminal, and stays one line in a file or a pipe."""
        self.console.print(text, soft_wrap=not self.console.is_terminal)


def _seen(value: Any) -> str:
    """Return a part of a robot's condition: words as they are."""
    return clipped(value) if isinstance(value, str) else short(value)


def _said(data: Mapping[str, Any]) -> str:
    words = [*data["args"], *data["kwargs"].values()]
    return clipped(str(words[0])) if words else ""
