"""Our end of the process that `ur_rtde` runs in: lines of JSON, each with a deadline."""

from __future__ import annotations

import contextlib
import json
import os
import selectors
import subprocess
import sys
import threading
import time
from pathlib import Path
from typing import Any

from cap.errors import NotConnected, RobotError

_END_S = 2.0
_ENVIRONMENT = ("PATH", "PYTHONPATH", "LD_LIBRARY_PATH", "VIRTUAL_ENV", "TZ")
"""What the library's process may know of ours; keys are not among it."""


class RtdeProcess:
    """The process, and the lines to and from it."""

    def __init__(self, host: str) -> None:
        program = Path(__file__).with_name("child.py")
        self._host = host
        self._lock = threading.RLock()
        """Released by its owner alone, so that Ctrl-C may come before or after it is had."""
        self._rest = b""
        self._asked = 0
        self._popen = subprocess.Popen(
            [sys.executable, "-P", str(program), host],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            env={name: os.environ[name] for name in _ENVIRONMENT if name in os.environ},
            start_new_session=True,
        )

    def ask(self, request: dict[str, Any], seconds: float) -> dict[str, Any]:
        """Send a request and return its answer.

        Raises:
            NotConnected: There is no answer in time, or the library says so.
        """
        try:
            if not self._lock.acquire(timeout=seconds):
                raise NotConnected(self._no_answer())
            self._asked += 1
            with contextlib.suppress(OSError, ValueError):
                line = json.dumps(request | {"id": self._asked})
                self._stdin.write(line.encode() + b"\n")
                self._stdin.flush()
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

    def _message(self, deadline: float) -> dict[str, Any]:
        line = self._line(deadline)
        if line is None:
            self._end()
            raise NotConnected(self._no_answer())
        message: dict[str, Any] = json.loads(line) if line else {"lost": "its process ended"}
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
            with contextlib.suppress(OSError, ValueError):
                self._stdin.write(b'{"do": "close"}\n')
                self._stdin.flush()
            with contextlib.suppress(subprocess.TimeoutExpired):
                self._popen.wait(_END_S)
            self._end()

    @property
    def _stdin(self) -> Any:
        return self._popen.stdin

    def _line(self, deadline: float) -> bytes | None:
        """Return one line; empty if it ended, None if it is too late."""
        assert self._popen.stdout is not None
        with selectors.DefaultSelector() as ready:
            try:
                ready.register(self._popen.stdout, selectors.EVENT_READ)
            except ValueError:
                return b""
            while b"\n" not in self._rest:
                if not ready.select(max(0.0, deadline - time.monotonic())):
                    return None
                if not (more := os.read(self._popen.stdout.fileno(), 65536)):
                    return b""
                self._rest += more
        line, self._rest = self._rest.split(b"\n", 1)
        return line

    def _end(self) -> None:
        self._popen.kill()
        self._popen.wait()
        for pipe in (self._popen.stdin, self._popen.stdout):
            if pipe is not None:
                with contextlib.suppress(OSError):
                    pipe.close()
