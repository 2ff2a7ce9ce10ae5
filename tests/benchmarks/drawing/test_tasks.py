"""The drawing tasks: solvable, not solved by nothing, and strict about shape, size and place."""

from __future__ import annotations

import numpy as np
import pytest
from shapely.geometry import MultiLineString

from benchmarks.drawing.judge import MIDDLE, circle, differs, regular
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


@pytest.mark.parametrize(
    "figures",
    [
        [circle(MIDDLE, 0.067)],
        [circle(MIDDLE + np.array([0.007, 0]), 0.06)],
        [circle(MIDDLE, 0.06)[:100]],
        [regular(MIDDLE, 0.06, 8)],
        [circle(MIDDLE, 0.06), circle(MIDDLE, 0.02)],
    ],
    ids=["size", "place", "part", "shape", "more"],
)
def test_size_place_shape_and_amount_count(figures: list[np.ndarray]) -> None:
    ink = MultiLineString([figure.tolist() for figure in figures])
    assert differs(ink, circle(MIDDLE, 0.06)) is not None
