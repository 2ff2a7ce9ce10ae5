"""What the drivers say and hear, byte by byte, against what Universal Robots and Robotiq publish.

The layouts below are written down from those documents, not from the simulated controller, which is
held to them as the drivers are:

- RTDE Guide, docs.universal-robots.com/tutorials/communication-protocol-tutorials/rtde-guide.html
- Client Interfaces V3.14 and V5.9 (secondary interface), article "Overview of client interfaces"
- Dashboard Server e-Series, port 29999, article 42728
- The URScript Programming Language for e-Series: movel, movej, stopl, stopj, secondary programs
- Robotiq 2F-85 and 2F-140 for e-Series, instruction manual: registers; their names on the socket
  (ACT, GTO, POS, SPE, FOR, STA, OBJ, PRE) are those of its URCap
"""

from __future__ import annotations

import math
import re
import socket
import struct
import threading

import pytest

from cap.errors import RobotError
from robots.tabletop import controller as ur
from robots.tabletop.gripper import ROBOTIQ_PORT, RobotiqGripper
from robots.tabletop.urx.driver import UrxDriver
from robots.tabletop.urx.monitor import _safety as masterboard_safety
from tests.fakes.ur.arm import HOME
from tests.fakes.ur.controller import SECONDARY_PORT, FakeController
from tests.fakes.ur.driving import FAST, once_moving, talking, wait_for
from tests.fakes.ur.script import Reader

# The secondary interface: a message is its size (int), its type (16 is a robot state) and parts,
# each its size (int), its type and its fields; all of it big-endian.
ROBOT_MODE = struct.Struct("!Q 7? B B d d d")
JOINT = struct.Struct("!d d d f f f f B")
CARTESIAN = struct.Struct("!12d")
MASTERBOARD = struct.Struct("!i i b b d d b b d d f f f f B B")


def published_state(pose: tuple[float, ...], safety: int) -> bytes:
    """Return a robot state as published, made here."""

    def part(kind: int, body: bytes) -> bytes:
        return struct.pack("!iB", 5 + len(body), kind) + body

    flags = (True, True, True, False, False, False, False)
    body = part(0, ROBOT_MODE.pack(1, *flags, 7, 0, 1.0, 1.0, 1.0) + b"\0")
    body += part(1, b"".join(JOINT.pack(q, q, 0, 0, 48, 30, 30, 253) for q in HOME))
    body += part(4, CARTESIAN.pack(*pose, *(0.0,) * 6))
    board = MASTERBOARD.pack(0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 30, 48, 0, 0, safety, 0)
    body += part(3, board + struct.pack("!b I B B B", 0, 0, 0, 0, 0))
    return struct.pack("!iB", 5 + len(body), 16) + body


@pytest.mark.parametrize(("number", "safety"), [(1, "normal"), (7, "emergency_stop")])
def test_urx_reads_a_published_robot_state(number: int, safety: str) -> None:
    pose = (0.1, -0.5, 0.3, math.pi, 0.01, -0.02)
    message = published_state(pose, number)
    assert masterboard_safety(message) == number
    ended = threading.Event()

    def talk(client: socket.socket) -> None:
        while not ended.wait(0.02):
            for start in range(0, len(message), 37):  # TCP may cut it anywhere
                client.sendall(message[start : start + 37])

    with talking(SECONDARY_PORT, talk) as host:
        arm = UrxDriver(host)
        arm.connect()
        state = arm.state()
        ended.set()
    arm.close()
    assert state.tcp_pose == pytest.approx(pose)
    assert state.joints == pytest.approx(HOME)
    assert (state.mode, state.safety, state.moving) == ("running", safety, False)


# URScript: a line ends a statement; `sec` to `end` is a program that runs beside the main one.


