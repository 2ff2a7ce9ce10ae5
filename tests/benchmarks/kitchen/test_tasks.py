"""The kitchen tasks: solvable, not solved by nothing, and strict about where things are."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from benchmarks.kitchen import judge
from benchmarks.suite import Settings, Trial, suite
from benchmarks.suite_folder import Before
from robots.kitchen import KitchenRobot, create
from robots.kitchen.state import Base

SUITE: Any = suite("kitchen")
NAMES = [task for task, _ in SUITE.cells()]


def settings(model: str, mode: str = "instant") -> Settings:
    return Settings(suite="kitchen", model=model, mode=mode)


@pytest.fixture
def robot() -> KitchenRobot:
    return create(seed=1, mode="instant", objects=["apple", "bowl", "coke can @ desk"])


@pytest.mark.sweep(share=0.34)
@pytest.mark.parametrize("name", NAMES)
def test_the_oracle_solves_it_and_doing_nothing_does_not(name: str) -> None:
    trial = Trial(name, "", 4)
    solved = SUITE.run(trial, settings("oracle"))
    assert solved.success, solved.failure
    assert not SUITE.run(trial, settings("no-op")).success


@pytest.mark.parametrize("name", ["into-drawer", "all-of-a-kind"])
def test_the_arm_solves_it_too(name: str) -> None:
    pytest.importorskip("mujoco")
    solved = SUITE.run(Trial(name, "", 1), settings("oracle", "physics"))
    assert solved.success, solved.failure


@pytest.mark.parametrize("name", ["fetch", "out-of-drawer", "until-seen"])
def test_the_offline_model_solves_it(name: str) -> None:
    outcome = SUITE.run(Trial(name, "", 0), settings("nearest"))
    assert outcome.success, outcome.failure
    assert outcome.requests >= 1


@pytest.mark.sweep(share=0.3)
@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize("seed", range(100, 105))
def test_in_every_scene_there_is_a_case_and_nothing_is_done_yet(name: str, seed: int) -> None:
    robot = create(seed=seed, mode="instant")
    kept = robot.state
    case = SUITE.tasks[name].make(np.random.default_rng([seed, 7]), robot)
    assert case.missed(robot) is not None
    assert robot.state == kept


def look(robot: KitchenRobot) -> Before:
    return Before(dict(robot.positions()), robot.state)


def test_what_nobody_asked_for_is_noticed(robot: KitchenRobot) -> None:
    before = look(robot)
    robot.pick_obj("apple")
    robot.goto_loc("desk")
    robot.place_at_obj("desk")
    assert judge.undisturbed(robot, before, ["apple"]) is None
    robot.pick_obj("coke can")
    assert "coke can" in str(judge.undisturbed(robot, before, ["apple"]))


def test_stopping_late_or_early_or_off_the_line_is_noticed(robot: KitchenRobot) -> None:
    robot.goto_loc("table")
    before, (x, y) = look(robot), robot.state["apple"].xy
    words = {"name": "apple", "source": "table", "way": []}
    words["start"] = Base(x - 1.5, y - 0.6, np.pi / 2)

    def at(dx: float, dy: float = 0.0) -> str | None:
        base = Base(x + dx, y - 0.6 + dy, np.pi / 2)
        robot.restore((replace(robot.state, base=base), ()))
        return judge.stopped_on_seeing(before, robot, words)

    assert at(-0.26) is None
    assert "not ahead" in str(at(-0.6))
    assert "went on" in str(at(0.0))
    assert "line" in str(at(-0.26, -0.1))
