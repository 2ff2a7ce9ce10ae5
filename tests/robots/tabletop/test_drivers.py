"""What every driver of the arm must do in motion: arrive, stop, and survive a lost connection."""

from __future__ import annotations

import math
import os
import signal
from collections.abc import Callable
from typing import Any

import pytest

from cap.errors import (
    LimitExceeded,
    NotConnected,
    ProtectiveStop,
    RobotError,
    Timeout,
    Unreachable,
)
from robots.tabletop import controller as ur_controller
from robots.tabletop.driver import ArmDriver
from tests.fakes.ur.controller import FakeController
from tests.fakes.ur.driving import (
    ELSEWHERE,
    FAST,
    fresh,
    lower,
    once_moving,
    sent,
    turn_away,
    wait_for,
)

Make = Callable[..., ArmDriver]


# Moving.


def test_it_reports_the_arm_as_the_controller_has_it(
    arm: ArmDriver, controller: FakeController
) -> None:
    state = arm.state()
    assert state.tcp_pose == pytest.approx(controller.tcp_pose)
    assert state.joints == pytest.approx(controller.joints)
    assert (state.mode, state.safety, state.remote, state.moving) == (
        "running",
        "normal",
        True,
        False,
    )
    assert 0.0 <= state.age_s <= 0.5
    assert arm.tcp_pose() == pytest.approx(state.tcp_pose)


def test_one_session_at_a_time_has_the_arm(
    arm: ArmDriver, make: Make, controller: FakeController
) -> None:
    other = make(controller.host)
    with pytest.raises(NotConnected, match=f"has the arm at {controller.host}: end that one"):
        other.connect()
    arm.move_joints(ELSEWHERE, speed_radps=0.5, acceleration_radps2=1.0)
    arm.close()
    other.connect()
    assert other.state().mode == "running"


def test_motions_arrive_one_after_another_at_their_speeds(
    arm: ArmDriver, controller: FakeController
) -> None:
    home = arm.state().joints
    x, y, z, *turn = arm.tcp_pose()
    goal = (x + 0.05, y, z - 0.1, *turn)
    on_the_spot = (*goal[:3], 3.0, 0.5, 0.0)
    for pose in (goal, goal, on_the_spot):
        arm.move_linear(pose, speed_mps=0.1, acceleration_mps2=0.3)
        assert controller.tcp_pose == pytest.approx(pose, abs=1e-2)
        assert controller.tcp_pose[:3] == pytest.approx(goal[:3], abs=1e-3)
        assert arm.state().joints == pytest.approx(controller.joints, abs=1e-3)
    for joints in (ELSEWHERE, home):
        arm.move_joints(joints, speed_radps=0.00625, acceleration_radps2=1.25)
        assert controller.joints == pytest.approx(joints, abs=1e-2)
        assert not controller.moving
    line, bend = controller.moves[0], controller.moves[-2]
    assert (line.kind, line.speed, line.acceleration) == ("movel", 0.1, 0.3)
    assert line.target == pytest.approx(goal, abs=1e-5)
    assert (bend.kind, bend.speed, bend.acceleration) == ("movej", 0.00625, 1.25)
    assert bend.target == pytest.approx(ELSEWHERE, abs=1e-6)


def test_joints_that_come_late_are_waited_for(arm: ArmDriver, controller: FakeController) -> None:
    controller.delay_joints(packages=25)
    controller.time_factor = 3.0
    turn_away(arm)
    assert arm.state().joints == pytest.approx(controller.joints, abs=1e-6)


def test_states_may_come_as_seldom_as_from_a_real_controller(make: Make) -> None:
    with FakeController(time_factor=FAST, rate_hz=10.0) as controller:
        arm = make(controller.host)
        arm.connect()
        lower(arm)
        assert controller.tcp_pose == pytest.approx(arm.tcp_pose(), abs=1e-3)


def test_a_motion_that_is_none_is_not_sent(arm: ArmDriver, controller: FakeController) -> None:
    for speed, acceleration, z in (
        (0.0, 0.3, 0.3),
        (0.1, 0.0, 0.3),
        (math.inf, 0.3, 0.3),
        (0.1, 0.3, math.nan),
    ):
        with pytest.raises(LimitExceeded, match="above 0"):
            arm.move_linear(
                (-0.5, -0.1, z, 3.14, 0.0, 0.0), speed_mps=speed, acceleration_mps2=acceleration
            )
    assert controller.moves == []


def test_a_target_out_of_reach_is_refused_or_stops_the_arm(
    arm: ArmDriver, controller: FakeController
) -> None:
    before = controller.tcp_pose
    with pytest.raises((ProtectiveStop, Unreachable)):
        arm.move_linear((3.0, 0.0, 0.3, 3.14, 0.0, 0.0), speed_mps=0.1, acceleration_mps2=0.3)
    assert controller.tcp_pose == pytest.approx(before)


# Stopping.


