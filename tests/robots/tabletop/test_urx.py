"""What only the driver on `urx` must do: the packets, and the library's known faults."""

from __future__ import annotations

import pytest

from cap.errors import RobotError
from robots.tabletop import controller as ur_controller
from robots.tabletop.urx.driver import UrxDriver
from tests.fakes.ur.controller import FakeController


@pytest.mark.inside
def test_a_motion_the_controller_ignores_fails(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(ur_controller, "_START_S", 1.0)
    with FakeController() as controller:
        controller.ignore_scripts()
        arm = UrxDriver(controller.host)
        arm.connect()
        x, y, z, *turn = arm.tcp_pose()
        with pytest.raises(RobotError, match="did not start"):
            arm.move_linear((x, y, z - 0.1, *turn), speed_mps=0.1, acceleration_mps2=0.3)
        arm.close()
