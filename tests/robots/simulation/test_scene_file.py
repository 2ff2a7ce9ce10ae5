"""Scenes from files: anything anywhere that would stay there, and one line for what would not."""

from __future__ import annotations

from pathlib import Path

import pytest

from cap.cli.main import run
from cap.errors import ConfigError, UsageError
from cap.robot.registry import make_robot
from robots.kitchen import KitchenRobot
from robots.kitchen import create as create_kitchen
from robots.ravens import create
from tests.rows import table

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


WRONG = [
    ("position_m = [0.03, -0.51, 0.02]", 1, "reaches into 'pink block'"),
    ("position_m = [0.2, -0.51, 0.3]", 1, "floats above the table"),
    ("position_m = [0.2, -0.51, -0.3]", 1, "reaches into the table"),
    ("position_m = [0.0, -0.5, 0.09]", 1, "cannot be there: no room"),
    ("position_m = [200, -0.51]", 1, "off the table"),
    ("position_m = [0.2, 1e400]", 1, "position_m must be"),
    ("position_m = [0.2]", 1, "position_m must be"),
    ("position_m = [0.2, -0.51]\nsize_m = [9, 9, 9]", 2, "unknown key 'size_m'"),
    ("yaw_rad = 1", -1, "position_m must be .* it is missing"),
]


@pytest.mark.parametrize(("entry", "line", "told"), WRONG)
def test_what_would_not_stay_is_one_line(entry: str, line: int, told: str, file: Path) -> None:
    with file.open("a", encoding="utf-8") as opened:
        opened.write(f'\n[[objects]]\nname = "green block"\n{entry}\n')
    with pytest.raises(ConfigError, match=told) as failure:
        create(mode="instant", scene=str(file))
    assert str(failure.value).startswith(f"{file}, line {LINE + line}: ")
    assert "\n" not in str(failure.value)


@pytest.mark.parametrize(
    ("name", "told"),
    [
        ("unicorn", "no object named 'unicorn'"),
        ("red block", "listed twice"),
        ("x" * 9999, "no ob"),
    ],
)
def test_what_is_unknown_or_there_already_is_one_line(name: str, told: str, file: Path) -> None:
    with file.open("a", encoding="utf-8") as opened:
        opened.write(f'\n[[objects]]\nname = "{name}"\nposition_m = [0.2, -0.6]\n')
    with pytest.raises(ConfigError, match=told) as failure:
        create(mode="instant", scene=str(file))
    assert str(failure.value).startswith(f"{file}, line {LINE}: ")
    assert len(str(failure.value)) < 1000


def test_a_thousand_things_are_refused_at_the_first_too_many(tmp_path: Path) -> None:
    path = tmp_path / "many.toml"
    path.write_text('[[objects]]\nname = "red block"\nposition_m = [0, -0.5]\n' * 1000)
    with pytest.raises(ConfigError, match=r"line 5: 'red block' is listed twice"):
        create(mode="instant", scene=str(path))


def test_a_scene_has_its_own_objects(file: Path) -> None:
    for name in ("ravens", "drawing", "kitchen"):
        with pytest.raises(UsageError, match="not both"):
            make_robot(name, mode="instant", objects=["red block"], scene=str(file))


def test_only_blocks_stand_on_the_board_and_none_on_another(tmp_path: Path) -> None:
    path = tmp_path / "board.toml"
    path.write_text(TABLE, encoding="utf-8")
    with pytest.raises(ConfigError, match="'gray bowl' cannot stand here, only a block"):
        make_robot("drawing", mode="instant", scene=str(path))
    path.write_text(TABLE.replace("gray bowl", "pluto"), encoding="utf-8")
    with pytest.raises(ConfigError, match="An object is a colour and 'block', or fruit"):
        make_robot("drawing", mode="instant", scene=str(path))
    pile = TABLE.replace("gray bowl", "gray block").replace(", 0.0245", "")
    pile = pile.replace("[-0.2, -0.3]\nyaw", "[-0.2, -0.3, 0.06]\nyaw")
    path.write_text(pile, encoding="utf-8")
    line = pile[: pile.index("[-0.2, -0.3, 0.06]")].count("\n") + 1
    told = f"line {line}: 'cyan block' stands on another block"
    with pytest.raises(ConfigError, match=told):
        make_robot("drawing", mode="instant", scene=str(path))


