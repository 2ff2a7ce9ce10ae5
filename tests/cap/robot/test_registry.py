"""Finding robots and prompts."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

from cap.errors import PromptError, UsageError
from cap.robot import registry


def test_ravens_is_registered_and_loads() -> None:
    assert registry.robots()["ravens"].factory().__name__ == "create"


def test_an_unknown_robot_names_the_nearest() -> None:
    with pytest.raises(UsageError, match="Did you mean 'ravens'"):
        registry.make_robot("raven")


def test_an_option_a_robot_does_not_take_is_a_usage_error() -> None:
    with pytest.raises(UsageError, match="robot 'ravens'"):
        registry.make_robot("ravens", mode="instant", wheels=4)


def test_every_robot_has_prompts_with_a_ui() -> None:
    for name in registry.robots():
        assert "ui" in registry.robot_prompts(name)


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
