"""What `cap bench speed` measures is what it says, whatever the machine's speed."""

from __future__ import annotations

from typing import Any

import pytest

from benchmarks.performance import speed
from cap.robot import registry

pytest.importorskip("pybullet")


def test_moves_are_compared_with_the_simulation_steps_they_take() -> None:
    from robots.simulation.bullet import p

    step = p.stepSimulation
    robot: Any = registry.make_robot("ravens", mode="physics", seed=1)
    ratios = speed._by_bare_steps(robot, 2)
    robot.close()
    assert len(ratios) == 2
    assert min(ratios) > 1  # the steps are a part of the move
    assert p.stepSimulation is step
