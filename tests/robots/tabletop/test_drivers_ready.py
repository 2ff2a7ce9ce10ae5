"""What every driver of the arm must do before motion: heed the controller, grip, connect, close."""

from __future__ import annotations

import threading
from collections.abc import Callable
from typing import Any

import pytest

from cap.errors import (
    NotConnected,
    ProtectiveStop,
    RobotError,
    UsageError,
)
from robots.tabletop import arm_driver, trajectory
from robots.tabletop.driver import ArmDriver
from robots.tabletop.rtde import driver as rtde_driver
from robots.tabletop.urx import driver as urx_driver
from tests.fakes.ur.arm import SafetyMode
from tests.fakes.ur.controller import FakeController, fresh_host
from tests.fakes.ur.driving import (
    ELSEWHERE,
    PATIENCE_S,
    fresh,
    lower,
    once_moving,
    sent,
    strangers,
    turn_away,
    wait_for,
)

Make = Callable[..., ArmDriver]


# What the safety controller and the pendant say.


STOPS: tuple[SafetyMode, ...] = ("protective_stop", "safeguard_stop", "emergency_stop", "fault")


def test_nothing_is_sent_to_a_stopped_arm(arm: ArmDriver, controller: FakeController) -> None:
    lower(arm)
    before = sent(controller)
    for safety in STOPS:
        controller.set_safety(safety)
        wait_for(lambda safety=safety: arm.state().safety == safety)
        for act in (turn_away, lower, lambda arm: arm.gripper(0.0)):
            with pytest.raises(ProtectiveStop, match=safety.replace("_", " ")):
                act(arm)
        arm.stop()
        arm.clear_stop()
    assert sent(controller) == before
    assert controller.outputs == {}
    controller.set_safety("reduced")
    wait_for(lambda: arm.state().safety == "reduced")
    lower(arm, -0.1)


