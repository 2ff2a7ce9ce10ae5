"""Where a person types: history kept between sessions, Tab, suggestions, several lines."""

from __future__ import annotations

import contextlib
import os
from pathlib import Path

import click
from prompt_toolkit import PromptSession
from prompt_toolkit.auto_suggest import AutoSuggestFromHistory
from prompt_toolkit.completion import Completer
from prompt_toolkit.filters import is_searching
from prompt_toolkit.history import FileHistory, InMemoryHistory
from prompt_toolkit.key_binding import KeyBindings
from prompt_toolkit.key_binding.key_processor import KeyPressEvent

from cap.engine.stop_signals import stop_signals


class KeptHistory(FileHistory):
    """What was typed, in a file; what cannot be written there is remembered for this session."""

    def store_string(self, string: str) -> None:
        """Write down what was typed, if there is room."""
        with contextlib.suppress(OSError):
            super().store_string(string)


class LineEditor:
    """Reads what a person types: Enter sends it, Alt-Enter begins another line."""

    def __init__(self, history: Path) -> None:
        """Prepare a prompt.

        Args:
            history: The file of what was typed before.
        """
        keys = KeyBindings()

        @keys.add("enter", filter=~is_searching)  # there it takes what was found
        def send(event: KeyPressEvent) -> None:
            event.current_buffer.validate_and_handle()

        @keys.add("escape", "enter")
        def begin_line(event: KeyPressEvent) -> None:
            event.current_buffer.newline(copy_margin=False)

        kept: InMemoryHistory | KeptHistory = KeptHistory(str(history))
        try:
            history.parent.mkdir(parents=True, exist_ok=True)
            os.close(os.open(history, os.O_RDWR | os.O_CREAT, 0o600))  # its owner's alone
        except OSError as error:
            why = error.strerror or error
            click.echo(f"note: what you type is not kept in {history}: {why}", err=True)
            kept = InMemoryHistory()
        self._prompt: PromptSession[str] = PromptSession(
            history=kept,
            auto_suggest=AutoSuggestFromHistory(),
            complete_while_typing=False,
            key_bindings=keys,
            multiline=True,
            prompt_continuation=lambda width, number, wrapped: "" if wrapped else "...> ",
        )

    def read(self, completer: Completer) -> str | None:
        """Return what was typed; "" after Ctrl-C, None at the end."""
        try:
            return self._prompt.prompt("cap> ", completer=completer)
        except KeyboardInterrupt:
            click.echo("Ctrl-D or /quit leaves")
            return ""
        except EOFError:
            return None
        finally:
            stop_signals.listen()
