"""`cap repl` through a real terminal, and through a pipe."""

from __future__ import annotations

import contextlib
import fcntl
import io
import json
import math
import os
import pty
import re
import select
import signal
import struct
import subprocess
import sys
import termios
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from cap.cli.main import run
from cap.trace.reader import read_events
from tests.fakes.openai_server import FakeServer

COMMAND = [sys.executable, "-m", "cap", "repl", "--mode", "instant"]


class Terminal:
    """A program on a pseudo-terminal."""

    def __init__(self, command: list[str], term: str = "dumb", width: int = 80) -> None:
        self.master, slave = pty.openpty()
        fcntl.ioctl(slave, termios.TIOCSWINSZ, struct.pack("HHHH", 40, width, 0, 0))
        env = {**os.environ, "TERM": term, "PROMPT_TOOLKIT_NO_CPR": "1"}
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
        self.pressed_s = -math.inf

    def wait_for(self, text: str, *, typing: str = "", timeout_s: float = 30.0) -> None:
        """Read until a text appears, and forget everything up to its end.

        `typing` is typed ten times a second: a key pressed while the prompt is only just being
        set up may be lost.
        """
        deadline = time.monotonic() + timeout_s
        while text not in self.seen:
            assert time.monotonic() < deadline, f"no {text!r} in {self.seen!r}"
            self.press(typing)
            if select.select([self.master], [], [], 0.1)[0]:
                try:
                    self.seen += os.read(self.master, 65536).decode(errors="replace")
                except OSError:  # the other end closed
                    assert text in self.seen, self.seen
        self.seen = self.seen[self.seen.index(text) + len(text) :]

    def press(self, key: str) -> None:
        """Type a key again if it is time to, whatever is shown meanwhile."""
        if key and time.monotonic() - self.pressed_s > 0.1:
            self.type(key)
            self.pressed_s = time.monotonic()

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
        terminal.type("/scene\r")
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
    model = ["-m", "vllm/fake", "--base-url", looping_server.url, "--set", "time_limit=60"]
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


def piped(
    lines: str, *more: str, before: str = "", **settings: str
) -> subprocess.CompletedProcess[str]:
    """Run a REPL that is fed by a pipe; `before` is what a shell does first."""
    command = ["sh", "-c", f'{before}\nexec "$@"', "sh", *COMMAND, *more]
    return subprocess.run(
        command,
        input=lines,
        capture_output=True,
        text=True,
        check=False,
        timeout=100,
        env={**os.environ, **settings},
    )


def test_lines_from_a_pipe() -> None:
    lines = "/help\nput the red block in the blue bowl\npour the coffee\n/nothing\n/code 1\n"
    done = piped(lines)
    assert done.returncode == 1, done.stderr
    assert "moved red block" in done.stdout
    assert "NoMatch" in done.stdout
    assert done.stderr == "error: no command /nothing. /help lists all commands\n"
    assert done.stdout.count("put_first_on_second(moved[0], 'blue bowl')") == 2


Fed = Callable[..., tuple[int, str, str]]


@pytest.fixture
def fed(capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> Fed:
    """Feed lines to a REPL in this process; its exit code, output and errors."""

    def feed(*lines: str) -> tuple[int, str, str]:
        data = io.BytesIO("".join(f"{line}\n" for line in lines).encode())
        monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(data))
        return run(["repl", "--mode", "instant"]), *capsys.readouterr()

    return feed


def test_a_pipe_ends_with_1_where_anything_failed(fed: Fed) -> None:
    assert fed("put the red block in the blue bowl", "/undo")[0] == 0
    assert fed("pour the coffee", "put the red block in the blue bowl")[0] == 1
    assert fed("/undo", "/scene")[0] == 1


def test_another_robot_and_a_saved_session_in_one_sitting(fed: Fed) -> None:
    lines = ["put the red block in the blue bowl", "/save there.json", "/robot kitchen"]
    lines += ["pick up the apple", "/load there.json", "/scene", "undo that", "/robot nosuch"]
    code, out, error = fed(*lines, "/robot")
    assert "robot kitchen (instant)" in out
    assert "held: nothing to apple" in out
    assert (out.count("left: runs/"), out.count("run: runs/")) == (2, 1)
    assert "moved red block from blue bowl: (0.150, -0.302, 0.024) to (0.174, -0.480, 0.020)" in out
    assert "error: unknown robot 'nosuch'" in error
    assert "the session is with ravens\nravens; others:" in out
    assert code == 1
    statuses = [json.loads(path.read_text())["status"] for path in Path("runs").glob("*/run.json")]
    assert statuses == ["done"] * 3