@pytest.mark.parametrize("name", ["ravens", "drawing", "kitchen"])
@pytest.mark.parametrize("scene", ["", " ", ".", "./"])
def test_what_names_no_file_is_told_as_that(name: str, scene: str) -> None:
    with pytest.raises(ConfigError, match=r"^no scene file is named: .*; give the path of a TOML"):
        make_robot(name, mode="instant", scene=scene)


@pytest.mark.parametrize(
    ("first", "upper", "told"),
    [
        ("lemon", "apple", "would not stay on 'lemon'; put it beside"),
        ("cracker box", "bowl", "would not stay on 'cracker box'; put it beside"),
        ("cracker box", 'apple"\nyaw_rad = 0.1 # "', ""),
    ],
)
def test_only_what_would_stay_stands_on_a_thing_of_the_kitchen(
    first: str, upper: str, told: str, tmp_path: Path
) -> None:
    path = tmp_path / "kitchen.toml"
    place = "position_m = [-0.02, -0.25]\n"
    path.write_text(f'[[objects]]\nname = "{first}"\n{place}[[objects]]\nname = "{upper}"\n{place}')
    if told:
        with pytest.raises(ConfigError, match=rf"line 6: '{upper}' {told}"):
            make_robot("kitchen", mode="instant", scene=str(path))
    else:
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


@pytest.mark.parametrize(
    ("place", "told"),
    [
        ("[0.31, -0.5]", "off the board; things stand at x -0.28 to 0.28"),
        ("[0.2, -0.5, 0.3]", "floats above the board"),
    ],
)
def test_a_scene_of_the_drawing_arm_speaks_of_its_board(
    place: str, told: str, tmp_path: Path
) -> None:
    path = tmp_path / "board.toml"
    path.write_text(f'[[objects]]\nname = "red block"\nposition_m = {place}\n', encoding="utf-8")
    with pytest.raises(ConfigError, match=told) as failure:
        make_robot("drawing", mode="instant", scene=str(path))
    assert "arm" not in str(failure.value)
    assert "table" not in str(failure.value)


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


def kitchen(path: Path, *objects: str) -> KitchenRobot:
    path.write_text("".join(f"[[objects]]\n{each}\n" for each in objects), encoding="utf-8")
    return create_kitchen(mode="instant", seed=0, scene=str(path))


def test_things_stand_anywhere_in_the_kitchen(tmp_path: Path) -> None:
    table = create_kitchen(mode="instant", seed=0).state.room.locations["table"]
    x, y, z = table.middle()
    robot = kitchen(
        tmp_path / "kitchen.toml",
        f'name = "apple"\nposition_m = [{x}, {y}, {z + 0.0385}]',
        f'name = "red plate"\nposition_m = [{x}, {y}]',
        f'name = "coke can"\nposition_m = [{x + 0.4}, {y}]\nyaw_rad = 1.0',
        'name = "cup"\nposition_m = [-0.5, -0.9]',
    )
    assert robot.state.location_of("coke can") == "table"
    assert [thing.name for thing in robot.state.contents(robot.state["red plate"])] == ["apple"]
    assert robot.positions()["cup"][2] == pytest.approx(robot.state["cup"].half_height)


@pytest.mark.parametrize(
    ("entry", "told"),
    table(__file__, "what_would_not_stay_in_the_kitchen_is_one_line").values(),
)
def test_what_would_not_stay_in_the_kitchen_is_one_line(
    entry: str, told: str, tmp_path: Path
) -> None:
    x, y, _ = create_kitchen(mode="instant", seed=0).state.room.locations["table"].middle()
    place = entry
    for right in (0.7, 0.3, 0.05):
        place = place.replace(f"X + {right}", str(x + right))
    place = place.replace("Y - 0.75", str(y - 0.75))
    place = place.replace("X", str(x)).replace("Y", str(y))
    path = tmp_path / "kitchen.toml"
    with pytest.raises(ConfigError, match=told) as failure:
        kitchen(
            path,
            f'name = "apple"\nposition_m = [{x}, {y}]',
            f'name = "egg"\nposition_m = {place}',
        )
    line = 7 if "yaw_rad" in entry else 6
    assert str(failure.value).startswith(f"{path}, line {line}: ")
