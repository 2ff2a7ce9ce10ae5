"""`cap run`: what a person sees, what a program reads, and every kind of bad input."""

from __future__ import annotations

import json
import shlex
from pathlib import Path
from typing import Any

import pytest

from cap.cli.main import run
from tests.cap.cli.conftest import Cap
from tests.fakes.openai_server import FakeServer
from tests.rows import cases

Capture = pytest.CaptureFixture[str]

INSTANT = ["--mode", "instant"]


def last_run() -> Path:
    (folder,) = Path("runs").iterdir()
    return folder


def events(folder: Path) -> list[dict[str, object]]:
    lines = (folder / "events.jsonl").read_text(encoding="utf-8").splitlines()
    return [json.loads(line) for line in lines]


def test_run_folder_holds_header_events_and_programs() -> None:
    run(["run", "put the red block in the blue bowl", *INSTANT, "--seed", "7", "--json"])
    folder = last_run()
    header = json.loads((folder / "run.json").read_text())
    assert header["seed"] == 7
    assert header["model"] == "nearest"
    assert header["mode"] == "instant"
    assert len(header["prompts"]["ui"]) == 64
    kinds = [event["kind"] for event in events(folder)]
    assert kinds[:2] == ["view", "instruction"]
    assert {"prompt", "completion", "program", "call", "moved", "done"} <= set(kinds)
    assert list((folder / "programs").glob("*_ui.py"))


def test_a_run_folder_is_never_overwritten(cap: Cap) -> None:
    arguments = ["run", "stack all the blocks", *INSTANT, "--out", "same"]
    assert run(arguments) == 0
    before = (Path("same") / "events.jsonl").read_bytes()
    assert "already holds a run" in cap(arguments, 2).err
    assert (Path("same") / "events.jsonl").read_bytes() == before


def test_pictures_and_gif() -> None:
    from PIL import Image

    arguments = ["run", "put the red block in the blue bowl", *INSTANT, "--pictures"]
    assert run([*arguments, "--gif", "film/x.gif", "--out", "o", "--json"]) == 0
    with Image.open("film/x.gif") as film:
        assert getattr(film, "n_frames", 1) > 1
    with Image.open("o/before.png") as before, Image.open("o/after.png") as after:
        assert before.tobytes() != after.tobytes()


def test_a_picture_of_each_turn_and_of_a_run_replayed(cap: Cap) -> None:
    from PIL import Image

    turns = ["put the red block in the blue bowl", "now move it to the top right corner"]
    told = json.loads(cap(["run", *turns, *INSTANT, "--pictures", "--out", "o", "--json"]).out)
    names = ["before.png", "turn-1.png", "turn-2.png", "after.png"]
    assert told["pictures"] == [f"o/{name}" for name in names]
    assert len({Image.open(f"o/{name}").tobytes() for name in names[:3]}) == 3
    assert run(["run", "--replay", "o", "--pictures", "--gif", "x.gif", "--out", "again"]) == 0
    for name in names:
        assert Image.open(f"again/{name}").tobytes() == Image.open(f"o/{name}").tobytes()
    with Image.open("x.gif") as film:
        assert getattr(film, "n_frames", 1) > 1


def test_json_tells_ink_and_where_the_base_is(cap: Cap) -> None:
    ink = json.loads(
        cap(["run", "draw a circle", "-r", "drawing", "--mode", "instant", "--json"]).out
    )["ink"]
    assert len(ink) == 1
    assert len(ink[0]) > 8
    assert all(len(point) == 2 for point in ink[0])
    assert (
        len(
            json.loads(
                cap(["run", "go to the desk", "-r", "kitchen", "--mode", "instant", "--json"]).out
            )["condition"]["robot"]
        )
        == 3
    )


def test_unwritable_gif_is_found_before_anything_moves(cap: Cap) -> None:
    Path("file").write_text("")
    assert (
        "cannot write file/x.gif"
        in cap(["run", "stack all the blocks", *INSTANT, "--gif", "file/x.gif"], 2).err
    )


