"""Suites by name: the shipped ones, and those that installed packages bring."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path

import pytest

from benchmarks.robot_suite import RobotSuite, RobotTask
from benchmarks.suite import SUITES, Settings, brought_suites, names, suite
from cap.cli.main import run
from cap.errors import UsageError

OWN = """
from benchmarks.robot_suite import RobotCase, RobotSuite, RobotTask


def greet(rng, robot):
    def missed(robot):
        return None if "hello" in robot.spoken else "it said nothing"

    return RobotCase(("say hello",), "say('hello')", missed)


def create():
    return RobotSuite("greetings", "1", "ravens", [RobotTask("greet", greet)])


def broken():
    return {}["x"]

"""
ENTRIES = """[cap.suites]
greetings = plugged_suite:create
broken = plugged_suite:broken
absent = no_such_module_at_all:create
leaving = plugged_leaving:create
tabletop = plugged_suite:broken
"""


@pytest.fixture
def plugged(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    (tmp_path / "plugged_suite.py").write_text(OWN)
    (tmp_path / "plugged_leaving.py").write_text("raise SystemExit('no\\nlicence')\n")
    folder = tmp_path / "plugged_suite-1.dist-info"
    folder.mkdir()
    (folder / "METADATA").write_text("Metadata-Version: 2.1\nName: plugged_suite\nVersion: 1\n")
    (folder / "entry_points.txt").write_text(ENTRIES)
    monkeypatch.syspath_prepend(tmp_path)
    brought_suites.cache_clear()
    yield
    brought_suites.cache_clear()


@pytest.mark.usefixtures("plugged", "trials_here")
def test_a_package_brings_suites_by_entry_point(capsys: pytest.CaptureFixture[str]) -> None:
    assert names()[-4:] == ["absent", "broken", "greetings", "leaving"]
    command = ["bench", "run", "greetings", "-m", "oracle", "-n", "1", "--mode", "instant"]
    assert run([*command, "--jobs", "1", "--out", "out"]) == 0
    assert run(["bench", "report", "out"]) == 0
    assert "greet" in capsys.readouterr().out


@pytest.mark.usefixtures("plugged")
def test_one_that_does_not_load_is_named(capsys: pytest.CaptureFixture[str]) -> None:
    for name, told in (
        ("absent", "suite 'absent' (no_such_module_at_all:create) does not load: ModuleNotFound"),
        ("broken", "suite 'broken' (plugged_suite:broken) failed: KeyError: 'x'"),
    ):
        assert run(["bench", "run", name, "-m", "oracle", "-n", "1"]) == 2
        assert told in capsys.readouterr().err


@pytest.mark.usefixtures("plugged")
@pytest.mark.parametrize("form", [(), ("--json",)])
def test_the_list_has_all_others(form: Sequence[str], capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["bench", "list", *form]) == 0
    told = capsys.readouterr()
    assert '"suite": "greetings"' in told.out if form else "greetings" in told.out
    assert "tabletop" in told.out
    assert "broken" not in told.out
    said = told.err.splitlines()
    assert [line.split("'")[1] for line in said] == ["absent", "broken", "leaving"]
    assert all(line.startswith("warning: suite '") for line in said)
    assert "does not load: SystemExit: no licence (" in said[2]
    assert said[2].endswith("plugged_leaving.py, line 1, in <module>); it is left out")


@pytest.mark.usefixtures("plugged")
def test_no_package_takes_the_name_of_a_shipped_suite() -> None:
    assert "tabletop" in SUITES
    assert suite("tabletop").name == "tabletop"


def test_what_is_no_suite_of_tasks_is_refused_as_it_loads(tmp_path: Path) -> None:
    def refused(arguments: str) -> str:
        path = tmp_path / f"suite_{len(list(tmp_path.iterdir()))}.py"
        made = f"    return RobotSuite({arguments})\n"
        path.write_text(OWN.split("def create")[0] + f"def suite():\n{made}")
        with pytest.raises(UsageError) as caught:
            suite(str(path))
        return str(caught.value)

    one = 'RobotTask("greet", greet)'
    assert refused(f'"x", "1", "ravens", [{one}, {one}]') == (
        "suite 'x' has two tasks 'greet'; rename one"
    )
    assert refused('"x", "1", "ravens", []') == (
        "suite 'x' has no tasks; give it at least one RobotTask"
    )


def test_a_suite_of_an_unknown_robot_says_so() -> None:
    found = RobotSuite("x", "1", "nope", [RobotTask("t", lambda rng, robot: None)])  # type: ignore[arg-type,return-value]
    with pytest.raises(UsageError, match=r"unknown robot 'nope'\. Known: drawing, "):
        found.check(Settings("x", "oracle", "instant"))
