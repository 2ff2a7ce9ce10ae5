"""Where robosuite is not installed: one line says so, and everything else works."""

from __future__ import annotations

import pytest

import robots.robosuite as package
from cap.cli.main import run
from cap.errors import MissingExtra, UsageError
from robots.robosuite.environments import environments


@pytest.fixture(autouse=True)
def _nowhere(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(package, "find_spec", lambda name: None)


@pytest.mark.parametrize(
    "command",
    [
        ["run", "-r", "robosuite", "lift the cube"],
        ["bench", "run", "robosuite", "-m", "oracle", "-n", "1"],
    ],
)
def test_one_line_installs_it(command: list[str], capsys: pytest.CaptureFixture[str]) -> None:
    assert run(command) == 2
    (line,) = capsys.readouterr().err.splitlines()
    assert "[robosuite]" in line or "robosuite runs on Python" in line


def test_another_python_is_told_which_have_it(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(package, "PYTHONS", ())
    with pytest.raises(MissingExtra, match=r"runs on Python 3\.11 and 3\.12"):
        package.create()


def test_its_examples_are_skipped_with_the_reason(capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["prompts", "check", "robosuite"]) == 0
    shown = capsys.readouterr().out
    assert "robosuite/ui: 0 of " in shown
    assert "not executed: robosuite" in shown


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"env": "Lft"}, "Did you mean 'Lift'"),
        ({"arm": "Pandas"}, "Did you mean 'Panda'"),
        ({"objects": ["red cube", "milk"]}, "no environment of robosuite has red cube, milk"),
    ],
)
def test_what_there_is_not_is_named(options: dict[str, object], message: str) -> None:
    with pytest.raises(UsageError, match=message):
        package.create(**options)  # type: ignore[arg-type]


def test_every_thing_has_a_name_of_its_own() -> None:
    for environment in environments().values():
        assert len({thing.name for thing in environment.things}) == len(environment.things)
        kinds = {thing.kind for thing in environment.things}
        assert kinds <= {"object", "part", "handle", "peg", "bin"}
