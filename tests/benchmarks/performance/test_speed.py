"""What `cap bench speed` measures is what it says, whatever the machine's speed."""

from __future__ import annotations

from typing import Any

import pytest

from benchmarks.performance import speed
from cap.robot import registry

pytest.importorskip("pybullet")


@pytest.mark.inside
def test_the_calls_of_a_move_alone_end_where_the_move_ended() -> None:
    from robots.simulation.bullet import p

    step = p.stepSimulation
    robot: Any = registry.make_robot("ravens", mode="physics", seed=1, engine="pybullet")
    ids, client = robot._world._simulation.ids.objects, robot._world._engine._client

    def places() -> list[Any]:
        return [p.getBasePositionAndOrientation(number, client) for number in ids.values()]

    calls = speed.recorded_calls(lambda: robot.put_first_on_second("red block", "blue bowl"))
    moved = places()
    robot.reset(1)
    begun = places()
    speed.replay(calls)
    assert places() == moved != begun
    assert p.stepSimulation is step
    robot.reset(1)
    assert speed.replay(calls, step) > 0
    robot.close()
