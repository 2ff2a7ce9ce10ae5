"""Run folders: whole or not at all, readable after a kill; and what a terminal shows of them."""

from __future__ import annotations

import io
import json
import re
import zipfile
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import shapely
from rich.cells import cell_len
from rich.console import Console

from cap.errors import UsageError
from cap.messages import short, usage_line
from cap.models.base import Usage
from cap.result import plain
from cap.trace.export.bundle import bundle
from cap.trace.export.run_record import RunRecord
from cap.trace.reader import UNREADABLE, read_events, read_header
from cap.trace.terminal import Live
from cap.trace.trace import FORMAT_VERSION, Event, Trace, new_run_folder
from tests.cap.conftest import Cap
from tests.fakes.full_disk import room_for
from tests.rows import rows, table


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    trace = Trace(tmp_path / "run", {"robot": "ravens"})
    trace.event("instruction", text="go")
    trace.close("done")
    return tmp_path / "run"


def test_everything_a_program_handles_becomes_json() -> None:
    halves = [np.float32(0.5), np.longdouble("0.5"), np.array([1, 2], np.longdouble)]
    value = {"array": np.eye(2), "halves": halves, "infinite": float("inf"), ("a", 1): object}
    told = json.loads(json.dumps(plain({**value, "point": shapely.Point(1, 2)}), allow_nan=False))
    assert told["array"] == [[1.0, 0.0], [0.0, 1.0]]
    assert told["halves"][0] == 0.5
    assert (told["infinite"], told["point"]) == ("inf", "POINT (1 2)")
    assert plain({3, 1, 2}) == [1, 2, 3]


def test_events_are_on_disk_as_they_happen(tmp_path: Path) -> None:
    trace, seen = Trace(tmp_path, {"robot": "r"}), list[Event]()
    trace.listeners.append(seen.append)
    trace.turn = 2
    trace.event("failure", kind="raised")
    (event,) = read_events(tmp_path)
    assert (event["turn"], event["kind"], event["data"]) == (2, "failure", {"kind": "raised"})
    assert seen == [Event("failure", 2, 0, {"kind": "raised"})]
    assert read_header(tmp_path)["status"] == "running"
    trace.close("done")
    header = read_header(tmp_path)
    assert (header["status"], header["seconds"] >= 0.0) == ("done", True)


def test_each_run_has_a_folder_of_its_own(tmp_path: Path) -> None:
    folders = {new_run_folder(tmp_path, "ravens", "Stack: ALL the blocks!") for _ in range(5)}
    assert len(folders) == 5
    assert all("ravens_stack-all-the-blocks" in folder.name for folder in folders)
    assert new_run_folder(tmp_path, "ravens", "///../..🙂").parent == tmp_path
    (tmp_path / "file").write_text("")
    with pytest.raises(UsageError, match="cannot make a run folder"):
        new_run_folder(tmp_path / "file", "ravens", "x")


@pytest.mark.parametrize("words", ["a\u2028b", "a\x85b", "a\ud800b", "grüße 🥣", "a\rb\nc"])
def test_any_text_is_read_back_as_it_was(tmp_path: Path, words: str) -> None:
    trace = Trace(tmp_path, {"instructions": [words]})
    trace.event("completion", text=words)
    trace.program("ui", words)
    trace.close("done")
    with (tmp_path / "events.jsonl").open("a") as file:
        file.write('{"kind": "b", "da')  # half-written by a run that was killed
    (event,) = read_events(tmp_path)
    assert event["data"]["text"] == words
    assert read_header(tmp_path)["instructions"] == [words]


@rows("text", ["{", "[]", "", *(f'{{"format_version": {n}}}' for n in ("0", '"1"', "null"))])
def test_a_damaged_header_or_one_of_another_format_is_named(tmp_path: Path, text: str) -> None:
    (tmp_path / "run.json").write_text(text)
    other = rf"run\.json has format .*, this version reads {FORMAT_VERSION}"
    with pytest.raises(
        UsageError, match=other if "version" in text else r"cannot read .*run\.json"
    ):
        read_header(tmp_path)


HUGE = json.dumps({"kind": "call", "turn": 10**400, "depth": 0, "data": {}})


