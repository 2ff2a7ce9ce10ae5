"""The suite robosuite: oracles solve its tasks, doing nothing does not, policies act in it."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from benchmarks.robosuite.suite import TASKS, RobosuiteSuite, missed
from benchmarks.suite import Settings, Trial, suite
from cap.cli.main import run
from cap.errors import UsageError
from robots.robosuite import create
from robots.robosuite.environments import ARMS, environments

POLICY = """
import numpy as np

def policy(env, instruction):
    def go(goal, fingers, steps):
        for _ in range(steps):
            way = (goal() - env._eef()) * 10
            env.step(np.concatenate([np.clip(way, -1, 1), np.zeros(3), [fingers]]))
    env._eef = lambda: np.array(env.sim.data.site_xpos[env.robots[0].eef_site_id["right"]])
    cube = lambda: np.array(env.sim.data.body_xpos[env.cube_body_id])
    begun = cube()
    go(lambda: begun + [0, 0, 0.1], -1, 60)
    go(lambda: begun, -1, 40)
    go(lambda: begun, 1, 15)
    go(lambda: begun + [0, 0, 0.2], 1, 40)
"""


def test_tasks_name_what_there_is_and_values_are_percent() -> None:
    for task in TASKS.values():
        assert task.env in environments()
        assert {*task.arms} <= {*ARMS}
        assert all(0 <= value <= 100 for value in task.published.values())
    assert suite("robosuite").reference("lift", "Panda")
    assert not suite("robosuite").reference("lift", "UR5e")


def test_a_file_without_a_policy_is_refused(tmp_path: Path) -> None:
    pytest.importorskip("robosuite")
    (tmp_path / "mine.py").write_text("x = 1\n", encoding="utf-8")
    found = suite("robosuite", {"policy": str(tmp_path / "mine.py")})
    with pytest.raises(UsageError, match="has no function 'policy'"):
        found.check(Settings("robosuite", "policy", options={"policy": "mine.py"}))


@pytest.mark.parametrize("given", [{"model": "nobody/x"}, {"options": {"prompts": "none"}}])
def test_what_no_trial_could_be_run_with_is_refused(given: dict[str, Any]) -> None:
    pytest.importorskip("robosuite")
    with pytest.raises(UsageError):
        suite("robosuite").check(Settings(**{"suite": "robosuite", "model": "oracle", **given}))


@pytest.mark.timeout(600)
def test_oracles_and_policies_lift_and_doing_nothing_does_not(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    pytest.importorskip("robosuite")
    policy = tmp_path / "mine.py"
    policy.write_text(POLICY, encoding="utf-8")
    for how, shown in (
        (["-m", "oracle"], "100"),
        (["--policy", str(policy)], "100"),
        (["-m", "no-op"], "check of success does not hold"),
    ):
        asked = ["--tasks", "lift", "--split", "Panda", "-n", "1", *how]
        assert run(["bench", "run", "robosuite", *asked]) == 0
        assert shown in capsys.readouterr().out


@pytest.mark.timeout(600)
def test_re_stacking_is_judged_with_the_cubes_exchanged() -> None:
    pytest.importorskip("robosuite")
    robot = create(seed=0, env="Stack")
    robot.put_first_on_second("red cube", "green cube")
    for _ in range(2):  # the check leaves the cubes as they were
        assert missed(TASKS["re-stack"], robot.env) is not None
        assert missed(TASKS["stack"], robot.env) is None


@pytest.mark.soak
@pytest.mark.timeout(1200)
@pytest.mark.parametrize(("task", "arm"), RobosuiteSuite().cells())
def test_oracles_solve_every_task_and_no_op_none(task: str, arm: str) -> None:
    pytest.importorskip("robosuite")
    found = suite("robosuite")
    trials = [Trial(task, arm, seed) for seed in range(3)]
    done = [found.run(trial, Settings("robosuite", "oracle")).success for trial in trials]
    assert sum(done) >= (0 if task == "tool-hang" else 2)  # for that there is no primitive yet
    assert not found.run(trials[0], Settings("robosuite", "no-op")).success
