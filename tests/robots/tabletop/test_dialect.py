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

import asyncio
import math
import re
import socket
import struct
import threading
from collections.abc import Iterator

import pytest

from cap.errors import RobotError
from robots.tabletop import controller as ur
from robots.tabletop.gripper import ROBOTIQ_PORT, RobotiqGripper
from robots.tabletop.rtde.driver import RtdeDriver
from robots.tabletop.urx.driver import UrxDriver
from robots.tabletop.urx.monitor import _safety as masterboard_safety
from tests.fakes.ur.arm import HOME, SimulatedArm
from tests.fakes.ur.controller import FakeController, fresh_host
from tests.fakes.ur.driving import FAST, once_moving, wait_for
from tests.fakes.ur.packets import state_packet
from tests.fakes.ur.rtde_wire import Commands, RtdeClient
from tests.fakes.ur.runner import Runner
from tests.fakes.ur.script import Reader

# The secondary interface: a message is its size (int), its type (16 is a robot state) and parts,
# each its size (int), its type and its fields; all of it big-endian.
ROBOT_MODE = struct.Struct("!Q 7? B B d d d")
JOINT = struct.Struct("!d d d f f f f B")
CARTESIAN = struct.Struct("!12d")
MASTERBOARD = struct.Struct("!i i b b d d b b d d f f f f B B")


def parts(message: bytes) -> dict[int, bytes]:
    size, kind = struct.unpack_from("!iB", message)
    assert (size, kind) == (len(message), 16)
    found, at = {}, 5
    while at < len(message):
        length, part = struct.unpack_from("!iB", message, at)
        found[part] = message[at + 5 : at + length]
        at += length
    assert at == len(message)
    return found


def test_a_robot_state_has_the_published_layout() -> None:
    arm = SimulatedArm(time_factor=1.0, tool_m=0.0)
    arm.safety = "reduced"
    found = parts(state_packet(arm, running=True, form=47))
    assert {kind: len(body) + 5 for kind, body in found.items() if kind in (0, 1, 4)} == {
        0: 47,
        1: 251,
        4: 101,
    }
    _, *flags, mode, _, _, scaling, _ = ROBOT_MODE.unpack_from(found[0])
    assert (flags, mode, scaling) == ([True, True, True, False, False, True, False], 7, 1.0)
    assert [JOINT.unpack_from(found[1], 41 * n)[0] for n in range(6)] == list(HOME)
    assert CARTESIAN.unpack_from(found[4])[:6] == arm.pose
    assert MASTERBOARD.unpack_from(found[3])[-2:] == (2, 1)


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


@pytest.fixture
def listener() -> Iterator[socket.socket]:
    with socket.create_server((fresh_host(), 30002)) as server:
        yield server


@pytest.mark.parametrize(("number", "safety"), sorted(ur.SAFETY_MODES.items()))
def test_urx_reads_a_published_robot_state(
    number: int, safety: str, listener: socket.socket
) -> None:
    pose = (0.1, -0.5, 0.3, math.pi, 0.01, -0.02)
    message = published_state(pose, number)
    assert masterboard_safety(message) == number
    ended = threading.Event()

    def serve() -> None:
        client, _ = listener.accept()
        with client:
            while not ended.wait(0.02):
                client.sendall(message)

    thread = threading.Thread(target=serve)
    thread.start()
    arm = UrxDriver(listener.getsockname()[0])
    arm.connect()
    state = arm.state()
    ended.set()
    thread.join()
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
        arm.move_joints(HOME, speed_radps=0.5, acceleration_radps2=1.0)
        arm.gripper(0.0)
        wait_for(lambda: controller.gripper_closed)
        with once_moving(controller, arm.stop), pytest.raises(RobotError, match="was stopped"):
            arm.move_linear((x, y, z - 0.01, rx, ry, rz), speed_mps=0.1, acceleration_mps2=0.3)
        wait_for(lambda: "stopl" in "".join(told))
        arm.close()
    number = r"-?\d+\.\d{6}"
    six = rf"\[{', '.join([number] * 6)}\]"
    assert re.fullmatch(
        rf"movel\(p{six}, a=0\.300000, v=0\.100000, r=0\)\n"
        rf"movej\({six}, a=1\.000000, v=0\.500000, r=0\)\n"
        r"sec cap_output\(\):\n  set_tool_digital_out\(0, True\)\nend\n"
        rf"movel\(p{six}, a=0\.300000, v=0\.100000, r=0\)\n"
        r"(stopl\(1\.5\)\n){1,2}",
        "".join(told),
    )


# RTDE: a package is its size (uint16), its type (uint8, a letter) and its payload, big-endian.

TYPES = {
    "timestamp": "DOUBLE",
    "actual_q": "VECTOR6D",
    "actual_qd": "VECTOR6D",
    "actual_TCP_pose": "VECTOR6D",
    "robot_mode": "INT32",
    "safety_mode": "INT32",
    "runtime_state": "UINT32",
    "robot_status_bits": "UINT32",
    "safety_status_bits": "UINT32",
    "actual_digital_output_bits": "UINT64",
}


