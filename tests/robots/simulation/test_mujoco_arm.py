"""The arm in MuJoCo: nothing but forces moves it, and they keep its limits."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest

from cap.errors import NotGrasped, UsageError
from robots.arm import ur5e
from robots.ravens import RavensRobot, create

pytest.importorskip("mujoco")


def tabletop() -> Any:
    from robots.simulation.mujoco_arm import MujocoArm

    return MujocoArm


@pytest.fixture
def robot() -> Iterator[RavensRobot]:
    robot = create(seed=7, engine="mujoco")
    yield robot
    robot.close()


@pytest.mark.inside
def test_joint_speed_and_torque_limits_hold(
    robot: RavensRobot, monkeypatch: pytest.MonkeyPatch
) -> None:
    speeds: list[float] = []
    strain: list[float] = []
    simulation = tabletop()
    step = simulation.step

    def watched(self: Any, *args: Any, **options: Any) -> None:
        step(self, *args, **options)
        speeds.extend(np.abs(self._data.qvel[:6]).tolist())
        strain.extend((np.abs(self._data.qfrc_applied[:6]) / ur5e.MAX_TORQUE).tolist())

    monkeypatch.setattr(simulation, "step", watched)
    robot.put_first_on_second("red block", "bottom left corner")
    robot.put_first_on_second("blue bowl", "bottom right corner")
    assert 1.0 < max(speeds) <= ur5e.MAX_SPEED
    assert max(strain) <= 1.0


@pytest.mark.inside
def test_one_finger_is_not_a_grasp(robot: RavensRobot, monkeypatch: pytest.MonkeyPatch) -> None:
    simulation = tabletop()
    touching = simulation._touching

    def blind(self: Any, body: int) -> Any:
        found = touching(self, body)
        return found[found != max(self._pads)]

    monkeypatch.setattr(simulation, "_touching", blind)
    with pytest.raises(NotGrasped):
        robot.put_first_on_second("red block", "middle")


def test_an_engine_nobody_knows_is_refused_and_the_environment_names_one(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    with pytest.raises(UsageError, match="use pybullet or mujoco"):
        create(engine="bullet")
    monkeypatch.setenv("CAP_PHYSICS", "bullet")
    with pytest.raises(UsageError, match="use pybullet or mujoco"):
        create()