@pytest.mark.parametrize("line", ["{}", '{"kind": "call"}', HUGE, '{"kind": 1, "turn": 1}'])
def test_a_line_that_is_no_event_is_named(folder: Path, line: str, cap: Cap) -> None:
    with (folder / "events.jsonl").open("a") as file:
        file.write(f"{line}\n")
    with pytest.raises(UsageError, match="line 2: no event of a run"):
        read_events(folder)
    assert cap(["trace", "show", str(folder)], 2).err.count("\n") == 1


@pytest.mark.parametrize("line", ["[1]", "null"])
def test_a_line_that_is_no_object_is_counted_also_as_the_last(folder: Path, line: str) -> None:
    with (folder / "events.jsonl").open("a") as file:
        file.write(f"{line}\n")
    assert RunRecord.read(folder).unknown == {UNREADABLE: 1}


def test_one_bad_run_does_not_hide_the_others(
    folder: Path, monkeypatch: pytest.MonkeyPatch, cap: Cap
) -> None:
    Trace(folder.parent / "other", {"robot": "kitchen"}).close("done")
    header = read_header(folder)
    (folder / "run.json").write_text(json.dumps({**header, "status": "running", "pid": 10**30}))
    monkeypatch.setenv("CAP_RUNS", str(folder.parent))
    rows = {Path(row["run"]).name: row for row in json.loads(cap(["trace", "list", "--json"]).out)}
    assert (rows["run"]["status"], rows["other"]["status"]) == ("killed", "done")


def test_a_full_disk_ends_a_run_that_can_still_be_read(tmp_path: Path) -> None:
    trace = Trace(tmp_path)
    trace.event("a")
    with room_for(2000), pytest.raises(OSError, match=r"File too large.*events\.jsonl"):
        trace.event("b", text="x" * 3000)  # half a line is written
    assert [event["kind"] for event in read_events(tmp_path)] == ["a"]


def test_a_run_that_cannot_be_written_at_all_does_not_begin(tmp_path: Path) -> None:
    with room_for(0), pytest.raises(OSError, match=r"File too large.*run\.json"):
        Trace(tmp_path)


def test_a_run_is_one_file_to_attach_without_keys_and_the_home_folder(tmp_path: Path) -> None:
    run = tmp_path / "run"
    (run / "programs").mkdir(parents=True)
    told = {"path": str(Path.home() / "lab"), "said": "sk-abcdefghijklmnop1234, Bearer abcdefgh12"}
    (run / "events.jsonl").write_text(json.dumps(told))
    (run / "programs" / "1.py").write_text("say('hi')\n")
    (run / "link").symlink_to("/etc/passwd")
    with zipfile.ZipFile(io.BytesIO(bundle(run))) as archive:
        assert archive.namelist() == ["run/events.jsonl", "run/programs/1.py"]
        text = archive.read("run/events.jsonl").decode()
    assert json.loads(text) == {"path": "~/lab", "said": "[removed], Bearer [removed]"}


# --- what a terminal shows while a session goes on

WIPED = "\r\x1b[2K"
Entry = tuple[Any, ...]


def shown(*events: Entry, terminal: bool = True, depth: int = 0) -> str:
    """Return what a listener prints of some events (kind, data, depth), without colours."""
    out = io.StringIO()
    live = Live(Console(file=out, force_terminal=terminal, color_system=None, width=100))
    for kind, data, *own in events:
        live(Event(kind, 1, own[0] if own else depth, data))
    return out.getvalue()


PROGRAM: Entry = (
    "program",
    {"lmp": "ui", "source": "x = 1\ny = 2\n", "generated": [], "notes": (), "path": None},
)


def seen(*events: Entry) -> list[str]:
    """Return the lines that a terminal shows in the end."""
    lines = [line.rpartition(WIPED)[2] for line in shown(*events).split("\n")]
    return [line.rstrip() for line in lines if line.strip()]


LINES, EXACT = table(__file__, "lines"), table(__file__, "exact")


@rows(("events", "lines"), LINES.values(), LINES)
def test_a_terminal_shows_what_goes_on_line_by_line(events: list[Entry], lines: list[str]) -> None:
    assert seen(*events) == lines


@rows(("events", "out", "options"), EXACT.values(), EXACT)
def test_what_is_written_and_wiped(events: list[Entry], out: str, options: dict[str, Any]) -> None:
    assert shown(*events, **options) == out


