"""`cap repl`: an instruction in, its program and its effect out."""

from __future__ import annotations

import contextlib
import io
import sys
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import click

from cap.cli.options import Command, SessionOptions, with_options
from cap.cli.session import resumed, say_end, watch
from cap.config import data_folder
from cap.engine.stop_signals import stop_signals

HISTORY = "repl_history"
"""The file of what was typed, in the folder of what a person keeps."""


@dataclass(frozen=True)
class ReplOptions(SessionOptions):
    """Those of a session, and the one it goes on with."""

    resume: Path | None = None


@click.command("repl", cls=Command)
@with_options(ReplOptions)
def command(options: ReplOptions) -> int:
    """Give the robot instructions interactively; /help lists the commands.

    \b
    cap repl
    cap repl -r kitchen --mode instant

    Piped input is run line by line; the exit code is 1 if any line fails.
    """  # noqa: D301
    with Repl() as repl:
        return repl.talk(options, options.resume)


class Repl:
    """A person at a terminal, or a pipe, and the session they talk to."""

    commands: Any = None
    """Those of the session that is open; None before the first."""

    def __init__(self) -> None:
        """Look who is there."""
        self.typed = all(bool(stream) and stream.isatty() for stream in (sys.stdin, sys.stdout))
        """Whether a person types; else lines come from a pipe."""
        self._open = contextlib.ExitStack()

    def __enter__(self) -> Repl:
        """Return itself."""
        return self

    def __exit__(self, *raised: Any) -> None:
        """Close the session."""
        self._open.__exit__(*raised)

    def begin(self, options: SessionOptions, folder: Path | None) -> None:
        """Open a session, and then close the one there was; where that fails, it goes on.

        Args:
            options: Of the session.
            folder: The run that it goes on with, if any.
        """
        with contextlib.ExitStack() as fresh:
            session, options = fresh.enter_context(resumed(options, folder, ["repl"]))
            # They load much, which the session's sandbox has begun to load beside us.
            from cap.cli.output import SessionConsole
            from cap.cli.repl.commands import Commands

            with stop_signals.idle():  # the one is left whole, as is the other begun
                if self.commands is not None:
                    say_end(self.commands.session, "left")
                watch(session, options, echo=not self.typed)
                commands = Commands(session, options, SessionConsole(highlight=False), self.begin)
                before, self._open, self.commands = self._open, fresh.pop_all(), commands
                before.close()
        commands.greet()

    def talk(self, options: SessionOptions, folder: Path | None) -> int:
        """Read and run lines until the user leaves; return the exit code.

        Args:
            options: Of the first session.
            folder: The run that it goes on with, if any.
        """
        self.begin(options, folder)
        editor: Any = None
        if self.typed:
            from cap.cli.repl.line_editor import LineEditor

            editor = LineEditor(data_folder() / HISTORY)
        elif isinstance(sys.stdin, io.TextIOWrapper):  # a pipe may hold anything
            sys.stdin.reconfigure(errors="replace")
        failed = False
        with contextlib.ExitStack() as typing:
            if editor:  # Ctrl-C ends what runs, and never the session
                typing.enter_context(stop_signals.idle())
            while not self.commands.ended and (text := self._read(editor)) is not None:
                failed |= not self._obey(text)
        session = self.commands.session
        say_end(session)
        if session.turns:
            click.echo(f"to continue: cap repl --resume {session.trace.folder}")
        return int(failed and not self.typed)

    def _read(self, editor: Any) -> str | None:
        """Return the next input, of one line or several; None at the end."""
        if editor is None:
            return (sys.stdin.readline() if sys.stdin else "") or None
        text: str | None = editor.read(self.commands.session)
        return text

    def _obey(self, text: str) -> bool:
        """Run the lines of an input, up to the first that fails."""
        lines = [line.strip() for line in text.splitlines() if line.strip()]
        for number, line in enumerate(lines, start=1):
            if len(lines) > 1 and self.typed:
                self.commands.tell(f"\n{line}", "bold")
            if not self.commands.obey(line):
                for left in lines[number:]:
                    self.commands.tell(f"not run after that: {left}")
                return False
            if self.commands.ended:
                break
        return True