@pytest.mark.inside
def test_a_protective_stop_in_a_motion_is_raised_and_never_unlocked(
    arm: ArmDriver, controller: FakeController, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(trajectory, "_VERDICT_S", PATIENCE_S)
    after: list[tuple[int, int]] = []

    def stop() -> None:
        controller.protective_stop()
        after.append(sent(controller))

    with once_moving(controller, stop), pytest.raises(ProtectiveStop):
        turn_away(arm)
    assert [sent(controller)] == after
    controller.set_safety("normal")  # as a person does on the pendant
    controller.hold_motions(None)
    wait_for(lambda: arm.state().safety == "normal")
    turn_away(arm)
    assert controller.joints == pytest.approx(ELSEWHERE, abs=1e-2)
    assert controller.dashboard_commands
    assert not any("unlock" in command for command in controller.dashboard_commands)


@pytest.mark.parametrize("mode", ["power_off", "idle"])
def test_an_arm_without_power_is_told_of_and_left_alone(
    arm: ArmDriver, controller: FakeController, mode: Any
) -> None:
    before = sent(controller)
    controller.set_mode(mode)
    wait_for(lambda: arm.state().mode == mode)
    with pytest.raises(NotConnected, match="power it on"):
        turn_away(arm)
    assert sent(controller) == before


def test_local_control_is_told_of_and_left_alone(
    arm: ArmDriver, controller: FakeController
) -> None:
    before = sent(controller)
    assert before == (0, 0)  # connecting left the controller's program alone
    controller.set_remote(False)
    with pytest.raises(NotConnected, match="remote control"):
        turn_away(arm)
    assert arm.state().remote is False
    assert sent(controller) == before
    for remote in (True, None):  # older software has no remote control
        controller.set_remote(remote)
        lower(arm, 0.05)
    assert arm.state().remote is None


# The gripper.


@pytest.mark.parametrize(
    ("gripper", "output"), [("tool_io", ("tool", 0)), ("standard_io:3", ("standard", 3))]
)
def test_a_gripper_on_an_output(
    make: Make, controller: FakeController, gripper: str, output: tuple[str, int]
) -> None:
    arm = make(controller.host, gripper=gripper)
    arm.connect()
    assert arm.holding() is False
    for gap_m, is_on, holding in ((0.0, True, None), (0.085, False, False)):
        assert arm.gripper(gap_m) is None
        wait_for(lambda is_on=is_on: controller.outputs == {output: is_on})
        wait_for(lambda holding=holding: arm.holding() is holding)


@pytest.mark.parametrize("holds", [True, False])
def test_a_robotiq_tells_what_it_holds(make: Make, controller: FakeController, holds: bool) -> None:
    controller.holds = holds
    arm = make(controller.host, gripper="robotiq")
    arm.connect()
    assert arm.gripper(0.0) is holds
    assert controller.gripper_closed
    assert arm.gripper(0.085) is False
    assert not controller.gripper_closed


def test_a_robotiq_that_is_not_there_is_told_of(make: Make) -> None:
    with FakeController(robotiq=False) as controller:
        arm = make(controller.host, gripper="robotiq")
        arm.connect()
        with pytest.raises(NotConnected, match="URCap"):
            arm.gripper(0.0)


def test_no_gripper_is_told_of(make: Make, controller: FakeController) -> None:
    arm = make(controller.host, gripper="none")
    arm.connect()
    with pytest.raises(RobotError, match="no gripper"):
        arm.gripper(0.0)


def test_stop_ends_the_wait_for_a_gripper(make: Make, controller: FakeController) -> None:
    arm = make(controller.host, gripper_wait_s=60.0)
    arm.connect()

    def stop() -> None:
        wait_for(lambda: controller.gripper_closed)
        arm.stop()

    thread = threading.Thread(target=stop)
    thread.start()
    with pytest.raises(RobotError, match="was stopped"):
        arm.gripper(0.0)
    thread.join()


@pytest.mark.parametrize("choice", ["hand", "tool_io:2"])
def test_a_gripper_that_does_not_exist(make: Make, choice: str) -> None:
    with pytest.raises(UsageError, match="no gripper"):
        make("127.0.0.1", gripper=choice)


# Connecting and closing.


def test_before_it_is_connected_it_says_so(make: Make, controller: FakeController) -> None:
    arm = make(controller.host)
    acts: list[Callable[[], object]] = [
        arm.state,
        arm.tcp_pose,
        lambda: turn_away(arm),
        lambda: arm.gripper(0.0),
    ]
    for act in acts:
        with pytest.raises(NotConnected, match="connect first"):
            act()


def test_closing_twice_does_no_harm(arm: ArmDriver) -> None:
    arm.close()
    arm.close()
    with pytest.raises(NotConnected, match="connect first"):
        arm.state()


def test_closing_stops_the_arm(arm: ArmDriver, controller: FakeController) -> None:
    failures: list[BaseException] = []

    def move() -> None:
        try:
            turn_away(arm)
        except RobotError as error:
            failures.append(error)

    controller.hold_motions(0.5)
    thread = threading.Thread(target=move)
    thread.start()
    wait_for(lambda: controller.moving)
    arm.close()
    thread.join()
    wait_for(lambda: not controller.moving)
    assert len(failures) == 1
    assert controller.joints != pytest.approx(ELSEWHERE, abs=1e-2)


def test_nothing_listens_there(make: Make) -> None:
    host = fresh_host()
    with pytest.raises(NotConnected, match=host):
        make(host).connect()


@pytest.mark.inside
@pytest.mark.sweep(share=0.34)
@pytest.mark.parametrize("says", [b"", b"HTTP/1.1 400 Bad Request\r\n\r\n" * 9, bytes(999)])
def test_what_is_no_controller_is_told_of(
    make: Make, monkeypatch: pytest.MonkeyPatch, says: bytes
) -> None:
    monkeypatch.setattr(rtde_driver, "_START_S", 0.3)
    monkeypatch.setattr(urx_driver, "_FIRST_STATE_S", 0.3)
    with strangers(says) as host, pytest.raises(NotConnected, match=host):
        make(host).connect()


def test_the_library_says_nothing_by_itself(
    arm: ArmDriver, controller: FakeController, capfd: pytest.CaptureFixture[str]
) -> None:
    controller.protective_stop()
    wait_for(lambda: arm.state().safety == "protective_stop")
    controller.drop_connection()
    wait_for(lambda: not fresh(arm))
    arm.close()
    assert capfd.readouterr() == ("", "")


# By name.


def test_drivers_by_name(kind: str, controller: FakeController) -> None:
    arm = arm_driver(kind, controller.host, gripper="robotiq")
    assert arm.name == kind
    arm.connect()
    assert arm.gripper(0.0) is False
    arm.close()
