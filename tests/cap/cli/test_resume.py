"""`--resume`, `--replay`, `cap skills`, `/save`: what is kept, through the real command."""

from __future__ import annotations

import io
import json
import signal
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from cap.cli.main import run
from cap.session.session import Session
from tests.cap.conftest import Cap
from tests.fakes.openai_server import FakeServer
from tests.rows import cases

Capture = pytest.CaptureFixture[str]
INSTANT = ["--mode", "instant"]
ANSWERS = {
    "move": "x = [1]\nput_first_on_second('red block', 'blue bowl')",
    "count": "x.append(len(x) + 1)\nsay(str(x))",
    "area": "say(str(get_area('red block')))",
    "define function: get_area('red block')": (
        "def get_area(name):\n    '''Return an area, square metres.'''\n    return 0.25\n"
    ),
    "use it": "say(str(get_area('blue bowl') * 2))",
    "loop": "say('in')\nwhile True:\n    pass",
    "set": ("y = np.array([0.1, 0.25])\ndef twice(v):\n    return 2 * v\nunread = 3"),
    "read": "say(f'{x} {twice(y)} {objects[objects.index(\"red block\")]}')",
}


@pytest.fixture
def model() -> Iterator[list[str]]:
    def answer(prompt: str, body: object) -> str:
        line = prompt.rstrip().splitlines()[-1].removeprefix("# ").removesuffix(".")
        return ANSWERS.get(line, "say('?')")

    with FakeServer(answer) as server:
        yield ["-m", "vllm/fake", "--base-url", server.url]


def turns(capsys: Capture) -> list[dict[str, Any]]:
    found: list[dict[str, Any]] = json.loads(capsys.readouterr().out)["turns"]
    return found


def said(turn: dict[str, Any]) -> list[str]:
    return [call["args"][0] for call in turn["calls"] if call["name"] == "say"]


@pytest.fixture
def own(robot: Path) -> str:
    """A run, in the folder `o`, of a robot from a file."""
    words = "move the red marker to the left"
    assert run(["run", words, "-r", str(robot), "--out", "o"]) == 0
    return str(robot)


def test_a_run_of_ones_own_robot_is_replayed_and_gone_on_with(own: str, capsys: Capture) -> None:
    assert run(["run", "--replay", "o", "-r", own]) == 0
    assert "same result as in the run" in capsys.readouterr().out
    again = ["move the blue marker to the left", "-r", own, "--out", "p", "--json"]
    assert run(["run", "--resume", "o", *again]) == 0
    assert turns(capsys)[0]["failure"] is None
    assert json.loads(Path("p/session.json").read_text())["turns"] == 2


def test_a_killed_session_resumes_at_its_last_finished_turn(
    model: list[str], cap: Cap, capsys: Capture
) -> None:
    command = [sys.executable, "-m", "cap", "run", "move", "loop", "--out", "o", *INSTANT, *model]
    process = subprocess.Popen(command, stdout=subprocess.PIPE, text=True)
    assert process.stdout is not None
    while '"in"' not in process.stdout.readline():
        assert process.poll() is None
    process.send_signal(signal.SIGKILL)
    process.communicate(timeout=20)
    capsys.readouterr()
    out = cap(["run", "--resume", "o", "count", *model, "--json"]).out
    assert said(json.loads(out)["turns"][0]) == ["[1, 2]"]
    (folder,) = Path("runs").iterdir()
    assert json.loads((folder / "run.json").read_text())["resumed"] == "o"
    assert "same result as in the run" in cap(["run", "--replay", "o"]).out


@pytest.mark.sweep(share=0.4)
@cases(("arguments", "message"))
def test_what_cannot_be_resumed_or_replayed(
    arguments: list[str], message: str, capsys: Capture
) -> None:
    run(["run", "put the red block in the blue bowl", *INSTANT, "--out", "o"])
    Path("damaged").mkdir()
    Path("damaged/session.json").write_text("{}")
    capsys.readouterr()
    assert run(["run", *arguments]) == 2
    (line,) = [part for part in capsys.readouterr().err.splitlines() if part.startswith("error:")]
    assert message in line


def test_a_program_of_a_later_turn_runs_alone(model: list[str], capsys: Capture) -> None:
    """It reads a variable and a function of earlier turns, and the robot's own facts."""
    words = ["move", "set", "read"]
    assert run(["run", *words, "--out", "o", *INSTANT, *model, "--seed", "5"]) == 0
    stored = Path("o/programs/03_ui.py").read_text()
    assert stored.startswith("# Variables that were there before.\nx = [1]\n")
    assert "objects =" not in stored
    capsys.readouterr()
    assert run(["exec", "o/programs/03_ui.py", *INSTANT, "--seed", "5", "--json"]) == 0
    (turn,) = turns(capsys)
    assert said(turn) == ["[1] [0.2 0.5] red block"]


def test_replay_of_what_came_out_otherwise(model: list[str], cap: Cap, capsys: Capture) -> None:
    run(["run", "move", "--out", "o", *INSTANT, *model])
    path = Path("o/events.jsonl")
    path.write_text(path.read_text().replace('"ok": true', '"ok": false'))
    capsys.readouterr()
    told = cap(["run", "--replay", "o"], 1)
    assert "result differs from the run: move" in told.out


Talk = Callable[..., tuple[int, str, str]]


@pytest.fixture
def repl(capsys: Capture, monkeypatch: pytest.MonkeyPatch) -> Talk:
    """Give lines to the REPL; return its exit code, output and errors."""

    def talk(data: bytes, *arguments: str) -> tuple[int, str, str]:
        capsys.readouterr()
        monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(data), encoding="utf-8"))
        code = run(["repl", *INSTANT, *arguments])
        return code, *capsys.readouterr()

    return talk


def test_a_skill_kept_in_the_repl_serves_a_later_run(
    model: list[str], repl: Talk, capsys: Capture
) -> None:
    code, out, error = repl(b"area\n/scope\n/save get_area\n/scope\n/save get_area\n", *model)
    assert code == 1, error  # of the second time
    assert "get_area  generated" in out
    assert "skill 'get_area' already" in error
    file = Path.home() / ".local/share/cap/skills/get_area.py"
    assert '# instruction = "area"' in file.read_text()
    assert run(["run", "use it", *INSTANT, *model, "--json", "--out", "o"]) == 0
    (turn,) = turns(capsys)
    assert said(turn) == ["0.5"]
    assert run(["skills", "list", "--json"]) == 0
    (row,) = json.loads(capsys.readouterr().out)
    assert row["signature"] == "get_area(name)"
    assert run(["skills", "remove", "get_area"]) == 0
    assert not file.exists()
    assert run(["run", "--replay", "o"]) == 0  # it has the skills of the run


def test_physics_goes_on_in_the_engine_it_began_in(capsys: Capture) -> None:
    pytest.importorskip("pybullet")
    physics = ["--mode", "physics", "-R", "engine=pybullet"]
    assert run(["run", "put the red block in the blue bowl", *physics, "--out", "a"]) == 0
    assert run(["run", "put the green block in the red bowl", "--resume", "a", "--out", "b"]) == 0
    assert json.loads(Path("b/session.json").read_text())["robot"]["engine"] == "pybullet"
    capsys.readouterr()
    assert run(["run", "hi", "--resume", "a", "-R", "engine=mujoco"]) == 2
    assert (
        "the saved session uses engine=pybullet; start without -R engine" in capsys.readouterr().err
    )
    with Session.resume("b", mode="instant", runs="runs") as session:
        assert session.robot.engine is None  # type: ignore[attr-defined]
