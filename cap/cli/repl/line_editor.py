"""Where a person types: history kept between sessions, Tab, suggestions, several lines.

Tab completes commands and what they take, sentences, and what sentences may name.
"""

from __future__ import annotations

import contextlib
import os
import re
from collections.abc import Iterable
from pathlib import Path
from typing import Any

import click
from prompt_toolkit import PromptSession
from prompt_toolkit.auto_suggest import AutoSuggestFromHistory
from prompt_toolkit.completion import CompleteEvent, Completer, Completion, PathCompleter
from prompt_toolkit.document import Document
from prompt_toolkit.filters import is_searching
from prompt_toolkit.history import FileHistory, InMemoryHistory
from prompt_toolkit.key_binding import KeyBindings
from prompt_toolkit.key_binding.key_processor import KeyPressEvent

from cap.cli.completion import model_names
from cap.cli.output import remark
from cap.cli.repl.commands import COMMANDS
from cap.engine.stop_signals import stop_signals
from cap.errors import CapError
from cap.prompt.examples import first_instructions
from cap.robot import observation

_MOST_SENTENCES = 50
_WORD = re.compile(r"[^\s(]+")


class ReplCompleter(Completer):
    """Completes what is typed at the prompt of one session."""

    def __init__(self, session: Any) -> None:
        """Know nothing of the scene yet: it is looked at once, at the first Tab."""
        self.session = session
        self._objects: list[str] | None = None

    def get_completions(self, document: Document, event: CompleteEvent) -> Iterable[Completion]:
        """Yield what the line up to the cursor may become."""
        line = document.current_line_before_cursor
        name, space, typed = line.partition(" ")
        if not line.startswith("/"):
            yield from self._in_sentence(line)
        elif not space:
            for command, (takes, about) in COMMANDS.items():
                if command.startswith(name[1:]):
                    shown = f"/{command} {takes}".rstrip()
                    yield Completion(f"/{command}", -len(name), display=shown, display_meta=about)
        else:
            choices = self._arguments(name[1:])
            yield from (Completion(one, -len(typed)) for one in choices if one.startswith(typed))
            if "FILE" in COMMANDS.get(name[1:], ("", ""))[0]:
                yield from PathCompleter().get_completions(Document(typed), event)

    def _in_sentence(self, line: str) -> Iterable[Completion]:
        """Yield names that begin with the end of the line, and sentences that begin with it.

        The longest end that begins a name counts. Objects, functions and variables may be named;
        before a word is begun, objects are offered: those that go on with the words before it, else
        all. The sentences are those of the prompt that can be said here.
        """
        objects = self._on_table()
        ends = [line[match.start() :] for match in _WORD.finditer(line)]
        scope = self.session.engine.scope(self.session.prompt, self.session.state)
        names = list(dict.fromkeys([*objects, *sorted(scope.names())]))
        fits = (
            [(typed, name) for name in names if name.lower().startswith(typed.lower())]
            for typed in ends
        )
        for typed, name in next(filter(None, fits), ()):
            yield Completion(name, -len(typed))
        prompt = self.session.prompt
        examples = (*prompt.examples, *prompt.beside.examples)
        for sentence in first_instructions(examples, objects)[:_MOST_SENTENCES]:
            if sentence.lower().startswith(line.lower()):
                yield Completion(sentence, -len(line))

    def _on_table(self) -> list[str]:
        """Return the names of objects."""
        if self._objects is None:
            try:
                self._objects = list(observation.facts(self.session.robot).get("objects", []))
            except CapError:  # a camera that fails is reported when it matters
                self._objects = []
        return self._objects

    def _arguments(self, command: str) -> Iterable[str]:
        """Return what a command may be followed by, files apart."""
        session = self.session
        if command == "model":
            return model_names()
        if command == "save":
            return [entry.name for entry in session.state.definitions if entry.origin != "skill"]
        return ["all"] if command == "prompt" else []


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
            remark(f"note: what you type is not kept in {history}: {why}")
            kept = InMemoryHistory()
        self._prompt: PromptSession[str] = PromptSession(
            history=kept,
            auto_suggest=AutoSuggestFromHistory(),
            complete_while_typing=False,
            key_bindings=keys,
            multiline=True,
            prompt_continuation=lambda width, number, wrapped: "" if wrapped else "...> ",
        )

    def read(self, session: Any) -> str | None:
        """Return what was typed to a session; "" after Ctrl-C, None at the end."""
        try:
            return self._prompt.prompt("cap> ", completer=ReplCompleter(session))
        except KeyboardInterrupt:
            click.echo("Ctrl-D or /quit leaves")
            return ""
        except EOFError:
            return None
        finally:
            stop_signals.listen()
