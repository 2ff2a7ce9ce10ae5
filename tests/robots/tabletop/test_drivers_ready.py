"""What every driver of the arm must do before motion: heed the controller, grip, connect, close."""

from __future__ import annotations

import threading
from collections.abc import Callable

import pytest

from cap.errors import (
    NotConnected,
    ProtectiveStop,
    RobotError,
)
from robots.tabletop import controller as ur_controller
from robots.tabletop.controller import ControllerDriver
from tests.fakes.ur.arm import SafetyMode
from tests.fakes.ur.controller import FakeController
from tests.fakes.ur.driving import (
    ELSEWHERE,
    PATIENCE_S,
    lower,
    move_away,
    once_moving,
    sent,
    wait_for,
)

Make = Callable[..., ControllerDriver]


# What the safety controller and the pendant say.


STOPS: tuple[SafetyMode, ...] = ("protective_stop", "safeguard_stop", "emergency_stop", "fault")


def test_nothing_is_sent_to_a_stopped_arm(
    arm: ControllerDriver, controller: FakeController
) -> None:
    lower(arm)
    before = sent(controller)
    for safety in STOPS:
        controller.set_safety(safety)
        wait_for(lambda safety=safety: arm.state().safety == safety)
        for act in (move_away, lower, lambda arm: arm.gripper(0.0)):
            with pytest.raises(ProtectiveStop, match=safety.replace("_", " ")):
                act(arm)
    controller.set_safety("normal")
    controller.set_mode("idle")
    wait_for(lambda: arm.state().mode == "idle")
    with pytest.raises(NotConnected, match="power it on"):
        move_away(arm)
    assert sent(controller) == before
    assert controller.outputs == {}


@pytest.mark.inside
def test_a_protective_stop_in_a_motion_is_raised_and_never_unlocked(
    arm: ControllerDriver, controller: FakeController, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(ur_controller, "_VERDICT_S", PATIENCE_S)
    after: list[tuple[int, int]] = []

    def stop() -> None:
        controller.protective_stop()
        after.append(sent(controller))

    with once_moving(controller, stop), pytest.raises(ProtectiveStop):
        move_away(arm)
    assert [sent(controller)] == after
    assert controller.dashboard_commands
    assert not any("unlock" in command for command in controller.dashboard_commands)


def test_local_control_is_told_of_and_left_alone(
    arm: ControllerDriver, controller: FakeController
) -> None:
    before = sent(controller)
    assert before == (0, 0)  # connecting left the controller's program alone
    controller.set_remote(False)
    with pytest.raises(NotConnected, match="remote control"):
        move_away(arm)
    assert arm.state().remote is False
    assert sent(controller) == before
    controller.set_remote(True)
    lower(arm, 0.05)


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


def test_a_robotiq_that_is_not_there_is_told_of(make: Make) -> None:
    with FakeController(robotiq=False) as controller:
        arm = make(controller.host, gripper="robotiq")
        arm.connect()
        with pytest.raises(NotConnected, match="URCap"):
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


# Connecting and closing.


def test_before_it_is_connected_it_says_so(make: Make, controller: FakeController) -> None:
    arm = make(controller.host)
    acts: list[Callable[[], object]] = [
        arm.state,
        arm.tcp_pose,
        lambda: move_away(arm),
        lambda: arm.gripper(0.0),
    ]
    for act in acts:
        with pytest.raises(NotConnected, match="connect first"):
            act()


def test_closing_stops_the_arm(arm: ControllerDriver, controller: FakeController) -> None:
    failures: list[BaseException] = []

    def move() -> None:
        try:
            move_away(arm)
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
    assert controller.tcp_pose != pytest.approx(ELSEWHERE, abs=1e-2)


# By name.
