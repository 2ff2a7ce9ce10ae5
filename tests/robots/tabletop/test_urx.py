"""What only the driver on `urx` must do: the packets, and the library's known faults."""

from __future__ import annotations

import socket
import sys
import threading
from typing import Literal

import pytest

from cap.errors import MissingExtra, RobotError
from robots.tabletop import arm_driver, trajectory
from robots.tabletop.urx.driver import UrxDriver
from tests.fakes.ur.arm import SimulatedArm
from tests.fakes.ur.controller import SECONDARY_PORT, FakeController, fresh_host
from tests.fakes.ur.driving import wait_for
from tests.fakes.ur.packets import state_packet, version_message


@pytest.mark.inside
@pytest.mark.parametrize("form", [46, 47])
def test_robot_modes_of_both_lengths_are_read(form: Literal[46, 47]) -> None:
    with FakeController(form=form) as controller:
        arm = UrxDriver(controller.host)
        arm.connect()
        state = arm.state()
        assert (state.mode, state.safety) == ("running", "normal")
        assert arm._robot.is_running()
        assert state.tcp_pose == pytest.approx(controller.tcp_pose)
        controller.set_safety("reduced")
        wait_for(lambda: arm.state().safety == "reduced")
        arm.close()


@pytest.mark.inside
def test_a_motion_the_controller_ignores_fails(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(trajectory, "_START_S", 1.0)
    with FakeController() as controller:
        controller.ignore_scripts()
        arm = UrxDriver(controller.host)
        arm.connect()
        x, y, z, *turn = arm.tcp_pose()
        with pytest.raises(RobotError, match="did not start"):
            arm.move_linear((x, y, z - 0.1, *turn), speed_mps=0.1, acceleration_mps2=0.3)
        arm.close()


def test_states_may_come_in_pieces_and_among_other_messages() -> None:
    simulated = SimulatedArm(time_factor=1.0, tool_m=0.0)
    state = state_packet(simulated, running=False, form=47)
    stream = (version_message() + state) * 3 + state
    host = fresh_host()
    done = threading.Event()
    with socket.create_server((host, SECONDARY_PORT)) as server:

        def drip() -> None:
            client, _ = server.accept()
            with client:
                while not done.is_set():
                    for start in range(0, len(stream), 37):
                        client.sendall(stream[start : start + 37])
                    done.wait(0.05)

        thread = threading.Thread(target=drip)
        thread.start()
        arm = UrxDriver(host)
        arm.connect()
        assert arm.state().joints == pytest.approx(simulated.joints)
        done.set()
        thread.join()
        arm.close()


def test_without_the_package_its_extra_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("robots.tabletop.urx.monitor", "urx.urrobot", "urx.ursecmon"):
        monkeypatch.delitem(sys.modules, name, raising=False)
    monkeypatch.setitem(sys.modules, "urx", None)
    with pytest.raises(MissingExtra, match=r"\[urx\]"):
        arm_driver("urx", "127.0.0.1")
