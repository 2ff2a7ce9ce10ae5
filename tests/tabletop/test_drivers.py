"""What every driver of the arm must do, against the simulated controller."""

from __future__ import annotations

import contextlib
import math
import os
import signal
import socket
import threading
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from cap.errors import (
    LimitExceeded,
    NotConnected,
    ProtectiveStop,
    RobotError,
    Timeout,
    Unreachable,
    UsageError,
)
from robots.tabletop import rtde_driver, urx_driver
from robots.tabletop.driver import ArmDriver, arm_driver
from robots.tabletop.rtde_driver import RtdeDriver
from robots.tabletop.urx_driver import UrxDriver
from tests.fakes.ur_arm import SafetyMode
from tests.fakes.ur_controller import SECONDARY_PORT, FakeController, fresh_host

DRIVERS = {"urx": UrxDriver, "ur_rtde": RtdeDriver}
FAST, SLOW = 25.0, 0.3
ELSEWHERE = (0.4, -1.4, 1.5, -1.6, -1.5, 0.3)

Make = Callable[..., ArmDriver]


@pytest.fixture(params=DRIVERS)
def kind(request: pytest.FixtureRequest) -> str:
    return str(request.param)


@pytest.fixture
def controller() -> Iterator[FakeController]:
    with FakeController(speed_scale=FAST) as started:
        yield started


@pytest.fixture
def make(kind: str) -> Iterator[Make]:
    """Make drivers; nothing of them may be left when they are closed."""
    threads = set(threading.enumerate())
    made: list[ArmDriver] = []

    def driver(host: str, **options: Any) -> ArmDriver:
        options = {"slack_s": 1.0, "gripper_wait_s": 0.02} | options
        made.append(DRIVERS[kind](host, **options))
        return made[-1]

    yield driver
    for each in made:
        each.close()
    assert {t.name for t in set(threading.enumerate()) - threads} <= {"fake-controller"}
    assert children() == []


@pytest.fixture
def arm(make: Make, controller: FakeController) -> ArmDriver:
    driver = make(controller.host)
    driver.connect()
    return driver


def children() -> list[str]:
    """Return the processes that run the library, by command line."""
    lines = []
    for task in Path("/proc/self/task").iterdir():
        # Threads and processes may end meanwhile.
        with contextlib.suppress(OSError):
            for pid in (task / "children").read_text().split():
                lines.append(Path(f"/proc/{pid}/cmdline").read_text())
    return [line for line in lines if "rtde_child" in line]


def lower(arm: ArmDriver, by_m: float = 0.1, **how: float) -> None:
    """Move straight down."""
    x, y, z, *turn = arm.tcp_pose()
    how = {"speed_mps": 0.1, "acceleration_mps2": 0.3} | how
    arm.move_linear((x, y, z - by_m, *turn), **how)  # type: ignore[arg-type]


def turn_away(arm: ArmDriver) -> None:
    arm.move_joints(ELSEWHERE, speed_radps=0.5, acceleration_radps2=1.0)


def wait_for(what: Callable[[], bool]) -> None:
    deadline = time.monotonic() + 10.0
    while not what():
        assert time.monotonic() < deadline, "it never came"
        time.sleep(0.005)


@contextlib.contextmanager
def once_moving(controller: FakeController, do: Callable[[], object]) -> Iterator[None]:
    """Do something from another thread as soon as the arm moves, slowly."""
    controller.speed_scale = SLOW
    start = controller.joints

    def run() -> None:
        wait_for(lambda: math.dist(start, controller.joints) > 0.001)
        do()

    thread = threading.Thread(target=run)
    thread.start()
    yield
    thread.join()


def sent(controller: FakeController) -> tuple[int, int]:
    """Return how many programs and motions the controller was sent."""
    return len(controller.programs), len(controller.moves)


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


def test_a_straight_motion_arrives_at_its_speed(arm: ArmDriver, controller: FakeController) -> None:
    x, y, z, *turn = arm.tcp_pose()
    goal = (x + 0.05, y, z - 0.1, *turn)
    arm.move_linear(goal, speed_mps=0.1, acceleration_mps2=0.3)
    assert controller.tcp_pose == pytest.approx(goal, abs=1e-3)
    assert not controller.moving
    (move,) = controller.moves
    assert (move.kind, move.speed, move.acceleration) == ("movel", 0.1, 0.3)
    assert move.target == pytest.approx(goal, abs=1e-5)


