"""The drawing tasks: solvable, not solved by nothing, and strict about shape, size and place."""

from __future__ import annotations

import pytest

from benchmarks.suite import Settings, Trial, suite
from cap.errors import UsageError

SUITE = suite("drawing")
NAMES = [task for task, _ in SUITE.cells()]


def settings(model: str, mode: str = "instant") -> Settings:
    return Settings(suite="drawing", model=model, mode=mode)


@pytest.mark.sweep(share=0.34)
@pytest.mark.parametrize("name", NAMES)
def test_the_oracle_solves_it_and_doing_nothing_does_not(name: str) -> None:
    trial = Trial(name, "", 3)
    solved = SUITE.run(trial, settings("oracle"))
    assert solved.success, solved.failure
    assert not SUITE.run(trial, settings("no-op")).success


def test_the_arm_solves_one_too() -> None:
    pytest.importorskip("mujoco")
    assert SUITE.run(Trial("make-bigger", "", 0), settings("oracle", "physics")).success


def test_a_session_of_instructions_is_judged_at_its_end() -> None:
    outcome = SUITE.run(Trial("move", "", 0), settings("nearest"))
    assert outcome.success, outcome.failure
    assert outcome.instruction.count(";") == 1
    assert outcome.requests >= 2


def test_what_the_suite_has_not_is_a_usage_error() -> None:
    with pytest.raises(UsageError, match="no splits"):
        SUITE.trials(1, 0, splits=["SA-SI"])
    with pytest.raises(UsageError, match="unknown task 'circel'"):
        SUITE.trials(1, 0, tasks=["circel"])
