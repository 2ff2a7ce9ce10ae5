"""The arm under torques: its primitives agree with kinematics, and its judge is not fooled."""

import json
from collections.abc import Iterator
from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from benchmarks.control.arm import JUMP_M, JUMP_STEP, LEGS, STEPS, Arm
from benchmarks.control.suite import ControlSuite
from benchmarks.control.tasks import MOST_RMS_M, MOST_SETTLING_S, TASKS
from benchmarks.suite import OWN_PROMPTS, Settings, Trial
from robots.arm import ur5e as kinematics
from tests.benchmarks.cheating import judged

SUITE = ControlSuite()
ORACLE = Settings("control", "oracle", prompts=OWN_PROMPTS["control"])
TRIAL = Trial("impedance", "", 4)
SHORT = TASKS["impedance"]
pytest.importorskip("mujoco")


@pytest.fixture
def arm() -> Iterator[Arm]:
    arm = Arm(1)
    yield arm
    arm.close()


@pytest.mark.parametrize("seed", [1])
def test_oracle_follows_the_goal_and_settles(seed: int) -> None:
    outcome = SUITE.run(replace(TRIAL, seed=seed), ORACLE)
    assert (outcome.failure, outcome.success) == ("", True)
    assert 0 < outcome.extra["measured"]["rms_m"] < MOST_RMS_M
    assert 0 < outcome.extra["measured"]["settling_s"] < MOST_SETTLING_S


@pytest.mark.sweep(share=0.4)
@pytest.mark.parametrize(
    ("old", "new", "why"),
    [
        ("damping @ velocity\n", "damping @ velocity\n    force = -force\n", "off on the way"),
        (" + get_gravity_torques()", "", "off on the way"),
        ("stiffness @ error", "0.2 * stiffness @ error", "off on the way"),
        ("not is_done()", "get_goal_position()[2] < 9 and get_ee_position()[2] > 9", "stopped"),
    ],
)
def test_wrong_laws_miss(old: str, new: str, why: str) -> None:
    program = SHORT.oracle(TRIAL.seed)
    assert old in program
    verdict = judged(TRIAL, program.replace(old, new))
    assert why in str(verdict.missed)
    json.dumps(verdict.metrics, allow_nan=False)


def test_what_follows_but_does_not_settle_misses() -> None:
    lazy = "    if np.linalg.norm(error) > 0.03:\n        error = 0 * error\n    force ="
    verdict = judged(TRIAL, SHORT.oracle(TRIAL.seed).replace("    force =", lazy))
    assert verdict.metrics["settling_s"] is None
    assert verdict.metrics["rms_m"] < MOST_RMS_M
    assert "never settled" in str(verdict.missed)


@pytest.mark.parametrize(
    "torques",
    [
        [0, 0, 0, 0, 0],
        np.zeros((6, 1)),
        [np.nan] * 6,
        [0, 0, 0, 0, 0, np.inf],
        "strong",
        None,
        [[1], [2, 3]],
        [1j] * 6,
    ],
)
def test_torques_that_are_none_are_refused(arm: Arm, torques: Any) -> None:
    with pytest.raises(ValueError, match="six finite numbers"):
        arm.set_torques(torques)


def test_motors_give_no_more_than_they_can(arm: Arm) -> None:
    given = arm.set_torques([1e300, -1e6, 151, 1, -29, 0])
    assert given.tolist() == [150, -150, 150, 1, -28, 0]


def test_jacobian_is_the_derivative_of_the_fingertips(arm: Arm) -> None:
    arm.set_torques([5, -3, 4, 1, -1, 0.5])
    for _ in range(40):
        arm.step()
    joints, small = arm.get_joint_positions(), 1e-6
    differences = [
        (kinematics.forward(joints + small * axis) - kinematics.forward(joints - small * axis))
        for axis in np.eye(6)
    ]
    expected = np.array([pose[:3, 3] / (2 * small) for pose in differences]).T
    assert arm.get_jacobian() == pytest.approx(expected, abs=1e-8)


def test_gravity_torques_hold_the_arm_and_none_let_it_fall(arm: Arm) -> None:
    start = arm.get_ee_position()
    for _ in range(120):
        arm.set_torques(arm.get_gravity_torques())
        arm.step()
    assert arm.get_ee_position() == pytest.approx(start, abs=1e-4)
    arm.set_torques([0] * 6)
    for _ in range(60):
        arm.step()
    assert arm.get_ee_position()[2] < start[2] - 0.02


@pytest.mark.parametrize("seed", range(12))
def test_goal_moves_smoothly_from_the_fingertips_jumps_once_and_rests(seed: int) -> None:
    arm = Arm(seed)
    try:
        goals = np.array([arm.goal(step) for step in range(STEPS + 1)])
        assert arm.get_ee_position() == pytest.approx(goals[0], abs=1e-6)
    finally:
        arm.close()
    strides = np.linalg.norm(np.diff(goals, axis=0), axis=1)
    assert strides[JUMP_STEP - 1] == pytest.approx(JUMP_M, abs=1e-3)
    assert strides[: JUMP_STEP - 1].max() < 0.002
    assert strides[JUMP_STEP:].max() == 0
    assert sum(strides[: JUMP_STEP - 1]) > LEGS * 0.07
    for goal in goals[:: STEPS // 50]:
        assert kinematics.reaches(tuple(goal))


def test_a_simulation_that_blew_up_is_no_success(arm: Arm) -> None:
    arm.track = [[float("nan")] * 3] * (STEPS + 1)
    verdict = SHORT.judge(arm)
    assert verdict.missed is not None
    json.dumps(verdict.metrics, allow_nan=False)
