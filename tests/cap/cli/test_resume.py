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
from cap.errors import SavedError
from cap.robot import robot_files
from cap.session.session import Session
from cap.trace.reader import read_events
from tests.cap.cli.conftest import Cap
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
    "wrong": "say(undefined_name)",
    "set": (
        "y = np.array([0.1, 0.25])\nplace = Point(0.5, 0.25)\ndef twice(v):\n    return 2 * v\n"
        "unread = 3"
    ),
    "read": "say(f'{x} {twice(y)} {place.x} {objects[objects.index(\"red block\")]}')",
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


def positions(folder: str) -> Any:
    return json.loads((Path(folder) / "session.json").read_text())["world"]


@pytest.fixture
def own() -> str:
    """A run, in the folder `o`, of a robot from a file."""
    assert run(["robots", "new", "my_arm"]) == 0
    assert (
        run(["run", "move the red marker to the left", "-r", "my_arm/robot.py", "--out", "o"]) == 0
    )
    return "my_arm/robot.py"


def test_a_run_of_ones_own_robot_is_replayed_and_gone_on_with(own: str, capsys: Capture) -> None:
    header = json.loads(Path("o/run.json").read_text())
    assert header["robot_file"] == str(Path(own).resolve())
    assert run(["run", "--replay", "o", "-r", own]) == 0
    assert "same result as in the run" in capsys.readouterr().out
    again = ["move the blue marker to the left", "-r", own, "--out", "p", "--json"]
    assert run(["run", "--resume", "o", *again]) == 0
    (before,), (turn,) = json.loads(Path("o/session.json").read_text())["history"], turns(capsys)
    assert (before["instruction"], turn["failure"]) == ("move the red marker to the left", None)
    assert json.loads(Path("p/session.json").read_text())["turns"] == 2


def test_the_file_a_saved_session_names_is_executed_only_with_a_word(
    own: str, capsys: Capture
) -> None:
    marked = 'open("executed", "a").close()\n'
    Path(own).write_text(Path(own).read_text().replace("Array = ", marked + "Array = ", 1))
    for more in (["--replay", "o"], ["--resume", "o", "undo that"]):
        assert run(["run", *more]) == 2
        assert f"add -r {Path(own).resolve()}" in capsys.readouterr().err
    with pytest.raises(SavedError, match="executes no file"):
        Session.resume(Path("o"))
    assert not Path("executed").exists()
    sys.modules.pop(robot_files.load_module(Path(own)).__name__)
    assert run(["run", "--replay", "o", "-r", own]) == 0


def test_another_robots_file_is_refused(own: str, cap: Cap) -> None:
    assert run(["robots", "new", "other"]) == 0
    assert (
        "saved with robot 'my_arm'" in cap(["run", "--replay", "o", "-r", "other/robot.py"], 2).err
    )


def test_resume_goes_on_with_world_variables_and_history(model: list[str], capsys: Capture) -> None:
    both = ["run", "move", "count", "--out", "both", *INSTANT, *model, "--json", "--seed", "3"]
    assert run(both) == 0
    whole = turns(capsys)
    assert run(["run", "move", "--out", "one", *INSTANT, *model, "--seed", "3", "--json"]) == 0
    turns(capsys)
    assert run(["run", "--resume", "one", "count", "--out", "two", *model, "--json"]) == 0
    (second,) = turns(capsys)
    assert said(second) == said(whole[1]) == ["[1, 2]"]
    assert positions("two") == positions("both")
    assert json.loads(Path("two/run.json").read_text())["resumed"] == "one"


def test_undo_that_works_across_the_end_of_a_process(cap: Cap) -> None:
    run(["run", "put the red block in the blue bowl", *INSTANT, "--out", "one"])
    shown = cap(["run", "--resume", "one", "undo that", "--json"]).out.splitlines()[-1]
    (turn,) = json.loads(shown)["turns"]
    assert list(turn["moved"]) == ["red block"]


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
    out, error = cap(["run", "--resume", "o", "count", *model, "--json"])
    assert said(json.loads(out)["turns"][0]) == ["[1, 2]"]
    assert "note: the last turn was interrupted and is discarded: loop" in error
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


