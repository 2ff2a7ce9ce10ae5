"""`cap batch`: sessions from a file, what comes back, and every kind of bad input."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from cap.cli.bench.trials import options_for
from cap.cli.main import run
from cap.cli.options import RunnerOptions, load_config
from tests.cap.conftest import Cap
from tests.fakes.openai_server import FakeServer
from tests.rows import cases

Capture = pytest.CaptureFixture[str]

ONE = '[[sessions]]\nname = "{0}"\nmode = "instant"\ninstructions = ["{1}"]\n'


def write(*instructions: str) -> None:
    text = "".join(ONE.format(f"s{n}", words) for n, words in enumerate(instructions))
    Path("b.toml").write_text(text)


def trials(folder: str = "out") -> list[dict[str, object]]:
    return [json.loads(line) for line in (Path(folder) / "trials.jsonl").read_text().splitlines()]


def test_the_example_runs_as_it_is(cap: Cap) -> None:
    Path("example.toml").write_text(cap(["batch", "--example"]).out)
    shown = cap(["batch", "example.toml", "--out", "out"]).out
    assert "2 of 2 sessions succeeded" in shown
    assert Path("out/report.html").exists()


@pytest.mark.usefixtures("trials_here")
def test_one_failure_is_exit_code_1_and_the_others_are_run(
    cap: Cap,
) -> None:
    write("levitate", "put the red block in the blue bowl")
    with Path("b.toml").open("a") as file:
        file.write(ONE.format("c\\u001b", "stack all the blocks"))
        file.write('expect = { inside = ["red block", "blue bowl"] }\n')
    rows = json.loads(cap(["batch", "b.toml", "--out", "out", "--json", "--jobs", "1"], 1).out)
    assert [row["result"] for row in rows] == ["failed (model)", "ok", "failed (task)"]
    assert "NoMatch" in rows[0]["why"]
    shown = cap(["batch", "b.toml", "--out", "two", "--jobs", "1"], 1).out
    assert "c\\x1b: red block is not in blue bowl" in shown
    assert "\x1b" not in shown


@pytest.mark.usefixtures("trials_here")
def test_a_changed_file_does_not_go_on_and_loses_nothing(
    cap: Cap,
) -> None:
    write("put the red block in the blue bowl")
    assert run(["batch", "b.toml", "--out", "out"]) == 0
    before = {path: path.read_bytes() for path in Path("out").iterdir() if path.is_file()}
    write("put the red block in the blue bowl", "stack all the blocks")
    assert "changed since" in cap(["batch", "b.toml", "--out", "out", "--resume"], 2).err
    Path("b.toml").write_text("[[sessions]]\n")
    assert (
        "b.toml, session 1 (line 1)" in cap(["batch", "b.toml", "--out", "out", "--resume"], 2).err
    )
    assert {path: path.read_bytes() for path in before} == before


@cases(("arguments", "told"))
def test_bad_input_is_one_line_and_leaves_nothing(
    arguments: list[str], told: str, capsys: Capture
) -> None:
    write("go")
    assert run(["batch", *arguments]) in (2, 4)
    shown = capsys.readouterr().err.strip().splitlines()
    assert told in shown[-1]
    assert not Path("runs").exists()


@pytest.mark.usefixtures("trials_here")
def test_the_model_of_the_command_line_is_asked_and_named(
    capsys: Capture,
) -> None:
    text = '[defaults]\nmodel = "nearest"\nmode = "instant"\n[[sessions]]\ninstructions = ["go"]\n'
    Path("b.toml").write_text(text)
    with FakeServer(lambda prompt, body: "say('done')") as server:
        command = ["batch", "b.toml", "-m", "openai/fake", "--base-url", server.url]
        Path("b.toml").write_text(text + '[[sessions]]\nname = "b"\nmodel = "nearest"\n'
                                  'instructions = ["stack all the blocks"]\n')  # fmt: skip
        assert run([*command, "--out", "two"]) == 0
        assert len(server.posts) == 1
    told = capsys.readouterr()
    assert "openai/fake" in told.out
    title = Path("two/report.md").read_text().splitlines()[0]
    assert title.endswith(": openai/fake, nearest")


@pytest.mark.usefixtures("trials_here")
def test_ones_own_robot_is_named_in_the_file_or_before_it(
    cap: Cap,
) -> None:
    assert run(["robots", "new", "my_arm"]) == 0
    words = (
        'instructions = ["move the red marker to the left"]\nexpect = {moved = ["red marker"]}\n'
    )
    Path("b.toml").write_text(f"[[sessions]]\n{words}")
    assert run(["batch", "b.toml", "-r", "my_arm/robot.py", "--out", "one"]) == 0
    Path("b.toml").write_text(f'[[sessions]]\nrobot = "my_arm/robot.py"\n{words}')
    assert "my_arm/robot.py" in cap(["batch", "b.toml", "--out", "two"]).out
    assert [line["split"] for line in trials("two")] == ["my_arm/robot.py"]


@pytest.mark.parametrize(("most", "jobs", "each"), [(8, 2, 4), (3, 4, 1), (3, 2, 1)])
def test_no_more_requests_at_once_than_were_asked_for(most: int, jobs: int, each: int) -> None:
    said = RunnerOptions(settings=(f"concurrency={most}",), jobs=jobs)
    options, runner = options_for(said, load_config(said))
    assert options["concurrency"] == each
    assert runner.jobs * each <= most
