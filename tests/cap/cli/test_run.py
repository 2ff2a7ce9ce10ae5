"""`cap run`: what a person sees, what a program reads, bad input, pictures, samples, endpoints."""

from __future__ import annotations

import base64
import io
import json
import re
import sys
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
from PIL import Image

from cap.cli.film import Pictures
from cap.cli.main import run
from tests.cap.conftest import Cap
from tests.fakes.openai_server import (
    DROP,
    FakeServer,
    delta,
    error,
    reply,
    stream,
)
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
    if code == 2 or message == "OPENAI_API_KEY":  # a slip leaves nothing
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


# --- the film of a run keeps the colours of what it shows

SATURATED = [(210, 30, 40), (250, 140, 20), (90, 190, 60), (40, 70, 200), (250, 220, 60)]


class Painter:
    """A robot whose picture is a soft floor with one small thing more in each frame."""

    name = "painter"
    frame_every_s = 1.0
    on_frame: Any = None
    shown = 0

    def render(self, width: int, height: int) -> Any:
        rows, columns = np.mgrid[0:height, 0:width]
        floor = np.stack([150 + rows / 4, 150 + columns / 4, 140 + (rows + columns) / 8], axis=2)
        picture = floor.astype(np.uint8)
        for number, color in enumerate(SATURATED[: self.shown]):
            picture[10:14, 10 + 20 * number : 14 + 20 * number] = color
        return Image.fromarray(picture)


def test_small_things_keep_their_colours_in_every_frame_of_a_film(tmp_path: Path) -> None:
    robot = Painter()
    trace = SimpleNamespace(folder=tmp_path, listeners=[])
    film = Pictures(SimpleNamespace(robot=robot, trace=trace), tmp_path / "film.gif")
    for robot.shown in range(1, len(SATURATED) + 1):
        robot.on_frame()
    film.finish()
    with Image.open(tmp_path / "film.gif") as shown:
        for frame in range(len(SATURATED) + 1):
            shown.seek(frame)
            pixels = np.asarray(shown.convert("RGB"), float)
            for number, color in enumerate(SATURATED[:frame]):
                seen = pixels[12, 12 + 20 * number]
                assert np.abs(seen - color).max() < 16, (frame, color, seen)


# --- where no engine is installed, commands say so and use the instant world by default