def test_replay_needs_no_model_and_comes_out_the_same(model: list[str], capsys: Capture) -> None:
    words = ["move", "count", "area", "wrong"]
    assert run(["run", *words, "--out", "o", *INSTANT, *model, "--json", "--seed", "5"]) != 0
    before = turns(capsys)
    assert run(["run", "--replay", "o", "--out", "again", "--json"]) == 0
    shown = json.loads(capsys.readouterr().out)
    assert shown["differs"] == []
    for one, two in zip(before, shown["turns"], strict=True):
        for key in ("program", "value", "moved", "failure", "attempts"):
            assert one[key] == two[key]
    assert positions("again") == positions("o")
    assert json.loads(Path("again/run.json").read_text())["model"] == "replay/o"


def test_a_run_that_asked_once_is_replayed(capsys: Capture) -> None:
    answers = {"go": "say(parse_obj_name('it'))\nsay(parse_obj_name('it'))"}
    answers |= {"it": "ret_val = 'red block'"}

    def answer(prompt: str, body: object) -> str:
        return answers[prompt.rstrip().splitlines()[-1].removeprefix("# ").removesuffix(".")]

    with FakeServer(answer) as server:
        asked = ["-m", "vllm/fake", "--base-url", server.url, "--out", "o", "--json", *INSTANT]
        assert run(["run", "go", "go", *asked]) == 0
        assert len(server.posts) == 3
    before = turns(capsys)
    assert [turn["usage"]["requests"] for turn in before] == [2, 1]
    assert run(["run", "--replay", "o", "--out", "again", "--json"]) == 0
    for one, two in zip(before, turns(capsys), strict=True):
        assert said(one) == said(two) == ["red block"] * 2
        for key in ("requests", "prompt_tokens", "completion_tokens"):
            assert one["usage"][key] == two["usage"][key]


def test_a_program_of_a_later_turn_runs_alone(model: list[str], capsys: Capture) -> None:
    """It reads a variable, a point and a function of earlier turns, and the robot's own facts."""
    words = ["move", "set", "read"]
    assert run(["run", *words, "--out", "o", *INSTANT, *model, "--seed", "5"]) == 0
    stored = Path("o/programs/03_ui.py").read_text()
    assert stored.startswith(
        "# Variables that were there before.\n"
        "x = [1]\n"
        "y = np.array([0.1, 0.25])\n"
        "place = Point([(0.5, 0.25)])\n"
        "\n"
        "def twice"
    )
    assert "objects =" not in stored
    shown = [e["data"] for e in read_events(Path("o")) if e["kind"] == "program"]
    assert "np.array" not in shown[2]["source"]
    capsys.readouterr()
    assert run(["exec", "o/programs/03_ui.py", *INSTANT, "--seed", "5", "--json"]) == 0
    (turn,) = turns(capsys)
    assert said(turn) == ["[1] [0.2 0.5] 0.5 red block"]


def test_replay_of_what_came_out_otherwise(model: list[str], cap: Cap, capsys: Capture) -> None:
    run(["run", "move", "--out", "o", *INSTANT, *model])
    path = Path("o/events.jsonl")
    path.write_text(path.read_text().replace('"ok": true', '"ok": false'))
    capsys.readouterr()
    assert "result differs from the run: move" in cap(["run", "--replay", "o"], 1).out
    path.write_text(path.read_text().replace('"text": "move"', '"text": "move\\u001b[2J"'))
    assert "differs from the run: move\\x1b[2J" in cap(["run", "--replay", "o"], 1).out
    assert (
        "differs from the run: move\\x1b[2J" in cap(["trace", "export", "o", "--to", "gif"], 1).err
    )


def test_a_program_of_a_person_is_replayed_too(capsys: Capture) -> None:
    Path("mine.py").write_text("put_first_on_second('red block', 'blue bowl')\n")
    run(["exec", "mine.py", "--out", "o", *INSTANT])
    capsys.readouterr()
    assert run(["run", "--replay", "o"]) == 0
    assert "replayed: same result as in the run" in capsys.readouterr().out


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
    told = b"area\n/skills\n/save get_area\n/skills\n/save get_area\n"
    code, out, error = repl(told, *model)
    assert code == 1, error  # of the second time
    assert "get_area (generated)" in out
    assert "saved as " in out
    assert "skill 'get_area' already" in error
    file = Path.home() / ".local/share/cap/skills/get_area.py"
    assert '# instruction = "area"' in file.read_text()
    assert run(["run", "use it", *INSTANT, *model, "--json"]) == 0
    (turn,) = turns(capsys)
    assert said(turn) == ["0.5"]
    assert run(["skills", "list", "--json"]) == 0
    (row,) = json.loads(capsys.readouterr().out)
    assert row["signature"] == "get_area(name)"
    assert run(["skills", "show", "get_area"]) == 0
    assert capsys.readouterr().out == file.read_text()
    assert run(["skills", "remove", "get_area"]) == 0
    assert not file.exists()


