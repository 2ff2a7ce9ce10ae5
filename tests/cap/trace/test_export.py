"""A run exported: as a page with all of it in one file, as films, and as a dataset."""

import io
import json
import os
import re
from html import unescape
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from PIL import Image
from rich.console import Console

from cap import Session
from cap.cli.main import run
from cap.cli.page.chronicle import Chronicle
from cap.engine.settings import Repairs, Sampling
from cap.errors import UsageError
from cap.messages import tried_line
from cap.session import replay
from cap.trace.export import pages
from cap.trace.export.lerobot import state_names, state_of
from cap.trace.export.pages import html, markdown
from cap.trace.export.run_record import ChoiceRecord, Note, ProgramRecord, RunRecord
from cap.trace.terminal import Live
from cap.trace.trace import Trace
from tests.cap.conftest import Cap
from tests.fakes.scripted import OBJECTS, Scripted, table_session
from tests.rows import table

NASTY = "<script>alert(1)</script> ```\n# not a heading\x1b[31m"


@pytest.fixture(scope="module")
def ran(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A run of three turns: one done, one failed, one undone."""
    folder = tmp_path_factory.mktemp("runs") / "run"
    trace = Trace(folder)
    trace.listeners.append(lambda event: None)
    with Session.open("ravens", mode="instant", trace=trace) as session:
        session.run("put the red block in the blue bowl")
        session.run("put the purple block in the blue bowl")
        session.execute("for _ in range(40):\n    denormalize_xy([0.5, 0.5])\nsay('done')\n")
        session.undo()
    Image.new("RGB", (48, 48), (200, 0, 0)).save(folder / "turn-1.png")
    return folder


Entry = tuple[int, str, dict[str, Any]]
GO: Entry = (1, "instruction", {"lmp": "ui", "text": "go"})
FAILED: Entry = (1, "failure", {"kind": "model", "error": "NoMatch", "message": "no example"})


def recorded(folder: Path, *events: Entry, first: str = "", **header: str) -> RunRecord:
    """Return a run that has these events: turn, kind, data."""
    Trace(folder, header).close("done")
    lines = [
        json.dumps({"turn": turn, "depth": 0, "kind": kind, "t": 1.0, "data": data})
        for turn, kind, data in events
    ]
    (folder / "events.jsonl").write_text(first + "\n".join([*lines, ""]), encoding="utf-8")
    return RunRecord.read(folder)


def tags(page: str, name: str) -> int:
    return len(re.findall(rf"<{name}\b", page))


def test_a_run_is_read_into_its_turns(ran: Path) -> None:
    record = RunRecord.read(ran)
    assert [(turn.ok, turn.undone) for turn in record.turns] == [
        (True, False),
        (False, False),
        (True, True),
    ]
    first, _, own = (
        [part for part in turn.parts if isinstance(part, ProgramRecord)] for turn in record.turns
    )
    assert first[0].lines == {2}
    rows = [(call.name, call.count) for call in (*first[0].calls, *own[0].calls)]
    assert rows == [("put_first_on_second", 1), ("denormalize_xy", 40), ("say", 1)]
    notes = [part for part in record.turns[1].parts if isinstance(part, Note)]
    assert any(note.kind == "failure" and "NoMatch" in note.text for note in notes)
    assert [view["turn"] for view in record.views] == [0, 1]
    assert record.views[1]["placements"].keys() >= {"objects/red block"}
    assert record.unknown == {}
    assert record.header["versions"].keys() >= {"python", "platform", "numpy", "mujoco"}


def test_times_and_rows_of_calls_leave_out_what_an_lmp_took(tmp_path: Path) -> None:
    calls = [call("look", "red", 1), call("look", "red", 1), call("parse", "red", 1)]
    for number, (_, _, data) in enumerate(calls):
        data |= {"kind": "lmp" if number == 2 else "action", "line": number + 1}
    (turn,) = recorded(tmp_path, GO, *calls).turns
    (program,) = (part for part in turn.parts if isinstance(part, ProgramRecord))
    assert [(row.name, row.count) for row in program.calls] == [("look", 2), ("parse", 1)]
    assert (turn.robot_s, program.lines) == (pytest.approx(0.2), {1, 2, 3})


def test_the_page_is_one_file_with_a_policy_of_its_own(ran: Path) -> None:
    page = html(RunRecord.read(ran))
    assert not re.search(r'\b(src|href|srcset)="(?!data:image/jpeg;base64,)', page)
    assert tags(page, "img") == 1
    for part in ("default-src 'none'", "prefers-color-scheme: dark", 'name="viewport"', "× 40"):
        assert part in page
    assert 'class="ran">put_first_on_second' in page  # a line that called something is marked
    assert "A line marked" in page
    title = "put the red block in the blue bowl, and 2 more turns"
    assert f"<title>{title}</title>" in page
    assert f"<h1>{title}</h1>" in page
    turns = ["turn", "turn", "turn undone"]
    assert re.findall(r'<details class="(turn[^"]*)" open>', page) == turns
    turn = page.partition('<details class="turn" open>')[2].partition("</details>")[0]
    assert 'class="film" data-turn="1"' in turn
    assert markdown(RunRecord.read(ran)).startswith(f"# {title}\n")


def test_text_of_others_is_shown_never_interpreted(tmp_path: Path) -> None:
    said = call("say", NASTY)[2] | {"error": NASTY}
    record = recorded(
        tmp_path,
        (1, "instruction", {"lmp": "ui", "text": NASTY}),
        (1, "program", {"lmp": NASTY, "source": NASTY, "generated": [[NASTY, NASTY]]}),
        (1, "call", said),
        (1, "violations", {"found": [NASTY]}),
        (1, "view", {"placements": {NASTY: [0, 0, 0, 0, 0, 0, 1]}, "shapes": {NASTY: []}}),
        robot=NASTY,
    )
    page, text = html(record), markdown(record)
    assert record.unknown == {}
    assert tags(page, "script") == 2
    assert "alert(1)</script>" not in page.replace("&lt;/script&gt;", "")
    assert "\x1b" not in page + text
    outside = re.sub(r"````python\n.*?\n````", "", text, flags=re.DOTALL)
    assert not re.search(r"<script>|^# not a heading", outside, re.MULTILINE)


def test_a_foreign_run_of_any_size_gives_a_bounded_page(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(pages, "MAX_CHARS", 8000)
    huge = "x" * (pages.MAX_CHARS * 3)
    words = [(turn, "instruction", {"lmp": "ui", "text": huge}) for turn in range(1, 300)]
    source = {"lmp": "ui", "source": huge, "generated": []}
    calls = [call(f"f{number}", number, number) for number in range(300)]
    run = recorded(tmp_path / "run", words[0], (1, "program", source), *calls, *words[1:])
    for text in (html(run), markdown(run)):
        assert "and 99 more in the trace" in text  # turns
        assert "and 100 more in the trace" in text  # calls
        assert "16000 more characters in the trace" in text
        assert len(text) < pages.MAX_ROWS * pages.MAX_CHARS * 1.1
    assert len(run.title) < 250


ODD, VIEWS = table(__file__, "odd events"), table(__file__, "views")
BAD_VIEWS = {name: {"kind": "view", "data": view} for name, view in VIEWS.items()}
BAD_USAGE = {"kind": "done", "data": {"ok": True, "model": "m", "usage": {"requests": True}}}


@pytest.mark.parametrize("odd", [*ODD.values(), *BAD_VIEWS.values(), BAD_USAGE], ids=str)
def test_odd_and_newer_events_are_counted_and_do_not_hide_the_rest(
    tmp_path: Path, odd: dict[str, Any], cap: Cap
) -> None:
    kind = str(odd["kind"])
    record = recorded(tmp_path, GO, FAILED, (1, kind, odd["data"]))
    shown = cap(["trace", "show", str(tmp_path)])
    assert "Traceback" not in shown.err
    for text in (shown.out, html(record), markdown(record)):
        assert "NoMatch" in text
    assert (len(record.turns), record.views, record.unknown) == (1, [], {kind: 1})
    assert f"1 event of kind '{kind}' not shown" in html(record)
    assert f"1 event of kind {kind} not shown" in markdown(record).replace("\\", "")


def test_a_planner_s_steps_are_notes_of_the_page(tmp_path: Path) -> None:
    step = {"text": "wave", "ok": False, "message": "too tired", "lines": ["[success: no]"]}
    assert recorded(tmp_path, GO, (1, "step", step)).turns[0].parts == [
        Note("step", "step: wave: too tired", "bad"),
        Note("step", "[success: no]", "dim"),
    ]


def test_events_that_no_page_shows_are_not_counted(tmp_path: Path) -> None:
    kinds = "prompt skills resumed unseen held rewound model answer considered example policy"
    events: list[Entry] = [(1, kind, {}) for kind in kinds.split()]
    assert recorded(tmp_path, GO, *events).unknown == {}


def test_a_damaged_picture_is_named(tmp_path: Path) -> None:
    record = recorded(tmp_path, GO)
    (tmp_path / "turn-1.png").write_bytes(b"no picture")
    page = html(RunRecord.read(record.folder))
    assert "turn-1.png cannot be shown" in page
    assert tags(page, "img") == 0


def test_a_run_that_cannot_be_exported_is_refused_in_one_line(
    ran: Path, tmp_path: Path, cap: Cap
) -> None:
    assert "is no run folder" in cap(["trace", "export", str(tmp_path)], 2).err
    told = cap(["trace", "export", str(ran), "--out", str(tmp_path / "no" / "where.html")], 2).err
    assert told.count("\n") == 1
    assert f"cannot write {tmp_path / 'no' / 'where.html'}: " in told


def test_unreadable_lines_are_counted_and_named(tmp_path: Path, cap: Cap) -> None:
    record = recorded(tmp_path, GO, first="[1]\n" + "[" * 200_000 + "\n")
    assert "2 events of kind 'unreadable line' not shown" in html(record)
    assert re.findall(r"line (\d+) of events", cap(["trace", "show", str(tmp_path)]).out) == [
        "1",
        "2",
    ]


def test_what_is_no_file_is_written_to_not_replaced(ran: Path, tmp_path: Path) -> None:
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    end = os.open(pipe, os.O_RDONLY | os.O_NONBLOCK)
    with os.fdopen(end, "rb", buffering=0) as reader:
        assert run(["trace", "export", str(ran), "--to", "md", "--out", str(pipe)]) == 0
        assert reader.read(2) == b"# "
    assert pipe.is_fifo()


def test_an_mp4_film_has_its_frames(ran: Path, tmp_path: Path) -> None:
    av = pytest.importorskip("av", reason="the extra 'video' is not installed")
    film = str(tmp_path / "film.mp4")
    assert run(["trace", "export", str(ran), "--to", "mp4", "--out", film]) == 0
    with av.open(film) as opened:
        frames = [(frame.width, frame.height) for frame in opened.decode(video=0)]
    assert len(frames) > 20
    assert set(frames) == {(320, 320)}


def test_a_rerun_file_has_arm_objects_and_calls(ran: Path, tmp_path: Path) -> None:
    pytest.importorskip("rerun", reason="the extra 'rerun' is not installed")
    film = tmp_path / "film.rrd"
    assert run(["trace", "export", str(ran), "--to", "rrd", "--out", str(film)]) == 0
    data = film.read_bytes()
    assert all(word in data for word in (b"RRF", b"red\\ block", b"camera", b"calls", b"simulated"))


@pytest.mark.parametrize("to", ["mp4", "rrd", "lerobot"])
def test_what_is_missing_for_a_film_is_named(
    ran: Path, to: str, monkeypatch: pytest.MonkeyPatch, cap: Cap
) -> None:
    for module in ("av", "rerun", "pyarrow"):
        monkeypatch.setitem(__import__("sys").modules, module, None)
    told = cap(["trace", "export", str(ran), "--to", to], 2).err
    assert told.count("\n") == 1
    assert "-m pip install -e" in told


def test_turns_are_undone_and_redone_in_their_order(tmp_path: Path) -> None:
    with Session.open("ravens", mode="instant", trace=Trace(tmp_path / "run")) as session:
        for color in ("red", "green", "blue"):
            session.run(f"put the {color} block in the {color} bowl")
        session.undo()
        session.undo(2)
        session.redo()
        session.undo()
        session.run("put the green block in the blue bowl")  # so no other comes back
        session.undo()
        session.redo()
    turns = RunRecord.read(tmp_path / "run").turns
    assert [turn.undone for turn in turns] == [False, True, True, False]


def call(name: str, given: object, result: object = None) -> Entry:
    data = {"name": name, "args": [given], "kwargs": {}, "result": result, "error": None}
    return 1, "call", {**data, "kind": "action", "duration_s": 0.1}


def test_only_calls_that_are_alike_are_shown_as_one(tmp_path: Path) -> None:
    long = "all of it is shown " * 9
    calls = [call("where", "red", 1), call("where", "red", 1), call("go", "a"), call("go", "b")]
    calls += [call("go", "c"), call("see", "x", 1), call("see", "x", 2), call("say", "one")]
    calls += [call("say", long + "1"), call("say", long + "2"), call("say", "two")]
    run = recorded(tmp_path, GO, *calls, call("say", "two"))
    shown = [
        "where('red') × 2 = 1",
        "go('a')",
        "go('b')",
        "go('c')",
        "see('x') = 1",
        "see('x') = 2",
    ]
    shown += ["say('one')", f"say('{long}1", f"say('{long}2", "say('two') × 2"]
    for text in (markdown(run), re.sub("<[^>]+>", "", html(run).replace("<li", "\n<li"))):
        lines = [unescape(line) for line in text.split("\n")]
        rows = [line for line in lines if re.search(r"\).* .*\d\.\d\d s$", line)]
        for row, begin in zip(rows, shown, strict=True):
            assert row.removeprefix("- ").removeprefix("→ ").startswith(begin)


# --- what was tried, chosen and told between rounds: in the terminal, as a page, Markdown and live

WRONG = "put_first_on_second('blue block', 'green bowl')\n"
RIGHT = "put_first_on_second('red block', 'blue bowl')\n"
RAISES = "raise ValueError('<b>full</b>')\n"
SECOND = "put_first_on_second('blue block', 'blue bowl')\n"
WORDS = "put the blocks in the blue bowl"


@pytest.fixture(scope="module")
def tried(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, str, str]:
    """A turn of two rounds of up to four programs, undone; what was shown of it."""
    trace = Trace(tmp_path_factory.mktemp("runs") / "run")
    out, story = io.StringIO(), Chronicle()
    trace.listeners += [Live(Console(file=out, width=200)), story]
    model = Scripted(WRONG, RIGHT, RAISES, RIGHT, SECOND)
    options = {"rounds": 2, "sampling": Sampling(4), "repairs": Repairs(0, 0), "trace": trace}
    with table_session(model, objects=(*OBJECTS, "green bowl"), **options) as session:
        assert session.run(WORDS).ok
        assert session.undo()
    assert trace.folder is not None
    return trace.folder, out.getvalue(), "".join(story.news() or ())


def test_the_terminal_tells_all_of_it(tried: tuple[Path, str, str]) -> None:
    assert run(["trace", "show", str(tried[0])]) == 0
    for told in (
        "▶ 2  moved red block to blue bowl",
        "    3  failed: ValueError (line 1): <b>full</b>",
        "chosen: 2, 2 of 4 did this",
        "moved red block to blue bowl; round 2:",
        "2 rounds: the limit was reached",
        "undone: the last turn, including the world",
    ):
        assert told in tried[1]


def test_a_line_of_what_was_tried_fits_the_terminal() -> None:
    one = {"number": 3, "came": "x" * 400, "goal": False, "expected": True, "same_as": 1}
    assert len(tried_line(one, 76)) <= 76
    assert tried_line(one, 76).endswith("…  (as 1)  goal: no")


def test_a_page_has_every_program_that_was_tried_and_each_round(
    tried: tuple[Path, str, str],
) -> None:
    record = RunRecord.read(tried[0])
    assert not record.unknown
    first, second = (part for part in record.turns[0].parts if isinstance(part, ChoiceRecord))
    assert [one.chosen for one in first.tried] == [False, True, False, False]
    assert [one.failed for one in first.tried] == [False, False, True, False]
    assert [bool(one.source) for one in first.tried] == [True, True, True, False]
    assert len(second.tried) == 3
    page = html(record)
    assert "&lt;b&gt;full&lt;/b&gt;" in page
    assert "<b>full" not in page
    assert "chosen: 2, 2 of 4 did this" in page
    assert '<h3 class="round">moved red block to blue bowl; round 2:' in page
    assert "&lt;b&gt;full&lt;/b&gt;" in tried[2]  # in a browser, as it happens
    assert "chosen: 2, 2 of 4 did this" in tried[2]
    text = markdown(record)
    for told in (
        "- **2 moved red block to blue bowl** (chosen)",
        "### moved red block to blue bowl; round 2:",
        "- 2 rounds: the limit was reached",
        "put_first_on_second('blue block', 'green bowl')",
    ):
        assert told in text


def test_a_turn_of_rounds_is_undone_again_in_a_replay(tried: tuple[Path, str, str]) -> None:
    assert [step.kind for step in replay.steps(tried[0])] == ["run", "undo"]


# --- a run as a LeRobot dataset

Capture = pytest.CaptureFixture[str]
PUT = "put the red block in the blue bowl"
ORIGIN = (0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 1.0)


def test_a_state_is_what_the_view_shows_of_the_robot() -> None:
    with pytest.raises(UsageError, match="no 'arm/hand'"):
        state_names({"table": ORIGIN})
    view = {"arm/hand": ORIGIN, "robot": ORIGIN}
    assert len(state_names(view)) == len(state_of(view)) == 14
    view |= {"arm/left_pad": (0.0, 0.5, *ORIGIN[2:]), "arm/right_pad": (0.0, 0.1, *ORIGIN[2:])}
    assert len(state_names(view)) == len(state_of(view)) == 15
    assert state_of(view)[7] == pytest.approx(0.4)


def test_a_run_is_a_dataset_an_episode_for_each_turn(capsys: Capture) -> None:
    parquet = pytest.importorskip("pyarrow.parquet", reason="the extra 'lerobot' is not installed")
    from PIL import Image

    objects = ["--objects", "red block,blue bowl", "--mode", "instant", "--out", "o"]
    assert run(["run", PUT, "put it on the zebra", *objects]) == 4
    capsys.readouterr()
    assert run(["trace", "export", "o", "--to", "lerobot", "--out", "set"]) == 0
    assert capsys.readouterr().out == "set\n"
    info = json.loads(Path("set/meta/info.json").read_text())
    stats = json.loads(Path("set/meta/stats.json").read_text())
    table = parquet.read_table("set/data/chunk-000/file-000.parquet").to_pydict()
    episodes = parquet.read_table("set/meta/episodes/chunk-000/file-000.parquet").to_pylist()
    tasks = parquet.read_table("set/meta/tasks.parquet").to_pylist()
    rows = len(table["index"])
    assert (info["codebase_version"], info["robot_type"]) == ("v3.0", "ravens")
    assert (info["total_episodes"], info["total_frames"], info["total_tasks"]) == (2, rows, 2)
    assert set(info["features"]) == set(table) == set(stats)
    assert [task["task"] for task in tasks] == [PUT, "put it on the zebra"]
    assert [(one["success"], *one["tasks"]) for one in episodes] == [
        (True, PUT),
        (False, "put it on the zebra"),
    ]
    for number, one in enumerate(episodes):
        span, length = slice(one["dataset_from_index"], one["dataset_to_index"]), one["length"]
        columns = {key: values[span] for key, values in table.items()}
        assert columns["episode_index"] == [number] * length
        assert columns["frame_index"] == list(range(length))
        assert columns["next.done"] == [False] * (length - 1) + [True]
        assert columns["next.success"][-1] is one["success"]
        assert columns["next.reward"][-1] == float(one["success"])
        states = columns["observation.state"]
        assert columns["action"] == [*states[1:], states[-1]]
    assert table["index"] == list(range(rows))
    assert table["timestamp"] == pytest.approx(np.array(table["frame_index"]) / info["fps"])
    names = info["features"]["observation.environment_state"]["names"]
    assert names[:3] == ["red block.x", "red block.y", "red block.z"]
    around = np.array(table["observation.environment_state"])
    assert not np.allclose(around[0][:2], around[-1][:2], atol=0.02)  # the block has moved
    assert np.allclose(around[-1][:2], around[-1][3:5], atol=0.06)  # into the bowl
    picture = Image.open(io.BytesIO(table["observation.images.scene"][0]["bytes"]))
    height, width, _ = info["features"]["observation.images.scene"]["shape"]
    assert picture.size == (width, height)
    assert stats["observation.state"]["count"] == [rows]

    assert run(["trace", "export", "o", "--to", "lerobot", "--out", "set"]) == 2
    assert "set is there; name another folder" in capsys.readouterr().err


def test_what_is_no_run_s_events_is_said_in_one_line(capsys: Capture) -> None:
    pytest.importorskip("pyarrow", reason="the extra 'lerobot' is not installed")
    assert (
        run(["run", PUT, "--objects", "red block,blue bowl", "--mode", "instant", "--out", "o"])
        == 0
    )
    events = Path("o/events.jsonl")
    whole = events.read_bytes()
    nothing = "no turn was finished in o; there is nothing to replay"
    for content, said in (
        (np.random.default_rng(0).bytes(3000), nothing),
        (whole[:900], nothing),
        (b"[1, 2]\n" * 3, nothing),
        (b'{"hello": 1}\n', "o/events.jsonl, line 1: no event of a run; remove the line"),
        (whole.replace(b'"key": "', b'"key": "x'), "o/events.jsonl, answer 1: "),
    ):
        events.write_bytes(content)
        capsys.readouterr()
        assert run(["trace", "export", "o", "--to", "lerobot", "--out", "set"]) == 2
        told = capsys.readouterr()
        assert told.out == ""
        assert told.err.startswith(f"error: {said}")
        assert told.err.count("\n") == 1
        assert not Path("set").exists()
