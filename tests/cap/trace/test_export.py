"""A run as a page: all of it in one file, nothing in it interpreted, odd events counted."""

import json
import os
import re
from html import unescape
from html.parser import HTMLParser
from pathlib import Path

import pytest
from PIL import Image

from cap import Session
from cap.cli.main import run
from cap.trace.export import pages
from cap.trace.export.pages import html, markdown
from cap.trace.export.run_record import Note, ProgramRecord, RunRecord
from cap.trace.trace import Trace
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


def copied(ran: Path, folder: Path, *more: object, first: str = "") -> RunRecord:
    """Write the run anew with more events, and read it."""
    lines = [json.dumps(event) for event in more]
    events = (ran / "events.jsonl").read_text()
    (folder / "run.json").write_text((ran / "run.json").read_text())
    (folder / "events.jsonl").write_text(first + events + "\n".join([*lines, ""]))
    return RunRecord.read(folder)


class _Checked(HTMLParser):
    """Collects tags, and what a page would load from elsewhere."""

    def __init__(self) -> None:
        super().__init__()
        self.tags: list[str] = []
        self.outside: list[str] = []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append(tag)
        given = {name: text or "" for name, text in attrs if name in ("src", "href", "srcset")}
        self.outside += [t for t in given.values() if not t.startswith("data:image/jpeg;base64,")]


def checked(page: str) -> _Checked:
    parser = _Checked()
    parser.feed(page)
    return parser


def test_a_run_is_read_into_its_turns(ran: Path) -> None:
    record = RunRecord.read(ran)
    assert [turn.ok for turn in record.turns] == [True, False, True]
    assert [turn.undone for turn in record.turns] == [False, False, True]
    first, failed, own = record.turns
    program = next(part for part in first.parts if isinstance(part, ProgramRecord))
    assert {call.name for call in program.calls} == {"put_first_on_second"}
    assert program.lines == {2}
    notes = [part for part in failed.parts if not isinstance(part, ProgramRecord)]
    assert any(isinstance(n, Note) and n.kind == "failure" and "NoMatch" in n.text for n in notes)
    looped = next(part for part in own.parts if isinstance(part, ProgramRecord))
    assert [(call.name, call.count) for call in looped.calls] == [
        ("denormalize_xy", 40),
        ("say", 1),
    ]
    assert [view["turn"] for view in record.views] == [0, 1]
    assert record.views[1]["placements"].keys() >= {"objects/red block"}
    assert record.unknown == {}


def test_the_page_is_one_file_with_a_policy_of_its_own(ran: Path) -> None:
    page = html(RunRecord.read(ran))
    found = checked(page)
    assert found.outside == []
    assert found.tags.count("img") == 1
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
    trace = Trace(tmp_path / "run", {"robot": NASTY, "model": NASTY})
    with trace.begin_turn():
        trace.event("instruction", lmp="ui", text=NASTY)
        program = {"lmp": NASTY, "source": NASTY, "generated": [(NASTY, NASTY)], "notes": []}
        trace.event("program", **program)
        call = {"name": "say", "args": [NASTY], "kwargs": {}, "result": None, "error": NASTY}
        trace.event("call", **call, kind="action", duration_s=0.1)
        trace.event("violations", source="", found=[NASTY])
        trace.event("view", placements={NASTY: [0, 0, 0, 0, 0, 0, 1]}, shapes={NASTY: []})
    trace.close("done")
    record = RunRecord.read(tmp_path / "run")
    page, text = html(record), markdown(record)
    assert checked(page).tags.count("script") == 2
    assert "alert(1)</script>" not in page.replace("&lt;/script&gt;", "")
    assert "\x1b" not in page + text
    assert "<script>" not in re.sub(r"````python\n.*?````", "", text, flags=re.DOTALL)
    assert not re.search(
        r"^# not a heading", re.sub(r"````python\n.*?\n````", "", text, flags=re.S), re.M
    )


def test_a_foreign_run_of_any_size_gives_a_bounded_page(tmp_path: Path) -> None:
    huge = "x" * (pages.MAX_CHARS * 3)
    words = [(turn, "instruction", {"lmp": "ui", "text": huge}) for turn in range(1, 300)]
    source = {"lmp": "ui", "source": huge, "generated": []}
    called = [call("see", number, number) for number in range(300)]
    calls = [(1, "call", {**data, "name": f"f{i}"}) for i, (_, _, data) in enumerate(called)]
    run = recorded(tmp_path / "run", words[0], (1, "program", source), *calls, *words[1:])
    for text in (html(run), markdown(run)):
        assert "and 99 more in the trace" in text  # turns
        assert "and 100 more in the trace" in text  # calls
        assert "40000 more characters in the trace" in text
        assert len(text) < pages.MAX_ROWS * pages.MAX_CHARS * 1.1
    assert len(run.title) < 250


