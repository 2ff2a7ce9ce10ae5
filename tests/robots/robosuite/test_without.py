"""Where robosuite is not installed: one line says so, and everything else works."""

from __future__ import annotations

import sys

import pytest

import robots.robosuite as package
from cap.cli.main import run
from cap.errors import MissingExtra, UsageError
from robots.robosuite.environments import environments


@pytest.fixture(autouse=True)
def _nowhere(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(package, "find_spec", lambda name: None)


def test_one_line_installs_it(capsys: pytest.CaptureFixture[str]) -> None:
    if sys.version_info[:2] not in package.PYTHONS:
        pytest.skip("this Python has no wheels of it")
    assert run(["run", "-r", "robosuite", "lift the cube"]) == 2
    lines = capsys.readouterr().err.splitlines()
    assert len(lines) == 1
    assert "[robosuite]" in lines[0]


def test_another_python_is_told_which_have_it(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(package, "PYTHONS", ((3, 1), (3, 2)))
    with pytest.raises(MissingExtra, match=r"runs on Python 3\.1 and 3\.2, and this is 3\."):
        package.create()


def test_its_examples_are_skipped_with_the_reason(capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["prompts", "check", "robosuite"]) == 0
    shown = capsys.readouterr().out
    assert "robosuite/ui: 0 of " in shown
    assert "not executed: robosuite" in shown


def test_the_suite_does_not_begin(capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["bench", "run", "robosuite", "-m", "oracle", "-n", "1"]) == 2
    assert "robosuite" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"env": "Lft"}, "Did you mean 'Lift'"),
        ({"arm": "Pandas"}, "Did you mean 'Panda'"),
        ({"mode": "dreamt"}, "dreamt"),
        ({"objects": ["red cube", "milk"]}, "no environment of robosuite has red cube, milk"),
    ],
)
def test_what_there_is_not_is_named(options: dict[str, object], message: str) -> None:
    with pytest.raises(UsageError, match=message):
        package.create(**options)  # type: ignore[arg-type]


def test_every_thing_has_a_name_of_its_own() -> None:
    for environment in environments().values():
        names = [thing.name for thing in environment.things]
        assert len(names) == len(set(names))
        assert {thing.kind for thing in environment.things} <= {"object", "part", "peg", "bin"}