def test_a_joint_motion_arrives_at_its_speed(arm: ArmDriver, controller: FakeController) -> None:
    arm.move_joints(ELSEWHERE, speed_radps=0.5, acceleration_radps2=1.0)
    assert controller.joints == pytest.approx(ELSEWHERE, abs=1e-2)
    assert not controller.moving
    (move,) = controller.moves
    assert (move.kind, move.speed, move.acceleration) == ("movej", 0.5, 1.0)


def test_a_turn_on_the_spot_arrives(arm: ArmDriver, controller: FakeController) -> None:
    x, y, z, *_ = arm.tcp_pose()
    goal = (x, y, z, 3.0, 0.5, 0.0)
    arm.move_linear(goal, speed_mps=0.1, acceleration_mps2=0.3)
    assert arm.state().joints == pytest.approx(controller.joints, abs=1e-3)
    assert controller.tcp_pose == pytest.approx(goal, abs=1e-2)


def test_motions_follow_one_another(arm: ArmDriver, controller: FakeController) -> None:
    home = arm.state().joints
    lower(arm)
    turn_away(arm)
    arm.move_joints(home, speed_radps=0.5, acceleration_radps2=1.0)
    assert [move.kind for move in controller.moves] == ["movel", "movej", "movej"]
    assert controller.joints == pytest.approx(home, abs=1e-2)


def test_moving_to_where_it_is_returns(arm: ArmDriver, controller: FakeController) -> None:
    before = controller.tcp_pose
    lower(arm, 0.0)
    assert controller.tcp_pose == pytest.approx(before, abs=1e-6)


def test_states_may_come_as_seldom_as_from_a_real_controller(make: Make) -> None:
    with FakeController(speed_scale=FAST, rate_hz=10.0) as controller:
        arm = make(controller.host)
        arm.connect()
        lower(arm)
        assert controller.tcp_pose == pytest.approx(arm.tcp_pose(), abs=1e-3)