@pytest.fixture
def person(monkeypatch: pytest.MonkeyPatch) -> Person:
    """Somebody at a terminal who says, in order, what a test has put down."""
    person = Person()
    monkeypatch.setattr("click.prompt", person.prompt)
    monkeypatch.setattr("click.confirm", person.prompt)
    monkeypatch.setattr("click.edit", person.edit)
    monkeypatch.setattr("sys.stdin.isatty", lambda: True, raising=False)
    return person


class Person:
    def __init__(self) -> None:
        self.says: list[Any] = []
        self.asked: list[str] = []
        self.writes: list[str | None] = []
        self.read: list[str] = []

    def prompt(self, question: str, **_: Any) -> Any:
        self.asked.append(question)
        return self.says.pop(0)

    def edit(self, text: str, **_: Any) -> str | None:
        self.read.append(text)
        return self.writes.pop(0)


ASK = ("--ask", "--json")


def test_declined_approval_moves_nothing(cap: Cap, person: Person) -> None:
    person.says = ["n", ""]
    (turn,) = json.loads(cap(["run", "stack all the blocks", *INSTANT, *ASK], 1).out)["turns"]
    assert turn["failure"]["kind"] == "refused"
    assert turn["moved"] == {}
    assert turn["program"]


def test_what_waits_behind_a_refused_program_is_asked_for(cap: Cap, person: Person) -> None:
    words = ["stack all the blocks", "put the red block in the middle"]
    person.says = ["n", "", True, "y"]
    first, second = json.loads(cap(["run", *words, *INSTANT, *ASK], 1).out)["turns"]
    assert first["failure"]["kind"] == "refused"
    assert second["moved"]
    assert person.asked[2] == "Go on with: put the red block in the middle"


def test_what_waits_can_be_gone_on_with_later(cap: Cap, person: Person) -> None:
    words = ["stack all the blocks", "put the red block in the middle"]
    person.says = ["n", "", False]
    printed = cap(["run", *words, *INSTANT, "--ask", "--out", "runs/one"], 1).out
    line = "to run them: cap run --resume runs/one 'put the red block in the middle'"
    assert line in printed
    assert json.loads(cap([*shlex.split(line)[4:], "--json", *INSTANT]).out)["turns"][-1]["moved"]


def test_a_program_may_be_edited_and_is_asked_for_again(cap: Cap, person: Person) -> None:
    person.says = ["e", "e", "e", "y"]
    person.writes = [None, "say('broken", "say('as I want it')\n"]
    told = cap(["run", "stack all the blocks", *INSTANT, *ASK])
    (turn,) = json.loads(told.out)["turns"]
    assert (turn["program"].strip(), turn["moved"]) == ("say('as I want it')", {})
    assert "nothing was changed" in told.err
    assert "line 1: " in told.err
    assert len(person.asked) == 4
    assert "stack_objects_in_order" in person.read[0]


def test_an_edited_program_is_checked_as_any_other(cap: Cap, person: Person) -> None:
    person.says = ["e", "y"]
    person.writes = ["import os\nos.remove('x')\n"]
    told = cap(["run", "stack all the blocks", *INSTANT, *ASK])
    (turn,) = json.loads(told.out)["turns"]
    assert "stack_objects_in_order" in turn["program"]
    assert "the edited program was refused" in told.err
    assert len(person.asked) == 2


@cases(("arguments", "code", "message"))
def test_bad_input_ends_in_one_line_with_its_code(
    arguments: list[str], code: int, message: str, cap: Cap
) -> None:
    told = cap(["run", *arguments, *INSTANT], code).err.strip().splitlines()
    error = [line for line in told if not line.startswith("run: ")]
    assert len(error) == 1
    assert message in error[0]
    if code == 2:  # a slip leaves nothing
        assert not Path("runs").exists() or not list(Path("runs").iterdir())
        return
    assert json.loads((last_run() / "run.json").read_text())["status"] == "error"
    assert events(last_run())[-1]["kind"] == "failure"