ODD = table(__file__, "odd events")


@pytest.mark.parametrize("odd", ODD.values(), ids=ODD)
def test_odd_and_newer_events_do_not_hide_the_rest(
    ran: Path, tmp_path: Path, odd: dict[str, object], capsys: pytest.CaptureFixture[str]
) -> None:
    record = copied(ran, tmp_path, {"t": 1.0, "turn": 3, "depth": 0, **odd})
    assert run(["trace", "show", str(tmp_path)]) == 0
    shown = capsys.readouterr()
    assert "Traceback" not in shown.err
    assert "NoMatch" in shown.out
    assert "NoMatch" in html(record)
    assert "NoMatch" in markdown(record)
    assert [turn.number for turn in record.turns] == [1, 2, 3]
    assert list(record.unknown) == [odd["kind"]]


def test_a_planner_s_steps_are_notes_of_the_page(tmp_path: Path) -> None:
    step = {"text": "wave", "ok": False, "message": "too tired", "lines": ["[success: no]"]}
    run = recorded(tmp_path / "run", (1, "instruction", {"text": "go"}), (1, "step", step))
    assert run.turns[0].parts == [
        Note("step", "step: wave: too tired", "bad"),
        Note("step", "[success: no]", "dim"),
    ]


def test_events_that_no_page_shows_are_not_counted(ran: Path, tmp_path: Path) -> None:
    kinds = "prompt skills resumed unseen held rewound model answer considered example policy"
    events = ({"t": 1.0, "turn": 3, "depth": 0, "kind": kind, "data": {}} for kind in kinds.split())
    assert copied(ran, tmp_path, *events).unknown == {}


def test_a_damaged_picture_is_named(ran: Path, tmp_path: Path) -> None:
    (tmp_path / "turn-2.png").write_bytes(b"no picture")
    page = html(copied(ran, tmp_path))
    assert "turn-2.png cannot be shown" in page
    assert checked(page).tags.count("img") == 0


