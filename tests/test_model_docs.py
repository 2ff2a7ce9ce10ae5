"""docs/models.md and docs/configuration.md say what is so."""

import re
import tomllib
from dataclasses import fields
from pathlib import Path

import pytest

from cap.cli.options import OPTIONS, ModelOptions
from cap.config import ENVIRONMENT, FOLDER_MAY_SET, PROVIDER_KEYS, SETTINGS, load
from cap.models.base import Request
from cap.models.providers import PROVIDERS, make_model

DOCS = Path(__file__).parents[1] / "docs"
MODELS = (DOCS / "models.md").read_text(encoding="utf-8")
CONFIGURATION = (DOCS / "configuration.md").read_text(encoding="utf-8")
ROWS = {
    cells[0].strip("`"): cells[1:]
    for line in MODELS.splitlines()
    if (cells := [cell.strip() for cell in line.strip("|").split("|")]) and len(cells) == 3
}


@pytest.mark.parametrize("name", PROVIDERS)
def test_the_page_has_every_provider_as_it_is(name: str) -> None:
    provider = PROVIDERS[name]
    address, key = ROWS[name]
    assert (provider.base_url or "yours: ") in address
    assert key.strip("`") == (provider.key_env if provider.needs_key else "")


def test_every_setting_of_a_model_is_on_the_page() -> None:
    for entry in fields(ModelOptions):
        assert any(flag in MODELS for flag in OPTIONS[entry.name][1]), entry.name
    for key in {*PROVIDER_KEYS} - {"about"}:
        assert f"`{key}`" in MODELS or f"{key} = " in MODELS, key


def test_the_configurations_on_the_pages_load(monkeypatch: pytest.MonkeyPatch) -> None:
    blocks = re.findall(r"```toml\n(.*?)```", MODELS + CONFIGURATION, re.DOTALL)
    assert len(blocks) == 3
    personal = Path("home/.config/cap/config.toml")
    personal.parent.mkdir(parents=True)
    for block in blocks:
        personal.write_text(block)
        config = load({}, Path.cwd())
        assert config.warnings == ()
        assert {config.sources[name] for name in tomllib.loads(block)} == {str(personal.absolute())}


def test_what_a_folder_may_set_and_the_variables_are_on_the_page() -> None:
    for name in FOLDER_MAY_SET:
        assert f"`{name}`" in CONFIGURATION
    for variable, name in ENVIRONMENT.items():
        assert f"`{variable}`" in CONFIGURATION
        assert variable == f"CAP_{name.upper()}"
        assert name in SETTINGS


def test_the_model_of_ones_own_on_the_page_works() -> None:
    (code,) = re.findall(r"```python\n(.*?)```", MODELS, re.DOTALL)
    Path("mine.py").write_text(code)
    assert make_model("mine.py").complete(Request("# greet.\n")).text == "say('hello')"
