"""What a world looks like and what moved in it; finding robots and prompts."""

import math
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

import robots.drawing
import robots.kitchen
import robots.ravens
from cap.errors import PromptError
from cap.robot import registry
from cap.robot.observation import MOVED_M, moved
from cap.robot.view import Viewable, ViewLog, lathe_mesh

ROBOTS: dict[str, Callable[..., Any]] = {
    "ravens": robots.ravens.create,
    "kitchen": robots.kitchen.create,
    "drawing": robots.drawing.create,
}
MOVES: dict[str, Callable[[Any], object]] = {
    "ravens": lambda robot: robot.put_first_on_second("red block", "blue bowl"),
    "kitchen": lambda robot: robot.goto_loc("desk"),
    "drawing": lambda robot: robot.draw([(0.0, -0.5), (0.1, -0.5), (0.1, -0.4)]),
}


@pytest.mark.parametrize("mode", ["instant", "physics"])
@pytest.mark.parametrize("name", ROBOTS)
def test_every_body_has_shapes_and_moves_as_the_world_does(name: str, mode: str) -> None:
    if mode == "physics":
        pytest.importorskip("mujoco", reason="the extra 'sim' is not installed")
    robot = ROBOTS[name](seed=0, mode=mode)
    try:
        assert isinstance(robot, Viewable)
        before = robot.view()
        assert before.placements.keys() == robot.shapes().keys()
        for body, place in before.placements.items():
            assert math.hypot(*place[3:]) == pytest.approx(1.0), body
        for body, position in robot.positions().items():
            assert before.placements[f"objects/{body}"][:3] == pytest.approx(position)
        seen: list[Any] = []
        robot.frame_every_s = 0.05
        robot.on_frame = lambda: seen.append(robot.view())
        MOVES[name](robot)
        robot.on_frame = None
        after = robot.view()
        assert (after.placements, after.lines) != (before.placements, before.lines)
        if mode == "physics":
            hands = {view.placements["arm/hand"] for view in seen}
            assert len(hands) > 10
    finally:
        robot.close()


def test_only_what_is_new_is_told() -> None:
    robot = robots.ravens.create(seed=0, mode="instant")
    log = ViewLog()
    first = log.news(robot)
    assert first["shapes"].keys() == first["placements"].keys() == robot.shapes().keys()
    assert log.news(robot) == {}
    robot.put_first_on_second("red block", "blue bowl")
    assert log.news(robot).keys() == {"placements"}
    assert log.news(robot) == {}


def test_what_goes_and_what_comes_is_told() -> None:
    robot = robots.kitchen.create(seed=0, mode="instant")
    log = ViewLog()
    log.news(robot)
    robot.remove("apple")
    assert log.news(robot)["gone"] == ["objects/apple"]
    robot.add("apple", "desk")
    again = log.news(robot)
    assert list(again["placements"]) == ["objects/apple"]


def test_a_lathe_is_a_closed_surface() -> None:
    vertices, faces = lathe_mesh(((0.05, 0.0), (0.06, 0.03), (0.0, 0.005)))
    edges = [tuple(sorted(pair)) for a, b, c in faces for pair in ((a, b), (b, c), (c, a))]
    assert all(edges.count(edge) == 2 for edge in edges)
    assert max(z for *_, z in vertices) == 0.03


# --- displacement


def test_only_what_went_further_than_settling_moved() -> None:
    before = {"settled": (0.0, 0.0, 0.0), "pushed": (0.0, 0.0, 0.0), "gone": (1.0, 1.0, 1.0)}
    after = {"settled": (MOVED_M, 0.0, 0.0), "pushed": (0.0, 0.0, 0.02), "new": (0.0, 0.0, 0.0)}
    assert moved(before, after) == {"pushed": ((0.0, 0.0, 0.0), (0.0, 0.0, 0.02))}


# --- finding robots and prompts


def test_a_file_without_prompts_takes_a_shipped_folder_by_name(tmp_path: Path) -> None:
    file = tmp_path / "mine.py"
    file.write_text("def create(**options): ...\n")
    with pytest.raises(PromptError, match="--prompts ravens, or PROMPTS = 'ravens'"):
        registry.robot_prompts(str(file))
    shipped = registry.robot_prompts("ravens")
    assert registry.robot_prompts(str(file), Path("ravens")) == shipped
    other = tmp_path / "other.py"
    other.write_text("PROMPTS = 'ravens'\ndef create(**options): ...\n")
    assert registry.robot_prompts(str(other)) == shipped


def test_a_hidden_package_is_named(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "benchmarks").mkdir()
    (tmp_path / "benchmarks" / "__init__.py").write_text("")
    monkeypatch.syspath_prepend(str(tmp_path))
    for name in [name for name in sys.modules if name.split(".")[0] == "benchmarks"]:
        monkeypatch.delitem(sys.modules, name)
    hidden = registry.shadowed("benchmarks")
    assert hidden is not None
    assert str(tmp_path) in hidden


RELEASED = {
    "tabletop_ui.txt": "objects = ['a']\n# put it.\nput_first_on_second('a', 'b')\n",
    "sim_tabletop_ui.txt": "objects = ['a']\n# move it.\nput_first_on_second('a', 'b')\n",
    "mobile_ui.txt": "objects = ['a']\n# go to the table.\ngoto_loc(parse_loc_name('the table'))\n",
    "parse_obj_name.txt": "objects = ['a']\n# the thing.\nret_val = 'a'\n",
    "mobile_parse_pos.txt": "# a point.\nret_val = np.array([0, 0, 0])\n",
    "fgen.txt": "# define function: n = total(xs=a).\ndef total(xs):\n    return sum(xs)\n",
}


@pytest.mark.parametrize(
    ("robot", "ui", "lmps"),
    [
        ("ravens", "move it", {"ui", "fgen", "parse_obj_name"}),
        ("tabletop", "put it", {"ui", "fgen", "parse_obj_name"}),
        ("kitchen", "go to the table", {"ui", "fgen", "parse_obj_name", "parse_position"}),
    ],
)
def test_the_original_folder_serves_each_robot(
    tmp_path: Path, robot: str, ui: str, lmps: set[str]
) -> None:
    for name, text in RELEASED.items():
        (tmp_path / name).write_text(text)
    found = registry.robot_prompts(robot, tmp_path)
    assert found.keys() == lmps
    assert found["ui"].examples[0].instruction == ui
    assert found["ui"].header.session
    assert {name: prompt.name for name, prompt in found.items()} == {name: name for name in lmps}
