"""The Robotiq socket's faults."""

from __future__ import annotations

import socket
from typing import Any

import pytest

from cap.errors import Collision, NotConnected, Timeout, UsageError
from robots.tabletop.gripper import ROBOTIQ_PORT, RobotiqGripper, fingers_of
from tests.fakes.ur.controller import FakeController
from tests.fakes.ur.driving import talking


def no_wait(seconds: float) -> None:
    """Go on at once."""


def test_fingers_that_do_not_move_are_told_of() -> None:
    with FakeController() as controller:
        controller.stick_gripper()
        gripper = RobotiqGripper(controller.host, timeout_s=0.5)
        with pytest.raises(Timeout, match="fingers"):
            gripper.set(0.0, no_wait)
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


@pytest.mark.parametrize(
    "says",
    [b"", b"POS 3", b"STA \xff", b"A" * 5000, b"\x1b[2J\n"],
)
def test_an_answer_that_is_none_is_told_in_a_short_line(says: bytes) -> None:
    def answer(client: socket.socket) -> None:
        client.recv(100)
        client.sendall(says)

    with talking(ROBOTIQ_PORT, answer) as host:
        gripper = RobotiqGripper(host)
        with pytest.raises(NotConnected, match=host) as caught:
            gripper.set(0.0, no_wait)
        assert str(caught.value).isprintable()
        assert len(str(caught.value)) < 200
        gripper.close()


@pytest.mark.parametrize(
    ("gap_m", "position"), [(0.056, 80), (0.026, 161), (0.0851, 0), (0.0, 255)]
)
def test_fingers_go_to_the_distance_they_are_told(gap_m: float, position: int) -> None:
    with FakeController() as controller:
        gripper = RobotiqGripper(controller.host)
        assert gripper.set(gap_m, no_wait) is False
        assert controller.gripper_position == position
        gripper.close()


def test_fingers_that_something_keeps_from_opening_are_told_of() -> None:
    with FakeController(holds=True) as controller:
        gripper = RobotiqGripper(controller.host)
        gripper.set(0.0, no_wait)
        controller.jam_gripper(100)
        with pytest.raises(Collision, match=r"opening 5\.6 cm"):
            gripper.set(0.056, no_wait)
        controller.jam_gripper(None)
        assert gripper.set(0.056, no_wait) is False
        gripper.close()


@pytest.mark.parametrize("stroke_m", [0, 0.3, "wide"])
def test_a_stroke_that_cannot_be_is_refused(stroke_m: Any) -> None:
    with pytest.raises(UsageError, match="stroke_m"):
        fingers_of("tool_io", stroke_m)
