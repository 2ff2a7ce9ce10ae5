"""Files that come from somebody else: nothing in them is executed, and none of them hangs."""

from __future__ import annotations

import json
import os
import sys
from pathlib import Path
from typing import Any

import pytest

from cap.cli.main import run
from cap.errors import CapError
from cap.session.session import Session
from tests.cap.conftest import Cap

PUT = "put the red block in the blue bowl"
ROBOT = """
from pathlib import Path
Path({mark!r}).touch()
from robots.ravens import create
PROMPTS = "ravens"
"""


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """A run with one turn."""
    made = tmp_path / "made"
    assert run(["run", PUT, "--mode", "instant", "--out", str(made)]) == 0
    return made


def point_at(folder: Path, robot: dict[str, Any]) -> None:
    for name in ("session.json", "start.json"):
        values = json.loads((folder / name).read_text())
        values["robot"] |= robot
        (folder / name).write_text(json.dumps(values))


@pytest.mark.parametrize("field", ["name", "file"])
def test_a_run_folder_from_somebody_else_executes_no_file(
    folder: Path, tmp_path: Path, field: str, cap: Cap
) -> None:
    mark = tmp_path / "executed"
    own = folder / "robot.py"
    own.write_text(ROBOT.format(mark=str(mark)))
    point_at(folder, {field: str(own)})
    for command in (
        ["run", PUT, "--resume", str(folder)],
        ["run", "--replay", str(folder)],
        ["trace", "export", str(folder), "--to", "gif"],
    ):
        assert "add -r " in cap(command, 2).err
    with pytest.raises(CapError, match="executes no file"):
        Session.resume(folder)
    assert not mark.exists()


def test_a_robot_of_your_own_goes_on_where_you_name_its_file(
    folder: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    own = folder / "robot.py"
    own.write_text(ROBOT.format(mark=str(tmp_path / "executed")))
    point_at(folder, {"file": str(own)})
    assert run(["run", PUT, "--resume", str(folder), "-r", str(own)]) in (0, 1)
    assert (tmp_path / "executed").exists()


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="this system has no named pipes")
@pytest.mark.parametrize("name", ["session.json", "start.json", "run.json", "events.jsonl"])
@pytest.mark.parametrize("kind", ["pipe", "device"])
def test_a_file_without_an_end_is_refused(folder: Path, name: str, kind: str, cap: Cap) -> None:
    (folder / name).unlink()
    if kind == "pipe":
        os.mkfifo(folder / name)
    else:
        (folder / name).symlink_to("/dev/zero")
    commands = {
        "session.json": ["run", PUT, "--resume", str(folder)],
        "start.json": ["run", "--replay", str(folder)],
        "run.json": ["trace", "show", str(folder)],
        "events.jsonl": ["trace", "show", str(folder)],
    }
    error = cap(commands[name], 2).err.strip()
    assert "not a plain file" in error
    assert "\n" not in error


def test_a_huge_seed_in_a_saved_session_is_refused(folder: Path) -> None:
    values = json.loads((folder / "session.json").read_text())
    sys.set_int_max_str_digits(0)
    (folder / "session.json").write_text(
        json.dumps({**values, "seed": 7}).replace('"seed": 7', f'"seed": {10**400}')
    )
    sys.set_int_max_str_digits(4300)
    with pytest.raises(CapError, match="damaged"):
        Session.resume(folder)
