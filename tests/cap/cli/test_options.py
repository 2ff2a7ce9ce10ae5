"""Options of the robot and of approval, as people type them."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import pytest

from cap.cli.approval import approval, approver
from cap.cli.options import MOVED, ModelOptions, SessionOptions, load_config, robot_values
from cap.errors import ConfigError, UsageError
from tests.cap.conftest import Cap
from tests.rows import cases

PAGE = (Path(__file__).parents[3] / "docs/from-0.1.md").read_text(encoding="utf-8")


@cases(("text", "key", "value"))
def test_a_value_is_read_as_toml_or_as_text(text: str, key: str, value: Any) -> None:
    assert robot_values([text]) == {key: value}


@pytest.mark.parametrize(
    ("given", "message"),
    [
        (["host"], "not KEY=VALUE"),
        (["=x"], "not KEY=VALUE"),
        (["a b=1"], "not KEY=VALUE"),
        (["a=1", "a.b=2"], "given twice"),
        (["a=1", "a=2"], "given twice"),
    ],
)
def test_what_is_no_option_is_refused(given: list[str], message: str) -> None:
    with pytest.raises(UsageError, match=message):
        robot_values(given)


@cases(("approve", "ask", "yes", "simulated", "expected"))
def test_when_a_person_is_asked(
    approve: str | None, ask: bool, yes: bool, simulated: bool, expected: str
) -> None:
    assert approval(approve, ask, yes, simulated) == expected


@pytest.mark.parametrize(
    ("approve", "ask", "yes"),
    [(None, False, True), ("none", False, False), ("each-call", False, True), ("none", True, True)],
)
def test_hardware_never_moves_unasked_by_one_slip(
    approve: str | None, ask: bool, yes: bool
) -> None:
    with pytest.raises(UsageError):
        approval(approve, ask, yes, simulated=False)


def test_hardware_always_has_an_approver() -> None:
    for asks in ("each-call", "none", "each-program"):
        assert approver(asks, simulated=False) is not None
    assert approver("none", simulated=True) is None


def test_the_page_from_0_1_has_the_table_of_moved_options() -> None:
    section = PAGE.partition("## Options that are settings now")[2].partition("\n## ")[0]
    assert dict(re.findall(r"^\| `(--.+?)` \| `(.+?)` \|$", section, re.MULTILINE)) == MOVED


@pytest.mark.parametrize("command", ["run x", "bench run kitchen"])
def test_an_option_that_moved_names_its_new_form(command: str, cap: Cap) -> None:
    for old, new in MOVED.items():
        (line,) = cap([*command.split(), old, "1"], 2).err.splitlines()
        assert line.startswith(f"error: {old} is a setting now: {new}, or ")


@cases(("word", "name", "value"))
def test_set_gives_any_setting(word: str, name: str, value: Any) -> None:
    config = load_config(SessionOptions(settings=(word,)))
    assert (getattr(config, name), config.sources[name]) == (value, "--set")


def test_an_option_comes_before_set() -> None:
    config = load_config(ModelOptions(model="a/b", settings=("model=c/d", "max_cost=2")))
    assert (config.model, config.sources["model"], config.max_cost) == ("a/b", "flag", 2.0)


@pytest.mark.parametrize(
    ("word", "message"),
    [
        ("temprature=1", "Did you mean 'temperature'"),
        ("min_level=process", "it is an option: --min-level"),
        ("speed=1", "it is an option: --speed"),
        ("verify=maybe", "'words' or 'goal' or 'off'"),
        ("extra_body.api_key=hunter2", "api_key is not allowed"),
    ],
)
def test_what_is_no_setting_is_refused(word: str, message: str) -> None:
    with pytest.raises(ConfigError, match=message) as found:
        load_config(ModelOptions(settings=(word,)))
    assert "hunter2" not in str(found.value)


@pytest.mark.parametrize("command", ["plan x", "batch b.toml", "bench run kitchen -m oracle"])
def test_a_setting_of_sessions_is_not_dropped_in_silence(command: str, cap: Cap) -> None:
    assert "--set repairs is for run, repl" in cap([*command.split(), "--set", "repairs=1"], 2).err