@pytest.mark.parametrize(
    "command",
    [
        ["run", "put the red block in the blue bowl"],
        ["bench", "run", "drawing", "-m", "oracle", "-n", "1", "--tasks", "circle"],
    ],
)
@pytest.mark.usefixtures("trials_here")
def test_without_physics_the_instant_world_stands_in(
    command: list[str], cap: Cap, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in ("pybullet", "mujoco"):
        monkeypatch.setitem(sys.modules, name, None)
    shown = cap(command).err.splitlines()
    (note,) = [line for line in shown if line.startswith("note: physics needs")]
    assert note.endswith("using the instant world (no physics)")
    assert "MuJoCo, which is not installed: " in note
    assert "--mode instant" in cap([*command, "--mode", "physics"], 2).err


# --- `--samples N`: what was tried stands on the screen and in JSON; runs are replayed

MODEL = """
from cap.models.base import Completion

ANSWERS = [
    "put_first_on_second('blue block', 'blue bowl')",
    "put_first_on_second('red block', 'blue bowl')",
    "put_first_on_second('red blok', 'blue bowl')",
    "block = 'red block'\\nput_first_on_second(block, 'blue bowl')",
]


class Four:
    name = "four"

    def complete(self, request):
        if "#< before: " in request.prompt:
            return Completion("ret_val = False", self.name)
        return Completion(ANSWERS[request.seed or 0], self.name, 100, 20)


def create():
    return Four()
"""
WORDS = "put the red block in the blue bowl"
SCENE = ("--mode", "instant", "--objects", "red block, blue block, blue bowl, green bowl")


def test_what_was_tried_is_shown_and_the_run_can_be_replayed(tmp_path: Path, cap: Cap) -> None:
    model, out = tmp_path / "four.py", tmp_path / "run"
    model.write_text(MODEL, encoding="utf-8")
    asked = ["--samples", "4", "-m", str(model), "--pictures", "--out", str(out)]
    lines = [line.strip() for line in cap(["run", WORDS, *asked, *SCENE]).out.splitlines()]
    assert "1  moved blue block to blue bowl  goal: no" in lines
    assert "▶ 2  moved red block to blue bowl  goal: no" in lines
    assert any(line.startswith("3  failed: NotFound") for line in lines)
    assert "chosen: 2, 2 of 4 did this; the goal check accepts none" in lines
    assert (out / "turn-1.png").exists()
    (turn,) = json.loads(
        cap(["run", "--replay", str(out), "--out", str(tmp_path / "again"), "--json"]).out
    )["turns"]
    assert (turn["tried"], list(turn["moved"])) == (4, ["red block"])


# --- endpoints through the real command: every mode of failing, windows, recordings, own models

KEY = "sk-" + "very-secret-0123456789"


def last_line(prompt: str) -> str:
    return prompt.rstrip().splitlines()[-1].removeprefix("# ").removesuffix(".")


def says_hello(prompt: str, body: Any) -> str:
    return "say('hello')"


FAILING = {
    "key": error(401, f"Incorrect API key provided: {KEY}"),
    "overloaded": error(529, f"overloaded {KEY}"),
    "refusal": reply({"choices": [{"message": {"refusal": f"no, {KEY}"}}]}),
    "stalled stream": stream(delta("say('"), then="hang"),
    "no connection": DROP,
}


@pytest.mark.parametrize("mode", FAILING)
def test_every_failing_is_one_line_with_its_code_and_no_key(
    capsys: Capture, monkeypatch: pytest.MonkeyPatch, mode: str, tmp_path: Path
) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", KEY)
    with FakeServer(says_hello, [FAILING[mode]] * 50) as server:
        asked = ["-m", "openai/fake", "--base-url", server.url]
        asked += ["--set", "model_timeout=0.5"]
        code = run(["run", "say it", *asked, "--set", "cache=kept", "--out", "o", *INSTANT])
        assert server.posts
    shown = capsys.readouterr()
    assert code == 4
    assert "fake at http" in shown.out
    assert "Traceback" not in shown.out + shown.err
    kept = "".join(
        path.read_text() for path in tmp_path.rglob("*") if path.is_file() and path.suffix != ".png"
    )
    assert KEY[-10:] not in shown.out + shown.err + kept


def test_settings_on_the_command_line_reach_the_endpoint(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("GATEWAY_KEY", "sesame-9999")
    settings = "max_tokens=333 reasoning_effort=low stream=false"
    settings += " headers.X-Team=arms headers.X-Key=$GATEWAY_KEY extra_body.top_k=20"
    said = [word for one in settings.split() for word in ("--set", one)]
    with FakeServer(says_hello) as server:
        asked = ["-m", "vllm/fake", "--base-url", server.url, "--out", "o", *said, *INSTANT]
        assert run(["run", "say it", *asked]) == 0
    (seen,) = server.posts
    sent = {key: seen.body[key] for key in ("max_tokens", "reasoning_effort", "top_k")}
    assert sent == {"max_tokens": 333, "reasoning_effort": "low", "top_k": 20}
    assert "stream" not in seen.body
    assert (seen.headers["x-team"], seen.headers["x-key"]) == ("arms", "sesame-9999")
    assert all(
        b"sesame" not in path.read_bytes() for path in Path("o").rglob("*") if path.is_file()
    )


OWN = """
from cap.models.base import Completion

class Own:
    name = "own"

    def complete(self, request):
        return Completion("say('mine')", self.name, 10, 2)

def create():
    return Own()
"""


@pytest.mark.usefixtures("trials_here")
def test_a_model_of_ones_own_runs_everywhere() -> None:
    Path("own.py").write_text(OWN)
    assert run(["run", "say it", "-m", "own.py", *INSTANT]) == 0
    suite = ["bench", "run", "tabletop", "-m", "own.py", "-n", "1", "--mode", "instant"]
    assert run([*suite, "--tasks", "pick-and-place", "--out", "bench"]) == 0
    lines = [json.loads(line) for line in Path("bench/trials.jsonl").read_text().splitlines()]
    assert {line["program"].strip() for line in lines} == {"say('mine')"}


def pictures_in(body: Any) -> list[bytes]:
    content = body["messages"][-1]["content"]
    parts = content if isinstance(content, list) else []
    urls = [part["image_url"]["url"] for part in parts if part["type"] == "image_url"]
    return [base64.b64decode(url.removeprefix("data:image/png;base64,")) for url in urls]


def test_a_model_that_sees_is_sent_the_picture_that_the_trace_keeps(capsys: Capture) -> None:
    with FakeServer(says_hello) as server:
        asked = ["-m", "vllm/fake", "--base-url", server.url, "--look", "--out", "o", *INSTANT]
        assert run(["run", "say it", "say it", *asked]) == 0
        sent = [pictures_in(post.body) for post in server.posts]
    kept = [Path("o", name).read_bytes() for name in ("look-01.png", "look-02.png")]
    assert sent == [[kept[0]], [kept[1]]]
    assert kept[0].startswith(b"\x89PNG")
    assert "the model sees look-01.png" in capsys.readouterr().out
    assert run(["run", "--replay", "o", "--out", "again"]) == 0
    assert Path("again/look-01.png").read_bytes() == kept[0]


def test_a_model_that_reads_text_alone_is_asked_without_and_it_says_so(capsys: Capture) -> None:
    with FakeServer(says_hello, blind=True) as server:
        asked = ["-m", "vllm/fake", "--base-url", server.url, "--look", *INSTANT]
        assert run(["run", "say it", *asked]) == 0
        assert [len(pictures_in(post.body)) for post in server.posts] == [1, 0]
        assert "does not accept pictures" in " ".join(capsys.readouterr().out.split())
    assert run(["run", "stack all the blocks", "--look", *INSTANT]) == 0
    assert "nearest does not accept pictures, so --look is ignored" in capsys.readouterr().err


def test_what_each_lmp_took_is_told(capsys: Capture) -> None:
    answers = {"go": "say(parse_obj_name('it'))", "it": "ret_val = 'red block'"}
    with FakeServer(lambda prompt, body: answers[last_line(prompt)]) as server:
        asked = ["-m", "vllm/fake", "--base-url", server.url, *INSTANT]
        assert run(["run", "go", *asked, "--json"]) == 0
        (turn,) = json.loads(capsys.readouterr().out)["turns"]
        assert run(["run", "go", *asked, "-v"]) == 0
    assert set(turn["usage_by_lmp"]) == {"ui", "parse_obj_name"}
    requests = [usage["requests"] for usage in turn["usage_by_lmp"].values()]
    assert sum(requests) == turn["usage"]["requests"] == 2
    assert re.search(r"parse_obj_name: 1 request, \d+ \+ \d+ tokens", capsys.readouterr().out)
