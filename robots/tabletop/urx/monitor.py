"""`urx` with a monitor that knows e-Series packets, and ends when its connection does.

urx 0.11.0 does not know the robot mode's 47 bytes, dies when a state is late, spins when the
controller closes the connection, and waits without end to send or to close. Here the newest whole
state is kept with its time, scripts are sent at once under the socket's deadline, and closing
closes the socket first.
"""

from __future__ import annotations

import contextlib
import logging
import socket
import struct
import threading
import time
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from urx.urrobot import URRobot
from urx.ursecmon import ParserUtils, SecondaryMonitor

_NEEDED = {"RobotModeData", "JointData", "CartesianInfo"}
_MASTERBOARD, _SAFETY_OFFSET = 3, 65
_ROBOT_STATE = 16
_LONGEST_MESSAGE = 1 << 16

for _name in ("urx", "ursecmon"):
    # What they say to standard error, our errors say better.
    logging.getLogger(_name).addHandler(logging.NullHandler())


@dataclass(frozen=True)
class Packet:
    """One whole robot state."""

    data: dict[str, Any]
    """Sub-packets by urx's names."""
    safety: int | None
    """Safety mode by number, which urx does not read."""
    received_s: float
    """When, on the monotonic clock."""


class _Parser(ParserUtils):  # type: ignore[misc]
    newest: Packet | None = None
    _safety: int | None = None

    def parse(self, data: bytes) -> dict[str, Any]:
        self.version = (5, 0)
        packet: dict[str, Any] = super().parse(data)
        self._safety = _safety(data) or self._safety
        if packet.keys() >= _NEEDED:
            self.newest = Packet(packet, self._safety, time.monotonic())
        return packet


class _Condition(threading.Condition):
    def notifyAll(self) -> None:  # noqa: N802
        self.notify_all()


class Monitor(SecondaryMonitor):  # type: ignore[misc]
    """The thread that reads states; it ends with the connection and says why."""

    failure: BaseException | None = None
    _dataqueue: bytes

    @property
    def newest(self) -> Packet | None:
        """The newest whole state."""
        parser: _Parser = self._parser
        return parser.newest

    def start(self) -> None:
        """Start with our parser; a daemon, so that it never keeps the process."""
        self._parser = _Parser()
        self._dataEvent = _Condition()
        self.daemon = True
        super().start()

    def wait(self, timeout: float = 0.5) -> None:
        """Do nothing: the driver waits itself."""

    def run(self) -> None:
        """Read until the connection ends."""
        try:
            super().run()
        except Exception as error:
            self.failure = error
        finally:
            self.running = False

    def send_program(self, prog: str) -> None:
        """Send a script now.

        Raises:
            OSError: It could not be sent in 0.5 s.
        """
        self._s_secondary.sendall(prog.strip().encode("ascii") + b"\n")

    def close(self) -> None:
        """Close the socket, which ends the thread."""
        self._trystop = True
        with contextlib.suppress(OSError):
            self._s_secondary.shutdown(socket.SHUT_RDWR)
        self._s_secondary.close()
        self.join(2.0)

    def _get_data(self) -> bytes:
        """Return the next robot state message; late is not lost, closed is."""
        while True:
            while packet := self._next_message():
                if packet[4] == _ROBOT_STATE:
                    return packet
            try:
                received = self._s_secondary.recv(4096)
            except TimeoutError:
                if self._trystop:
                    raise
                continue
            if not received:
                raise ConnectionError("the controller closed the connection")
            self._dataqueue += received

    def _next_message(self) -> bytes:
        """Take one whole message of any type off what was received; empty if there is none."""
        if len(self._dataqueue) < 5:
            return b""
        (size,) = struct.unpack_from("!I", self._dataqueue)
        if not 5 <= size <= _LONGEST_MESSAGE:
            raise ConnectionError("what it sends is not a UR controller's state")
        if len(self._dataqueue) < size:
            return b""
        message, self._dataqueue = self._dataqueue[:size], self._dataqueue[size:]
        return message


class MonitoredRobot(URRobot):  # type: ignore[misc]
    """`URRobot` on our monitor; vectors are lists."""

    def __init__(self, host: str) -> None:
        """Connect.

        Raises:
            OSError: Nothing listens there.
        """
        self.logger = logging.getLogger("urx")
        self.host = host
        self.csys = None
        self.rtmon = None
        self.secmon = Monitor(host)

    def _format_move(
        self,
        command: str,
        tpose: Sequence[float],
        acc: float,
        vel: float,
        radius: float = 0,
        prefix: str = "",
    ) -> str:
        """Return a motion in URScript, with no exponent in its numbers."""
        target = ", ".join(f"{number:.6f}" for number in tpose)
        return f"{command}({prefix}[{target}], a={acc:.6f}, v={vel:.6f}, r={radius})"


def _safety(message: bytes) -> int | None:
    """Return the safety mode in a robot state message."""
    offset = 5
    while offset + 5 <= len(message):
        size, kind = struct.unpack_from("!iB", message, offset)
        if kind == _MASTERBOARD and size > _SAFETY_OFFSET:
            return message[offset + _SAFETY_OFFSET]
        offset += max(5, size)
    return None
