"""The tabletop suite: its cells, its trials, its baselines, and how it assigns blame."""

import json
import statistics
from collections import Counter
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from benchmarks.suite import Outcome, Settings, Trial, suite
from benchmarks.tabletop import suite as trials
from benchmarks.tabletop.suite import CELLS, TabletopSuite
from benchmarks.tabletop.tasks import TASKS
from cap.errors import ModelError, UsageError
from cap.result import Call, Failure
from cap.session.turn import Turn
from tests.fakes.scripted import Scripted
from tests.rows import table

SUITE = TabletopSuite()
ORACLE = Settings("tabletop", "oracle", "instant")
NO_OP = replace(ORACLE, model="no-op")
STEADY = [cell for cell in CELLS if cell[1] != "IM-noise"]
SOLVED = Trial("pick-and-place", "SA-SI", 3)


@pytest.fixture
def run_with(monkeypatch: pytest.MonkeyPatch) -> Any:
    """Return a function that runs a trial with a scripted model."""

    def run(answer: Any, **changes: Any) -> Outcome:
        monkeypatch.setattr("benchmarks.models.model_for", lambda *_: Scripted(answer))
        return SUITE.run(SOLVED, replace(ORACLE, model="scripted", **changes))

    return run


def test_cells_are_those_of_the_two_papers() -> None:
    cells = SUITE.cells()
    assert len(set(cells)) == len(cells)
    counts = Counter(split for _, split in cells)
    assert counts == {"SA-SI": 8, "UA-SI": 8, "UA-UI": 6, "IM": 8, "IM-noise": 8}


@pytest.mark.parametrize(
    ("split", "group", "means"),
    table(__file__, "suite: values_of_the_paper_have_its_means").values(),
)
def test_values_of_the_paper_have_its_means(
    split: str, group: str, means: dict[str, float]
) -> None:
    groups = {task.name: task.group for task in TASKS}
    rows = [
        suite("tabletop").reference(*cell)
        for cell in CELLS
        if cell[1] == split and groups[cell[0]] == group
    ]
    found = {name: statistics.mean(row[name] for row in rows) for name in rows[0]}
    assert found == pytest.approx(means, abs=0.005)


@pytest.mark.sweep(share=0.15)
@pytest.mark.parametrize("seed", [0, 1, 1000])
@pytest.mark.parametrize(("task", "split"), STEADY)
def test_oracle_does_every_task(task: str, split: str, seed: int) -> None:
    outcome = SUITE.run(Trial(task, split, seed), ORACLE)
    assert (outcome.failure, outcome.success) == ("", True)


@pytest.mark.sweep(share=0.3)
@pytest.mark.parametrize(("task", "split"), CELLS)
def test_doing_nothing_never_succeeds(task: str, split: str) -> None:
    outcome = SUITE.run(Trial(task, split, 5), NO_OP)
    assert (outcome.success, outcome.cause) == (False, "task")


@pytest.mark.parametrize(
    ("task", "split"), [("stack-on-place", "UA-UI"), ("matching-bowls", "SA-SI")]
)
def test_oracle_does_it_with_dynamics(task: str, split: str) -> None:
    pytest.importorskip("mujoco")
    outcome = SUITE.run(Trial(task, split, 2), replace(ORACLE, mode="physics"))
    assert (outcome.failure, outcome.success) == ("", True)


def test_noise_makes_motions_miss() -> None:
    trial = Trial("im-pick-and-place", "IM-noise", 0)
    wrong = {"disturbances": {"place_m": 0.0, "pick_m": 0.0}}
    noisy = [SUITE.run(replace(trial, seed=seed), ORACLE).calls for seed in range(6)]
    steady = [
        SUITE.run(replace(trial, seed=seed), replace(ORACLE, options=wrong)).calls
        for seed in range(6)
    ]
    assert sum(noisy) > sum(steady)