def test_save_without_a_name_says_how(repl: Talk) -> None:
    code, _, error = repl(b"/save\n/save nothing\n")
    assert "name a function: /save NAME" in error
    assert "this session has no function 'nothing'" in error
    assert code == 1


@pytest.mark.sweep(share=0.34)
@pytest.mark.parametrize("way", ["flag", "environment", "file"])
def test_the_folder_of_skills_can_be_set(
    way: str, model: list[str], monkeypatch: pytest.MonkeyPatch, capsys: Capture
) -> None:
    Path("mine").mkdir()
    Path("mine/get_area.py").write_text("def get_area(name):\n    return 3\n")
    arguments = ["--set", "skills=mine"] if way == "flag" else []
    if way == "environment":
        monkeypatch.setenv("CAP_SKILLS", "mine")
    if way == "file":
        settings = Path.home() / ".config/cap/config.toml"
        settings.parent.mkdir(parents=True)
        settings.write_text('skills = "mine"\n')
    assert run(["skills", "path", *arguments]) == 0
    assert capsys.readouterr().out == "mine\n"
    assert run(["run", "use it", *INSTANT, *model, "--json", *arguments]) == 0
    (turn,) = turns(capsys)
    assert said(turn) == ["6"]


def test_a_folders_own_file_may_not_set_the_skills_unasked(cap: Cap) -> None:
    Path("cap.toml").write_text('skills = "theirs"\n')
    shown = cap(["skills", "path"])
    assert "theirs" not in shown.out
    assert "skills ignored" in shown.err


def test_a_damaged_skill_is_left_out_with_a_line(cap: Cap) -> None:
    Path("mine").mkdir()
    Path("mine/f.py").write_text("def f():\n    import os\n")
    (line,) = cap(
        ["run", "stack all the blocks", *INSTANT, "--set", "skills=mine"]
    ).err.splitlines()
    assert line.startswith("warning: skipping a skill: mine/f.py, line 2: CAP102")
    assert "damaged: mine/f.py, line 2" in " ".join(
        cap(["skills", "list", "--skills", "mine"]).out.split()
    )
    assert run(["skills", "show", "f", "--skills", "mine"]) == 2


def test_a_robot_is_told_which_skills_it_cannot_use(cap: Cap) -> None:
    Path("mine").mkdir()
    Path("mine/drive.py").write_text("def drive():\n    goto_loc('desk')\n")
    (row,) = json.loads(cap(["skills", "list", "--skills", "mine", "-r", "ravens", "--json"]).out)
    assert row["left out"] == "needs goto_loc"


def test_a_replay_has_the_skills_of_the_run_even_if_they_are_gone(
    model: list[str], capsys: Capture
) -> None:
    Path("mine").mkdir()
    file = Path("mine/get_area.py")
    file.write_text("def get_area(name):\n    return 3\n")
    run(["run", "use it", *INSTANT, *model, "--set", "skills=mine", "--out", "o"])
    file.unlink()
    capsys.readouterr()
    assert run(["run", "--replay", "o"]) == 0


def test_repl_resumes(model: list[str], repl: Talk) -> None:
    run(["run", "move", *INSTANT, *model, "--out", "o"])
    _, out, _ = repl(b"count\n", "--resume", "o", *model)
    assert 'robot says: "[1, 2]"' in out


def test_odd_bytes_on_a_pipe_do_not_end_the_repl() -> None:
    data = b"\xff\xfe\x1b[A\x1b[200~\n\x00\n\x1b\n/\xff\x1b[2J\n\xf0\x9f\n/scene\n"
    command = [sys.executable, "-m", "cap", "repl", *INSTANT]
    done = subprocess.run(command, input=data, capture_output=True, check=False, timeout=60)
    assert done.returncode == 1, done.stderr
    assert b"red block: (" in done.stdout
    assert b"Traceback" not in done.stderr
    assert b"\x1b" not in done.stdout + done.stderr


