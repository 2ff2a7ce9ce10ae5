"""The other commands: exec, check, prompts, robots, models, trace, info, plan, batch, help."""

from __future__ import annotations

import io
import json
import os
import sys
import tracemalloc
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from PIL import Image

from cap.cli.bench.trials import options_for
from cap.cli.main import run
from cap.cli.options import RunnerOptions, load_config
from cap.cli.output import show
from cap.config import SETTINGS
from cap.sandbox.sandbox import Sandbox
from cap.trace.reader import read_events
from tests.cap.conftest import Cap, python
from tests.fakes.openai_server import FakeServer
from tests.rows import cases

Capture = pytest.CaptureFixture[str]


def write(text: str | bytes, name: str = "program.py") -> str:
    data = text.encode() if isinstance(text, str) else text
    Path(name).write_bytes(data)
    return name


@pytest.mark.parametrize(
    ("command", "file", "code", "message"),
    [
        ("exec", "/dev/zero", 2, "not a plain file"),
        ("check", "fifo", 2, "not a plain file"),
        ("exec", "huge.py", 3, "huge.py is too long"),
    ],
)
def test_a_file_that_is_no_program_is_refused_in_one_line(
    command: str, file: str, code: int, message: str, capsys: Capture
) -> None:
    """Whatever it is, little of it is read, and none of it copied."""
    os.mkfifo("fifo")
    with open("huge.py", "wb") as huge:
        huge.truncate(300 << 20)
    tracemalloc.start()
    assert run([command, file]) == code
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    shown = capsys.readouterr()
    assert message in shown.err
    assert (shown.out + shown.err).count("\n") == 1
    assert peak < 16 << 20
    assert not Path("runs").exists() or not list(Path("runs").rglob("events.jsonl"))


def test_a_program_may_come_from_standard_input(cap: Cap, monkeypatch: pytest.MonkeyPatch) -> None:
    for command, said in ((["exec", "-", "--mode", "instant"], "hello"), (["check", "-"], "ok")):
        typed = io.BytesIO(b"\xef\xbb\xbfsay('hello')\n")
        monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(typed))
        assert said in cap(command).out