@pytest.mark.parametrize(
    ("answer", "cause", "failure"),
    [
        (ModelError("out of order"), "model", "out of order"),
        ("", "model", "EmptyCompletion"),
        ("import os\nsay('done')", "program", "CAP"),
        ("x = 1 / 0", "program", "ZeroDivisionError"),
        ("put_first_on_second('silver block', 'middle')", "program", "NotFound"),
        ("say('done')", "task", "is not on"),
    ],
)
def test_cause_of_a_failure(run_with: Any, answer: Any, cause: str, failure: str) -> None:
    outcome = run_with(answer)
    assert (outcome.success, outcome.cause) == (False, cause)
    assert failure in outcome.failure


@pytest.mark.parametrize(
    ("given", "cause"),
    [
        (("the silver block", "middle"), "program"),
        (("Red_block", "top left corner"), "robot"),
        ((["red block", "silver block"],), "program"),
        (((0.1, -0.4), "middle"), "program"),
    ],
)
def test_who_asks_for_what_is_not_there_is_the_program(given: tuple[Any, ...], cause: str) -> None:
    lost = Call("get_obj_pos", given, {}, 0.0, 0.0, error="NotFound: no object")
    failure = Failure("raised", "NotFound", "no object", robot=True)
    turn = Turn("go", "go()", None, (lost,), failure, {})
    assert trials.blamed(turn, ["red block"]) == cause
    assert failure.cause == "program"
    assert replace(failure, error="NotGrasped").cause == "robot"


def test_success_is_the_worlds_state_and_not_the_programs_end(run_with: Any) -> None:
    words = SUITE.run(SOLVED, NO_OP).extra["goal"]["on"][0]
    outcome = run_with(f"put_first_on_second({words[0]!r}, {words[1]!r})\n1 / 0")
    assert outcome.success
    assert outcome.cause == ""
    assert "ZeroDivisionError" in outcome.failure


def test_failed_trial_says_what_a_reader_needs(run_with: Any) -> None:
    outcome = run_with("say(np.array([1.0, np.nan]))\nput_first_on_second((9, 9), 'middle')")
    extra = json.loads(json.dumps(outcome.extra, allow_nan=False))
    assert extra["missed"]
    assert [call["name"] for call in extra["calls"]] == ["say", "put_first_on_second"]
    assert set(extra["before"]) == set(extra["after"]) == set(extra["objects"])


def test_pictures_show_before_and_after(run_with: Any, tmp_path: Path) -> None:
    options = {"pictures": str(tmp_path)}
    block = SUITE.run(SOLVED, NO_OP).extra["goal"]["on"][0][0]
    before, after = SUITE.run(SOLVED, replace(NO_OP, options=options)).extra["pictures"]
    still = (tmp_path / before).read_bytes()
    assert (tmp_path / after).read_bytes() == still
    run_with(f"put_first_on_second({block!r}, 'middle')", options=options)
    assert (tmp_path / before).read_bytes() == still
    assert (tmp_path / after).read_bytes() != still


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ((0, 0), "1 to 100000"),
        ((1, 0, ["stack-block"]), "Did you mean 'stack-blocks'"),
        ((1, 0, None, ["SA-UI"]), "unknown split"),
        ((1, 0, ["stack-blocks"], ["UA-UI"]), "none of the tasks"),
    ],
)
def test_what_cannot_be_run_is_refused(arguments: Any, message: str) -> None:
    with pytest.raises(UsageError, match=message):
        SUITE.trials(*arguments)


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        (replace(ORACLE, options={"limit": {}}), "takes no --limit"),
        (replace(ORACLE, options={"limits": {"cals": 3}}), "Did you mean 'calls'"),
        (replace(ORACLE, model="nl"), "nl:openai/NAME"),
        (replace(ORACLE, model="orakle/x"), "unknown model"),
        (replace(ORACLE, mode="dream"), "no mode"),
    ],
)
def test_settings_that_mean_nothing_are_refused(settings: Settings, message: str) -> None:
    with pytest.raises(UsageError, match=message):
        SUITE.check(settings)


def test_limits_reach_the_sandbox() -> None:
    settings = replace(ORACLE, options={"limits": {"calls": 1}})
    outcome = SUITE.run(Trial("blocks-on-place", "SA-SI", 0), settings)
    assert (outcome.success, outcome.cause) == (False, "program")