def test_the_run_says_what_the_model_took(model: list[str], cap: Cap) -> None:
    shown = cap(["run", "move", "count", *INSTANT, *model]).out
    assert shown.count("; 1 request, ") == 2
    assert "total: 2 requests, " in shown


def test_nearest_takes_nothing_and_says_nothing_of_it(capsys: Capture) -> None:
    run(["run", "put the red block in the blue bowl", "undo that", *INSTANT])
    assert "tokens" not in capsys.readouterr().out


def test_usage_as_json(model: list[str], capsys: Capture) -> None:
    run(["run", "move", "area", *INSTANT, *model, "--json"])
    shown = json.loads(capsys.readouterr().out)
    assert [turn["usage"]["requests"] for turn in shown["turns"]] == [1, 2]
    assert shown["usage"]["requests"] == 3
    assert shown["turns"][0]["attempts"] == 1


def test_a_repair_is_one_line(model: list[str], capsys: Capture) -> None:
    run(["run", "wrong", *INSTANT, *model])
    lines = capsys.readouterr().out.splitlines()
    repairs = [line.strip() for line in lines if line.strip().startswith("attempt ")]
    assert repairs
    assert repairs[0].startswith("attempt 2: line 1: name 'undefined_name' is not defined")


def test_a_pipe_gets_whole_programs_only(
    model: list[str], cap: Cap, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("COLUMNS", "200")
    assert (
        cap(["run", "move", *INSTANT, *model]).out.count(
            "put_first_on_second('red block', 'blue bowl')"
        )
        == 2
    )


def test_a_sitting_with_redo_and_another_model_is_replayed(
    model: list[str], repl: Talk, cap: Cap
) -> None:
    lines = "put the red block in the blue bowl\n/undo\n/redo\n/model vllm/fake {}\nmove\ncount\n"
    code, out, error = repl(lines.format(model[-1]).encode(), "--out", "o")
    assert (code, error) == (0, "")
    assert "now using model vllm/fake" in out
    assert "replayed: same result as in the run" in cap(["run", "--replay", "o"]).out
    told = cap(["trace", "show", "o"]).out
    assert "redone: the turn, including the world" in told
    assert "now using model vllm/fake" in told


def test_physics_goes_on_in_the_engine_it_began_in(capsys: Capture) -> None:
    pytest.importorskip("pybullet")
    physics = ["--mode", "physics", "-R", "engine=pybullet"]
    assert run(["run", "put the red block in the blue bowl", *physics, "--out", "a"]) == 0
    assert json.loads(Path("a/run.json").read_text())["engine"] == "pybullet"
    assert run(["run", "put the green block in the red bowl", "--resume", "a", "--out", "b"]) == 0
    saved = json.loads(Path("b/session.json").read_text())
    assert saved["robot"]["engine"] == "pybullet"
    capsys.readouterr()
    assert run(["run", "hi", "--resume", "a", "-R", "engine=mujoco"]) == 2
    assert "which no other engine goes on with" in capsys.readouterr().err
    del saved["robot"]["engine"]  # as saved before there was a choice
    Path("b/session.json").write_text(json.dumps(saved))
    with Session.resume("b", runs="runs") as session:
        assert session.robot.engine == "pybullet"  # type: ignore[attr-defined]
    with Session.resume("b", mode="instant", runs="runs") as session:
        assert session.robot.engine is None  # type: ignore[attr-defined]


def test_lines_that_a_replay_leaves_out_are_told(capsys: Capture) -> None:
    assert (
        run(["run", "put the red block in the blue bowl", "--mode", "instant", "--out", "o"]) == 0
    )
    events = Path("o/events.jsonl")
    lines = events.read_text().splitlines()
    events.write_text("\n".join(["null", "{garbage", *lines]))
    capsys.readouterr()
    assert run(["run", "--replay", "o"]) == 0
    warned = [line for line in capsys.readouterr().err.splitlines() if line.startswith("warning:")]
    assert warned == [
        f"warning: line {number} of o/events.jsonl cannot be read; skipping it" for number in (1, 2)
    ]
