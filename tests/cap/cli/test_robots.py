"""A robot of one's own: written, checked, run from its file; and what the check finds."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from cap.cli.main import run
from cap.models.providers import make_model
from cap.validation.robots import check_robot
from tests.cap.conftest import Cap
from tests.rows import cases

Capture = pytest.CaptureFixture[str]


def changed(robot: Path, old: str, new: str) -> list[str]:
    text = robot.read_text(encoding="utf-8")
    assert old in text
    other = robot.with_name("changed.py")
    other.write_text(text.replace(old, new), encoding="utf-8")
    return [str(finding) for finding in check_robot(str(other), make_model("nearest"))]


def test_the_new_robot_is_sound_and_moves(robot: Path, cap: Cap) -> None:
    assert run(["robots", "check", str(robot)]) == 0
    assert run(["run", "move the red marker to the left", "-r", str(robot), "--json"]) == 0
    assert "move_to(" in cap(["robots", "show", str(robot)]).out


def test_its_own_tests_pass(robot: Path) -> None:
    command = [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", str(robot.parent)]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout


def test_a_benchmark_of_a_real_robot_is_refused_before_the_first_trial(
    real: Path, cap: Cap
) -> None:
    suite = ["bench", "run", str(real.with_name("tasks.py")), "-m", "oracle", "--out", "o"]
    assert "robot 'my_arm' is real" in cap(suite, 2).err
    assert not Path("o").exists()


@pytest.mark.usefixtures("trials_here")
def test_its_tasks_run_and_are_reported(robot: Path, cap: Cap) -> None:
    suite = str(robot.with_name("tasks.py"))
    assert run(["bench", "run", suite, "-m", "oracle", "-n", "2", "--out", "o"]) == 0
    assert "move-left" in cap(["bench", "report", "o"]).out


@pytest.mark.sweep(share=0.34)
@cases(("old", "new", "finding"))
def test_what_is_wrong_is_found(robot: Path, old: str, new: str, finding: str) -> None:
    assert any(finding in found for found in changed(robot, old, new))


def test_a_real_robot_is_not_moved_unasked(
    real: Path, cap: Cap, monkeypatch: pytest.MonkeyPatch
) -> None:
    told = cap(["robots", "check", str(real)]).out
    assert "prompts/ui.py: 7 of 7 examples were not executed: they move a real robot" in told
    assert "parse_obj_name.py" not in told  # it cannot move anything, so it was executed
    assert run(["robots", "check", str(real), "--ask"]) == 0  # nobody answers: no
    assert not Path("motions").exists()
    asked = []
    monkeypatch.setattr("sys.stdin.isatty", lambda: True, raising=False)
    monkeypatch.setattr("click.confirm", lambda words, **_: asked.append(words) or True)
    assert run(["robots", "check", str(real), "--ask"]) == 0
    assert len(asked) == 7
    assert Path("motions").read_text()


def test_a_real_robot_is_checked_whole_where_that_is_said(real: Path, cap: Cap) -> None:
    assert "not executed" not in cap(["robots", "check", str(real), "--yes"]).out
    assert Path("motions").read_text()
    assert run(["robots", "check", str(real), "--yes", "--ask"]) == 2


@pytest.mark.parametrize(
    ("text", "why"),
    [
        ("def create(:", "SyntaxError"),
        ("raise SystemExit(0)", "SystemExit"),
        ("x = 1", "no function 'create'"),
        ("def create(**_): return 1", "has no attribute 'name'"),
    ],
)
def test_a_file_that_is_no_robot_is_a_clear_error(text: str, why: str, capsys: Capture) -> None:
    Path("bad.py").write_text(text, encoding="utf-8")
    assert run(["robots", "check", "bad.py"]) in (1, 2)
    told = capsys.readouterr()
    assert why in told.out + told.err
    assert "Traceback" not in told.err


@cases(("old", "new", "code", "why"))
def test_a_faulty_robot_is_named_with_its_fault(
    robot: Path, old: str, new: str, code: int, why: str, cap: Cap
) -> None:
    text = robot.read_text()
    assert old in text
    robot.write_text(text.replace(old, new))
    assert why in cap(["run", "move the red marker to the left", "-r", str(robot)], code).err


@pytest.mark.parametrize(
    ("option", "why"),
    [
        ("perceptin=camera", "robot 'ravens' has no option 'perceptin'. Did you mean 'perception'"),
        ("wheels=4", "It takes: scene, perception, detector, disturbances"),
        ("mode=physics", "say it with --mode"),
        ("seed=4", "say it with --seed"),
    ],
)
def test_a_robot_option_that_is_none_is_refused(option: str, why: str, cap: Cap) -> None:
    assert why in cap(["run", "stack all the blocks", "-R", option], 2).err


@pytest.mark.parametrize("name", ["My-Arm", "../arm", "class", "numpy", "cap"])
def test_a_name_that_is_none_is_refused(name: str) -> None:
    assert run(["robots", "new", name]) == 2


def test_prompts_of_another_robot_and_files_without_examples_are_told(
    robot: Path, cap: Cap
) -> None:
    prompts = robot.with_name("prompts")
    assert f"-r {robot}" in cap(["prompts", "check", str(prompts)]).err
    Path("empty.py").write_text("")
    assert "no example" in cap(["prompts", "check", "empty.py"], 1).out


def test_a_folders_settings_cannot_name_a_file_to_execute(robot: Path, cap: Cap) -> None:
    Path("cap.toml").write_text(f'robot = "{robot}"\n', encoding="utf-8")
    assert (
        "it executes that file"
        in cap(["run", "put the red block in the blue bowl", "--mode", "instant"]).err
    )


@pytest.mark.parametrize(
    "name",
    # some seconds each
    [
        "drawing",
        *(pytest.param(n, marks=pytest.mark.soak) for n in ("ravens", "kitchen", "tabletop")),
    ],
)
def test_the_shipped_robots_are_sound(name: str) -> None:
    found = check_robot(name, make_model("nearest"))
    assert [str(finding) for finding in found if not finding.skipped] == []


def test_a_robot_s_folder_points_to_its_files(robot: Path, capsys: Capture) -> None:
    folder = str(robot.parent)
    for asked, file in (
        (["run", "say hi", "-r", folder], "robot.py"),
        (["bench", "run", folder, "-m", "oracle"], "tasks.py"),
    ):
        run(asked)
        screen = capsys.readouterr()
        assert f"say {robot.with_name(file)}." in screen.out + screen.err
