"""Questions at a terminal: what was typed before one is no answer to it."""

from __future__ import annotations

import os
import pty
import subprocess
import sys
import termios
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from cap.cli.approval import ask_for_program, ask_person
from tests.fakes.terminal import PROMPT, Terminal


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


@pytest.mark.parametrize(
    ("terminal", "allowed"),
    [(b"y\n", True), (b"Yes\n", True), (b"no\n\n", False), (b"yep\nn\n\n", False)],
    indirect=["terminal"],
)
def test_a_whole_word_is_an_answer(terminal: int, allowed: bool) -> None:
    assert ask_for_program("say('hi')").allowed is allowed


@QUESTIONS
@pytest.mark.parametrize("terminal", [b"\x04"], indirect=True)
def test_ctrl_d_at_a_question_is_a_no(
    terminal: int, asked: Callable[[], bool], capsys: pytest.CaptureFixture[str]
) -> None:
    assert asked() is False
    assert "assuming no" in capsys.readouterr().err


ASKED = "[y/N]: "


def at_terminal(*command: str) -> Terminal:
    """Run a command on the instant table at a terminal."""
    table = ["-r", "ravens", "--mode", "instant", "--objects", "red block, blue bowl"]
    return Terminal([sys.executable, "-m", "cap", *command, *table, "--approve", "each-call"])


def test_a_yes_after_ctrl_c_answers_no_question_of_before() -> None:
    words = "put the red block in the blue bowl\r"
    with at_terminal("repl") as terminal:
        terminal.wait_for("Ctrl-D leaves", PROMPT)
        terminal.type(words)
        terminal.wait_for("e(dit): ")
        terminal.type("y\r")
        terminal.wait_for(ASKED)
        terminal.type("\x03")
        terminal.wait_for("stopped by Ctrl-C", PROMPT)
        terminal.says("y", "cannot match 'y'")  # an instruction, as anything typed here
        terminal.type(words)
        terminal.wait_for("e(dit): ")
        terminal.type("y\r")
        terminal.wait_for(ASKED)
        terminal.type("y\r")
        terminal.wait_for("moved red block", PROMPT)
        terminal.type("/quit\r")
        assert terminal.ended() == 0


EDITED = """
from cap.cli.approval import edited
from cap.engine.stop_signals import stop_signals
with stop_signals:
    print(edited("x = 1\\n"))
"""


def test_an_editor_that_takes_ctrl_c_for_itself_is_waited_for(tmp_path: Path) -> None:
    editor = tmp_path / "editor"
    editor.write_text("#!/bin/sh\ntrap '' INT\nkill -INT $PPID\nsleep 0.2\necho 'x = 2' > $1\n")
    editor.chmod(0o755)
    done = subprocess.run(
        [sys.executable, "-c", EDITED],
        env={**os.environ, "VISUAL": str(editor)},
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )
    assert (done.returncode, done.stdout) == (0, "('x = 2\\n', '')\n"), done.stderr
