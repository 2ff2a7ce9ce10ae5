"""Batch files are read as a whole or not at all; effects are judged on the true state."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from benchmarks import runner
from benchmarks.batch.batch_file import Batch, SessionTable, read
from benchmarks.batch.effects import (
    EXPECTATIONS,
    View,
    judge,
    run_check,
    wrong_check,
    wrong_effects,
)
from benchmarks.batch.suite import BatchSuite
from benchmarks.results import begin, read_lines
from benchmarks.suite import Outcome, Settings, Trial
from cap.errors import UsageError
from cap.robot.skeleton import write
from tests.rows import table

SESSION = '[[sessions]]\nname = "one"\ninstructions = ["go"]\n'
SCENE = {"a": (0.0, 0.0, 0.02), "b": (0.2, -0.5, 0.02), "c": (0.0, 0.0, 0.06)}


USUAL = {"robot": "ravens", "mode": "instant", "model": "nearest"}


def batch_of(text: str, name: str = "batch.toml", **said: str) -> Batch:
    Path(name).write_text(text)
    return read(Path(name), USUAL, said)


def test_what_a_session_does_not_say_comes_from_the_defaults() -> None:
    batch = batch_of('[defaults]\nmodel = "ollama/x"\nseed = 4\n' + SESSION + "seed = 5\n" + SESSION
                     .replace("one", "two"))  # fmt: skip
    assert [(entry["model"], entry["seed"]) for entry in batch.sessions.values()] == [
        ("ollama/x", 5),
        ("ollama/x", 4),
    ]


def test_the_command_line_comes_before_the_defaults_and_after_the_session() -> None:
    text = '[defaults]\nmodel = "ollama/x"\n' + SESSION + SESSION.replace("one", "two")
    text += "model = 'ollama/own'\n"
    found = batch_of(text, model="ollama/said").sessions.values()
    assert [entry["model"] for entry in found] == ["ollama/said", "ollama/own"]


def test_a_robot_from_a_file_stands_beside_the_batch(tmp_path: Path) -> None:
    write("my_arm", tmp_path / "sub" / "my_arm")
    Path("sub/b.toml").write_text(SESSION + "robot = 'my_arm/robot.py'\n")
    batch = read(Path("sub/b.toml"), USUAL)
    assert batch.sessions["one"]["robot"] == str(tmp_path / "sub" / "my_arm" / "robot.py")
    assert BatchSuite(batch).cells() == (("one", "my_arm/robot.py"),)


def test_jsonl_and_toml_say_the_same() -> None:
    line = {"name": "one", "instructions": ["go"]}
    assert batch_of(json.dumps(line) + "\n\n", "b.jsonl").sessions == batch_of(SESSION).sessions


def test_every_byte_of_the_file_is_another_version() -> None:
    assert batch_of(SESSION).version != batch_of(SESSION + "\n").version


BAD_TOML = table(__file__, "suite: bad_toml")


@pytest.mark.sweep(share=0.34)
@pytest.mark.parametrize("case", BAD_TOML)
def test_a_bad_file_is_refused_with_place_and_reason(case: str) -> None:
    text, told = BAD_TOML[case]
    with pytest.raises(UsageError, match=r"batch\.toml") as caught:
        batch_of(text)
    assert told in str(caught.value)
    assert "\n" not in str(caught.value)


def test_a_message_names_entry_and_line() -> None:
    with pytest.raises(UsageError, match=r"batch.toml, session 2 \(line 4\): .*seed"):
        batch_of(SESSION + "[[sessions]]\nseed = 'x'\ninstructions = ['go']\n")
    with pytest.raises(UsageError, match=r"b.jsonl, line 3 is not JSON"):
        batch_of('{"instructions": ["go"]}\n\n{"instructions": \n', "b.jsonl")


@pytest.mark.parametrize("name", ["b.yaml", "missing.toml"])
def test_other_files_are_refused(name: str) -> None:
    with pytest.raises(UsageError, match=name):
        read(Path(name), USUAL)


HOLDS = table(__file__, "suite: holds")


@pytest.mark.parametrize("name", [name for name in EXPECTATIONS if name != "fails"])
def test_an_effect_holds_when_it_should_and_only_then(name: str) -> None:
    view = View(
        {**SCENE, "b": (0.3, -0.5, 0.02)}, SCENE, ["Hello there"], {"corner": (0.2, -0.5)}, ["said"]
    )
    holds, fails = HOLDS[name]
    assert wrong_effects({name: holds}) is None
    assert judge({name: holds}, view) is None
    assert judge({name: fails}, view) is not None
    if isinstance(holds, list) and name != "effect":
        assert judge({name: [holds, holds]}, view) is None
        assert judge({name: [holds, fails]}, view) is not None


def test_an_object_that_is_not_there_is_named() -> None:
    assert "no object 'bb'" in (judge({"near": ["bb", "a"]}, View(SCENE, SCENE)) or "")


@pytest.mark.inside
@pytest.mark.parametrize(
    ("source", "told"),
    [
        ("positions['a'][2] < positions['c'][2]", None),
        ("for name in objects:\n    ret_val = name in before and not moved", None),
        ("ret_val = 1", "gave 1, not True"),
        ("False", "gave False"),
        ("positions['d']", "KeyError"),
        ("while True:\n    ret_val = True", "ran longer"),
    ],
)
def test_a_check_must_leave_true(
    source: str, told: str | None, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("benchmarks.batch.effects.CHECK_S", 0.2)
    assert wrong_check(source) is None
    found = run_check(source, View(SCENE, SCENE))
    assert found is None if told is None else told in (found or "")


def test_a_check_cannot_change_what_is_judged() -> None:
    view = View(SCENE, dict(SCENE))
    assert run_check("positions.clear()\nret_val = True", view) is None
    assert view.after == SCENE


def outcomes(text: str, tmp_path: Path, model: str = "nearest") -> list[Outcome]:
    batch = batch_of('[defaults]\nmode = "instant"\n' + text)
    suite, options = BatchSuite(batch), {"sessions": {**batch.sessions}}
    settings = Settings("batch", model, prompts="", options=options)
    results = begin(tmp_path / "out", suite, settings, resume=False)
    try:
        runner.run(results, suite.trials(), settings)
    finally:
        results.close()
    return [line.outcome for line in read_lines(tmp_path / "out")]


ON_BLUE = """
objects = ["red block", "blue block", "blue bowl"]
[[sessions.instructions]]
text = "put the red block on the blue block"
"""
CASES = table(__file__, "suite: cases")


@pytest.mark.usefixtures("trials_here")
def test_sessions_succeed_when_everything_expected_is_so(tmp_path: Path) -> None:
    sessions = [
        f'[[sessions]]\nname = "{name}"{ON_BLUE}{more}\n' for name, (more, *_) in CASES.items()
    ]
    found = outcomes("".join(sessions), tmp_path)
    wanted = [(good, cause) for _, good, cause, _ in CASES.values()]
    assert [(outcome.success, outcome.cause) for outcome in found] == wanted
    for (_, good, _, told), outcome in zip(CASES.values(), found, strict=True):
        assert good or told in outcome.failure or not told
    stopped = found[list(CASES).index("stops")]
    assert [turn["ok"] for turn in stopped.extra["turns"]] == [True, False]


LATER = """
from pathlib import Path

