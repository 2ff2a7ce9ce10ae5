"""What every driver of the arm must do in motion: arrive, stop, and survive a lost connection."""

from __future__ import annotations

import math
import os
import signal
from collections.abc import Callable

import pytest

from cap.errors import (
    LimitExceeded,
    NotConnected,
    ProtectiveStop,
    RobotError,
    Timeout,
    Unreachable,
)
from robots.tabletop import arm_state
from robots.tabletop.controller import ControllerDriver
from tests.fakes.ur.controller import FakeController
from tests.fakes.ur.driving import (
    ELSEWHERE,
    fresh,
    lower,
    move_away,
    once_moving,
    sent,
    wait_for,
)

Make = Callable[..., ControllerDriver]


# Moving.


def test_one_session_at_a_time_has_the_arm(
    arm: ControllerDriver, make: Make, controller: FakeController
) -> None:
    other = make(controller.host)
    with pytest.raises(NotConnected, match=f"has the arm at {controller.host}: end that one"):
        other.connect()
    move_away(arm)
    arm.close()
    other.connect()
    assert other.state().mode == "running"


def test_motions_arrive_one_after_another_at_their_speeds(
    arm: ControllerDriver, controller: FakeController
) -> None:
    x, y, z, *turn = arm.tcp_pose()
    goal = (x + 0.05, y, z - 0.1, *turn)
    on_the_spot = (*goal[:3], 3.0, 0.5, 0.0)
    for pose in (goal, goal, on_the_spot):
        arm.move_linear(pose, speed_mps=0.1, acceleration_mps2=0.3)
        assert controller.tcp_pose == pytest.approx(pose, abs=1e-2)
        assert arm.state().joints == pytest.approx(controller.joints, abs=1e-3)
    lower(arm, speed_mps=0.00625, acceleration_mps2=1.25)
    assert not controller.moving
    first, last = controller.moves[0], controller.moves[-1]
    assert (first.kind, first.speed, first.acceleration) == ("movel", 0.1, 0.3)
    assert (last.kind, last.speed, last.acceleration) == ("movel", 0.00625, 1.25)


def test_a_motion_that_is_none_is_not_sent(
    arm: ControllerDriver, controller: FakeController
) -> None:
    for speed, acceleration in ((0.0, 0.3), (0.1, 0.0), (math.inf, 0.3)):
        with pytest.raises(LimitExceeded, match="above 0"):
            lower(arm, speed_mps=speed, acceleration_mps2=acceleration)
    assert controller.moves == []


def test_a_target_out_of_reach_is_refused_or_stops_the_arm(
    arm: ControllerDriver, controller: FakeController
) -> None:
    before = controller.tcp_pose
    with pytest.raises((ProtectiveStop, Unreachable)):
        arm.move_linear((3.0, 0.0, 0.3, 3.14, 0.0, 0.0), speed_mps=0.1, acceleration_mps2=0.3)
    assert controller.tcp_pose == pytest.approx(before)


# Stopping.


def test_after_a_stop_it_moves_again_once_that_is_cleared(
    arm: ControllerDriver, controller: FakeController
) -> None:
    with once_moving(controller, arm.stop), pytest.raises(RobotError, match="was stopped"):
        move_away(arm)
    assert controller.tcp_pose != pytest.approx(ELSEWHERE, abs=1e-2)
    with pytest.raises(RobotError, match="was stopped"):
        move_away(arm)
    wait_for(lambda: not controller.moving)
    controller.hold_motions(None)
    arm.clear_stop()
    move_away(arm)
    assert controller.tcp_pose == pytest.approx(ELSEWHERE, abs=1e-2)


def test_ctrl_c_stops_the_arm(arm: ControllerDriver, controller: FakeController) -> None:
    def interrupt() -> None:
        os.kill(os.getpid(), signal.SIGINT)

    with once_moving(controller, interrupt), pytest.raises(KeyboardInterrupt):
        move_away(arm)
    wait_for(lambda: not controller.moving)
    assert controller.tcp_pose != pytest.approx(ELSEWHERE, abs=1e-2)


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


@pytest.mark.parametrize("lost", ["drop_connection", "stop_listening"])
def test_a_connection_lost_in_a_motion_is_told_and_hangs_nothing(
    arm: ControllerDriver, controller: FakeController, lost: str
) -> None:
    with once_moving(controller, getattr(controller, lost)), pytest.raises(NotConnected):
        move_away(arm)
    if lost == "stop_listening":  # gone for good
        with pytest.raises(NotConnected):
            arm.stop()
    else:
        wait_for(lambda: not controller.moving)
        assert controller.tcp_pose != pytest.approx(ELSEWHERE, abs=1e-2)


@pytest.mark.inside
def test_old_states_are_no_states_and_nothing_is_sent_on_them(
    arm: ControllerDriver, controller: FakeController, monkeypatch: pytest.MonkeyPatch
) -> None:
    lower(arm)
    before = sent(controller)
    monkeypatch.setattr(arm_state, "STALE_S", 0.5)
    controller.freeze_packets()
    wait_for(lambda: not fresh(arm))
    with pytest.raises(NotConnected, match="said nothing"):
        move_away(arm)
    with pytest.raises(NotConnected, match="said nothing"):
        arm.gripper(0.0)
    assert sent(controller) == before
    assert not controller.gripper_closed


@pytest.mark.inside
def test_states_that_cease_in_a_motion_stop_the_arm(
    arm: ControllerDriver, controller: FakeController, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("robots.tabletop.rtde.driver._STOP_S", 0.5)

    def freeze() -> None:
        controller.freeze_packets()
        monkeypatch.setattr(arm_state, "STALE_S", 0.5)

    with once_moving(controller, freeze), pytest.raises(NotConnected):
        move_away(arm)
    wait_for(lambda: not controller.moving)
    assert controller.tcp_pose != pytest.approx(ELSEWHERE, abs=1e-2)
