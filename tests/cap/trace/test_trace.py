"""Run folders: whole or not at all, readable after a kill, never overwritten."""

from __future__ import annotations

import io
import json
import zipfile
from pathlib import Path

import numpy as np
import pytest
import shapely

from cap.errors import UsageError
from cap.result import plain
from cap.trace.export.bundle import bundle
from cap.trace.export.run_record import RunRecord
from cap.trace.reader import UNREADABLE, read_events, read_header
from cap.trace.trace import FORMAT_VERSION, Event, Trace, new_run_folder
from tests.cap.conftest import Cap
from tests.fakes.full_disk import room_for
from tests.rows import rows


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


def test_a_program_is_whole_or_not_there(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    trace = Trace(tmp_path)

    def interrupt(*_: object) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr("os.replace", interrupt)
    with pytest.raises(KeyboardInterrupt):
        trace.program("ui", "say('it')\n")
    monkeypatch.undo()
    assert list((tmp_path / "programs").iterdir()) == []


def test_a_full_disk_ends_a_run_that_can_still_be_read(tmp_path: Path) -> None:
    trace = Trace(tmp_path)
    trace.event("a")
    with room_for(2000), pytest.raises(OSError, match=r"File too large.*events\.jsonl"):
        trace.event("b", text="x" * 3000)  # half a line is written
    assert [event["kind"] for event in read_events(tmp_path)] == ["a"]


def test_a_listener_s_error_is_the_caller_s(tmp_path: Path) -> None:
    trace = Trace(tmp_path)
    trace.listeners.append(lambda event: event.data["nothing"])
    with pytest.raises(KeyError):
        trace.event("a")
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
