"""How a session looks in a terminal: the program first, then each call, then what moved.

Text from models, programs and objects is printed as text: no markup, no control characters.
"""

from __future__ import annotations

import codeop
from collections.abc import Sequence

from rich.console import Console
from rich.control import Control
from rich.segment import ControlType
from rich.syntax import Syntax
from rich.text import Text

from cap.messages import (
    EventData,
    choice_line,
    clipped,
    event_lines,
    is_real,
    printable,
    short,
    shown_call,
    tried_line,
    usage_line,
)
from cap.trace.trace import Event

INDENT = "  "
MOST_ALIKE = 5
"""Calls of one function in a row that are shown; of more, only their number."""
_UNSHOWN = ("violations", "candidates", "ended")
"""Kinds with sentences that only pages show."""
_AFTERWARDS = ("stdout", "moved", "round", "rounds_ended")
"""Kinds that come after a program has ended, when no answer is being written."""
_GOING_ON = {
    "rehearsing": "rehearsing in the simulated twin ...",
    "trying": "trying up to {samples} programs ...",
    "tried": "trying programs: {number} ...",
}
"""Kinds that only say what goes on just now."""
_WIPED = Control(ControlType.CARRIAGE_RETURN, (ControlType.ERASE_IN_LINE, 2))
_HIGHLIGHTER = Syntax("", "python", theme="ansi_dark", background_color="default")