@pytest.mark.sweep(share=0.17)
@cases(("completion", "code", "message"))
def test_bad_programs_from_a_model_end_in_one_line(
    completion: str, code: int, message: str, capsys: Capture
) -> None:
    import re

    with FakeServer(lambda prompt, body: completion) as server:
        arguments = ["-m", "vllm/fake", "--base-url", server.url, "--set", "time_limit=0.5"]
        assert run(["run", "do it", *INSTANT, *arguments]) == code
    output = capsys.readouterr()
    assert "Traceback" not in output.out + output.err
    (line,) = [line for line in output.out.splitlines() if line.startswith("  failed: ")]
    assert re.search(message, line), line
    kept = events(last_run())
    assert [event for event in kept if event["kind"] == "failure"]
    (moved,) = [event for event in kept if event["kind"] == "moved"]
    assert moved["data"] == {"objects": {}}


def test_a_prompt_file_with_a_syntax_error_names_file_and_line(
    cap: Cap,
) -> None:
    Path("mine").mkdir()
    Path("mine/ui.py").write_text("from robot import say\n\n# hello.\nsay('hi'\n")
    assert "mine/ui.py, line 4" in cap(["run", "hello", "--prompts", "mine", *INSTANT], 2).err


def test_nothing_answers_at_the_endpoint(cap: Cap) -> None:
    arguments = ["-m", "vllm/x", "--base-url", "http://127.0.0.1:9/v1"]
    assert "nothing answers there" in cap(["run", "x", *INSTANT, *arguments], 4).out


def test_a_key_never_shows(capsys: Capture, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", "sk-very-secret-key")
    with FakeServer(lambda prompt, body: "say('hello')") as server:
        arguments = ["-m", "openai/fake", "--base-url", server.url, "--json"]
        assert run(["run", "say hello", *INSTANT, *arguments]) == 0
    kept = "".join(path.read_text() for path in last_run().rglob("*") if path.is_file())
    assert "sk-very-secret" not in kept + capsys.readouterr().out


def test_a_refused_program_is_shown_and_kept(capsys: Capture) -> None:
    with FakeServer(lambda prompt, body: "import os\nos.getcwd()") as server:
        arguments = ["-m", "vllm/fake", "--base-url", server.url]
        assert run(["run", "do it", *INSTANT, *arguments]) == 3
    shown = capsys.readouterr().out
    assert "os.getcwd()" in shown
    assert "failed: CAP102 (line 1): 'import os' is not allowed" in shown
    (kept,) = (last_run() / "programs").glob("*.py")
    assert kept.read_text() == "import os\nos.getcwd()\n"


def test_a_function_the_model_does_not_define_is_the_models_failure(
    capsys: Capture,
) -> None:
    with FakeServer(lambda prompt, body: "say(get_text(1))") as server:
        arguments = ["-m", "vllm/fake", "--base-url", server.url]
        assert run(["run", "do it", *INSTANT, *arguments]) == 4
    assert "GenerationFailed" in capsys.readouterr().out


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["x", "--set", "time_limit=nan"], "0.01 to 86400"),
        (["x", "--set", "time_limit=0"], "time_limit must be"),
        (["x", "--gif", "film.mp4"], "film.gif"),
        ([], "say what the robot should do"),
    ],
)
def test_options_that_make_no_sense(arguments: list[str], message: str, cap: Cap) -> None:
    assert message in cap(["run", *arguments, *INSTANT], 2).err


@pytest.mark.parametrize(
    ("words", "told"),
    [
        ("stack all the \N{LARGE RED CIRCLE} blocks", "cannot match '\N{LARGE RED CIRCLE}'"),
        ("stack all the \udcff\udcfe blocks", "cannot match '\N{REPLACEMENT CHARACTER}'"),
        ("move the red block \N{RIGHTWARDS ARROW}", "cannot match '\N{RIGHTWARDS ARROW}'"),
        ("make it smaller", "name 'moved' is not defined"),
    ],
)
def test_what_nearest_cannot_read_or_go_on_from_is_declined(
    words: str, told: str, cap: Cap
) -> None:
    shown = cap(["run", words, *INSTANT], 4).out
    assert told in shown
    assert "  moved " not in shown


