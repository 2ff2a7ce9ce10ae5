"""Questions at a terminal: what was typed before one is no answer to it."""

from __future__ import annotations

import os
import pty
import select
import signal
import subprocess
import sys
import termios
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from cap.cli.approval import ask_for_program, ask_person


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


PATIENCE_S = 60.0
"""Each answer takes a second at most; the rest is for a machine that has other work."""
ASKED = b"[y/N]: "
MOVE = "put_first_on_second('red block', [0.1, -0.4])\n"


class Terminal:
    """A `cap` command at a terminal of its own, as a person has it."""

    def __init__(self, process: subprocess.Popen[bytes], person: int) -> None:
        self.process = process
        self.person = person
        self.shown = b""

    def type(self, text: bytes) -> None:
        os.write(self.person, text)

    def await_shown(self, text: bytes) -> None:
        """Wait until a text is shown, after what was waited for before."""
        until = time.monotonic() + PATIENCE_S
        while text not in self.shown:
            left_s = until - time.monotonic()
            assert left_s > 0, f"{text!r} is not shown: {self.shown!r}"
            if select.select([self.person], [], [], left_s)[0]:
                self.shown += os.read(self.person, 4096)
        self.shown = self.shown.partition(text)[2]

    def ended(self) -> tuple[int, bytes]:
        """Wait for the end; return the exit code and what was shown last."""
        until = time.monotonic() + PATIENCE_S
        while self.process.poll() is None or select.select([self.person], [], [], 0.0)[0]:
            assert time.monotonic() < until, self.shown
            try:
                if select.select([self.person], [], [], 0.05)[0]:
                    self.shown += os.read(self.person, 4096)
            except OSError:  # its end of the terminal is closed
                break
        return self.process.wait(PATIENCE_S), self.shown


@contextmanager
def at_terminal(*command: str) -> Iterator[Terminal]:
    """Run a command on the instant table at a terminal; nothing of it is left after."""
    person, ours = pty.openpty()
    table = ("-r", "ravens", "--mode", "instant", "--objects", "red block, blue bowl")
    process = subprocess.Popen(
        [sys.executable, "-m", "cap", *command, *table, "--approve", "each-call"],
        stdin=ours,
        stdout=ours,
        stderr=ours,
        start_new_session=True,
        preexec_fn=lambda: os.close(os.open(os.ttyname(0), os.O_RDWR)),  # Ctrl-C reaches it
        env={**os.environ, "TERM": "dumb", "NO_COLOR": "1"},
    )
    os.close(ours)
    try:
        yield Terminal(process, person)
    finally:
        process.kill()
        process.wait()
        os.close(person)


@pytest.mark.sweep(share=0.4)
@pytest.mark.parametrize(
    "number", [signal.SIGINT, signal.SIGTERM, signal.SIGHUP, signal.SIGQUIT], ids=lambda n: n.name
)
def test_a_stop_at_a_call_s_question_ends_the_command_in_order(
    number: signal.Signals, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    Path("w.py").write_text(MOVE)
    with at_terminal("exec", "w.py") as terminal:
        terminal.await_shown(b"e(dit): ")
        terminal.type(b"y\n")
        terminal.await_shown(ASKED)
        if number == signal.SIGINT:
            terminal.type(b"\x03")
        else:
            terminal.process.send_signal(number)
        code, shown = terminal.ended()
    assert code == 128 + number, shown
    assert b"Fatal" not in shown


def test_a_yes_after_ctrl_c_answers_no_question_of_before(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    words = b"put the red block in the blue bowl\r"
    with at_terminal("repl") as terminal:
        terminal.await_shown(b"Ctrl-D leaves")
        terminal.type(words)
        terminal.await_shown(b"e(dit): ")
        terminal.type(b"y\r")
        terminal.await_shown(ASKED)
        terminal.type(b"\x03")
        terminal.await_shown(b"stopped by Ctrl-C")
        terminal.await_shown(b"cap> ")
        terminal.type(b"y\n")
        terminal.await_shown(b"cannot match 'y'")  # an instruction, as anything typed here
        terminal.await_shown(b"language model with -m")
        terminal.await_shown(b"cap> ")  # what is typed before would not be run after a failure
        terminal.type(b"/scene\r")
        terminal.await_shown(b"red block: (")
        terminal.type(words)
        terminal.await_shown(b"e(dit): ")
        terminal.type(b"y\r")
        terminal.await_shown(ASKED)
        terminal.type(b"y\r")
        terminal.await_shown(b"moved red block")
        terminal.type(b"/quit\r")
        assert terminal.ended()[0] == 0


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
