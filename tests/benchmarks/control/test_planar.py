"""The planar robots: solvable, not by what comes first to mind, and never by a cheat."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from benchmarks.control.suite import ControlSuite
from benchmarks.control.tasks import TASKS
from benchmarks.control.worlds import STEP_S, STEPS, Avoider, Chaser, Tracker
from benchmarks.suite import OWN_PROMPTS, Settings, Trial
from cap.errors import LimitExceeded
from tests.benchmarks.cheating import judged
from tests.rows import table

SUITE = ControlSuite()
ORACLE = Settings("control", "oracle", prompts=OWN_PROMPTS["control"])
PLANAR = ("tracking", "moving-target", "avoidance")
MAKE: dict[str, Callable[[int], Any]] = {
    "tracking": Tracker,
    "moving-target": Chaser,
    "avoidance": Avoider,
}


@pytest.mark.sweep(share=0.34)
@pytest.mark.parametrize("task", PLANAR)
@pytest.mark.parametrize("seed", [0, 1, 7])
def test_the_oracle_does_it(task: str, seed: int) -> None:
    assert judged(Trial(task, "", seed), TASKS[task].oracle(seed)).missed is None


@pytest.mark.sweep(share=0.2)
@pytest.mark.parametrize("task", TASKS)
@pytest.mark.parametrize("model", ["no-op", "baseline"])
def test_neither_nothing_nor_the_first_idea_does(task: str, model: str) -> None:
    pytest.importorskip("gymnasium" if task == "cartpole" else "numpy")
    outcome = SUITE.run(Trial(task, "", 3), replace(ORACLE, model=model))
    assert (outcome.success, outcome.cause) == (False, "task")


CHEATS = table(__file__, "planar: cheats")
HONEST = table(__file__, "planar: honest")


def missed(task: str, program: str) -> str | None:
    pytest.importorskip("gymnasium" if task == "cartpole" else "numpy")
    return judged(Trial(task, "", 1 if task == "avoidance" else 0), program).missed


@pytest.mark.sweep(share=0.3)
@pytest.mark.parametrize("name", HONEST)
def test_another_way_to_do_it_is_right(name: str) -> None:
    assert missed(*HONEST[name]) is None


@pytest.mark.sweep(share=0.085)
@pytest.mark.parametrize("name", CHEATS)
def test_a_cheat_is_none(name: str) -> None:
    assert missed(*CHEATS[name]) is not None


def test_a_slow_target_is_let_go_of_too() -> None:
    program = (
        TASKS["moving-target"].oracle(0).replace("while not is_done():", "for _ in range(395):")
    )
    program += "while not is_done():\n    set_velocity([0, 0])\n    step()\n"
    found = judged(Trial("moving-target", "", 21), program).missed
    assert str(found).startswith("let go in the end")


@pytest.mark.parametrize("task", PLANAR)
def test_the_seed_decides_the_episode(task: str) -> None:
    first, again, other = (MAKE[task](seed) for seed in (4, 4, 5))
    for robot in (first, again, other):
        robot.set_velocity(0.2, 0.1) if task == "tracking" else robot.set_velocity([0.2, 0.1])
        for _ in range(30):
            robot.step()
    assert first.track == again.track
    assert first.track != other.track


@pytest.mark.parametrize("task", PLANAR)
@pytest.mark.parametrize("value", ["fast", None, float("nan"), [[1, 2]], 10**400, [1, 2, 3]])
def test_a_command_that_is_none_is_refused(task: str, value: Any) -> None:
    robot = MAKE[task](0)
    given = (value, 0.0) if task == "tracking" else (value,)
    with pytest.raises(ValueError, match="finite numbers"):
        robot.set_velocity(*given)


@pytest.mark.parametrize("task", PLANAR)
def test_no_robot_drives_faster_than_it_can(task: str) -> None:
    robot = MAKE[task](2)
    tried = robot.set_velocity(9.0, 0.0) if task == "tracking" else robot.set_velocity([9.0, 9.0])
    assert np.linalg.norm(tried) == pytest.approx(robot.MAX_SPEED)
    while not robot.is_done():
        robot.step()
    gone = np.linalg.norm(np.diff(robot.track, axis=0), axis=1) / STEP_S
    assert gone.max() <= robot.MAX_SPEED + 0.08  # it drifts


def test_no_step_after_the_end() -> None:
    robot = Chaser(0)
    for _ in range(STEPS):
        robot.step()
    assert robot.is_done()
    with pytest.raises(LimitExceeded, match="over after 20 s"):
        robot.step()


def test_a_touched_obstacle_ends_the_episode() -> None:
    robot = Avoider(0)
    x, y, _ = robot.obstacles[0]
    while not robot.is_done():
        robot.set_velocity([x, y] - robot.get_position())
        robot.step()
    assert robot.touched
    assert robot.steps < STEPS
    assert "ran into an obstacle" in str(TASKS["avoidance"].judge(robot).missed)


@pytest.mark.sweep(share=0.3)
@pytest.mark.parametrize("seed", range(30))
def test_every_scene_has_an_obstacle_in_the_way_and_room_beside(seed: int) -> None:
    robot = Avoider(seed)
    start = np.array(robot.track[0])
    line = np.linspace(start, robot.goal_m, 200)
    assert min(robot.clearance_m(point.tolist()) for point in line) < 0
    for place, (x, y, r) in enumerate(robot.obstacles):
        others = robot.obstacles[:place]
        assert all(math.dist((x, y), (p, q)) - r - s > 2 * robot.RADIUS_M for p, q, s in others)
