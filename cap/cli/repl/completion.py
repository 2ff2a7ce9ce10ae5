"""What Tab completes: commands and what they take, sentences, and what they may name."""

from __future__ import annotations

import re
from collections.abc import Iterable
from typing import Any

from prompt_toolkit.completion import CompleteEvent, Completer, Completion, PathCompleter
from prompt_toolkit.document import Document

from cap.cli.completion import model_names
from cap.cli.repl.commands import COMMANDS
from cap.cli.repl.scene import to_try
from cap.errors import CapError
from cap.robot import observation, registry

_MOST_SENTENCES = 50
_WORD = re.compile(r"[^\s(]+")


class ReplCompleter(Completer):
    """Completes what is typed at the prompt of one session."""

    def __init__(self, session: Any) -> None:
        """Know nothing of the scene yet: it is looked at when somebody asks, and only once."""
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
        names, ends = objects, [line[match.start() :] for match in _WORD.finditer(line)]
        if line[-1:].isspace():  # a name may go on behind a space
            ends.append("")
        elif line:
            scope = self.session.engine.scope(self.session.prompt, self.session.state)
            names = list(dict.fromkeys([*objects, *sorted(scope.names())]))
        fits = (
            [(typed, name) for name in names if name.lower().startswith(typed.lower())]
            for typed in ends
        )
        for typed, name in next(filter(None, fits), ()):
            yield Completion(name, -len(typed))
        for sentence in to_try(self.session.prompt, objects, _MOST_SENTENCES):
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
        if command == "robot":
            return sorted(registry.robots())
        if command == "model":
            return model_names()
        if command == "save":
            return [entry.name for entry in session.state.definitions if entry.origin != "skill"]
        if command == "help":
            return COMMANDS
        return ["all"] if command == "prompt" else []
