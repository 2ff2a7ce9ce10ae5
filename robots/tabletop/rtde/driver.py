"""The arm by `ur_rtde`: states at 125 Hz, motions by its control script, a watchdog behind both.

The library runs in a process of its own (`child` says why). Every request to it has a
deadline; past that the process is ended, and the controller's watchdog ends the motion.
"""

from __future__ import annotations

import contextlib
import importlib.util
import json
import os
import socket
import subprocess
import sys
import threading
import time
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from cap.errors import MissingExtra, NotConnected, RobotError, Unreachable, install_extra
from robots.tabletop import controller
from robots.tabletop.arm_state import ArmState, Motion, TcpPose, require_ready
from robots.tabletop.controller import ControllerDriver
from robots.tabletop.gripper import Output

_END_S = 2.0
_LONGEST = 1 << 16
"""No message has more bytes."""
_ENVIRONMENT = ("PATH", "PYTHONPATH", "LD_LIBRARY_PATH", "VIRTUAL_ENV", "TZ")
"""What the library's process may know of ours; keys are not among it."""


class RtdeProcess:
    """The process, and the messages to and from it, each of them sent and read as a whole."""

    def __init__(self, host: str) -> None:
        program = Path(__file__).with_name("child.py")
        self._host = host
        self._lock = threading.RLock()
        """Released by its owner alone, so that Ctrl-C may come before or after it is had."""
        self._asked = 0
        self._socket, its_end = socket.socketpair(type=socket.SOCK_SEQPACKET)
        self._popen = subprocess.Popen(
            [sys.executable, "-P", str(program), host],
            stdin=its_end.fileno(),
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
            env={name: os.environ[name] for name in _ENVIRONMENT if name in os.environ},
            start_new_session=True,
        )
        its_end.close()

    def ask(self, request: dict[str, Any], seconds: float) -> dict[str, Any]:
        """Send a request and return its answer.

        Raises:
            NotConnected: There is no answer in time, or the library says so.
        """
        try:
            if not self._lock.acquire(timeout=seconds):
                raise NotConnected(self._no_answer())
            self._asked += 1
            self._send(request | {"id": self._asked})
            return self.read(seconds)
        finally:
            with contextlib.suppress(RuntimeError):  # it is not ours
                self._lock.release()

    def read(self, seconds: float) -> dict[str, Any]:
        """Return the answer to the newest request."""
        deadline = time.monotonic() + seconds
        while True:
            message = self._message(deadline)
            # The answer to a request that Ctrl-C ended comes late.
            if message.get("id", self._asked) == self._asked:
                return self._answer(message)

    def _send(self, request: dict[str, Any]) -> None:
        with contextlib.suppress(OSError):
            self._socket.send(json.dumps(request).encode())

    def _message(self, deadline: float) -> dict[str, Any]:
        """Return the next message; end the process if it is too late."""
        try:
            self._socket.settimeout(max(1e-3, deadline - time.monotonic()))
            received = self._socket.recv(_LONGEST)
        except TimeoutError:
            self._end()
            raise NotConnected(self._no_answer()) from None
        except OSError:
            received = b""
        message: dict[str, Any] = (
            json.loads(received) if received else {"lost": "its process ended"}
        )
        return message

    def _answer(self, message: dict[str, Any]) -> dict[str, Any]:
        if "ok" in message:
            answer: dict[str, Any] = message["ok"]
            return answer
        if "error" in message:
            raise RobotError(f"ur_rtde refused: {message['error']}")
        raise NotConnected(
            f"ur_rtde has no connection to the controller at {self._host} "
            f"({message['lost']}): check the address and that the controller is on, then try again"
        )

    def _no_answer(self) -> str:
        return f"ur_rtde does not answer for the controller at {self._host}: connect again"

    def close(self) -> None:
        """Have it stop the arm and end; end it if it does not."""
        with self._lock:
            self._send({"do": "close"})
            with contextlib.suppress(subprocess.TimeoutExpired):
                self._popen.wait(_END_S)
            self._end()

    def _end(self) -> None:
        self._popen.kill()
        self._popen.wait()
        self._socket.close()


_START_S = 15.0
_PREPARE_S = 10.0
_ANSWER_S = 2.0
_MOVE_S = 6.0
"""The library itself waits 4 s for its script to be ready."""
_STOP_S = 1.5


class RtdeDriver(ControllerDriver):
    """A UR arm with RTDE: e-Series, or CB3 with software from 3.4 on."""

    name = "ur_rtde"
    _library: RtdeProcess | None = None

    def prepare(self) -> None:
        """Ask who has control, and have the library's control script run."""
        super().prepare()
        require_ready(self.state())
        self._ask({"do": "prepare"}, _PREPARE_S)

    def send(self, motion: Motion) -> None:
        """Have the controller start a motion."""
        answer = self._ask(
            {
                "do": "move",
                "target": motion.target,
                "speed": motion.speed,
                "acceleration": motion.acceleration,
            },
            _MOVE_S,
        )
        if not answer["started"]:
            require_ready(self.state())
        if not answer["allowed"]:
            raise Unreachable(
                "the controller does not allow that target: it is out of the arm's reach, or "
                "outside the safety limits set on the pendant"
            )
        if not answer["started"]:
            raise RobotError("the controller refused the motion: see its log for why")

    def refused(self, poses: Sequence[TcpPose]) -> TcpPose | None:
        """Return the first pose out of reach, or outside the safety limits set on the pendant."""
        self.prepare()
        answer = self._ask({"do": "allowed", "targets": poses}, _PREPARE_S)
        return None if answer["refused"] is None else poses[answer["refused"]]

    def _send_stop(self) -> None:
        self._ask({"do": "stop"}, _STOP_S)

    def _find_library(self) -> None:
        if importlib.util.find_spec("rtde_control") is None:
            raise MissingExtra(
                "the driver ur_rtde needs the package ur_rtde, which is not installed: "
                f"{install_extra('rtde')} (CPython 3.11 or 3.12, Linux x86-64)"
            )

    def _open(self) -> None:
        self._library = RtdeProcess(self.host)
        self._library.read(_START_S)
        self.state()

    def _release(self) -> None:
        library, self._library = self._library, None
        if library is not None:
            library.close()

    def _newest(self) -> ArmState:
        answer = self._ask({"do": "state"})
        return ArmState(
            joints=tuple(answer["joints"]),
            tcp_pose=tuple(answer["tcp_pose"]),
            mode=controller.ROBOT_MODES.get(answer["mode"], "unknown"),
            safety=controller.SAFETY_MODES.get(answer["safety"], "unknown"),
            remote=self._remote,
            moving=answer["moving"],
            age_s=answer["age_s"],
            outputs=answer["outputs"],
        )

    def _switch(self, output: Output, on: bool) -> None:
        kind, number = output
        answer = self._ask({"do": "output", "kind": kind, "number": number, "on": on}, _PREPARE_S)
        if not answer["set"]:
            raise RobotError(f"the controller refused to set {kind} output {number}")

    def _ask(self, request: dict[str, Any], seconds: float | None = None) -> dict[str, Any]:
        library = self._library
        if library is None:
            raise NotConnected(f"the arm at {self.host} is not connected: connect first")
        return library.ask(request, _ANSWER_S if seconds is None else seconds)
