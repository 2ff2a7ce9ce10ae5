"""A suite as a folder: what docs say of it, and what is refused with its line."""

from __future__ import annotations

import shutil
from pathlib import Path
from typing import Any

import pytest

from benchmarks import task_file
from benchmarks.suite import Settings, suite
from benchmarks.suite_folder import SuiteTable
from cap.cli.main import run
from cap.errors import UsageError

WALK = Path(__file__).parents[2] / "docs" / "walks" / "greetings"


@pytest.fixture
def greetings(tmp_path: Path) -> Path:
    """A copy of the suite that the docs show."""
    return Path(shutil.copytree(WALK, tmp_path / "greetings"))


@pytest.mark.parametrize(("model", "won"), [("oracle", 12), ("no-op", 0)])
def test_the_suite_of_the_docs_is_solved_by_its_programs_and_not_by_nothing(
    greetings: Path, model: str, won: int
) -> None:
    found = suite(str(greetings))
    settings = Settings(str(greetings), model, mode="instant", prompts="")
    outcomes = [found.run(trial, settings) for trial in found.trials(4, 0)]
    assert sum(outcome.success for outcome in outcomes) == won, outcomes


def test_doing_nothing_is_judged_after_every_step(greetings: Path) -> None:
    judge = greetings / "judge.py"
    judge.write_text(f"{judge.read_text()}\n\ndef stacked(*_):\n    return None\n")
    found = suite(str(greetings))
    (trial,) = found.trials(1, 0, ["greet-and-stack"])
    outcome = found.run(trial, Settings(str(greetings), "no-op", mode="instant", prompts=""))
    assert outcome.failure.startswith("after 'say hello")


@pytest.mark.usefixtures("trials_here")
def test_it_runs_by_the_name_of_its_folder(
    greetings: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(greetings.parent)
    assert run(["bench", "oracle", "greetings", "-n", "1", "-q", "--out", "o"]) == 0
    assert "greetings" in capsys.readouterr().out


def test_it_is_another_state_of_the_suite_once_a_file_changes(greetings: Path) -> None:
    before = suite(str(greetings)).version
    with (greetings / "tasks.toml").open("a") as file:
        file.write("# more\n")
    assert suite(str(greetings)).version != before


@pytest.mark.parametrize(
    ("file", "old", "new", "told"),
    [
        ("tasks.toml", 'name = "to-a-bowl"', "nam = 1", "tasks.toml, line 12: "),
        ("tasks.toml", "least = 2", "from = 2", "unknown field 'from' - at 'task.words"),
        ("tasks.toml", 'robot = "ravens"', "", "missing required field 'robot'"),
        ("tasks.toml", 'judge = "stacked"', "", "last step of 'greet-and-stack' has no judge"),
        ("tasks.toml", 'judge = "stacked"', 'judge = "stack"', "Did you mean 'stacked'"),
        ("tasks.toml", "hello {n} times", "hello {m} times", "'greet-and-stack' has no word 'm'"),
        ("tasks.toml", "[[task]]", "[[task]", "cannot read tasks"),
        ("judge.py", "def stacked", "def stacked(", "judge.py"),
    ],
)
def test_what_is_wrong_is_told_with_its_place(
    file: str, old: str, new: str, told: str, greetings: Path
) -> None:
    text = (greetings / file).read_text()
    assert old in text
    (greetings / file).write_text(text.replace(old, new, 1))
    with pytest.raises(UsageError) as caught:
        suite(str(greetings))
    assert told in str(caught.value)


@pytest.mark.parametrize(
    ("text", "told"),
    [("{", "line 1 is not JSON"), ('{"nam": 1}', "line 1: unknown key 'nam'"), ("", "")],
)
def test_a_line_of_tasks_that_is_none_is_named(text: str, told: str, tmp_path: Path) -> None:
    path = tmp_path / "tasks.jsonl"
    path.write_text(text)
    kind: Any = SuiteTable
    if told:
        with pytest.raises(UsageError, match=told):
            task_file.load(path, kind)
    else:
        assert task_file.load(path, kind) == ()