class Live:
    """A trace listener that prints a session as it happens.

    In a terminal a program appears as it is written, and the last line shows what goes on just now,
    and is wiped out again: the line that is being written, then the one that runs. A pipe gets each
    program when it is whole, and no such line.
    """

    def __init__(
        self, console: Console, verbose: bool = False, echo: bool = True, follows: bool = True
    ) -> None:
        """Print to a console.

        Args:
            console: Where.
            verbose: Nested LMPs and perception calls as well.
            echo: Repeat the instruction; not where the person has just typed it.
            follows: Show the line that runs; not where the person is asked about each call.
        """
        self.console = console
        self.verbose = verbose
        self.echo = echo
        self._moving = console.is_terminal and not console.is_dumb_terminal
        self._follows = follows
        self._last_line = ""
        """The text of the last line on the screen, which will be wiped out."""
        self._printing = False
        """Whether what the program prints was shown where it did."""
        self._asking = ""
        """The line on the model that is asked, once it is printed in this turn."""
        self._written = ""
        """The part of a completion that was written and is not printed yet."""
        self._source: list[str] = []
        """The lines of the instruction's own program."""
        self._lmp = ""
        """What answers the instruction itself."""
        self._tries = False
        """Whether programs are written that are only tried: none of them is printed."""
        self._grown: list[str] = []
        """The lines of its program that were printed as they were written."""
        self._called = ""
        """The function that was called last."""
        self._took_s: list[float] = []
        """How long its calls in a row took, in seconds."""
        self._model_s = self._robot_s = 0.0
        """Seconds of this turn in the model and in the robot."""

    def __call__(self, event: Event) -> None:
        """Print one event, if it is to be shown."""
        self._count(event)
        if event.kind in ("program", "done"):  # the user may be asked next
            self._wipe()
        if event.kind in _AFTERWARDS and event.depth == 0:
            self._end_text(0)
            if self._moving:
                self.console.control(_WIPED)  # the terminal's own ^C
        if event.kind in _GOING_ON and (self.verbose or not event.depth):
            self._below(_GOING_ON[event.kind].format(**event.data), event.depth)
        show = getattr(self, f"_show_{event.kind}", None)
        lines = [] if event.kind in _UNSHOWN or show else list(event_lines(event.kind, event.data))
        if (event.depth and not self.verbose) or not (show or lines):
            return
        if event.kind not in ("call", "line"):
            self._end_row(event.depth)
        if event.kind in ("repair", "failure", "edit_refused"):
            self._end_text(event.depth)
        elif event.kind == "repeated_program":  # what is printed of the next answer is its own
            self._written, self._grown = "", []
        if show:
            show(event.data, event.depth)
        feedback = event.kind in ("step", "said")
        for number, (text, style) in enumerate(lines):
            self._write(text, style, event.depth + 1 + (feedback and number > 0))

    def _count(self, event: Event) -> None:
        """Add up the time of model and robot."""
        if event.kind == "instruction" and event.depth == 0:
            self._lmp, self._asking = event.data.get("lmp", ""), ""
            self._model_s = self._robot_s = 0.0
        elif event.kind in ("trying", "tried_all"):
            self._tries, self._written = event.kind == "trying", ""
        elif event.kind in ("completion", "unanswered"):
            self._model_s += event.data.get("duration_s", 0.0)
        elif event.kind == "call" and event.data["kind"] != "lmp":
            self._robot_s += event.data["duration_s"]

    def _show_text(self, data: EventData, depth: int) -> None:
        """Show what a model is writing: the line it is at."""
        if not data["text"]:  # the answer broke off and begins again
            self._written = ""
            return
        self._written += data["text"]
        if depth == 0 and data["lmp"] == self._lmp and not self._tries:
            self._grow(self._written[: self._written.rfind("\n") + 1])
        lines = [line for line in self._written.split("\n") if line.strip()]
        if lines:
            self._below(f"… {lines[-1].strip()}", depth)

    def _show_completion(self, data: EventData, depth: int) -> None:
        """Print the end of what was written; what comes now is another answer."""
        if self._tries:
            self._written = ""
        elif depth == 0 and data["lmp"] == self._lmp and self._written:
            self._grow(self._written + "\n")

    def _grow(self, text: str) -> None:
        """Print the lines of a program that are whole and were not printed yet."""
        lines = _code_lines(text) if self._moving else []
        if lines[: len(self._grown)] == self._grown and len(lines) > len(self._grown):
            self._print_code(lines[len(self._grown) :], 1)
            self._grown = lines

    def _show_line(self, data: EventData, depth: int) -> None:
        """Show the line of the program that runs."""
        number = data["number"]
        if depth == 0 and self._follows and number <= len(self._source):
            self._below(f"▶ {number}: {self._source[number - 1].strip()}", depth)

    def _below(self, text: str, depth: int) -> None:
        """Show what goes on in the last line, in place of its text before."""
        if self._moving and text != self._last_line:
            self._wipe()
            line = Text(INDENT * (depth + 1) + printable(text), style="dim")
            line.truncate(self.console.width - 1, overflow="ellipsis")
            self.console.print(line, end="", soft_wrap=True)
            self._last_line = text

    def _wipe(self) -> None:
        if self._last_line:
            self.console.control(_WIPED)
            self._last_line = ""

    def _end_text(self, depth: int) -> None:
        """Print what the model wrote, if it is no program, or not the one that was printed last."""
        known = "\n".join(self._grown or self._source).strip()
        if self._written.strip() and not (known and known in self._written):
            for line in clipped(self._written.strip("\n"), 4000).split("\n"):
                self._write(line, "dim", depth + 1)
        self._written, self._grown = "", []

    def _end_row(self, depth: int) -> None:
        """Show how many calls of a long row were left out."""
        if hidden := self._took_s[MOST_ALIKE:]:
            line = f"→ {self._called} x {len(hidden)} more  {sum(hidden):.2f} s"
            self._write(line, "dim", depth + 1)
        self._called, self._took_s = "", []

    def _show_skills(self, data: EventData, depth: int) -> None:
        if data["offered"]:
            self._write(f"skills: {printable(', '.join(data['offered']))}", "dim", depth)

    def _show_done(self, data: EventData, depth: int) -> None:
        if "usage" in data and is_real(data["model"]):
            times = f"model {self._model_s:.1f} s, robot {self._robot_s:.1f} s"
            self._write(f"{times}; {usage_line(data['usage'])}", "dim", depth + 1)
            for lmp, usage in data.get("by_lmp", {}).items() if self.verbose else ():
                self._write(f"{printable(lmp)}: {usage_line(usage)}", "dim", depth + 2)

    def _show_instruction(self, data: EventData, depth: int) -> None:
        words = clipped(data["text"])
        if depth == 0 and self.echo:
            self._print(Text(f"\n{words}", style="bold"))
        elif depth:
            self._write(f"{data['lmp']}: {words}", "cyan", depth)

    def _show_prompt(self, data: EventData, depth: int) -> None:
        line = f"asking {printable(data['model'])} ..."
        if is_real(data["model"]) and self._moving:
            self._below(line, depth)
        elif is_real(data["model"]) and line != self._asking:
            self._write(line, "dim", depth + 1)
            self._asking = line

    def _show_program(self, data: EventData, depth: int) -> None:
        grown = self._grown if depth == 0 else []
        if depth == 0:
            self._source = data["source"].split("\n")
            self._written, self._grown = "", []
        left = [line for line in grown if not line.startswith(("import ", "from "))]
        source = data["source"].strip("\n").split("\n")
        printed = bool(grown) and source in (grown, left)  # imports are left out with a note
        for name, source in data["generated"]:
            self._write(f"generated {name}:", "dim", depth + 1)
            self._code(source, depth + 1)
        if not printed:  # or what was written is not what is going to run
            self._code(data["source"], depth + 1)
        for note in data["notes"]:
            self._write(note, "dim", depth + 1)

    def _show_samples(self, data: EventData, depth: int) -> None:
        """Show what each program that was tried did, which is carried out, and why."""
        self._written = ""
        tried = data["tried"]
        count = f"{len(tried)} programs" if len(tried) > 1 else "1 program"
        self._write(f"tried {count} in the world as it is:", "dim", depth + 1)
        for one in tried:
            mark = "▶" if one["number"] == data["chosen"] else " "
            style = "red" if one["failed"] else "" if one["agrees"] else "dim"
            most = self.console.width - 4 - len(INDENT * depth) if self._moving else 300
            self._write(f"{mark} {tried_line(one, most)}", style, depth + 1)
        self._write(choice_line(data), "cyan", depth + 1)

    def _code(self, source: str, depth: int) -> None:
        self._print_code(source.rstrip().split("\n"), depth)  # blank lines at its top count too

    def _print_code(self, lines: Sequence[str], depth: int) -> None:
        code = printable("\n".join(lines))
        plain = self.console.color_system is None  # as a pipe is: nothing to colour
        for line in (Text(code) if plain else _HIGHLIGHTER.highlight(code)).split():
            self._print(Text(INDENT * depth).append_text(line))

    def _show_rehearsal(self, data: EventData, depth: int) -> None:
        for lmp, source in data["programs"]:
            self._write(f"in the rehearsal, {lmp}:", "dim", depth + 1)
            self._code(source, depth + 2)
        if data["failure"] is None:
            ((line, style),) = event_lines("rehearsal", data)
            self._write(line, style, depth + 1)

    def _show_call(self, data: EventData, depth: int) -> None:
        name, error = data["name"], data["error"]
        if data["kind"] == "perception" and error is None and not self.verbose:
            return
        if self._called != name or error is not None or name == "say":
            self._end_row(depth)
        if name == "say" and error is None:
            words = [*data["args"], *data["kwargs"].values(), ""]
            said = clipped(str(words[0])).replace("\n", "\\n")
            self._write(f'robot says: "{said}"', "bold green", depth + 1)
            return
        if error is None:
            self._called = name
            self._took_s.append(data["duration_s"])
            count = len(self._took_s)
            if count > MOST_ALIKE:
                if count <= 20 or count % 10 == 0:
                    self._below(f"→ {name} x {count}", depth)
                return
        shown = shown_call(name, data["args"], data["kwargs"])
        text = Text(f"{INDENT * (depth + 1)}→ {shown}")
        if error is not None:
            text.append(f"  {printable(error)}", style="red")
        elif data["result"] is not None:
            text.append(f" = {short(data['result'])}", style="green")
        text.append(f"  {data['duration_s']:.2f} s", style="dim")
        self._print(text)

    def _show_printed(self, data: EventData, depth: int) -> None:
        """Show what a program prints where it does."""
        for line in data["text"].removesuffix("\n").split("\n"):
            self._write(f"| {clipped(line)}", "", depth + 1)  # no line of ours looks so
        self._printing = True

    def _show_stdout(self, data: EventData, depth: int) -> None:
        """Show what was printed in a run that is over."""
        if not self._printing:
            self._show_printed(data, depth)
        self._printing = False

    def _write(self, text: str, style: str, depth: int) -> None:
        self._print(Text(INDENT * depth + text, style=style))

    def _print(self, text: Text) -> None:
        """Print a line; it wraps in a terminal, and stays one line in a file or a pipe."""
        self._wipe()
        self.console.print(text, soft_wrap=not self.console.is_terminal)


def _code_lines(text: str) -> list[str]:
    """Return the lines of code in an answer that is being written; none if it begins in words.

    Code stands in the first block between fences, or from the beginning on.
    """
    before, fence, code = text.partition("```")
    if fence:
        code = code.partition("\n")[2].partition("```")[0]
    else:
        code = before
        first = next((line for line in code.split("\n") if line.strip()), "")
        try:
            codeop.compile_command(first, symbol="exec")
        except (SyntaxError, ValueError, OverflowError):
            return []
    return code.strip("\n").split("\n") if code.strip() else []
