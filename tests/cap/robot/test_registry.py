"""Finding robots and prompts."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

from cap.errors import PromptError
from cap.robot import registry


def test_a_folder_without_prompts_is_named(tmp_path: Path) -> None:
    with pytest.raises(PromptError, match="no prompt files"):
        registry.load_prompts(tmp_path)
    with pytest.raises(PromptError, match="no prompt folder"):
        registry.load_prompts(tmp_path / "none")


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
