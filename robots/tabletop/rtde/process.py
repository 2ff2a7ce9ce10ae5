"""Our end of the process that `ur_rtde` runs in: messages in JSON, each with a deadline."""

from __future__ import annotations

import contextlib
import json
import os
import socket
import subprocess
import sys
import threading
import time
from pathlib import Path
from typing import Any

from cap.errors import NotConnected, RobotError

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
            f"({message['lost']}): check it, then connect again"
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