def test_a_full_disk_in_mid_session_is_said_and_the_session_lives_on() -> None:
    lines = ["put the red block in the blue bowl", "/undo"] * 4
    done = piped("\n".join([*lines, "/code", ""]), "--out", "here", before="ulimit -f 16")
    assert "here cannot be written: File too large; what follows is not saved" in done.stdout
    assert done.stdout.count("moved red block") == 4
    assert done.stdout.count("undone: the last turn, including the world") == 4
    assert "there are no turns yet" in done.stderr
    assert "File too large" in done.stderr
    assert "Traceback" not in done.stderr
    assert done.returncode == 1
    assert len(read_events(Path("here"))) > 8


@pytest.mark.sweep(share=0.3)
@pytest.mark.parametrize("closed", ["<&-", ">&-", "<&- >&- 2>&-"])
def test_without_any_terminal_it_ends_by_itself(closed: str) -> None:
    done = piped("/scene\n", before=f"exec {closed}")
    assert done.returncode == 0
    assert "Traceback" not in done.stderr


def test_whoever_stops_reading_ends_it() -> None:
    lines = "\n".join(["put the red block in the blue bowl", "undo that"] * 8)
    shell = ["bash", "-c", '"$@" | head -n 1', "bash", *COMMAND, "--out", "here"]
    done = subprocess.run(shell, input=lines, capture_output=True, text=True, timeout=100)
    assert "Traceback" not in done.stderr
    assert json.loads(Path("here/run.json").read_text())["status"] != "running"


def test_a_folder_that_cannot_be_written_is_named() -> None:
    Path("file").touch()
    done = piped("/scene\n", CAP_RUNS="file")
    assert (done.returncode, done.stdout) == (2, "")
    assert done.stderr == ("error: cannot make a run folder in file: Not a directory; use --out\n")


PROMPT = "\x1b[?2004h"
"""What a terminal is told when a prompt is ready for typing, and for pastes."""
ANSWERS = {
    "begin": "x = [1]\nput_first_on_second('red block', 'blue bowl')",
    "go on forever": "x.append(2)\nsay('looping')\nwhile True:\n"
    "    put_first_on_second('red block', 'green bowl')\n"
    "    put_first_on_second('red block', 'blue bowl')",
    "fail": "x.append(3)\n1 / 0",
    "count": "say('x is ' + str(x))",
    "put the red block in the blue bowl": "put_first_on_second('red block', 'blue bowl')",
    "put the green block in the red bowl": "put_first_on_second('green block', 'red bowl')",
}


class Screen(Terminal):
    """A terminal of some width; what it is sent is read without blanks, breaks and colours."""

    def __init__(self, command: list[str], width: int) -> None:
        super().__init__(command, term="xterm-256color", width=width)
        self.raw, self.taken = "", 0

    def wait_for(self, text: str, *, typing: str = "", timeout_s: float = 60.0) -> None:
        wanted, deadline = self.flat(text), time.monotonic() + timeout_s
        while wanted not in (left := self.flat(self.raw)[self.taken :]):
            assert time.monotonic() < deadline, f"no {text!r} in {left[:2000]!r} … {left[-500:]!r}"
            self.press(typing)
            if select.select([self.master], [], [], 0.1)[0]:
                self.raw += os.read(self.master, 65536).decode(errors="replace")
        self.taken += left.index(wanted) + len(wanted)

    @staticmethod
    def flat(text: str) -> str:
        text = text.replace(PROMPT, "\0")
        return re.sub(r"\x1b\[[\d;?]*[A-Za-z]|\s|\x08", "", text)

    def says(self, line: str, *told: str) -> None:
        """Type a line and wait for what comes of it, and for the next prompt."""
        self.type(f"{line}\r")
        for text in told:
            self.wait_for(text)
        self.wait_for(PROMPT)