@pytest.mark.inside
@pytest.mark.parametrize("level", ["kernel", "process"])
def test_a_weak_sandbox_is_said_once(level: str, cap: Cap, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(Sandbox, "level", property(lambda self: level))
    shown = cap(["exec", write("say('a')\nsay('b')\n"), "--mode", "instant"]).out
    assert shown.count("sandbox: only level 'process' is available here") == (level == "process")


def test_check_names_a_misspelt_function_as_a_run_does(cap: Cap) -> None:
    source = "x = 1\ny = get_object_pos('red block')\nsay(pick_best(y))\n"
    found = json.loads(cap(["check", write(source), "--json"], 3).out)
    (violation,) = found["violations"]
    assert (violation["rule"], violation["line"], violation["column"]) == ("undefined", 2, 5)
    assert "there is get_obj_pos(" in violation["reason"]
    assert found["to_generate"] == ["pick_best"]
    assert "there is get_obj_pos(" in cap(["exec", write(source), "--mode", "instant"], 3).out


def test_prompts_list_and_show(cap: Cap) -> None:
    rows = json.loads(cap(["prompts", "list", "--json"]).out)
    assert {"ravens/ui", "functions/define"} <= {row["prompt"] for row in rows}
    shown = cap(["prompts", "show", "ravens/ui"]).out
    assert shown.startswith('"""A UR5e ')
    assert "\nput_first_on_second(first, second): " in shown
    assert '\n"""\nimport numpy as np\n' in shown
    assert "\n#: " not in shown
    assert "/// cap" not in shown
    assert "Did you mean 'ravens/ui'" in cap(["prompts", "show", "ravens/uii"], 2).err


def test_robots_list_and_show(cap: Cap) -> None:
    assert {"robot": "ravens", "from": "robots.ravens:create"} in json.loads(
        cap(["robots", "list", "--json"]).out
    )
    shown = cap(["robots", "show", "ravens"]).out
    assert "put_first_on_second(first" in shown
    assert "metres" in shown
    assert run(["robots", "show", "raven"]) == 2


def test_info_tells_settings_and_hides_keys(cap: Cap, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", "sk-secret")
    monkeypatch.setenv("CAP_MODEL", "openai/x")
    shown = cap(["info", "--json"]).out
    assert "sk-secret" not in shown
    found = json.loads(shown)
    assert found["keys"]["OPENAI_API_KEY"] == "set"
    model = found["settings"]["model"]
    assert (model["value"], model["source"]) == ("openai/x", "CAP_MODEL")
    assert list(found["settings"]) == list(SETTINGS)
    assert found["settings"]["mode"]["default"] == "physics"
    assert found["robots"]["ravens"] == "ok"


def test_a_folders_cap_toml_cannot_redirect_an_endpoint(
    cap: Cap, monkeypatch: pytest.MonkeyPatch
) -> None:
    Path("cap.toml").write_text('[providers.openai]\nbase_url = "http://evil.example/v1"\n')
    assert "providers ignored" in cap(["run", "stack all the blocks", "--mode", "instant"]).err


def test_help_is_fast_because_it_imports_nothing_heavy() -> None:
    code = (
        "import sys; from cap.cli.main import run; run(['--help']); "
        "heavy = {'numpy', 'openai', 'shapely', 'pybullet', 'rich', 'prompt_toolkit', 'PIL'}; "
        "early = heavy & set(sys.modules); import cap.models.openai.model; "
        "sys.exit(', '.join(early | {'openai'} & set(sys.modules)) or None)"
    )
    done = python(code)
    assert done.returncode == 0, done.stderr


ROWS = [{"task": "hexagon", "first %": 0, "second %": 0.0, "why": "", "words": "so " * 60}] * 2


def test_a_pipe_gets_one_line_for_each_row(
    capsys: Capture, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("COLUMNS", "40")
    show(ROWS)
    head, *lines = capsys.readouterr().out.splitlines()
    assert head.split() == ["task", "first", "%", "second", "%", "why", "words"]
    assert [line.split()[:4] for line in lines] == [["hexagon", "0", "0.0", "so"]] * 2


PRINTING = """
from robots.ravens import create as ravens

print("loaded")
PROMPTS = "ravens"


def create(**options):
    print("made")
    return ravens(**options)
"""


@pytest.mark.parametrize(
    "words", [("robots", "show", "{}"), ("run", "say hello", "--mode", "instant", "-r", "{}")]
)
def test_what_a_persons_file_prints_does_not_spoil_json(
    words: tuple[str, ...], tmp_path: Path, capsys: Capture
) -> None:
    path = tmp_path / "arm.py"
    path.write_text(PRINTING)
    before = sys.stdout
    run([*(word.format(path) for word in words), "--json"])
    assert sys.stdout is before
    told = capsys.readouterr()
    assert json.loads(told.out)
    assert {"loaded", "made"} <= set(told.err.splitlines())


# --- `cap plan`: one instruction with one planner, shown and kept

Plan = Callable[..., Any]


@pytest.fixture
def plan(cap: Cap) -> Plan:
    """Plan some words, check the exit code, and return what was printed."""
    return lambda *words, code=0: cap(["plan", *words], code)


def test_an_instruction_is_carried_out_with_its_scores_as_a_table(plan: Plan, cap: Cap) -> None:
    shown = plan("bring me something to clean up the spill").out
    assert "perfect-say knows the right next step; not a language model" in shown
    assert "find a sponge          1" in shown
    assert "done: the world matches the instruction" in shown
    (folder,) = Path("runs").iterdir()
    with Image.open(folder / "after.png") as after:
        assert after.size == (480, 480)
    kinds = [event["kind"] for event in read_events(folder)]
    assert kinds.count("candidates") == kinds.count("step") + 1 == 5
    assert "bring it to you" in cap(["trace", "show"]).out


def test_a_zero_shot_planner_acts_in_the_household(plan: Plan) -> None:
    words = ("Drink the milk", "--planner", "zero-shot", "-r", "household")
    found = json.loads(plan(*words, "--json").out)
    assert found["done"]
    assert found["plan"][-1] == "drink the milk"
    assert found["whereabouts"]["milk"] == "hand"
    assert found["rung"] == "translated"
    (head,) = [row for row in plan(*words).out.splitlines() if "likeness" in row]
    assert head.split()[:6] == ["candidate", "step", "likeness", "share", "penalty", "score"]


def test_a_monologue_reads_what_came_of_its_steps(plan: Plan) -> None:
    words = ("stack all the blocks", "--planner", "monologue", "-r", "ravens")
    shown = plan(*words, "--feedback", "scene", "--disturb", "once").out
    assert "goal: green block on red block" in shown
    assert "Reached: nothing" in shown
    assert "somebody kept it from succeeding" in shown


def test_a_program_is_bounded_and_disturbed_like_any_planner(plan: Plan) -> None:
    words = ("put the apple on the desk", "--planner", "cap", "--objects", "apple @ table")
    assert "1 steps were taken" in plan(*words, "--max-steps", "1", code=1).out
    told = plan(*words, "--disturb", "once", code=1).out
    assert "somebody kept it from succeeding" in told


def test_what_a_person_says_on_the_way_is_what_is_judged(plan: Plan) -> None:
    words = ("throw away the apple", "--say", "1:bring me a sponge")
    shown = plan(*words).out
    assert "Person: bring me a sponge" in shown
    assert "pick up the sponge" in shown


@pytest.mark.parametrize("planner", ["saycan", "cap"])
def test_a_model_that_gives_nothing_is_told_alike_by_every_planner(
    planner: str, plan: Plan
) -> None:
    """A program that could not be written ended with 1, as one that went wrong."""
    words = ("frobnicate the gizmo", "--planner", planner, "-m", "nearest")
    shown = plan(*words, code=4).out
    assert "ended unfinished: NoMatch: nearest cannot" in shown
    assert "the benchmark knows, for example: " in shown


@cases(("instruction", "objects", "why"))
def test_in_the_kitchen_what_is_so_already_or_cannot_be_is_refused_at_the_start(
    instruction: str,
    objects: str,
    why: str,
    plan: Plan,
) -> None:
    """Met by nothing, or met before anything was done, it was told as done."""
    error = plan(instruction, "--objects", objects, code=2).err
    assert "there is nothing to do" in error
    assert why in error
    assert "--objects" in error
    assert error.count("\n") == 1
    assert not [*Path("runs").glob("*")]


@cases(("words", "why"))
def test_what_cannot_be_is_one_line_and_leaves_nothing(
    words: list[str], why: str, plan: Plan
) -> None:
    shown, error = plan(*words, code=2)
    assert "failed" not in shown
    assert why in error
    assert error.count("\n") == 1
    assert not [*Path("runs").glob("*")]


# --- `cap batch`: sessions from a file, what comes back, and every kind of bad input

ONE = '[[sessions]]\nname = "{0}"\nmode = "instant"\ninstructions = ["{1}"]\n'


def sessions(*instructions: str) -> None:
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
    sessions("levitate", "put the red block in the blue bowl")
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
    sessions("put the red block in the blue bowl")
    assert run(["batch", "b.toml", "--out", "out"]) == 0
    before = {path: path.read_bytes() for path in Path("out").iterdir() if path.is_file()}
    sessions("put the red block in the blue bowl", "stack all the blocks")
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
    sessions("go")
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
