"""Questions at a terminal: what was typed before one is no answer to it."""

from __future__ import annotations

import os
import pty
import termios
from collections.abc import Callable, Iterator

import pytest

from cap.cli.session_options import ask_for_program, ask_person


@pytest.fixture
def terminal(monkeypatch: pytest.MonkeyPatch) -> Iterator[int]:
    """A person's end of a terminal; a no is typed as soon as a question was prepared."""
    person, ours = pty.openpty()
    flush = termios.tcflush

    def flushed(stream: object, queue: int) -> None:
        flush(ours, queue)
        os.write(person, b"n\n\n")

    monkeypatch.setattr(termios, "tcflush", flushed)
    with os.fdopen(ours) as stdin:
        monkeypatch.setattr("sys.stdin", stdin)
        yield person
    os.close(person)


@pytest.mark.parametrize(
    "asked",
    [
        lambda: ask_person("Move?"),
        lambda: ask_for_program("put_first_on_second('red block', 'blue bowl')").allowed,
    ],
    ids=["a call", "a program"],
)
def test_what_was_typed_ahead_approves_nothing(terminal: int, asked: Callable[[], bool]) -> None:
    os.write(terminal, b"y\ny\n")
    assert asked() is False
