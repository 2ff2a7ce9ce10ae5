"""Starting and ending workers from the parent: the template process, its spare, its children."""

from __future__ import annotations

import atexit
import contextlib
import importlib.util
import json
import os
import select
import signal
import socket
import struct
import subprocess
import sys
import threading
import time
from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import cached_property
from pathlib import Path
from typing import TypeVar

from cap.errors import SandboxError
from cap.sandbox import template_protocol
from cap.sandbox.kernel.layers import LayerReport
from cap.sandbox.limits import Limits
from cap.sandbox.template_protocol import WorkerLimits, WorkerOrder

T = TypeVar("T")
_SCRIPT = Path(__file__).parents[1] / "worker" / "template.py"
_PACKAGES = ("cap", "numpy", "shapely", "msgpack")
_ENVIRONMENT = {
    "OPENBLAS_NUM_THREADS": "1",
    "OMP_NUM_THREADS": "1",
    # The same program must walk through the same set in the same order every time.
    "PYTHONHASHSEED": "0",
}
_ANSWER_S = 30.0
"""The template answers in a millisecond once it is loaded; later, it is broken."""
_LOOK_S = 0.5
"""Between two looks at whether it still runs."""
_END_S = 0.1
_MOST_CHARS = 300
"""Of the last line a template wrote."""
_CLOSED = getattr(socket, "MSG_CMSG_CLOEXEC", 0)
_BROKEN = (OSError, struct.error, ValueError)


@dataclass(frozen=True)
class Worker:
    """One running worker, as the parent holds it."""

    pidfd: int | None
    """Descriptor that names this very process, where the system has them."""
    requests: int
    """Write end: the program, then answers to its calls."""
    answers: int
    """Read end: its calls, then its result."""
    inner_pid: int
    """Its process id as the template knows it, which may live among others of its own."""
    core: int = template_protocol.ANYWHERE
    """The processor core it stays on."""

    @cached_property
    def pid(self) -> int:
        """Its process id here; looked up when somebody asks, which takes longer than killing it."""
        if self.pidfd is None:
            return self.inner_pid
        facts = os.open(f"/proc/self/fdinfo/{self.pidfd}", os.O_RDONLY)
        found = os.read(facts, 1024).partition(b"\nPid:")[2]
        os.close(facts)
        return int(found.partition(b"\n")[0])

    def end(self) -> None:
        """Kill it if it still runs and close the parent's ends; harmless after it ended."""
        self.kill()
        for descriptor in (self.requests, self.answers, self.pidfd):
            if descriptor is not None:
                os.close(descriptor)

    def kill(self) -> None:
        """End it, whatever it does."""
        with contextlib.suppress(ProcessLookupError):
            if self.pidfd is None:
                os.kill(self.pid, signal.SIGKILL)
            else:
                signal.pidfd_send_signal(self.pidfd, signal.SIGKILL)


_shared: dict[int, TemplateClient] = {}
"""The template of this process, by its own process id: a fork must not talk over its parent."""


def shared_template() -> TemplateClient:
    """Return the one template of this process; it ends with the process."""
    own = os.getpid()
    if own not in _shared:
        _shared.clear()
        _shared[own] = TemplateClient()
        atexit.register(_shared[own].close)
    return _shared[own]