def test_a_run_that_cannot_be_exported_is_refused_in_one_line(
    ran: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert run(["trace", "export", str(tmp_path)]) == 2
    assert "is no run folder" in capsys.readouterr().err
    assert run(["trace", "export", str(ran), "--out", str(tmp_path / "no" / "where.html")]) == 2
    told = capsys.readouterr().err
    assert told.count("\n") == 1
    assert f"cannot write {tmp_path / 'no' / 'where.html'}: " in told


def test_unreadable_lines_are_counted_and_told(
    ran: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    record = copied(ran, tmp_path, [1], first="[" * 200_000 + "\n")
    with (tmp_path / "events.jsonl").open("a") as file:
        file.write('{"k')
    assert record.unknown == {"unreadable line": 2}
    assert "2 events of kind 'unreadable line' not shown" in html(record)
    assert run(["trace", "show", str(tmp_path)]) == 0
    last = (tmp_path / "events.jsonl").read_text().count("\n")
    shown = capsys.readouterr().out
    assert re.findall(r"line (\d+) of events", shown) == ["1", str(last)]


VIEWS = table(__file__, "views")


@pytest.mark.parametrize("view", VIEWS.values(), ids=VIEWS)
def test_a_view_that_cannot_be_drawn_is_counted(
    ran: Path, tmp_path: Path, view: dict[str, object]
) -> None:
    before = RunRecord.read(ran)
    event = {"t": 9.0, "turn": 3, "depth": 0, "kind": "view", "data": view}
    record = copied(ran, tmp_path, event)
    assert before.views
    assert record.views == before.views
    assert record.unknown == {"view": 1}


def test_what_is_no_file_is_written_to_not_replaced(ran: Path, tmp_path: Path) -> None:
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    end = os.open(pipe, os.O_RDONLY | os.O_NONBLOCK)
    with os.fdopen(end, "rb", buffering=0) as reader:
        assert run(["trace", "export", str(ran), "--to", "md", "--out", str(pipe)]) == 0
        assert reader.read(2) == b"# "
    assert pipe.is_fifo()


def test_a_film_is_the_run_carried_out_again(
    ran: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    film = tmp_path / "film.gif"
    assert run(["trace", "export", str(ran), "--to", "gif", "--out", str(film)]) == 0
    assert capsys.readouterr().out == f"{film}\n"
    with Image.open(film) as opened:
        assert getattr(opened, "n_frames", 1) >= 2


def test_an_mp4_film_has_its_frames(ran: Path, tmp_path: Path) -> None:
    av = pytest.importorskip("av", reason="the extra 'video' is not installed")
    film = tmp_path / "film.mp4"
    assert run(["trace", "export", str(ran), "--to", "mp4", "--out", str(film)]) == 0
    with av.open(str(film)) as opened:
        frames = list(opened.decode(video=0))
    assert len(frames) > 20
    assert (frames[0].width, frames[0].height) == (320, 320)


def test_a_rerun_file_has_arm_objects_and_calls(ran: Path, tmp_path: Path) -> None:
    pytest.importorskip("rerun", reason="the extra 'rerun' is not installed")
    film = tmp_path / "film.rrd"
    assert run(["trace", "export", str(ran), "--to", "rrd", "--out", str(film)]) == 0
    data = film.read_bytes()
    assert data.startswith(b"RRF")
    for word in (b"red\\ block", b"camera", b"calls", b"simulated"):
        assert word in data, word


@pytest.mark.parametrize("to", ["mp4", "rrd", "lerobot"])
def test_what_is_missing_for_a_film_is_named(
    ran: Path, to: str, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    for module in ("av", "rerun", "pyarrow"):
        monkeypatch.setitem(__import__("sys").modules, module, None)
    assert run(["trace", "export", str(ran), "--to", to]) == 2
    told = capsys.readouterr().err
    assert told.count("\n") == 1
    assert "-m pip install -e" in told


def recorded(folder: Path, *events: tuple[int, str, dict[str, object]]) -> RunRecord:
    """Return a run that has these events: turn, kind, data."""
    Trace(folder).close("done")
    lines = [
        json.dumps({"turn": turn, "depth": 0, "kind": kind, "t": 0.0, "data": data})
        for turn, kind, data in events
    ]
    (folder / "events.jsonl").write_text("\n".join(lines) + "\n", encoding="utf-8")
    return RunRecord.read(folder)


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


def call(name: str, given: object, result: object = None) -> tuple[int, str, dict[str, object]]:
    data = {"name": name, "args": [given], "kwargs": {}, "result": result, "error": None}
    return 1, "call", {**data, "kind": "action", "duration_s": 0.1}


def test_calls_are_told_as_one_only_of_what_was_alike(tmp_path: Path) -> None:
    words, long = (1, "instruction", {"lmp": "ui", "text": "go"}), "all of it is told " * 9
    calls = [call("where", "red", 1), call("where", "red", 1), call("go", "a"), call("go", "b")]
    calls += [call("go", "c"), call("see", "x", 1), call("see", "x", 2), call("say", "one")]
    calls += [call("say", long + "1"), call("say", long + "2"), call("say", "two")]
    run = recorded(tmp_path / "run", words, *calls, call("say", "two"))
    told = ["where('red') × 2 = 1", "go('a'), and 2 more calls", "see('x') = 1, and 1 more call"]
    told += ["say('one')", f"say('{long}1", f"say('{long}2", "say('two') × 2"]
    for text in (markdown(run), re.sub("<[^>]+>", "", html(run).replace("<li", "\n<li"))):
        lines = [unescape(line) for line in text.split("\n")]
        rows = [line for line in lines if re.search(r"\).* .*\d\.\d\d s$", line)]
        assert len(rows) == len(told)
        for row, begin in zip(rows, told, strict=True):
            assert row.removeprefix("- ").removeprefix("→ ").startswith(begin)


@pytest.mark.parametrize("damage", [{"cost_usd": "0.1"}, {"requests": None}, {"requests": True}])
def test_a_turn_whose_usage_is_no_number_is_told_and_counted(
    tmp_path: Path, damage: dict[str, object]
) -> None:
    usage = {"requests": 1, "prompt_tokens": 2, "completion_tokens": 3, "cost_usd": 0.1, **damage}
    done = {"ok": True, "usage": usage, "model": "m"}
    words = {"lmp": "ui", "text": "go"}
    run = recorded(tmp_path / "run", (1, "instruction", words), (1, "done", done))
    assert run.unknown == {"done": 1}
    assert run.turns[0].ok is True
    assert "1 event of kind 'done' not shown" in html(run)
    assert "1 event of kind done not shown" in markdown(run)
