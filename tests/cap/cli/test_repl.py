"""`cap repl` through a real terminal, and through a pipe."""

from __future__ import annotations

import io
import json
import os
import re
import signal
import subprocess
import sys
from collections.abc import Callable, Sequence
from pathlib import Path

import pytest

from cap.cli.main import run
from cap.trace.reader import read_events
from tests.fakes.terminal import PROMPT, Terminal

COMMAND = [sys.executable, "-m", "cap", "repl", "--mode", "instant"]


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

    def feed(*lines: str, more: Sequence[str] = ()) -> tuple[int, str, str]:
        data = io.BytesIO("".join(f"{line}\n" for line in lines).encode())
        monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(data))
        return run(["repl", "--mode", "instant", *more]), *capsys.readouterr()

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


def test_it_is_never_the_thing_before_the_one_that_could_not_be_had(fed: Fed) -> None:
    lines = ["pick up the apple", "put it down", "pick up the unicorn", "put it on the desk"]
    lines += ["put it in the bowl", "pick up the cup", "put it down"]
    code, out, _ = fed(*lines, more=["-r", "kitchen"])
    assert out.count("moved apple to table") == 1
    for unclear in ("put it on the desk", "put it in the bowl"):
        assert f"'pick up the unicorn' failed, so '{unclear}' may refer to something else" in out
    assert "moved cup to table" in out
    assert code == 1


def test_a_failed_drawing_changes_no_later_one(fed: Fed) -> None:
    lines = ["make it bigger", "draw a hexagon", "draw a haus", "draw a square", "make it bigger"]
    out = fed(*lines, more=["-r", "drawing"])[1]
    assert "list index out of range; shapes is empty: there is nothing yet to refer to" in out
    assert out.count("\n  failed: ") == 2
    assert out.count("\n  ink: ") == 3


def test_a_saved_session_in_one_sitting(fed: Fed) -> None:
    lines = ["put the red block in the blue bowl", "/save there.json", "/load there.json"]
    code, out, error = fed(*lines, "undo that")
    assert (out.count("left: runs/"), out.count("run: runs/")) == (1, 1)
    assert "moved red block from blue bowl: (0.150, -0.302, 0.024) to (0.174, -0.480, 0.020)" in out
    assert (code, error) == (0, "")
    statuses = [json.loads(path.read_text())["status"] for path in Path("runs").glob("*/run.json")]
    assert statuses == ["done"] * 2


def test_nearest_says_what_is_not_there_and_what_to_type(fed: Fed) -> None:
    here = "red block, green block, blue block, yellow block, red bowl, green bowl"
    said = {
        "put the purple block in the red bowl": f"no 'purple block' here; objects here: {here}",
        "put the red blok in the red bowl": "Did you mean 'red block'?",
        "put the big block in the red bowl": "cannot match 'big' in 'the big block'; objects here:",
        "put the red block in the bottom corner": "'in the bottom corner'; say it in other words",
        "mvoe the green block 5 cm to the left": "mean 'move the green block 5 cm to the left'",
        "pikc up the red block": "Did you mean 'pick up the red block'?",
        "wash the blue bowl": "say one of these",
    }
    out = fed(*said)[1]
    for words, message in said.items():
        assert message in out.partition(f"\n{words}\n")[2].partition("\n\n")[0]
    offers = re.findall(r"'([^']*)'", out.rpartition("it follows ")[2].partition("; say one")[0])
    assert len(offers) == 3
    assert fed(*offers)[0] == 0


@pytest.mark.parametrize("robot", ["ravens", "drawing"])
def test_examples_stand_alone_and_are_understood(fed: Fed, robot: str) -> None:
    out = fed("/examples", more=["-r", robot])[1]
    examples = [line.strip() for line in out.split("\n") if line.startswith("  ")]
    assert len(examples) > 4
    assert not re.search(r"\b(it|that|again|bin|undo|cut)\b", " ".join(examples))
    alone = [line for words in examples for line in (words, "/undo")]
    assert fed(*alone, more=["-r", robot])[0] == 0


def test_the_way_back_to_a_session_is_said(fed: Fed, tmp_path: Path) -> None:
    assert run(["robots", "new", "my_arm"]) == 0
    Path("wrong.py").write_text("names = ['a']\nsay(names[5])\n")
    lines = ["put the red block in the blue bowl", "/save here.json", "/save nothing"]
    _, out, error = fed("/scene", *lines, "/load wrong.py", "/quit")
    assert "saved: here.json; to continue the session: /load here.json" in out
    assert "has no function 'nothing'. It has: none yet; to save the session: /save" in error
    assert "IndexError (line 2): list index out of range\n  line 2: say(names[5])\n" in out
    assert out.splitlines()[-1].startswith("to continue: cap repl --resume runs/")
    _, out, error = fed("undo that", "/load here.json", more=["-r", "my_arm/robot.py"])
    assert "  here: /undo undoes the last turn" in out
    assert "'my_arm' must be closed first: /quit, then: cap repl --resume here.json" in error


def test_a_session_that_was_saved_in_another_mode_says_so(fed: Fed) -> None:
    pytest.importorskip("pybullet")
    fed("/save here.json")
    code, out, _ = fed("/load here.json", more=["--mode", "physics"])
    assert out.count("note: the saved session's mode is instant; it replaces physics") == 1
    assert code == 0


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


def test_a_terminal_that_closes_ends_the_session(tmp_path: Path) -> None:
    with Terminal([*COMMAND, "--out", str(tmp_path / "run")]) as screen:
        screen.wait_for(PROMPT)
        os.close(screen.master)
        screen.master = os.open(os.devnull, os.O_RDWR)
        assert screen.process.wait(timeout=30) == 128 + signal.SIGHUP
    header = json.loads((tmp_path / "run" / "run.json").read_text())
    assert header["status"] == "interrupted"
