"""`cap repl` through a real terminal, and through a pipe."""

from __future__ import annotations

import contextlib
import fcntl
import os
import pty
import re
import select
import subprocess
import sys
import termios
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.fakes.openai_server import FakeServer

COMMAND = [sys.executable, "-m", "cap", "repl", "--mode", "instant"]


class Terminal:
    """A program on a pseudo-terminal."""

    def __init__(self, command: list[str], term: str = "dumb") -> None:
        self.master, slave = pty.openpty()
        env = {**os.environ, "TERM": term, "COLUMNS": "80"}
        self.process = subprocess.Popen(
            command,
            stdin=slave,
            stdout=slave,
            stderr=slave,
            env=env,
            start_new_session=True,
            # Ctrl-C reaches only programs whose controlling terminal it is.
            preexec_fn=lambda: fcntl.ioctl(0, termios.TIOCSCTTY, 0),
        )
        os.close(slave)
        self.seen = ""

    def wait_for(self, text: str, *, typing: str = "", timeout_s: float = 30.0) -> None:
        """Read until a text appears, and forget everything up to its end.

        `typing` is typed whenever nothing comes: a key pressed while the prompt is only just
        being set up may be lost.
        """
        deadline = time.monotonic() + timeout_s
        while text not in self.seen:
            assert time.monotonic() < deadline, f"no {text!r} in {self.seen!r}"
            if select.select([self.master], [], [], 0.1)[0]:
                try:
                    self.seen += os.read(self.master, 65536).decode(errors="replace")
                except OSError:  # the other end closed
                    assert text in self.seen, self.seen
            elif typing:
                self.type(typing)
        self.seen = self.seen[self.seen.index(text) + len(text) :]

    def type(self, text: str) -> None:
        os.write(self.master, text.encode())

    def close(self) -> None:
        self.process.kill()
        self.process.wait()
        os.close(self.master)


@pytest.fixture
def looping_server() -> Iterator[FakeServer]:
    answers = {"loop": "say('looping')\nwhile True:\n    pass"}

    def answer(prompt: str, body: object) -> str:
        return answers.get(prompt.rstrip().splitlines()[-1].strip("# ."), "say('still here')")

    with FakeServer(answer) as server:
        yield server


def test_instruction_in_program_and_effect_out() -> None:
    terminal = Terminal(COMMAND)
    try:
        terminal.wait_for("cap>")
        terminal.type("put the red block in the blue bowl\r")
        terminal.wait_for("moved red block")
        terminal.wait_for("cap>")
        terminal.type("undo that\r")
        terminal.wait_for("moved red block")
        terminal.wait_for("cap>")
        terminal.type("/objects\r")
        terminal.wait_for("yellow bowl: (")
        terminal.wait_for("cap>")
        terminal.wait_for("run: runs/", typing="\x04")
        assert terminal.process.wait(timeout=10) == 0
    finally:
        terminal.close()


def test_a_terminal_shows_a_program_once_and_marks_the_line_that_runs(tmp_path: Path) -> None:
    answer = "```python\nsay('one')\nput_first_on_second('red block', 'blue bowl')\n```\n"
    with FakeServer(lambda prompt, body: answer) as server:
        model = ["-m", "vllm/fake", "--base-url", server.url, "--out", str(tmp_path / "run")]
        command = [sys.executable, "-m", "cap", "run", "go", "--mode", "instant", *model]
        terminal = Terminal(command, term="xterm")
        out = ""
        try:
            with contextlib.suppress(OSError):  # the other end closed
                while piece := os.read(terminal.master, 65536):
                    out += piece.decode()
            assert terminal.process.wait(timeout=10) == 0
        finally:
            terminal.close()
    assert "… put_first_on_second('red block', 'blue bowl')" in out
    assert "▶ 2: put_first_on_second('red block', 'blue bowl')" in out
    lines = [line.rpartition("\r\x1b[2K")[2] for line in out.split("\r\n")]
    left = [re.sub(r"\x1b\[[\d;]*m", "", line) for line in lines]
    assert left.count("  say('one')") == 1
    assert left.count("  put_first_on_second('red block', 'blue bowl')") == 1
    assert not [line for line in left if "▶" in line or "…" in line]


def test_ctrl_c_stops_the_program_and_keeps_the_session(looping_server: FakeServer) -> None:
    model = ["-m", "vllm/fake", "--base-url", looping_server.url, "--time-limit", "60"]
    terminal = Terminal([*COMMAND, *model])
    try:
        terminal.wait_for("cap>")
        terminal.type("loop\r")
        terminal.wait_for('robot says: "looping"')
        terminal.wait_for("stopped by Ctrl-C", typing="\x03")
        terminal.wait_for("cap>")
        terminal.type("hello\r")
        terminal.wait_for("still here")
        terminal.wait_for("cap>")
        terminal.type("/quit\r")
        assert terminal.process.wait(timeout=10) == 0
    finally:
        terminal.close()


def test_lines_from_a_pipe() -> None:
    lines = "/help\nput the red block in the blue bowl\npour the coffee\n/nothing\n/program\n"
    done = subprocess.run(
        COMMAND, input=lines, capture_output=True, text=True, check=False, timeout=60
    )
    assert done.returncode == 0, done.stderr
    assert "moved red block" in done.stdout
    assert "NoMatch" in done.stdout
    assert "no command /nothing" in done.stdout
    assert "Traceback" not in done.stderr
