"""The guarded arm: nothing is sent past a limit or a bad state, and every failure stops the arm."""

from __future__ import annotations

import dataclasses
from typing import Any

import pytest

from cap.errors import CapError, LimitExceeded, NotConnected, ProtectiveStop, Timeout
from robots.tabletop import arm_state
from robots.tabletop.dry_run import DryDriver
from robots.tabletop.limits import MotionLimits, straight_down
from robots.tabletop.safety_guard import GuardedArm
from robots.tabletop.waypoints import Waypoint

THERE = straight_down(0.1, -0.5, 0.2, 0.0)


@pytest.fixture
def driver() -> DryDriver:
    return DryDriver("urx")


def guarded(driver: DryDriver, **limits: Any) -> GuardedArm:
    return GuardedArm(driver, MotionLimits(**limits))


def set_state(driver: DryDriver, **changes: Any) -> None:
    driver._state = dataclasses.replace(driver._state, **changes)


@pytest.mark.parametrize(
    ("asked", "sent"), [(None, "v=0.100"), (100.0, "v=0.100"), (0.02, "v=0.020")]
)
def test_a_higher_speed_is_lowered_and_a_lower_one_kept(
    driver: DryDriver, asked: float | None, sent: str
) -> None:
    guarded(driver).path([Waypoint(THERE, asked)])
    pose = "0.10000, -0.50000, 0.20000, 3.14159, 0.00000, 0.00000"
    assert driver.commands == [f"movel(p[{pose}], a=0.300, {sent})"]


def test_the_table_may_stand_lower_than_the_base(driver: DryDriver) -> None:
    driver = DryDriver("urx", table_z_m=-0.2)
    arm = GuardedArm(driver, MotionLimits(), table_z_m=-0.2)
    arm.connect()
    arm.path([Waypoint(THERE)])
    assert "p[0.10000, -0.50000, 0.00000," in driver.commands[0]
    assert arm.pose()[:3] == pytest.approx((0.1, -0.5, 0.2))


def test_a_path_with_one_bad_point_is_not_begun(driver: DryDriver) -> None:
    with pytest.raises(LimitExceeded):
        guarded(driver).path([Waypoint(THERE), Waypoint(straight_down(5.0, 0.0, 0.0, 0.0))])
    assert driver.stopped
    assert driver.commands == []


@pytest.mark.inside
@pytest.mark.parametrize(
    ("changes", "error", "message"),
    [
        ({"safety": "protective_stop"}, ProtectiveStop, "release it on the pendant"),
        ({"safety": "emergency_stop"}, ProtectiveStop, "emergency stop"),
        ({"mode": "idle"}, NotConnected, "power it on"),
        ({"remote": False}, NotConnected, "pendant has control"),
        ({"age_s": 2.0}, NotConnected, "2.0 s old"),
    ],
)
def test_a_controller_that_is_not_ready_is_sent_nothing(
    driver: DryDriver,
    changes: dict,
    error: type[CapError],
    message: str,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(arm_state, "STALE_S", 0.5)
    set_state(driver, **changes)
    arm = guarded(driver)
    for act in (arm.connect, lambda: arm.path([Waypoint(THERE)]), lambda: arm.gripper(0.0)):
        with pytest.raises(error, match=message):
            act()
    assert driver.commands == []


def test_an_arm_outside_its_box_may_not_start(driver: DryDriver) -> None:
    set_state(driver, tcp_pose=straight_down(0.0, 0.5, 0.3, 0.0))
    with pytest.raises(LimitExceeded, match="jog it over the table"):
        guarded(driver).connect()


@pytest.mark.parametrize("error", [Timeout("late"), KeyboardInterrupt(), ValueError("odd")])
def test_every_failure_stops_the_arm(driver: DryDriver, error: BaseException) -> None:
    def fails(*_: Any, **__: Any) -> None:
        raise error

    driver.move_linear = fails  # type: ignore[method-assign]
    with pytest.raises(type(error)):
        guarded(driver).path([Waypoint(THERE)])
    assert driver.stopped
    assert driver.commands == []
