"""Scenes from files: anything anywhere that would stay there, and one line for what would not."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from cap.cli.main import run
from cap.errors import ConfigError
from cap.robot.registry import make_robot
from robots.kitchen import create as create_kitchen
from robots.ravens import create
from tests.rows import rows, table

TABLE = """
[[objects]]
name = "pink block"
position_m = [0.0, -0.5]

[[objects]]
name = "cyan block"
position_m = [-0.2, -0.3, 0.0245]
yaw_rad = 0.4

[[objects]]
name = "gray bowl"
position_m = [-0.2, -0.3]

[[objects]]
name = "the Blue Block"
position_m = [0.065, -0.5, 0.02]

[[objects]]
name = "red block"
position_m = [0.0325, -0.5, 0.06]
"""
LINE = TABLE.count("\n") + 3


@pytest.fixture
def file(tmp_path: Path) -> Path:
    path = tmp_path / "table.toml"
    path.write_text(TABLE, encoding="utf-8")
    return path


def test_everything_stands_where_the_file_says_whatever_the_seed(mode: str, file: Path) -> None:
    robot = create(seed=0, mode=mode, scene=str(file))
    before = robot.positions()
    assert list(before) == ["pink block", "cyan block", "gray bowl", "blue block", "red block"]
    assert before["red block"] == (0.0325, -0.5, pytest.approx(0.06))
    assert before["cyan block"] == (-0.2, -0.3, pytest.approx(0.024))
    assert robot.state.scene["cyan block"].yaw == pytest.approx(0.4)
    robot.reset(7)
    assert robot.positions() == before
    robot.put_first_on_second("cyan block", "middle")
    robot.put_first_on_second("gray bowl", (-0.2, -0.6))
    for name in ("pink block", "blue block", "red block"):
        assert robot.positions()[name] == pytest.approx(before[name], abs=0.001)
    robot.close()


def refused(name: str, path: Path, text: str) -> str:
    """Return in which one line a robot refuses a scene, without the path."""
    path.write_text(text, encoding="utf-8")
    with pytest.raises(ConfigError) as failure:
        make_robot(name, mode="instant", scene=str(path))
    told = str(failure.value)
    assert told.startswith(f"{path}, line ")
    assert "\n" not in told
    assert len(told) < 1000
    return told.removeprefix(f"{path}, ")


@rows(
    ("name", "entry", "line", "told"),
    [
        ("green block", "position_m = [0.03, -0.51, 0.02]", 1, "reaches into 'pink block'"),
        ("green block", "position_m = [0.2, -0.51, 0.3]", 1, "floats above the table"),
        ("green block", "position_m = [0.2, -0.51, -0.3]", 1, "reaches into the table"),
        ("green block", "position_m = [0.0, -0.5, 0.09]", 1, "cannot be there: no room"),
        ("green block", "position_m = [200, -0.51]", 1, "off the table"),
        ("green block", "position_m = [0.2, 1e400]", 1, "position_m must be"),
        ("green block", "position_m = [0.2, -0.51]\nsize_m = [9, 9, 9]", 2, "unknown key 'size_m'"),
        ("green block", "yaw_rad = 1", -1, "position_m must be"),
        ("unicorn", "position_m = [0.2, -0.6]", 0, "no object named 'unicorn'"),
        ("red block", "position_m = [0.2, -0.6]", 0, "listed twice"),
        ("x" * 9999, "position_m = [0.2, -0.6]", 0, "no ob"),
    ],
)
def test_what_would_not_stay_or_is_unknown_is_one_line(
    name: str, entry: str, line: int, told: str, tmp_path: Path
) -> None:
    text = f'{TABLE}\n[[objects]]\nname = "{name}"\n{entry}\n'
    found = refused("ravens", tmp_path / "table.toml", text)
    assert found.startswith(f"line {LINE + line}: ")
    assert told in found


def test_only_blocks_stand_on_the_board_and_none_on_another(tmp_path: Path) -> None:
    pile = TABLE.replace("gray bowl", "gray block").replace(", 0.0245", "")
    pile = pile.replace("[-0.2, -0.3]\nyaw", "[-0.2, -0.3, 0.06]\nyaw")
    alone = '[[objects]]\nname = "red block"\nposition_m = '
    for text, told in (
        (TABLE, "'gray bowl' cannot stand here, only a block"),
        (TABLE.replace("gray bowl", "pluto"), "An object is a colour and 'block', or fruit"),
        (pile, "line 8: 'cyan block' stands on another block"),
        (f"{alone}[0.31, -0.5]\n", "off the board or at its edge; things stand at x -0.28 to 0.28"),
        (f"{alone}[0.2, -0.5, 0.3]\n", "floats above the board"),
    ):
        assert told in refused("drawing", tmp_path / "board.toml", text)


@pytest.mark.parametrize("name", ["ravens", "drawing", "kitchen"])
def test_what_names_no_file_is_told_as_that(name: str) -> None:
    for scene in ("", "./"):
        with pytest.raises(ConfigError, match=r"cannot read the scene file .*directory"):
            make_robot(name, mode="instant", scene=scene)


@rows(
    ("first", "upper", "told"),
    [
        ("lemon", "apple", "line 6: 'apple' overlaps 'lemon'; move one of them"),
        ("cracker box", "bowl", "line 6: 'bowl' overlaps 'cracker box'; move one of them"),
        ("cracker box", 'apple"\nyaw_rad = 0.1 # "', None),
    ],
)
def test_only_what_would_stay_stands_on_a_thing_of_the_kitchen(
    first: str, upper: str, told: str | None, tmp_path: Path
) -> None:
    path = tmp_path / "kitchen.toml"
    place = "position_m = [-0.02, -0.25]\n"
    text = f'[[objects]]\nname = "{first}"\n{place}[[objects]]\nname = "{upper}"\n{place}'
    if told:
        assert refused("kitchen", path, text).startswith(told)
    else:
        path.write_text(text)
        robot = make_robot("kitchen", mode="instant", scene=str(path))
        assert robot.state["apple"].bottom == pytest.approx(robot.state[first].top)


@pytest.mark.parametrize("name", ["ravens", "drawing", "kitchen"])
def test_the_scene_of_a_seed_is_written_and_read_again(name: str, tmp_path: Path) -> None:
    path = tmp_path / "scene.toml"
    arguments = ["robots", "scene", name, "--seed", "5", "--out", str(path)]
    assert run(arguments) == 0
    first, again = (
        make_robot(name, mode="instant", seed=5, **chosen) for chosen in ({}, {"scene": str(path)})
    )
    assert first.positions().keys() == again.positions().keys()
    for each, place in first.positions().items():
        assert again.positions()[each] == pytest.approx(place, abs=1e-4)
    assert run(arguments) == 2  # it is there already


def test_a_written_scene_names_its_seed(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = tmp_path / "a scene.toml"
    assert run(["robots", "scene", "kitchen", "--seed", "5", "--out", str(path)]) == 0
    shown = capsys.readouterr().out
    assert shown == f"wrote {path}; try: cap repl -r kitchen --seed 5 -R scene='{path}'\n"
    assert "cap repl -r kitchen --seed 5 -R scene=FILE" in path.read_text().splitlines()[0]


def test_a_pile_is_written_and_read_again(tmp_path: Path) -> None:
    robot = create(seed=2, mode="instant")
    robot.stack_objects_in_order(["red bowl", "green block", "blue block"])
    robot.arrange_objects(
        {"red block": [0, -0.7], "yellow block": [0.06, -0.7], "blue block": [0.03, -0.7]}
    )
    path = tmp_path / "pile.toml"
    path.write_text(robot.scene_text("a pile"), encoding="utf-8")
    again = create(mode="instant", scene=str(path))
    for name, place in robot.positions().items():
        assert again.positions()[name] == pytest.approx(place, abs=1e-4)


def test_a_robot_without_scenes_says_so(capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["robots", "scene", "tabletop"]) == 2
    assert "has no scenes that can be saved" in capsys.readouterr().err


def test_things_stand_anywhere_in_the_kitchen(tmp_path: Path) -> None:
    x, y, z = create_kitchen(mode="instant", seed=0).state.room.locations["table"].middle()
    path = tmp_path / "kitchen.toml"
    path.write_text(
        f'[[objects]]\nname = "apple"\nposition_m = [{x}, {y}, {z + 0.0385}]\n'
        f'[[objects]]\nname = "red plate"\nposition_m = [{x}, {y}]\n'
        f'[[objects]]\nname = "coke can"\nposition_m = [{x + 0.4}, {y}]\nyaw_rad = 1.0\n'
        '[[objects]]\nname = "cup"\nposition_m = [-0.5, -0.9]\n'
    )
    robot = create_kitchen(mode="instant", seed=0, scene=str(path))
    assert robot.state.location_of("coke can") == "table"
    assert [thing.name for thing in robot.state.contents(robot.state["red plate"])] == ["apple"]
    assert robot.positions()["cup"][2] == pytest.approx(robot.state["cup"].half_height)


@rows(("entry", "told"), table(__file__, "what_would_not_stay_in_the_kitchen_is_one_line").values())
def test_what_would_not_stay_in_the_kitchen_is_one_line(
    entry: str, told: str, tmp_path: Path
) -> None:
    x, y, _ = create_kitchen(mode="instant", seed=0).state.room.locations["table"].middle()
    place = entry
    for right in (0.7, 0.3, 0.05):
        place = place.replace(f"X + {right}", str(x + right))
    place = place.replace("Y - 0.75", str(y - 0.75)).replace("X", str(x)).replace("Y", str(y))
    text = f'[[objects]]\nname = "apple"\nposition_m = [{x}, {y}]\n[[objects]]\nname = "egg"\n'
    found = refused("kitchen", tmp_path / "kitchen.toml", f"{text}position_m = {place}\n")
    assert re.match(rf"line {7 if 'yaw_rad' in entry else 6}: .*{told}", found)