def test_a_hanging_endpoint_ends_by_the_persons_own_timeout(
    capsys: Capture,
) -> None:
    from tests.fakes.openai_server import HANG

    with FakeServer(lambda prompt, body: "", faults=[HANG]) as server:
        arguments = ["-m", "vllm/fake", "--base-url", server.url, "--set", "model_timeout=0.3"]
        assert run(["run", "do it", *INSTANT, *arguments]) == 4
    assert "asking vllm/fake" in capsys.readouterr().out


def test_sigterm_stops_the_run_and_closes_its_trace() -> None:
    import signal
    import subprocess
    import sys

    command = [sys.executable, "-m", "cap", "run", "x", *INSTANT, "-m", "vllm/fake", "--out", "o"]
    with FakeServer(lambda prompt, body: "say('in')\nwhile True:\n    pass") as server:
        command += ["--base-url", server.url]
        with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as process:
            try:
                assert process.stdout is not None
                while "robot says" not in process.stdout.readline():
                    assert process.poll() is None
                process.send_signal(signal.SIGTERM)
                process.communicate(timeout=20)
            finally:
                process.kill()
    assert process.returncode == 128 + signal.SIGTERM
    assert json.loads(Path("o/run.json").read_text())["status"] == "interrupted"


def test_an_ascii_terminal_shows_what_it_can() -> None:
    import os
    import subprocess
    import sys

    env = {**os.environ, "PYTHONIOENCODING": "ascii", "LC_ALL": "C"}
    command = [sys.executable, "-m", "cap", "run", "stack all the blocks", *INSTANT]
    done = subprocess.run(command, env=env, capture_output=True, check=False)
    assert done.returncode == 0, done.stderr
    assert b"moved" in done.stdout


@pytest.fixture
def real_robot() -> Path:
    """A robot that is real in every mode, and writes down each motion."""
    assert run(["robots", "new", "my_arm"]) == 0
    file = Path("my_arm/robot.py")
    text = file.read_text().replace("simulated = True", "simulated = False")
    text = text.replace(
        "        known = self._known(name)\n",
        '        with open("motions", "a") as moved:\n            moved.write(name)\n'
        "        known = self._known(name)\n",
    )
    file.write_text(text)
    return file


def test_a_dry_run_never_moves_a_robot_that_is_real(real_robot: Path, cap: Cap) -> None:
    words = "move the red marker to the left"
    for more in (["--yes", "--approve", "none"], ["--yes"], []):
        assert (
            "robot 'my_arm' has no dry run"
            in cap(["run", words, "-r", str(real_robot), "--dry-run", *more], 2).err
        )
    assert not Path("motions").exists()
    assert run(["run", words, "-r", str(real_robot), "--yes", "--approve", "none"]) == 0
    assert Path("motions").exists()


def test_a_robot_that_is_simulated_when_made_for_a_dry_run_has_one(
    capsys: Capture,
) -> None:
    assert run(["run", "say hello", "-r", "tabletop", "--dry-run"]) in (0, 4)
    assert "dry run: nothing is sent" in capsys.readouterr().out


@cases(("arguments", "told"))
def test_a_mistake_in_what_is_asked_for_leaves_nothing_behind(
    arguments: list[str], told: str, cap: Cap
) -> None:
    Path("own").mkdir()
    Path("own/trials.jsonl").write_text("mine")
    Path("empty").mkdir()
    before = [path for path in sorted(Path().rglob("*")) if path.name != "home"]
    assert told in cap(["run", *arguments, *INSTANT], 2).err
    assert [
        path for path in sorted(Path().rglob("*")) if path.name not in ("home", "runs")
    ] == before
    assert not Path("runs").exists() or not list(Path("runs").iterdir())
