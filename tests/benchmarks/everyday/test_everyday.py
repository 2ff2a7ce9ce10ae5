"""The everyday sentences are sound, and a trial is judged and counted as it should be."""

import random
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import msgspec
import pytest

from benchmarks.everyday.suite import TASKS, EverydaySuite, EverydayTask, verdict
from benchmarks.suite import Settings
from benchmarks.tabletop.judge import judge
from cap.cli.main import run as cap
from tests.rows import rows

World = dict[str, tuple[float, float, float]]
CASES = tuple(TASKS.values())
BY_ID = rows("case", CASES, ids=lambda case: case.id)


def scene(case: EverydayTask) -> World:
    """Return a made-up scene of a case, on a grid away from every corner, side and the middle."""
    spots = [(x, y) for x in (-0.16, 0.02, 0.14) for y in (-0.67, -0.58, -0.41, -0.34)]
    chosen = random.Random(case.seed).sample(spots, len(case.objects))
    height = {"block": 0.02, "bowl": 0.01}
    return {n: (*xy, height[n.split()[1]]) for n, xy in zip(case.objects, chosen, strict=True)}


@BY_ID
def test_no_case_is_met_by_doing_nothing(case: EverydayTask) -> None:
    before = scene(case)
    earlier = {**before, case.objects[0]: (0.25, -0.75, 0.02)}
    assert judge(case.expect, before, before, (), undone=earlier)


@dataclass(frozen=True)
class FakeFailure:
    kind: str
    error: str
    message: str = "no luck"


@dataclass(frozen=True)
class FakeTurn:
    failure: FakeFailure | None = None
    instruction: str = "do it"


START: World = {"red block": (-0.1, -0.4, 0.02), "blue bowl": (0.1, -0.6, 0.01)}
PUT: World = {**START, "red block": (0.1, -0.6, 0.03)}
IN_BOWL = {"on": [["red block", "blue bowl"]]}
BACK = {"restored": True}
NO_MATCH = FakeFailure("model", "NoMatch")
CRASHED = FakeFailure("program", "ProgramError")
NOT_FOUND = FakeFailure("robot", "NotFound")


@pytest.mark.parametrize(
    ("expect", "after", "said", "failure", "result"),
    [
        (IN_BOWL, PUT, [], None, "right"),
        (IN_BOWL, START, [], None, "wrong"),
        (IN_BOWL, START, [], NO_MATCH, "declined"),
        (IN_BOWL, PUT, [], NO_MATCH, "wrong"),
        (IN_BOWL, START, [], FakeFailure("model", "EmptyCompletion"), "wrong"),
        (IN_BOWL, START, [], FakeFailure("program", "NoMatch"), "wrong"),
        (IN_BOWL, PUT, [], CRASHED, "wrong"),
        ({"refused": True}, START, [], NO_MATCH, "right"),
        ({"refused": True}, START, [], NOT_FOUND, "right"),
        ({"refused": True}, START, ["I cannot do that"], None, "right"),
        ({"refused": True}, START, ["done"], None, "wrong"),
        ({"refused": True}, PUT, [], NO_MATCH, "wrong"),
        ({"said": "four"}, START, ["four"], None, "right"),
        ({"said": "four"}, START, ["five"], None, "wrong"),
        (BACK, PUT, [], None, "right"),
        (BACK, START, [], None, "wrong"),
    ],
)
def test_result_of_a_session(
    expect: dict[str, Any],
    after: World,
    said: list[str],
    failure: FakeFailure | None,
    result: str,
) -> None:
    task = EverydayTask("x", "bowl", tuple(START), 5, "do it", expect)
    last: Any = FakeTurn(failure)
    found, reason = verdict(task, last, START, after, said, undone=PUT)
    assert found == result
    assert bool(reason) == (result != "right")
    assert failure is None or result == "right" or "'do it' failed: " in reason


def test_an_earlier_instruction_that_is_declined_declines_the_sentence(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    found = EverydaySuite()
    (trial,) = found.trials(1, 0, ["refer-1"])
    unmatched = msgspec.structs.replace(TASKS[trial.task], setup=("fly to the moon",))
    monkeypatch.setitem(TASKS, trial.task, unmatched)
    outcome = found.run(trial, Settings("everyday", "nearest", "instant", prompts=""))
    assert outcome.extra["result"] == "declined"
    assert outcome.failure.startswith("'fly to the moon' failed: NoMatch")
    assert outcome.failure.endswith("nothing moved")


@pytest.mark.parametrize(
    ("arguments", "code", "message"),
    [
        (["-m", "oracle"], 2, "has no programs of its own"),
        (["-m", "noisy-oracle:0.5"], 2, "has no programs of its own"),
        (["-m", "nearest", "--perception", "camera"], 2, "takes no --perception"),
    ],
)
def test_what_could_not_be_asked_is_no_answer(
    arguments: list[str],
    code: int,
    message: str,
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
) -> None:
    assert cap(["bench", "run", "everyday", "-q", "--out", str(tmp_path / "a"), *arguments]) == code
    assert message in capsys.readouterr().err
