"""Questions at a terminal: what was typed before one is no answer to it."""

from __future__ import annotations

import os
import pty
import termios
from collections.abc import Callable, Iterator

import pytest

from cap.cli.session_options import ask_for_program, ask_person


@pytest.fixture
def terminal(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> Iterator[int]:
    """A person's end of a terminal; a no is typed as soon as a question was prepared."""
    person, ours = pty.openpty()
    flush = termios.tcflush

    def flushed(stream: object, queue: int) -> None:
        flush(ours, queue)
        os.write(person, getattr(request, "param", b"n\n\n"))

    monkeypatch.setattr(termios, "tcflush", flushed)
    with os.fdopen(ours) as stdin:
        monkeypatch.setattr("sys.stdin", stdin)
        yield person
    os.close(person)


QUESTIONS = pytest.mark.parametrize(
    "asked",
    [
        lambda: ask_person("Move?"),
        lambda: ask_for_program("put_first_on_second('red block', 'blue bowl')").allowed,
    ],
    ids=["a call", "a program"],
)


@QUESTIONS
def test_what_was_typed_ahead_approves_nothing(terminal: int, asked: Callable[[], bool]) -> None:
    os.write(terminal, b"y\ny\n")
    assert asked() is False


@QUESTIONS
@pytest.mark.parametrize("terminal", [b"\x04"], indirect=True)
def test_ctrl_d_at_a_question_is_a_no(
    terminal: int, asked: Callable[[], bool], capsys: pytest.CaptureFixture[str]
) -> None:
    assert asked() is False
    assert "taken as no" in capsys.readouterr().err


@pytest.mark.parametrize("terminal", [b"e\ne\ne\n"], indirect=True)
def test_an_edit_with_a_slip_goes_on_where_it_was(
    terminal: int, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    opened: list[str] = []

    def edit(text: str, **_: object) -> str:
        opened.append(text)
        return ("say('hi'", "say('hi\0')", "say('hi')\n")[len(opened) - 1]

    monkeypatch.setattr("click.edit", edit)
    assert ask_for_program("say('ho')").edited == "say('hi')\n"
    assert opened == ["say('ho')", "say('hi'", "say('hi\0')"]
    assert "line 1" in capsys.readouterr().err
