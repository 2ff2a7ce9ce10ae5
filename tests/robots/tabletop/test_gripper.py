"""The Robotiq socket's faults."""

from __future__ import annotations

import socket
import threading

import pytest

from cap.errors import NotConnected, Timeout
from robots.tabletop.gripper import ROBOTIQ_PORT, RobotiqGripper
from tests.fakes.ur.controller import FakeController, fresh_host


def no_wait(seconds: float) -> None:
    """Go on at once."""


def test_fingers_that_do_not_move_are_told_of() -> None:
    with FakeController() as controller:
        controller.stick_gripper()
        gripper = RobotiqGripper(controller.host, timeout_s=0.5)
        with pytest.raises(Timeout, match="fingers"):
            gripper.set(0.0, no_wait)
        gripper.close()


def test_a_closed_gripper_closes_again_and_opens() -> None:
    with FakeController(holds=True) as controller:
        gripper = RobotiqGripper(controller.host)
        assert [gripper.set(gap_m, no_wait) for gap_m in (0.0, 0.0, 0.085, 0.0)] == [
            True,
            True,
            False,
            True,
        ]
        gripper.close()


def test_it_connects_again_after_a_drop() -> None:
    with FakeController() as controller:
        gripper = RobotiqGripper(controller.host)
        gripper.set(0.0, no_wait)
        controller.drop_connection()
        with pytest.raises(NotConnected):
            gripper.set(0.085, no_wait)
        assert gripper.set(0.085, no_wait) is False
        assert not controller.gripper_closed
        gripper.close()


@pytest.mark.parametrize("says", [b"", b"?", b"STA", b"POS 3", b"STA \xff"])
def test_an_answer_that_is_none_is_told_of(says: bytes) -> None:
    host = fresh_host()
    with socket.create_server((host, ROBOTIQ_PORT)) as server:

        def answer() -> None:
            client, _ = server.accept()
            with client:
                client.recv(100)
                client.sendall(says)

        thread = threading.Thread(target=answer)
        thread.start()
        gripper = RobotiqGripper(host)
        with pytest.raises(NotConnected, match=host):
            gripper.set(0.0, no_wait)
        gripper.close()
        thread.join()