def test_urx_sends_urscript_as_published(monkeypatch: pytest.MonkeyPatch) -> None:
    told: list[str] = []
    feed = Reader.feed
    monkeypatch.setattr(Reader, "feed", lambda self, text: told.append(text) or feed(self, text))
    with FakeController(time_factor=FAST, rate_hz=250.0) as controller:
        arm = UrxDriver(controller.host, gripper_wait_s=0.0)
        arm.connect()
        x, y, z, rx, ry, rz = arm.tcp_pose()
        arm.move_linear((x, y, z - 0.01, rx, ry, rz), speed_mps=0.1, acceleration_mps2=0.3)
        arm.gripper(0.0)
        wait_for(lambda: controller.gripper_closed)
        with once_moving(controller, arm.stop), pytest.raises(RobotError, match="was stopped"):
            arm.move_linear((x, y, z, rx, ry, rz), speed_mps=0.1, acceleration_mps2=0.3)
        wait_for(lambda: "stopl" in "".join(told))
        arm.close()
    number = r"-?\d+\.\d{6}"
    six = rf"\[{', '.join([number] * 6)}\]"
    assert re.fullmatch(
        rf"movel\(p{six}, a=0\.300000, v=0\.100000, r=0\)\n"
        r"sec cap_output\(\):\n  set_tool_digital_out\(0, True\)\nend\n"
        rf"movel\(p{six}, a=0\.300000, v=0\.100000, r=0\)\n"
        r"(stopl\(1\.5\)\n){1,2}",
        "".join(told),
    )


# RTDE: a package is its size (uint16), its type (uint8, a letter) and its payload, big-endian.


# The dashboard: it greets; then a line is a question, and a line its answer.


@pytest.mark.parametrize(
    ("says", "remote"),
    [(b"true\n", True), (b"false\n", False), (b"could not understand: 'is in remote'\n", None)],
)
def test_the_dashboard_is_asked_as_published(says: bytes, remote: bool | None) -> None:
    heard: list[bytes] = []

    def talk(client: socket.socket) -> None:
        client.sendall(b"Connected: Universal Robots Dashboard Server\n")
        heard.append(client.recv(100))
        client.sendall(says)

    with talking(ur.DASHBOARD_PORT, talk) as host:
        assert ur.remote_control(host) is remote
    assert heard == [b"is in remote control\n"]


def test_modes_have_the_published_numbers() -> None:
    assert ur.ROBOT_MODES == {
        -1: "disconnected",  # NO_CONTROLLER
        0: "disconnected",
        3: "power_off",
        4: "idle",  # POWER_ON
        5: "idle",
        7: "running",
    }
    assert ur.SAFETY_MODES == {
        1: "normal",
        2: "reduced",
        3: "protective_stop",
        4: "fault",  # RECOVERY
        5: "safeguard_stop",
        6: "emergency_stop",  # SYSTEM_EMERGENCY_STOP
        7: "emergency_stop",  # ROBOT_EMERGENCY_STOP
        8: "fault",  # VIOLATION
        9: "fault",
        12: "safeguard_stop",  # AUTOMATIC_MODE_SAFEGUARD_STOP
        13: "safeguard_stop",  # SYSTEM_THREE_POSITION_ENABLING_STOP
    }


# The Robotiq socket: SET and GET lines; `ack` and the value by its name.


def test_the_robotiq_is_asked_as_its_urcap_is() -> None:
    heard: list[bytes] = []
    values = {"STA": 0, "PRE": 80, "OBJ": 3}

    def talk(client: socket.socket) -> None:
        while line := client.recv(100):
            heard.append(line)
            if line.startswith(b"SET"):
                values["STA"] = 3
                client.sendall(b"ack")
            else:
                name = line.split()[1].decode()
                client.sendall(f"{name} {values[name]}".encode())

    with talking(ROBOTIQ_PORT, talk) as host:
        gripper = RobotiqGripper(host)
        assert gripper.set(0.056, lambda seconds: None) is False
        gripper.close()
    assert heard == [
        b"GET STA\n",
        b"SET ACT 1\n",
        b"GET STA\n",
        b"SET SPE 255 FOR 50 POS 80 GTO 1\n",
        b"GET PRE\n",
        b"GET OBJ\n",
        b"GET OBJ\n",
    ]