class TemplateClient:
    """The warm process that forks workers; started at first use, restarted if it dies.

    One spare worker is kept ready, locked down and warm, so that a program starts at once.
    """

    def __init__(self, *, spare: bool = True, without: frozenset[str] = frozenset()) -> None:
        """Start nothing yet.

        Args:
            spare: Keep a worker ready.
            without: Layers to leave out, for tests: the kernel's, `capabilities` and `builtins`.
        """
        self._keeps_spare = spare
        self._without = without
        self._process: subprocess.Popen[bytes] | None = None
        self._control: socket.socket | None = None
        self._report: LayerReport | None = None
        self._asked: WorkerOrder | None = None
        self._ready: Worker | None = None
        self._lock = threading.Lock()

    def spawn(self, limits: Limits | None = None, core: int = template_protocol.ANYWHERE) -> Worker:
        """Take the spare, or fork a worker.

        Args:
            limits: What its program may use.
            core: Where a worker that has to be forked stays; a spare is where it was asked to be.

        Raises:
            SandboxError: The template cannot be started, or died twice.
        """
        order = _order(limits, core)
        with self._lock:
            try:
                return self._take(order)
            except _BROKEN:
                self._stop()
            try:
                return self._take(order)
            except _BROKEN as error:
                raise self._does_not_start(error) from None

    def refill(
        self,
        limits: Limits | None = None,
        core: int = template_protocol.ANYWHERE,
        *,
        rehearsed: bool = True,
    ) -> None:
        """Ask for the next spare, without waiting for it.

        Args:
            limits: What its program may use.
            core: Where it stays.
            rehearsed: Let it run common programs until it is needed.
        """
        with self._lock, contextlib.suppress(*_BROKEN):  # a dead template is the next run's matter
            if self._keeps_spare and self._control is not None and self._asked is None:
                order = _order(limits, core)
                self._control.sendall(
                    order.pack(template_protocol.SPARE if rehearsed else template_protocol.NOW)
                )
                self._asked = order

    def start(self, limits: Limits | None = None) -> None:
        """Start the template without waiting for it, so that it loads while the parent does.

        Harmless if it runs already.

        Raises:
            SandboxError: No process can be started.
        """
        with self._lock:
            if self._control is not None:
                return
            try:
                self._running()
            except _BROKEN as error:
                raise self._does_not_start(error) from None
        self.refill(limits)

    def report(self) -> LayerReport:
        """Return which layers hold; waits until they are tried.

        Raises:
            SandboxError: The template cannot be started.
        """
        with self._lock:
            try:
                return self._greeting(self._running())
            except _BROKEN as error:
                raise self._does_not_start(error) from None

    def status(self, worker: Worker) -> int | None:
        """Return how a worker ended, as `os.waitpid` tells it; None if that is not known."""
        if worker.pidfd is not None:
            poller = select.poll()
            poller.register(worker.pidfd, select.POLLIN)
            poller.poll(_END_S * 1000)
        with self._lock, contextlib.suppress(*_BROKEN):
            if self._control is not None:
                self._control.sendall(
                    template_protocol.QUESTION.pack(template_protocol.STATUS, worker.inner_pid)
                )
                status = self._answer(self._control, template_protocol.STATUS)
                return None if status < 0 else status
        return None

    def close(self) -> None:
        """End the template, and with it every worker."""
        with self._lock:
            self._stop()

    def _running(self) -> socket.socket:
        if self._control is None:
            if not hasattr(socket, "send_fds") or not hasattr(os, "fork"):
                raise SandboxError("the sandbox needs Linux or macOS; on Windows use WSL")
            self._control, theirs = socket.socketpair()
            self._control.settimeout(_LOOK_S)
            command = [sys.executable, "-s", "-P", "-S", "-W", "ignore", str(_SCRIPT)]
            arguments = [str(theirs.fileno()), ",".join(sorted(self._without)), *_import_paths()]
            with theirs:
                self._process = subprocess.Popen(
                    [*command, *arguments],
                    pass_fds=[theirs.fileno()],
                    env=_ENVIRONMENT,
                    stdin=subprocess.DEVNULL,
                    stdout=subprocess.DEVNULL,
                    stderr=subprocess.PIPE,  # read if it ends: nobody else's screen is for that
                    cwd="/",
                    process_group=0,  # Ctrl-C in the terminal is for the parent, from the first
                )
        return self._control

    def _take(self, order: WorkerOrder) -> Worker:
        """Return the spare if it is as wanted and alive, else a new worker."""
        control = self._running()
        if self._is_over():
            raise OSError("it ended")  # and its workers are ending: the spare is not to be used
        self._greeting(control)
        if self._asked is not None:
            asked, spare = self._asked, self._claim(control)
            if asked.limits == order.limits and _silent(spare.answers):
                return spare
            spare.end()
        self._asked = order
        control.sendall(order.pack(template_protocol.NOW))
        return self._claim(control)

    def _claim(self, control: socket.socket) -> Worker:
        """Wait for the worker that was asked for, and take it."""
        if self._ready is None:
            self._answer(control, template_protocol.WORKER)
        assert self._ready is not None
        worker, order = self._ready, self._asked
        worker = replace(worker, core=order.core) if order else worker
        self._ready = self._asked = None
        return worker

    def _answer(self, control: socket.socket, kind: bytes) -> int:
        """Read answers up to one of this kind; a worker that comes is kept as the one ready."""
        while True:
            data, descriptors, _, _ = self._heard(
                lambda: socket.recv_fds(control, template_protocol.ANSWER.size, 3, _CLOSED)
            )
            found, number = template_protocol.ANSWER.unpack(data)
            if found == template_protocol.WORKER:
                requests, answers, *pidfd = descriptors
                self._ready = Worker(pidfd[0] if pidfd else None, requests, answers, number)
            if found == kind:
                return int(number)

    def _greeting(self, control: socket.socket) -> LayerReport:
        """Return what the template said of its layers when it started."""
        if self._report is None:
            (size,) = struct.unpack("<i", self._heard(lambda: control.recv(4, socket.MSG_WAITALL)))
            hello = self._heard(lambda: control.recv(size, socket.MSG_WAITALL))
            layers, missing = json.loads(hello)
            self._report = LayerReport(tuple(layers), missing)
        return self._report

    def _heard(self, read: Callable[[], T]) -> T:
        """Read from the template, as long as it runs and is not overdue.

        Raises:
            OSError: It does not, or is.
        """
        last_s = time.monotonic() + _ANSWER_S
        while True:
            try:
                return read()
            except TimeoutError:
                if self._is_over() or time.monotonic() > last_s:
                    raise

    def _is_over(self) -> bool:
        """Tell whether the template ended, or somebody stopped it."""
        if self._process is None or self._process.poll() is not None:
            return True
        if not hasattr(os, "waitid"):  # as on macOS before Python 3.13: only its silence tells
            return False
        look = os.WSTOPPED | os.WNOHANG | os.WNOWAIT
        with contextlib.suppress(ChildProcessError):
            return os.waitid(os.P_PID, self._process.pid, look) is not None
        return False

    def _does_not_start(self, error: BaseException) -> SandboxError:
        """Stop what there is of the template; return the error with what it said last."""
        words = self._stop() or str(error)
        return SandboxError(f"the sandbox process does not start: {words}")

    def _stop(self) -> str:
        """End the template; return the last line it wrote, if any."""
        if self._ready is not None:
            self._ready.end()
        if self._control is not None:
            self._control.close()
        words = ""
        if self._process is not None:
            self._process.kill()
            self._process.wait()
            assert self._process.stderr is not None
            with self._process.stderr as said:
                os.set_blocking(said.fileno(), False)  # a child may live a moment longer
                lines = (said.read() or b"").decode(errors="replace").split("\n")
            words = next((line.strip() for line in reversed(lines) if line.strip()), "")
        self._control = self._process = self._report = self._asked = self._ready = None
        return words[:_MOST_CHARS]


def _silent(descriptor: int) -> bool:
    """Return True if the process at the other end lives and has said nothing yet."""
    poller = select.poll()
    poller.register(descriptor, select.POLLIN)
    return not poller.poll(0)


def _order(limits: Limits | None, core: int) -> WorkerOrder:
    limits = limits or Limits()
    return WorkerOrder(WorkerLimits(limits.program_s, limits.memory_bytes), core)


def _import_paths() -> list[str]:
    """Return the folders the template imports from: only those of the packages it needs."""
    found: dict[str, None] = {}
    for name in _PACKAGES:
        spec = importlib.util.find_spec(name)
        if spec is None or spec.origin is None:
            raise SandboxError(f"package '{name}' is not installed; run: pip install {name}")
        found[str(Path(spec.origin).resolve().parent.parent)] = None
    return list(found)