def test_a_motion_that_is_none_is_not_sent(arm: ArmDriver, controller: FakeController) -> None:
    nowhere = float("nan")
    for speed, acceleration, z in (
        (0.0, 0.3, 0.3),
        (-0.1, 0.3, 0.3),
        (0.1, 0.0, 0.3),
        (float("inf"), 0.3, 0.3),
        (0.1, 0.3, nowhere),
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


def test_stop_from_another_thread_ends_the_motion(
    arm: ArmDriver, controller: FakeController
) -> None:
    start = controller.joints
    with (
        once_moving(controller, arm.stop),
        pytest.raises(RobotError, match="told to stop") as caught,
    ):
        turn_away(arm)
    assert type(caught.value) is RobotError
    wait_for(lambda: not controller.moving)
    assert math.dist(start, controller.joints) > 0.001
    assert controller.joints != pytest.approx(ELSEWHERE, abs=1e-2)


def test_after_a_stop_it_moves_again(arm: ArmDriver, controller: FakeController) -> None:
    with once_moving(controller, arm.stop), pytest.raises(RobotError):
        turn_away(arm)
    controller.speed_scale = FAST
    turn_away(arm)
    assert controller.joints == pytest.approx(ELSEWHERE, abs=1e-2)


def test_stop_at_rest_does_no_harm(arm: ArmDriver, controller: FakeController) -> None:
    arm.stop()
    arm.stop()
    lower(arm)
    assert len(controller.moves) == 1


def test_ctrl_c_stops_the_arm(arm: ArmDriver, controller: FakeController) -> None:
    def interrupt() -> None:
        os.kill(os.getpid(), signal.SIGINT)

    with once_moving(controller, interrupt), pytest.raises(KeyboardInterrupt):
        turn_away(arm)
    wait_for(lambda: not controller.moving)
    assert controller.joints != pytest.approx(ELSEWHERE, abs=1e-2)
    controller.speed_scale = FAST
    turn_away(arm)
    assert controller.joints == pytest.approx(ELSEWHERE, abs=1e-2)


def test_a_slow_arm_is_stopped_at_the_drivers_deadline(
    make: Make, controller: FakeController
) -> None:
    arm = make(controller.host, slack_s=0.2)
    arm.connect()
    controller.speed_scale = 0.01
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


def test_it_connects_again_after_a_drop(arm: ArmDriver, controller: FakeController) -> None:
    controller.drop_connection()

    def lost() -> bool:
        with contextlib.suppress(NotConnected):
            arm.state()
            return False
        return True

    wait_for(lost)
    arm.connect()
    lower(arm)
    assert len(controller.moves) == 1


def test_old_states_are_no_states_and_nothing_is_sent_on_them(
    arm: ArmDriver, controller: FakeController
) -> None:
    lower(arm)
    before = sent(controller)
    controller.freeze_packets()
    time.sleep(0.6)
    with pytest.raises(NotConnected, match="said nothing"):
        turn_away(arm)
    with pytest.raises(NotConnected, match="said nothing"):
        arm.gripper(True)
    assert sent(controller) == before
    assert not controller.gripper_closed


def test_states_that_cease_in_a_motion_stop_the_arm(
    arm: ArmDriver, controller: FakeController
) -> None:
    with once_moving(controller, controller.freeze_packets), pytest.raises(NotConnected):
        turn_away(arm)
    wait_for(lambda: not controller.moving)
    assert controller.joints != pytest.approx(ELSEWHERE, abs=1e-2)


def test_states_that_come_again_are_taken(arm: ArmDriver, controller: FakeController) -> None:
    controller.freeze_packets()
    time.sleep(0.6)
    controller.freeze_packets(False)
    wait_for(lambda: fresh(arm))
    lower(arm)


def fresh(arm: ArmDriver) -> bool:
    with contextlib.suppress(NotConnected):
        arm.state()
        return True
    return False


# What the safety controller and the pendant say.


STOPS: tuple[SafetyMode, ...] = ("protective_stop", "safeguard_stop", "emergency_stop", "fault")


def test_nothing_is_sent_to_a_stopped_arm(arm: ArmDriver, controller: FakeController) -> None:
    lower(arm)
    before = sent(controller)
    for safety in STOPS:
        controller.set_safety(safety)
        wait_for(lambda safety=safety: arm.state().safety == safety)
        for act in (turn_away, lower, lambda arm: arm.gripper(True)):
            with pytest.raises(ProtectiveStop, match=safety.replace("_", " ")):
                act(arm)
        arm.stop()
    assert sent(controller) == before
    assert controller.outputs == {}


def test_a_protective_stop_in_a_motion_is_raised_and_never_unlocked(
    arm: ArmDriver, controller: FakeController
) -> None:
    after: list[tuple[int, int]] = []

    def stop() -> None:
        controller.protective_stop()
        after.append(sent(controller))

    with once_moving(controller, stop), pytest.raises(ProtectiveStop):
        turn_away(arm)
    arm.close()
    assert [sent(controller)] == after
    assert controller.dashboard_commands
    assert not any("unlock" in command for command in controller.dashboard_commands)


def test_it_moves_again_once_a_person_released_the_stop(
    arm: ArmDriver, controller: FakeController
) -> None:
    with once_moving(controller, controller.protective_stop), pytest.raises(ProtectiveStop):
        turn_away(arm)
    controller.set_safety("normal")
    controller.speed_scale = FAST
    wait_for(lambda: arm.state().safety == "normal")
    turn_away(arm)
    assert controller.joints == pytest.approx(ELSEWHERE, abs=1e-2)


def test_reduced_mode_still_moves(arm: ArmDriver, controller: FakeController) -> None:
    controller.set_safety("reduced")
    wait_for(lambda: arm.state().safety == "reduced")
    lower(arm)


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
    controller.set_remote(False)
    with pytest.raises(NotConnected, match="remote control"):
        turn_away(arm)
    assert arm.state().remote is False
    assert sent(controller) == before
    controller.set_remote(True)
    lower(arm)


def test_software_without_remote_control_is_taken_as_it_is(
    arm: ArmDriver, controller: FakeController
) -> None:
    controller.set_remote(None)
    lower(arm)
    assert arm.state().remote is None


def test_connecting_leaves_the_controllers_program_alone(
    arm: ArmDriver, controller: FakeController
) -> None:
    assert sent(controller) == (0, 0)


# The gripper.


def test_a_gripper_on_a_tool_output(arm: ArmDriver, controller: FakeController) -> None:
    assert arm.gripper(True) is None
    wait_for(lambda: controller.outputs == {("tool", 0): True})
    assert arm.gripper(False) is None
    wait_for(lambda: controller.outputs == {("tool", 0): False})


def test_a_gripper_on_a_standard_output(make: Make, controller: FakeController) -> None:
    arm = make(controller.host, gripper="standard_io:3")
    arm.connect()
    arm.gripper(True)
    wait_for(lambda: controller.outputs == {("standard", 3): True})


@pytest.mark.parametrize("holds", [True, False])
def test_a_robotiq_tells_what_it_holds(make: Make, controller: FakeController, holds: bool) -> None:
    controller.holds = holds
    arm = make(controller.host, gripper="robotiq")
    arm.connect()
    assert arm.gripper(True) is holds
    assert controller.gripper_closed
    assert arm.gripper(False) is False
    assert not controller.gripper_closed


def test_the_gripper_does_not_move_the_arm(arm: ArmDriver, controller: FakeController) -> None:
    lower(arm)
    before = controller.tcp_pose
    arm.gripper(True)
    assert controller.tcp_pose == pytest.approx(before)
    turn_away(arm)


def test_a_robotiq_that_is_not_there_is_told_of(make: Make) -> None:
    with FakeController(robotiq=False) as controller:
        arm = make(controller.host, gripper="robotiq")
        arm.connect()
        with pytest.raises(NotConnected, match="URCap"):
            arm.gripper(True)


def test_no_gripper_is_told_of(make: Make, controller: FakeController) -> None:
    arm = make(controller.host, gripper="none")
    arm.connect()
    with pytest.raises(RobotError, match="no gripper"):
        arm.gripper(True)


def test_stop_ends_the_wait_for_a_gripper(make: Make, controller: FakeController) -> None:
    arm = make(controller.host, gripper_wait_s=60.0)
    arm.connect()

    def stop() -> None:
        wait_for(lambda: controller.gripper_closed)
        arm.stop()

    thread = threading.Thread(target=stop)
    thread.start()
    with pytest.raises(RobotError, match="told to stop"):
        arm.gripper(True)
    thread.join()


@pytest.mark.parametrize("choice", ["hand", "tool_io:2", "standard_io:8", "robotiq:1", ""])
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
        lambda: arm.gripper(True),
        arm.stop,
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

    controller.speed_scale = SLOW
    thread = threading.Thread(target=move)
    thread.start()
    wait_for(lambda: controller.moving)
    arm.close()
    thread.join()
    wait_for(lambda: not controller.moving)
    assert len(failures) == 1
    assert controller.joints != pytest.approx(ELSEWHERE, abs=1e-2)


def test_connecting_twice_is_one_connection(arm: ArmDriver, controller: FakeController) -> None:
    arm.connect()
    lower(arm)
    assert len(controller.moves) == 1


def test_nothing_listens_there(make: Make) -> None:
    host = fresh_host()
    with pytest.raises(NotConnected, match=host):
        make(host).connect()


@pytest.mark.parametrize("says", [b"", b"HTTP/1.1 400 Bad Request\r\n\r\n" * 9, bytes(999)])
def test_what_is_no_controller_is_told_of(
    make: Make, monkeypatch: pytest.MonkeyPatch, says: bytes
) -> None:
    monkeypatch.setattr(rtde_driver, "_START_S", 0.3)
    monkeypatch.setattr(urx_driver, "_FIRST_STATE_S", 0.3)
    with strangers(says) as host, pytest.raises(NotConnected, match=host):
        make(host).connect()


@contextlib.contextmanager
def strangers(says: bytes) -> Iterator[str]:
    """Serve the controller's ports with something else; each client is told `says`."""
    host = fresh_host()
    clients: list[socket.socket] = []

    def serve(server: socket.socket) -> None:
        with contextlib.suppress(OSError):
            while True:
                clients.append(server.accept()[0])
                clients[-1].sendall(says)

    servers = [socket.create_server((host, port)) for port in (SECONDARY_PORT, 30004)]
    threads = [threading.Thread(target=serve, args=(server,)) for server in servers]
    for thread in threads:
        thread.start()
    yield host
    for server in servers:
        server.shutdown(socket.SHUT_RDWR)
        server.close()
    for thread in threads:
        thread.join()
    for client in clients:
        client.close()


# By name.


def test_drivers_by_name(kind: str, controller: FakeController) -> None:
    arm = arm_driver(kind, controller.host, gripper="robotiq")
    assert arm.name == kind
    arm.connect()
    assert arm.gripper(True) is False
    arm.close()


def test_a_driver_that_does_not_exist() -> None:
    with pytest.raises(UsageError, match="ur_rtde"):
        arm_driver("rtde", "127.0.0.1")