@pytest.mark.soak
@pytest.mark.parametrize("width", [20, 80, 200])
def test_twenty_turns_of_a_sitting(
    width: int, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    editor = tmp_path / "editor"
    editor.write_text("#!/bin/sh\necho \"say('edited ' + str(x))\" > $1\n")
    editor.chmod(0o755)
    monkeypatch.setenv("EDITOR", str(editor))
    run_folder = str(tmp_path / "run")
    with FakeServer(
        lambda prompt, body: ANSWERS[prompt.rstrip().splitlines()[-1].strip("# .")]
    ) as server:
        model = ["-m", "vllm/fake", "--base-url", server.url, "--set", "time_limit=100"]
        screen = Screen([*COMMAND, *model, "--out", run_folder], width)
        try:
            screen.wait_for("try: put the red block in the blue bowl")
            screen.wait_for(PROMPT)
            screen.says("begin", "moved red block")
            for _ in range(3):
                screen.says("count", 'robot says: "x is [1]"')
            screen.type("put the green bl\t")
            screen.wait_for("put the green block")
            screen.type(" in the red bo\t")
            screen.wait_for("in the red bowl")
            screen.says("", "moved green block")
            screen.type("\x1b[200~count\ncount\x1b[201~")
            screen.says("", 'robot says: "x is [1]"', 'robot says: "x is [1]"')
            screen.type("go on forever\r")
            screen.wait_for('robot says: "looping"')
            screen.wait_for("→ put_first_o")
            screen.wait_for("stopped by Ctrl-C", typing="\x03")
            screen.wait_for(PROMPT)
            screen.says("/scene", "red block: (", "paths followed: 0")
            there = re.findall(r"redblock:\([^)]*\)", screen.flat(screen.raw))[-1]
            screen.says("/scene", there, "paths followed: 0")
            screen.says("count", 'robot says: "x is [1]"')
            screen.says("fail", "ZeroDivisionError")
            screen.says("/why", "line 2: 1 / 0")
            screen.says("count", 'robot says: "x is [1]"')
            screen.says("/edit", 'robot says: "edited [1]"')
            screen.says("/undo 3", "undone: 3 turns, including the world")
            screen.says("/redo", "redone: 3 turns, including the world")
            screen.says("/save session.json", "saved: session.json")
            for _ in range(8):
                screen.says("count", 'robot says: "x is [1]"')
            screen.type("/quit\r")
            screen.wait_for(f"run: {run_folder}")
            assert screen.process.wait(timeout=30) == 0
        finally:
            screen.close()
        events = read_events(Path(run_folder))
        assert sum(event["kind"] == "done" and not event["depth"] for event in events) >= 20
        screen = Screen([*COMMAND, *model, "--resume", run_folder], width)
        try:
            screen.wait_for(PROMPT)
            screen.type("put the gr")
            screen.wait_for("put the green block in the red bowl")  # suggested, of last time
            screen.type("\x03")
            screen.wait_for(PROMPT)
            screen.type("\x1b[A\x1b[A")
            screen.wait_for("count")
            screen.says("", 'robot says: "x is [1]"')
            screen.says("/scene", there)
            screen.wait_for("run: ", typing="\x04")
            assert screen.process.wait(timeout=30) == 0
        finally:
            screen.close()


def test_a_terminal_that_closes_ends_the_session(tmp_path: Path) -> None:
    screen = Screen([*COMMAND, "--out", str(tmp_path / "run")], 80)
    try:
        screen.wait_for(PROMPT)
        screen.type("/sce\t")
        screen.wait_for("/scene")
        screen.says("", "red block: (")
        os.close(screen.master)
        screen.master = os.open(os.devnull, os.O_RDWR)
        assert screen.process.wait(timeout=30) == 128 + signal.SIGHUP
    finally:
        screen.close()
    header = json.loads((tmp_path / "run" / "run.json").read_text())
    assert header["status"] == "interrupted"


BROKEN_OFF = """
import io, itertools, signal, sys
from cap.cli.console import SessionConsole
from cap.engine.stop_signals import stop_signals

def pressed(number):
    calls = itertools.count()
    out = io.StringIO()
    console = SessionConsole(file=out, force_terminal=True, color_system=None)

    def press(frame, event, arg):
        if next(calls) == number:
            signal.raise_signal(signal.SIGINT)

    stop_signals.begun()
    try:
        sys.setprofile(press)
        console.print("one")
        sys.setprofile(None)
        done = True
    except KeyboardInterrupt:
        stop_signals.taken()
        done = False
    console.print("two")
    assert out.getvalue() in ("two\\n", "one\\ntwo\\n"), (number, out.getvalue())
    return done and next(calls) <= number

with stop_signals:
    print(next(number for number in itertools.count() if pressed(number)) > 100)
"""


def test_what_is_printed_when_ctrl_c_comes_is_whole_and_more_can_be_printed() -> None:
    done = subprocess.run(
        [sys.executable, "-c", BROKEN_OFF], capture_output=True, text=True, timeout=100, check=False
    )
    assert (done.returncode, done.stdout) == (0, "True\n"), done.stderr


def test_ctrl_c_does_not_have_the_terminal_drop_what_was_printed() -> None:
    terminal = Terminal([*COMMAND])
    try:
        terminal.wait_for("cap>")
        terminal.type("/scene\r")  # the terminal is as it is while a line is carried out
        terminal.wait_for("yellow bowl: (")
        while not termios.tcgetattr(terminal.master)[3] & termios.NOFLSH:
            assert terminal.process.poll() is None
            time.sleep(0.01)
    finally:
        terminal.close()
