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
from cap.trace.reader import read_events, read_header
from cap.trace.trace import Trace, end_all, new_run_folder
from tests.fakes.full_disk import room_for


def test_everything_a_program_handles_becomes_json() -> None:
    halves = [np.float32(0.5), np.longdouble("0.5"), np.array([1, 2], np.longdouble)]
    value = {"array": np.eye(2), "halves": halves, "infinite": float("inf"), ("a", 1): object}
    told = json.loads(json.dumps(plain({**value, "point": shapely.Point(1, 2)}), allow_nan=False))
    assert told["array"] == [[1.0, 0.0], [0.0, 1.0]]
    assert told["halves"][0] == 0.5
    assert (told["infinite"], told["point"]) == ("inf", "POINT (1 2)")
    assert plain({3, 1, 2}) == [1, 2, 3]


def test_events_are_on_disk_as_they_happen(tmp_path: Path) -> None:
    trace = Trace(tmp_path / "run", {"robot": "r"})
    trace.turn = 2
    trace.event("say", text="ünïcode")
    (event,) = read_events(tmp_path / "run")
    assert event["turn"] == 2
    assert event["data"] == {"text": "ünïcode"}
    assert read_header(tmp_path / "run")["status"] == "running"
    trace.close("done")
    header = read_header(tmp_path / "run")
    assert (header["status"], header["seconds"] >= 0.0) == ("done", True)


def test_an_event_may_carry_a_field_named_kind() -> None:
    seen = []
    trace = Trace()
    trace.listeners.append(seen.append)
    trace.event("failure", kind="raised")
    assert seen[0].kind == "failure"
    assert seen[0].data == {"kind": "raised"}


def test_each_run_has_a_folder_of_its_own(tmp_path: Path) -> None:
    folders = {new_run_folder(tmp_path, "ravens", "Stack: ALL the blocks!") for _ in range(5)}
    assert len(folders) == 5
    assert all("ravens_stack-all-the-blocks" in folder.name for folder in folders)
    assert any(folder.name.endswith("-blocks") for folder in folders)
    assert new_run_folder(tmp_path, "ravens", "///../..🙂").parent == tmp_path


def test_a_place_that_cannot_be_written_is_a_clear_error(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    with pytest.raises(UsageError, match="cannot make a run folder"):
        new_run_folder(tmp_path / "file", "ravens", "x")


def test_a_half_written_last_line_is_left_out(tmp_path: Path) -> None:
    trace = Trace(tmp_path / "run")
    trace.event("a")
    trace.close("done")
    with (tmp_path / "run" / "events.jsonl").open("a") as file:
        file.write('{"kind": "b", "da')
    assert [event["kind"] for event in read_events(tmp_path / "run")] == ["a"]


@pytest.mark.parametrize("words", ["a\u2028b", "a\x85b", "a\ud800b", "grüße 🥣", "a\rb\nc"])
def test_any_text_is_read_back_as_it_was(tmp_path: Path, words: str) -> None:
    trace = Trace(tmp_path / "run", {"instructions": [words]})
    trace.event("completion", text=words)
    trace.program("ui", words)
    trace.close("done")
    (event,) = read_events(tmp_path / "run")
    assert event["data"]["text"] == words
    assert read_header(tmp_path / "run")["instructions"] == [words]


@pytest.mark.parametrize("text", ["{", "[]", ""])
def test_a_damaged_header_is_a_clear_error(tmp_path: Path, text: str) -> None:
    (tmp_path / "run.json").write_text(text)
    with pytest.raises(UsageError, match=r"run\.json"):
        read_header(tmp_path)


@pytest.fixture
def nothing_open(monkeypatch: pytest.MonkeyPatch) -> None:
    """Keep the traces of other tests out of this."""
    monkeypatch.setattr("cap.trace.trace._open", [])


@pytest.mark.inside
def test_what_a_stop_left_open_is_ended_and_nothing_else(
    tmp_path: Path, nothing_open: None
) -> None:
    ended, left = Trace(tmp_path / "ended"), Trace(tmp_path / "left")
    ended.close("done")
    end_all()
    end_all()
    assert read_header(tmp_path / "ended")["status"] == "done"
    assert read_header(tmp_path / "left")["status"] == "interrupted"
    assert left._files._events.closed


def test_a_program_is_whole_or_not_there(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    trace = Trace(tmp_path)

    def interrupt(*_: object) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr("os.replace", interrupt)
    with pytest.raises(KeyboardInterrupt):
        trace.program("ui", "say('it')\n")
    monkeypatch.undo()
    assert list((tmp_path / "programs").iterdir()) == []
    trace.close("interrupted")
    (kept,) = (tmp_path / "programs").iterdir()
    assert (kept.name, kept.read_text()) == ("01_ui.py", "say('it')\n")


def test_on_a_full_disk_a_run_goes_on_and_nothing_is_lost(tmp_path: Path) -> None:
    trace, told = Trace(tmp_path), []
    trace.listeners.append(told.append)
    long = "x" * 3000
    with room_for(2000):
        trace.event("a", text=long)  # half a line is written
        trace.event("b")
        trace.program("ui", long)
        unwritten = [event.data for event in told if event.kind == "unwritten"]
        assert unwritten == [{"folder": str(tmp_path), "why": "File too large"}]
    trace.event("c")
    assert [event.data["why"] for event in told if event.kind == "unwritten"][1:] == [None]
    assert [event["kind"] for event in read_events(tmp_path)] == ["a", "b", "c"]
    assert (tmp_path / "programs" / "01_ui.py").read_text() == long
    trace.close("done")


def test_what_never_could_be_written_is_said_at_the_end(tmp_path: Path) -> None:
    trace = Trace(tmp_path)
    with room_for(10):
        trace.event("a")
        with pytest.raises(OSError, match=r"File too large.*events\.jsonl"):
            trace.close("done")


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