def test_what_is_printed_is_shown_once() -> None:
    whole: Entry = ("stdout", {"text": "1\n2\n"})
    pieces: list[Entry] = [("printed", {"text": "1\n"}), ("printed", {"text": "2\n"})]
    for events in ([*pieces, whole], [whole]):
        assert seen(*events) == ["  | 1", "  | 2"]


LINE: Entry = ("line", {"number": 1})


def test_calls_in_a_row_are_counted_now_and_then() -> None:
    data = {"name": "go", "args": [1], "kwargs": {}, "kind": "action", "error": None}
    calls: list[Entry] = [("call", {**data, "result": None, "duration_s": 0.1})] * 41
    counts = [int(number) for number in re.findall(r"go x (\d+)", shown(*calls))]
    assert (counts[-2:], 21 in counts, counts == sorted(counts)) == ([30, 40], False, True)


def test_what_a_model_writes_grows_by_whole_lines() -> None:
    text: list[Entry] = [("text", {"lmp": "ui", "text": part}) for part in ("x = 1\ny", " = 2")]
    assert "\n  x = 1\n" in shown(("instruction", {"lmp": "ui", "text": "go"}), *text)


def test_a_line_below_is_never_longer_than_the_screen_is_wide() -> None:
    source = {**PROGRAM[1], "source": "say('" + "\u7ea2" * 200 + "')\n"}
    out = shown(("program", source), LINE)
    assert cell_len(out.split("\n")[-1]) < 100


def test_who_is_asked_about_each_call_sees_no_line_that_runs() -> None:
    out = io.StringIO()
    console = Console(file=out, force_terminal=True, color_system=None, width=100)
    live = Live(console, follows=False)
    for kind, data in (PROGRAM, LINE):
        live(Event(kind, 1, 0, data))
    assert out.getvalue() == "  x = 1\n  y = 2\n"


@pytest.mark.parametrize("terminal", [True, False])
@pytest.mark.parametrize("hostile", ["\x1b[2J", "\x9b2J", "\r", "\x07", "\u202e", "[bold]x[/]"])
def test_nothing_a_model_writes_steers_the_terminal(hostile: str, terminal: bool) -> None:
    events: list[Entry] = [
        ("text", {"lmp": "ui", "text": hostile}),
        ("repair", {"lmp": "ui", "attempt": 2, "reason": hostile, "source": hostile}),
        ("skills", {"offered": [hostile], "left_out": {}}),
        ("prompt", {"lmp": "ui", "model": f"vllm/{hostile}"}),
    ]
    out = shown(*events, terminal=terminal).replace(WIPED, "")
    assert all(char.isprintable() or char == "\n" for char in out)
    assert hostile in out or "\\x" in out


def test_usage_in_one_line() -> None:
    for usage, line in (
        (Usage(1, 20, 5, 0.0012), "1 request, 20 + 5 tokens, $0.0012"),
        (Usage(3, 20, 5, None), "3 requests, 20 + 5 tokens"),
        (Usage(1, 0, 0, 0.0), "1 request, 0 + 0 tokens"),
    ):
        assert usage_line(usage) == usage_line(vars(usage)) == line


def test_a_long_value_is_cut_between_two_numbers() -> None:
    matrix = [[0.1234, 1.0], [2.5678, 3.0], [4.0, 5.0], [6.0, 7.0], [8.0, 9.0], [10.0, 11.25]]
    assert short(matrix) == "[[0.1234, 1], [2.568, 3], [4, 5], [6, 7], [8, 9], [10, …"
    places = {"red block": [0.174325, -0.48], "green block": [-0.0961, -0.537], "b": [1.5, 2.5]}
    assert short(places) == "{red block: [0.1743, -0.48], green block: [-0.0961, …"
    assert short("x" * 80) == "'" + "x" * 58 + "…"


def test_what_failed_is_red() -> None:
    out = io.StringIO()
    live = Live(Console(file=out, force_terminal=True, color_system="standard", width=100))
    live(Event("step", 1, 0, {"text": "wave", "ok": False, "message": "", "lines": []}))
    assert out.getvalue() == "\x1b[31m  wave: failed\x1b[0m\n"