def test_a_stop_while_a_motion_is_prepared_keeps_it_from_being_sent(
    arm: Any, controller: FakeController, monkeypatch: pytest.MonkeyPatch
) -> None:
    prepare = arm.prepare

    def stop_meanwhile() -> None:
        prepare()
        arm.stop()

    monkeypatch.setattr(arm, "prepare", stop_meanwhile)
    with pytest.raises(RobotError, match="was stopped"):
        turn_away(arm)
    assert controller.moves == []


def test_after_a_stop_it_moves_again_once_that_is_cleared(
    arm: ArmDriver, controller: FakeController
) -> None:
    start = controller.joints
    with (
        once_moving(controller, arm.stop),
        pytest.raises(RobotError, match="was stopped") as caught,
    ):
        turn_away(arm)
    assert type(caught.value) is RobotError
    assert math.dist(start, controller.joints) > 0.001
    assert controller.joints != pytest.approx(ELSEWHERE, abs=1e-2)
    with pytest.raises(RobotError, match="was stopped"):
        turn_away(arm)
    wait_for(lambda: not controller.moving)
    controller.hold_motions(None)
    arm.clear_stop()
    turn_away(arm)
    assert controller.joints == pytest.approx(ELSEWHERE, abs=1e-2)


def test_stop_at_rest_does_no_harm(arm: ArmDriver, controller: FakeController) -> None:
    arm.stop()
    arm.stop()
    arm.clear_stop()
    lower(arm)
    assert len(controller.moves) == 1


@pytest.mark.inside
def test_a_motion_that_could_not_be_stopped_is_stopped_later(
    arm: ArmDriver, controller: FakeController, monkeypatch: pytest.MonkeyPatch
) -> None:
    def gone(host: str) -> None:
        raise ConnectionRefusedError("gone for a moment")

    with monkeypatch.context() as patch:
        patch.setattr(ur_controller, "brake", gone)
        with once_moving(controller, controller.drop_connection), pytest.raises(NotConnected):
            turn_away(arm)
        with pytest.raises(NotConnected):
            arm.stop()
    arm.clear_stop()
    wait_for(lambda: not controller.moving)
    assert controller.joints != pytest.approx(ELSEWHERE, abs=1e-2)


def test_ctrl_c_stops_the_arm(arm: ArmDriver, controller: FakeController) -> None:
    def interrupt() -> None:
        os.kill(os.getpid(), signal.SIGINT)

    with once_moving(controller, interrupt), pytest.raises(KeyboardInterrupt):
        turn_away(arm)
    wait_for(lambda: not controller.moving)
    assert controller.joints != pytest.approx(ELSEWHERE, abs=1e-2)
    controller.hold_motions(None)
    turn_away(arm)
    assert controller.joints == pytest.approx(ELSEWHERE, abs=1e-2)


def test_a_slow_arm_is_stopped_at_the_drivers_deadline(
    make: Make, controller: FakeController
) -> None:
    arm = make(controller.host, slack_s=0.2)
    arm.connect()
    controller.time_factor = 0.01
    with pytest.raises(Timeout, match="short of its target"):
        lower(arm, 0.02, speed_mps=1.0, acceleration_mps2=10.0)
    wait_for(lambda: not controller.moving)


# Losing the connection.


def test_a_connection_dropped_in_a_motion_stops_the_arm(
    arm: ArmDriver, controller: FakeController
) -> None:
    with once_moving(controller, controller.drop_connection), pytest.raises(NotConnected):
        turn_away(arm)
    wait_for(lambda: not controller.moving)
    assert controller.joints != pytest.approx(ELSEWHERE, abs=1e-2)


def test_a_controller_gone_for_good_does_not_hang(
    arm: ArmDriver, controller: FakeController
) -> None:
    with once_moving(controller, controller.stop_listening), pytest.raises(NotConnected):
        turn_away(arm)
    with pytest.raises(NotConnected):
        arm.stop()


@pytest.mark.inside
def test_old_states_are_no_states_and_nothing_is_sent_on_them(
    arm: ArmDriver, controller: FakeController, monkeypatch: pytest.MonkeyPatch
) -> None:
    lower(arm)
    before = sent(controller)
    monkeypatch.setattr(ur_controller, "_FRESH_S", 0.5)
    controller.freeze_packets()
    wait_for(lambda: not fresh(arm))
    with pytest.raises(NotConnected, match="said nothing"):
        turn_away(arm)
    with pytest.raises(NotConnected, match="said nothing"):
        arm.gripper(0.0)
    assert sent(controller) == before
    assert not controller.gripper_closed
    controller.freeze_packets(False)
    wait_for(lambda: fresh(arm))
    lower(arm, -0.1)


@pytest.mark.inside
def test_states_that_cease_in_a_motion_stop_the_arm(
    arm: ArmDriver, controller: FakeController, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("robots.tabletop.rtde.driver._STOP_S", 0.5)

    def freeze() -> None:
        controller.freeze_packets()
        monkeypatch.setattr(ur_controller, "_FRESH_S", 0.5)

    with once_moving(controller, freeze), pytest.raises(NotConnected):
        turn_away(arm)
    wait_for(lambda: not controller.moving)
    assert controller.joints != pytest.approx(ELSEWHERE, abs=1e-2)
