"""Run folders of another format, and lines that are no events: one line, never a traceback."""

import json
from pathlib import Path

import pytest

from cap.cli.main import run
from cap.errors import UsageError
from cap.trace.export.run_record import RunRecord
from cap.trace.reader import UNREADABLE, read_events, read_header
from cap.trace.trace import FORMAT_VERSION, Trace
from tests.rows import rows


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    trace = Trace(tmp_path / "run", {"robot": "ravens"})
    trace.event("instruction", text="go")
    trace.close("done")
    return tmp_path / "run"


def rewrite(folder: Path, **values: object) -> None:
    path = folder / "run.json"
    path.write_text(json.dumps({**json.loads(path.read_text()), **values}))


@rows("version", [0, FORMAT_VERSION + 1, "1", None])
def test_another_format_is_named(folder: Path, version: object) -> None:
    rewrite(folder, format_version=version)
    with pytest.raises(UsageError, match=f"has format .*, this version reads {FORMAT_VERSION}"):
        read_header(folder)


HUGE = json.dumps({"kind": "call", "turn": 10**400, "depth": 0, "data": {}})


@pytest.mark.parametrize("line", ["{}", '{"kind": "call"}', HUGE, '{"kind": 1, "turn": 1}'])
def test_a_line_that_is_no_event_is_named(
    folder: Path, line: str, capsys: pytest.CaptureFixture[str]
) -> None:
    with (folder / "events.jsonl").open("a") as file:
        file.write(f"{line}\n")
    with pytest.raises(UsageError, match="line 2: no event of a run"):
        read_events(folder)
    assert run(["trace", "show", str(folder)]) == 2
    assert capsys.readouterr().err.count("\n") == 1


@pytest.mark.parametrize("line", ["[1]", "null"])
def test_a_line_that_is_no_object_is_counted_also_as_the_last(folder: Path, line: str) -> None:
    with (folder / "events.jsonl").open("a") as file:
        file.write(f"{line}\n")
    assert [event["kind"] for event in read_events(folder)][1:] == [UNREADABLE]
    assert RunRecord.read(folder).unknown == {UNREADABLE: 1}


def test_one_bad_run_does_not_hide_the_others(
    folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    other = Trace(folder.parent / "other", {"robot": "kitchen"})
    other.close("done")
    rewrite(folder, status="running", pid=10**30)
    assert run(["trace", "list", "--runs", str(folder.parent), "--json"]) == 0
    rows = {Path(row["run"]).name: row for row in json.loads(capsys.readouterr().out)}
    assert (rows["run"]["status"], rows["other"]["status"]) == ("killed", "done")
