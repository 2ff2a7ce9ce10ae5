"""Starting and ending workers from the parent: the template process, its pipes, its children."""

from __future__ import annotations

import atexit
import contextlib
import importlib.util
import os
import signal
import socket
import struct
import subprocess
import sys
import threading
from dataclasses import dataclass
from pathlib import Path
from typing import NamedTuple

from cap.errors import SandboxError

_SCRIPT = Path(__file__).with_name("template.py")
_PACKAGES = ("cap", "numpy", "shapely", "msgpack")


@dataclass(frozen=True)
class Worker:
    """One running worker, as the parent holds it."""

    pid: int
    """Process id."""
    pidfd: int | None
    """Descriptor that names this very process, where the system has them."""
    requests: int
    """Write end: the program, then answers to its calls."""
    answers: int
    """Read end: its calls, then its result."""

    def end(self) -> None:
        """Kill it if it still runs and close the parent's ends; harmless after it ended."""
        with contextlib.suppress(ProcessLookupError):
            if self.pidfd is None:
                os.kill(self.pid, signal.SIGKILL)
            else:
                signal.pidfd_send_signal(self.pidfd, signal.SIGKILL)
        for descriptor in (self.requests, self.answers, self.pidfd):
            if descriptor is not None:
                os.close(descriptor)


_shared: dict[int, Template] = {}
"""The template of this process, by its own process id: a fork must not talk over its parent."""


def shared_template() -> Template:
    """Return the one template of this process; it ends with the process."""
    own = os.getpid()
    if own not in _shared:
        _shared.clear()
        _shared[own] = Template()
        atexit.register(_shared[own].close)
    return _shared[own]


class _Pipes(NamedTuple):
    """The parent's ends of a worker that was asked for."""

    requests: int
    answers: int

    def close(self) -> None:
        os.close(self.requests)
        os.close(self.answers)


class Template:
    """The warm process that forks workers; started at first use, restarted if it dies.

    One spare worker is always asked for ahead, so that its fork is over before it is needed.
    """

    def __init__(self) -> None:
        self._process: subprocess.Popen[bytes] | None = None
        self._control: socket.socket | None = None
        self._spare: _Pipes | None = None
        self._lock = threading.Lock()

    def spawn(self) -> Worker:
        """Fork a worker.

        Raises:
            SandboxError: The template cannot be started, or died twice.
        """
        with self._lock:
            try:
                return self._take()
            except (OSError, struct.error):
                self._stop()
            try:
                return self._take()
            except (OSError, struct.error) as error:
                raise SandboxError(f"the sandbox process does not start: {error}") from None

    def start(self) -> None:
        """Start the template without waiting for it, so that it loads while the parent does."""
        with self._lock:
            self._running()

    def close(self) -> None:
        """End the template; workers still running end on their own or by `Worker.end`."""
        with self._lock:
            self._stop()

    def _running(self) -> socket.socket:
        if self._control is None:
            if not hasattr(socket, "send_fds") or not hasattr(os, "fork"):
                raise SandboxError("the sandbox needs Linux or macOS; on Windows use WSL")
            self._control, theirs = socket.socketpair()
            command = [sys.executable, "-I", "-S", "-W", "ignore", str(_SCRIPT)]
            with theirs:
                self._process = subprocess.Popen(
                    [*command, str(theirs.fileno()), *_import_paths()],
                    pass_fds=[theirs.fileno()],
                    env={"OPENBLAS_NUM_THREADS": "1", "OMP_NUM_THREADS": "1"},
                    stdin=subprocess.DEVNULL,
                    stdout=subprocess.DEVNULL,
                    cwd="/",
                )
        return self._control

    def _take(self) -> Worker:
        """Take the spare, or a new worker, and ask for the next spare."""
        control = self._running()
        pipes, self._spare = self._spare or _request(control), None
        try:
            (pid,) = struct.unpack("<i", control.recv(4))
            worker = Worker(pid, _pidfd(pid), pipes.requests, pipes.answers)
        except BaseException:
            pipes.close()
            raise
        # Only this next request lets the template collect the worker and free its process id.
        try:
            self._spare = _request(control)
        except BaseException:
            worker.end()
            raise
        return worker

    def _stop(self) -> None:
        if self._spare is not None:
            self._spare.close()
        if self._control is not None:
            self._control.close()
        if self._process is not None:
            self._process.kill()
            self._process.wait()
        self._control = self._process = self._spare = None


def _pidfd(pid: int) -> int | None:
    if hasattr(os, "pidfd_open"):
        with contextlib.suppress(OSError):
            return os.pidfd_open(pid)
    return None


def _request(control: socket.socket) -> _Pipes:
    """Ask the template for one worker; its process id comes back on the control socket."""
    their_requests, requests = os.pipe()
    answers, their_answers = os.pipe()
    os.set_blocking(requests, False)  # a worker that does not read must not hold the parent
    try:
        socket.send_fds(control, [b"F"], [their_requests, their_answers])
    except BaseException:
        _Pipes(requests, answers).close()
        raise
    finally:
        os.close(their_requests)
        os.close(their_answers)
    return _Pipes(requests, answers)


def _import_paths() -> list[str]:
    """Return the folders the template imports from: only those of the packages it needs."""
    found: dict[str, None] = {}
    for name in _PACKAGES:
        spec = importlib.util.find_spec(name)
        if spec is None or spec.origin is None:
            raise SandboxError(f"package '{name}' is not installed; run: pip install {name}")
        found[str(Path(spec.origin).resolve().parent.parent)] = None
    return list(found)
