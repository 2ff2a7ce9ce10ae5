"""A run as a LeRobot dataset."""

from __future__ import annotations

import io
import json
from pathlib import Path

import numpy as np
import pytest

from cap.cli.main import run
from cap.errors import UsageError
from cap.trace.export.lerobot import state_names, state_of

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
