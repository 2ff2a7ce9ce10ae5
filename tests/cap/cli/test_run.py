"""`cap run`: what a person sees, what a program reads, and every kind of bad input."""

from __future__ import annotations

import io
import json
from pathlib import Path
from typing import Any

import pytest

from cap.cli.main import run
from tests.cap.conftest import Cap
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
    assert (header["seed"], header["model"], header["mode"]) == (7, "nearest", "instant")
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
    (ink,) = json.loads(cap(["run", "draw a circle", "-r", "drawing", *INSTANT, "--json"]).out)[
        "ink"
    ]
    assert len(ink) > 8
    told = cap(["run", "go to the desk", "-r", "kitchen", *INSTANT, "--json"]).out
    assert len(json.loads(told)["condition"]["robot"]) == 3


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


def test_what_waits_behind_a_refused_program_is_not_run(cap: Cap, person: Person) -> None:
    words = ["stack all the blocks", "put the red block in the middle"]
    person.says = ["n", ""]
    told = cap(["run", *words, *INSTANT, "--ask"], 1).out
    assert "not run after the failure: put the red block in the middle" in told
    assert len(list((last_run() / "programs").glob("*_ui.py"))) == 1


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


@cases(("arguments", "code", "message"))
def test_bad_input_ends_in_one_line_with_its_code(
    arguments: list[str], code: int, message: str, cap: Cap
) -> None:
    Path("own").mkdir()
    Path("own/trials.jsonl").write_text("mine")
    Path("empty").mkdir()
    before = sorted(Path().rglob("*"))
    told = cap(["run", *arguments, *INSTANT], code).err.splitlines()
    (error,) = [line for line in told if line.lower().startswith("error: ")]
    assert message in error
    if code == 2:  # a slip leaves nothing
        assert sorted({*Path().rglob("*")} - {Path("runs")}) == before
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
    (moved,) = [event for event in events(last_run()) if event["kind"] == "moved"]
    assert moved["data"] == {"objects": {}}


def test_an_ascii_terminal_shows_what_it_can(monkeypatch: pytest.MonkeyPatch) -> None:
    shown = io.BytesIO()
    monkeypatch.setattr("sys.stdout", io.TextIOWrapper(shown, encoding="ascii"))
    assert run(["run", "stack all the blocks", *INSTANT]) == 0
    assert b"moved" in shown.getvalue()


def test_a_dry_run_never_moves_a_robot_that_is_real(real: Path, cap: Cap) -> None:
    words = "move the red marker to the left"
    for more in (["--yes", "--approve", "none"], ["--yes"], []):
        assert (
            "robot 'my_arm' has no dry run"
            in cap(["run", words, "-r", str(real), "--dry-run", *more], 2).err
        )
    assert not Path("motions").exists()
    assert run(["run", words, "-r", str(real), "--yes", "--approve", "none"]) == 0
    assert Path("motions").exists()