_create = create

def create(**options):
    once = Path(__file__).with_name("once")
    if once.exists():
        raise RuntimeError("gone by now")
    once.touch()
    return _create(**options)
"""


def test_what_cannot_be_begun_is_infrastructure_and_costs_no_other(tmp_path: Path) -> None:
    text = '[[sessions]]\nname = "{}"\nrobot = "{}/robot.py"\ninstructions = ["{}"]\n'
    words = "move the red marker to the left"
    for name in ("bad", "good"):
        write(name, Path(name))
    spoiled = Path("bad/robot.py")
    spoiled.write_text(spoiled.read_text() + LATER)
    found = outcomes(
        text.format("bad", "bad", words) + text.format("good", "good", words), tmp_path
    )
    assert [(outcome.success, outcome.cause) for outcome in found] == [
        (False, "infrastructure"),
        (True, ""),
    ]
    assert "gone by now" in found[0].failure


SAID = dict.fromkeys(SessionTable.__struct_fields__) | {"seed": 0, "instructions": []}


def test_a_real_robot_is_not_moved_by_a_batch() -> None:
    write("my_arm", Path("my_arm"))
    robot = Path("my_arm/robot.py")
    robot.write_text(robot.read_text().replace("simulated = True", "simulated = False"))
    with pytest.raises(UsageError, match=r"session 1 \(line 1\): robot .*my_arm.* is real"):
        batch_of(SESSION + f'robot = "{robot}"\n')
    sessions = {"one": {**SAID, "robot": str(robot), "mode": "instant", "model": "nearest"}}
    settings = Settings("batch", "nearest", "instant", prompts="", options={"sessions": sessions})
    with pytest.raises(UsageError, match="is real"):
        BatchSuite().run(Trial("one", "my_arm", 0), settings)


@pytest.mark.usefixtures("trials_here")
def test_a_real_robot_s_dry_run_is_simulated(tmp_path: Path) -> None:
    session = """
[[sessions]]
robot = "tabletop"
objects = ["red block", "blue bowl"]
instructions = ["put the red block in the middle"]
"""
    with pytest.raises(UsageError, match=r"session 1 \(line 2\): --objects .* for a dry run"):
        batch_of(session, mode="physics")
    there = 'expect = { at = ["red block", "middle"] }\nmode = "instant"\n'
    (outcome,) = outcomes(session + there, tmp_path)
    assert outcome.success


def test_every_effect_is_documented() -> None:
    page = (Path(__file__).parents[3] / "docs" / "batches.md").read_text(encoding="utf-8")
    for name in EXPECTATIONS:
        assert f"`{name}`" in page
