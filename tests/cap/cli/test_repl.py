"""`cap repl` through a real terminal, and through a pipe."""

from __future__ import annotations

import fcntl
import os
import pty
import select
import subprocess
import sys
import termios
import time
from collections.abc import Iterator

import pytest

from tests.fakes.openai_server import FakeServer

COMMAND = [sys.executable, "-m", "cap", "repl", "--mode", "instant"]


class Terminal:
    """A program on a pseudo-terminal."""

    def __init__(self, command: list[str]) -> None:
        self.master, slave = pty.openpty()
        env = {**os.environ, "TERM": "dumb", "COLUMNS": "80"}
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
