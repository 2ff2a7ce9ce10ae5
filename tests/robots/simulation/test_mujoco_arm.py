"""The arm in MuJoCo: nothing but forces moves it, and they keep its limits."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from cap.errors import NotGrasped, UsageError
from robots import drawing, kitchen
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
def test_an_object_is_held_only_once_both_fingers_press(
    robot: RavensRobot, monkeypatch: pytest.MonkeyPatch
) -> None:
    held: list[tuple[bool, int]] = []
    simulation = tabletop()
    fix = simulation.fix

    def watched(self: Any, body: int, link: int = -1) -> None:
        before = int(self._data.eq_active.sum())
        held.append((self._both_press(body, link), before))
        fix(self, body, link)

    monkeypatch.setattr(simulation, "fix", watched)
    robot.put_first_on_second("red block", "blue bowl")
    robot.put_first_on_second("blue bowl", "middle")
    assert held == [(True, 0), (True, 0)]


@pytest.mark.inside
def test_one_finger_is_not_a_grasp(robot: RavensRobot, monkeypatch: pytest.MonkeyPatch) -> None:
    simulation = tabletop()
    touching = simulation._touching

    def blind(self: Any, body: int) -> Any:
        found = touching(self, body)
        return found[found != max(self._world.fingers)]

    monkeypatch.setattr(simulation, "_touching", blind)
    with pytest.raises(NotGrasped):
        robot.put_first_on_second("red block", "middle")


def test_a_drawn_circle_is_where_it_should_be() -> None:
    robot = drawing.create(seed=1, engine="mujoco")
    turns = np.linspace(0.0, 2 * np.pi, 60)
    robot.draw(np.column_stack([0.05 * np.cos(turns), 0.05 * np.sin(turns) - 0.45]))
    (stroke,) = robot.state.strokes
    radii = np.hypot(*(np.array(stroke) - [0.0, -0.45]).T)
    assert np.abs(radii - 0.05).max() < 5e-4
    robot.close()


def test_a_drawer_is_opened_filled_and_shut() -> None:
    robot = kitchen.create(seed=2, objects=["apple"], engine="mujoco")
    robot.goto_loc("top drawer")
    robot.open_drawer("top drawer")
    robot.goto_loc("table")
    robot.pick_obj("apple")
    robot.goto_loc("top drawer")
    robot.place_at_obj("top drawer")
    robot.close_drawer("top drawer")
    assert robot.state.location_of("apple") == "top drawer"
    assert robot.state.opening_m("top drawer") < 0.01
    robot.close()


def test_nothing_is_printed_or_left_in_the_current_folder(tmp_path: Path) -> None:
    code = (
        "from robots.ravens import create\nrobot = create(seed=1, engine='mujoco')\n"
        "robot.put_first_on_second('red block', 'blue bowl')\nrobot.render(64, 64)"
    )
    root = Path(__file__).resolve().parents[3]
    folder = tmp_path / "here"
    folder.mkdir()
    ran = subprocess.run(
        [sys.executable, "-c", code],
        cwd=folder,
        env={**os.environ, "PYTHONPATH": str(root)},
        capture_output=True,
        text=True,
        check=True,
    )
    assert (ran.stdout, ran.stderr, [*folder.iterdir()]) == ("", "", [])


def test_an_engine_nobody_knows_is_refused_and_the_environment_names_one(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    with pytest.raises(UsageError, match="use pybullet or mujoco"):
        create(engine="bullet")
    monkeypatch.setenv("CAP_PHYSICS", "bullet")
    with pytest.raises(UsageError, match="use pybullet or mujoco"):
        create()
