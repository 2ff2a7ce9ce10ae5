"""`cap repl` through a real terminal, and through a pipe."""

from __future__ import annotations

import io
import json
import os
import re
import signal
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from cap.cli.main import run
from cap.trace.reader import read_events
from tests.fakes.openai_server import FakeServer
from tests.fakes.terminal import PROMPT, Terminal

COMMAND = [sys.executable, "-m", "cap", "repl", "--mode", "instant"]


@pytest.fixture
def looping_server() -> Iterator[FakeServer]:
    answers = {"loop": "say('looping')\nwhile True:\n    pass"}

    def answer(prompt: str, body: object) -> str:
        return answers.get(prompt.rstrip().splitlines()[-1].strip("# ."), "say('still here')")

    with FakeServer(answer) as server:
        yield server


def test_a_terminal_shows_a_program_once_and_marks_the_line_that_runs(tmp_path: Path) -> None:
    answer = "```python\nsay('one')\nput_first_on_second('red block', 'blue bowl')\n```\n"
    with FakeServer(lambda prompt, body: answer) as server:
        model = ["-m", "vllm/fake", "--base-url", server.url, "--out", str(tmp_path / "run")]
        command = [sys.executable, "-m", "cap", "run", "go", "--mode", "instant", *model]
        with Terminal(command) as terminal:
            assert terminal.ended() == 0
    out = terminal.raw
    assert "… put_first_on_second('red block', 'blue bowl')" in out
    assert "▶ 2: put_first_on_second('red block', 'blue bowl')" in out
    lines = [line.rpartition("\r\x1b[2K")[2] for line in out.split("\r\n")]
    left = [re.sub(r"\x1b\[[\d;]*m", "", line) for line in lines]
    assert left.count("  say('one')") == 1
    assert left.count("  put_first_on_second('red block', 'blue bowl')") == 1
    assert not [line for line in left if "▶" in line or "…" in line]


def test_ctrl_c_stops_the_program_and_keeps_the_session(looping_server: FakeServer) -> None:
    model = ["-m", "vllm/fake", "--base-url", looping_server.url, "--set", "time_limit=60"]
    with Terminal([*COMMAND, *model]) as terminal:
        terminal.wait_for(PROMPT)
        terminal.type("loop\r")
        terminal.wait_for('robot says: "looping"')
        terminal.wait_for("stopped by Ctrl-C", typing="\x03")
        terminal.wait_for(PROMPT)
        terminal.says("hello", "still here")
        terminal.wait_for("run: runs/", typing="\x04")
        assert terminal.ended() == 0


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


Fed = Callable[..., tuple[int, str, str]]


@pytest.fixture
def fed(capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> Fed:
    """Feed lines to a REPL in this process; its exit code, output and errors."""

    def feed(*lines: str) -> tuple[int, str, str]:
        data = io.BytesIO("".join(f"{line}\n" for line in lines).encode())
        monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(data))
        return run(["repl", "--mode", "instant"]), *capsys.readouterr()

    return feed


def test_lines_from_a_pipe(fed: Fed) -> None:
    words = "put the red block in the blue bowl"
    code, out, error = fed("/help", words, "pour the coffee", "/nothing", "/code 1")
    assert code == 1
    assert "moved red block" in out
    assert "NoMatch" in out
    assert error == "error: no command /nothing. /help lists all commands\n"
    assert out.count("put_first_on_second(moved[0], 'blue bowl')") == 2
    assert fed(words, "/undo")[0] == 0


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


def test_a_full_disk_in_mid_session_is_said() -> None:
    lines = ["put the red block in the blue bowl", "/undo"] * 4
    done = piped("\n".join([*lines, ""]), "--out", "here", before="ulimit -f 16")
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


@pytest.mark.soak
@pytest.mark.parametrize("width", [20, 80, 200])
def test_a_sitting(width: int, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    editor = tmp_path / "editor"
    editor.write_text("#!/bin/sh\necho \"say('edited ' + str(x))\" > $1\n")
    editor.chmod(0o755)
    monkeypatch.setenv("EDITOR", str(editor))
    run_folder = str(tmp_path / "run")
    with FakeServer(
        lambda prompt, body: ANSWERS[prompt.rstrip().splitlines()[-1].strip("# .")]
    ) as server:
        model = ["-m", "vllm/fake", "--base-url", server.url, "--set", "time_limit=100"]
        with Terminal([*COMMAND, *model, "--out", run_folder], width=width) as screen:
            screen.wait_for("try: put the red block in the blue bowl", PROMPT)
            screen.says("begin", "moved red block")
            screen.type("put the green bl\t")
            screen.wait_for("put the green block")
            screen.type(" in the red bo\t")
            screen.wait_for("in the red bowl")
            screen.says("", "moved green block")
            screen.type("\x1b[200~count\ncount\x1b[201~")
            screen.says("", 'robot says: "x is [1]"', 'robot says: "x is [1]"')
            screen.type("go on forever\r")
            screen.wait_for('robot says: "looping"', "→ put_first_o")
            screen.wait_for("stopped by Ctrl-C", typing="\x03")
            screen.wait_for(PROMPT)
            screen.says("/scene", "red block: (", "paths followed: 0")
            there = re.findall(r"redblock:\([^)]*\)", screen.flat(screen.raw))[-1]
            screen.says("/scene", there, "paths followed: 0")
            screen.says("fail", "ZeroDivisionError")
            screen.says("/edit", 'robot says: "edited [1]"')
            screen.says("/undo 3", "undone: 3 turns, including the world")
            screen.says("/redo", "redone: 3 turns, including the world")
            screen.says("/save session.json", "saved: session.json")
            screen.says("count", 'robot says: "x is [1]"')
            screen.type("/quit\r")
            screen.wait_for(f"run: {run_folder}")
            assert screen.ended() == 0
        with Terminal([*COMMAND, *model, "--resume", run_folder], width=width) as screen:
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
            assert screen.ended() == 0


def test_a_terminal_that_closes_ends_the_session(tmp_path: Path) -> None:
    with Terminal([*COMMAND, "--out", str(tmp_path / "run")]) as screen:
        screen.wait_for(PROMPT)
        screen.type("/sce\t")
        screen.wait_for("/scene")
        screen.says("", "red block: (")
        os.close(screen.master)
        screen.master = os.open(os.devnull, os.O_RDWR)
        assert screen.process.wait(timeout=30) == 128 + signal.SIGHUP
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