def test_the_simulated_rtde_speaks_version_2_as_published() -> None:
    arm = SimulatedArm(time_factor=1.0, tool_m=0.0)
    runner = Runner(arm)
    client = RtdeClient(arm, runner, Commands(arm, runner))
    assert client.answer(ord("V"), b"\x00\x02") == b"\x00\x04V\x01"
    assert client.answer(ord("v"), b"") == b"\x00\x13v" + struct.pack("!4I", 5, 11, 1, 108318)
    setup = struct.pack("!d", 125.0) + ",".join(TYPES).encode()
    told = b"\x01" + ",".join(TYPES.values()).encode()
    assert client.answer(ord("O"), setup) == struct.pack("!HB", 3 + len(told), ord("O")) + told
    told = b"\x01INT32,DOUBLE"
    inputs = b"input_int_register_0,input_double_register_0"
    assert client.answer(ord("I"), inputs) == b"\x00\x10I" + told
    assert client.answer(ord("S"), b"") == b"\x00\x04S\x01"
    assert client.answer(ord("P"), b"") == b"\x00\x04P\x01"
    arm.outputs["tool", 0] = True
    package = client.package()
    layout = struct.Struct("!H B B d 6d 6d 6d i i I I I Q")
    size, kind, recipe, _, *rest = layout.unpack(package)
    assert (size, kind, recipe) == (len(package), ord("U"), 1)
    assert rest[:6] == list(HOME)
    assert tuple(rest[12:18]) == arm.pose
    assert rest[18:] == [7, 1, 1, 1, 1, 1 << 16]  # running, normal, stopped, powered, normal, tool


def test_ur_rtde_asks_as_published(monkeypatch: pytest.MonkeyPatch) -> None:
    told: list[tuple[object, bytes]] = []

    async def messages(client: RtdeClient, reader: asyncio.StreamReader) -> tuple[int, bytes]:
        head = await reader.readexactly(3)
        size, kind = struct.unpack("!HB", head)
        body = await reader.readexactly(size - 3)
        told.append((client, head + body))
        return kind, body

    monkeypatch.setattr(RtdeClient, "messages", messages)
    with FakeController(time_factor=FAST) as controller:
        arm = RtdeDriver(controller.host)
        arm.connect()
        arm.close()
    first = [package for client, package in told if client is told[0][0]]
    assert first[0] == b"\x00\x05V\x00\x02"
    assert b"\x00\x03v" in first
    (setup,) = (package for package in first if package[2:3] == b"O")
    assert struct.unpack_from("!d", setup, 3) == (125.0,)
    assert set(setup[11:].decode().strip(",").split(",")) == set(TYPES)
    assert first[-1][:3] == b"\x00\x03S" or first[-1][:3] == b"\x00\x03P"


# The dashboard: it greets; then a line is a question, and a line its answer.


@pytest.mark.parametrize(
    ("says", "remote"),
    [(b"true\n", True), (b"false\n", False), (b"could not understand: 'is in remote'\n", None)],
)
def test_the_dashboard_is_asked_as_published(says: bytes, remote: bool | None) -> None:
    host = fresh_host()
    heard: list[bytes] = []
    with socket.create_server((host, ur.DASHBOARD_PORT)) as server:

        def serve() -> None:
            client, _ = server.accept()
            with client:
                client.sendall(b"Connected: Universal Robots Dashboard Server\n")
                heard.append(client.recv(100))
                client.sendall(says)

        thread = threading.Thread(target=serve)
        thread.start()
        assert ur.remote_control(host) is remote
        thread.join()
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
    host = fresh_host()
    heard: list[bytes] = []
    values = {"STA": 0, "PRE": 80, "OBJ": 3}
    with socket.create_server((host, ROBOTIQ_PORT)) as server:

        def serve() -> None:
            client, _ = server.accept()
            with client:
                while line := client.recv(100):
                    heard.append(line)
                    if line.startswith(b"SET"):
                        values["STA"] = 3
                        client.sendall(b"ack")
                    else:
                        name = line.split()[1].decode()
                        client.sendall(f"{name} {values[name]}".encode())

        thread = threading.Thread(target=serve)
        thread.start()
        gripper = RobotiqGripper(host)

        def no_wait(seconds: float) -> None:
            """Go on at once."""

        assert gripper.set(0.056, no_wait) is False
        gripper.close()
        thread.join()
    assert heard == [
        b"GET STA\n",
        b"SET ACT 1\n",
        b"GET STA\n",
        b"SET SPE 255 FOR 50 POS 80 GTO 1\n",
        b"GET PRE\n",
        b"GET OBJ\n",
        b"GET OBJ\n",
    ]
