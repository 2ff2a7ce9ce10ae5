"""The parent's side of the template process: it starts workers and ends them."""

from __future__ import annotations

import atexit
import contextlib
import fcntl
import importlib.util
import itertools
import json
import os
import select
import socket
import struct
import subprocess
import sys
import threading
import time
import weakref
from collections.abc import Callable
from pathlib import Path
from typing import TypeVar

from cap.checker.policy import BENCHMARK_MODULES, ROBOT_MODULES
from cap.errors import SandboxError, pip_install
from cap.sandbox.frames import (
    END,
    READY,
    SPAWN,
    STATUS,
    STATUS_ANSWER,
    Order,
    PeerClosed,
    WorkerLimits,
)
from cap.sandbox.kernel.layers import LayerReport
from cap.sandbox.limits import Limits

T = TypeVar("T")
_SCRIPT = Path(__file__).with_name("template.py")
_PACKAGES = ("cap", "numpy", "shapely", "msgpack")
_ENVIRONMENT = {
    "OPENBLAS_NUM_THREADS": "1",
    "OMP_NUM_THREADS": "1",
    # Otherwise each worker would resolve the same symbols again.
    "LD_BIND_NOW": "1",
    # The same program must walk through the same set in the same order every time.
    "PYTHONHASHSEED": "0",
}
_ANSWER_S = 30.0
"""A template that takes longer is broken."""
_LOOK_MS = 500
"""Between two looks at whether it still runs."""
_LAST_LINE_CHARS = 300
_DONT_WAIT = getattr(socket, "MSG_DONTWAIT", 0)
_BROKEN = (OSError, struct.error, ValueError)


class Worker:
    """One worker, as the parent holds it."""

    def __init__(self, template: WorkerTemplate, number: int, limits: WorkerLimits) -> None:
        """Make its two pipes; the template is asked for the process behind them.

        Raises:
            OSError: There are no descriptors left.
        """
        self._template = template
        self.number = number
        self.limits = limits
        self.layers: tuple[str, ...] = ()
        """The layers that lock it down."""
        theirs, self.requests = os.pipe()
        """Write end: the job, then answers to its calls."""
        try:
            self.answers, theirs_too = os.pipe()
            """Read end: that it is ready, its calls, its result."""
        except OSError:
            os.close(theirs)
            os.close(self.requests)
            raise
        self.given = theirs, theirs_too
        """Its own ends, until they are with the template."""
        os.set_blocking(self.requests, False)  # one that does not read must not hold the parent
        self._open = [self.requests, self.answers]
        self._borrowed = self._closed = False

    def end(self) -> None:
        """Kill it if it still runs and close the parent's ends."""
        self.kill()
        self.close()

    def kill(self) -> None:
        """End it, whatever it does; harmless after it ended, and in any thread."""
        self._template.kill(self.number)

    def close(self) -> None:
        """Close the parent's ends, or have the thread that uses them do it.

        A closed descriptor's number may be another pipe's a moment later, and that thread would
        use it.
        """
        self._closed = True
        if not self._borrowed:
            self._close()

    def borrow(self) -> None:
        """Keep the ends open while another thread than the one that ends it uses them.

        Raises:
            PeerClosed: They are closed, or are to be.
        """
        self._borrowed = True
        if self._closed:
            raise PeerClosed

    def give_back(self) -> None:
        """Use the ends no more."""
        self._borrowed = False
        if self._closed:
            self._close()

    def _close(self) -> None:
        self.requests = self.answers = -1
        with contextlib.suppress(IndexError):  # each is one thread's to close
            while True:
                os.close(self._open.pop())


_templates: dict[tuple[int, bool, frozenset[str]], WorkerTemplate] = {}
"""Shared templates, by process id: a fork must not talk over its parent."""


def shared_template(
    modules: frozenset[str] = ROBOT_MODULES, without: frozenset[str] = frozenset()
) -> WorkerTemplate:
    """Return this process's template for programs that import such modules.

    Args:
        modules: What they may import: beyond a robot's list, all of the benchmarks' are loaded.
        without: Kernel layers to leave out, for tests.
    """
    key = os.getpid(), modules <= ROBOT_MODULES, without
    if key not in _templates:
        listed = ROBOT_MODULES if key[1] else BENCHMARK_MODULES
        _templates[key] = WorkerTemplate(listed, without=without)
        atexit.register(_templates[key].close)
    return _templates[key]


_clients: weakref.WeakSet[WorkerTemplate] = weakref.WeakSet()


def _forget_all() -> None:
    for client in list(_clients):
        client.forget()


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_forget_all)


class WorkerTemplate:
    """The warm process that forks workers; started at first use, restarted if it dies.

    One spare worker is kept ready and locked down, so that a program starts at once.
    """

    def __init__(
        self,
        modules: frozenset[str] = ROBOT_MODULES,
        *,
        spare: bool = True,
        without: frozenset[str] = frozenset(),
    ) -> None:
        """Start nothing yet.

        Args:
            modules: What programs may import.
            spare: Keep a worker ready.
            without: What to leave out, for tests: kernel layers, `capabilities`, or the `views`
                that stand for modules where no layer holds.
        """
        self._modules = modules
        self._keeps_spare = spare
        self._without = without
        self._process: subprocess.Popen[bytes] | None = None
        self._control: socket.socket | None = None
        self._report: LayerReport | None = None
        self._spare: Worker | None = None
        self._numbers = itertools.count(1)
        self._lock = threading.Lock()
        _clients.add(self)

    def start(self, limits: Limits | None = None) -> None:
        """Start the template, and a spare, without waiting for them; harmless if it runs.

        Raises:
            SandboxError: No process can be started.
        """
        with self._lock:
            if self._control is None:
                self._run()
                self._order_spare(_worker_limits(limits))

    def report(self) -> LayerReport:
        """Return which layers hold; waits until they are tried.

        Raises:
            SandboxError: The template cannot be started.
        """
        with self._lock:
            return self._again(self._read_report)

    def spawn(self, limits: Limits | None = None) -> Worker:
        """Return a worker that waits for its program: the spare, or a new one.

        Raises:
            SandboxError: The template cannot be started, or died twice.
        """
        with self._lock:
            worker = self._again(lambda: self._take(_worker_limits(limits)))
            worker.layers = self._read_report().layers
            return worker

    def refill(self, limits: Limits | None = None) -> None:
        """Ask for the next spare, without waiting for it."""
        with self._lock:
            if self._control is not None:
                self._order_spare(_worker_limits(limits))

    def status(self, worker: Worker) -> int | None:
        """Return how a worker ended, as `os.waitpid` says it; None if that is not known."""
        with self._lock, contextlib.suppress(*_BROKEN):
            if self._control is None:
                return None
            self._send(Order(STATUS, worker.number))
            while True:
                self._wait(self._control.fileno())
                answer = self._control.recv(STATUS_ANSWER.size, socket.MSG_WAITALL)
                number, status = STATUS_ANSWER.unpack(answer)
                if number == worker.number:  # an earlier question may have been interrupted
                    return None if status < 0 else status
        return None

    def kill(self, number: int) -> None:
        """End a worker; those of a template that is gone ended with it."""
        with contextlib.suppress(OSError):
            self._send(Order(END, number))

    def close(self) -> None:
        """End the template, and with it every worker."""
        with self._lock:
            self._stop()

    def forget(self) -> None:
        """Begin again in a fork: the template, its spare and the lock are the other process's."""
        self._lock = threading.Lock()
        self._close_ends()
        if self._process is not None:
            assert self._process.stderr is not None
            self._process.stderr.close()
            self._process.returncode = 0  # not this process's to wait for
        self._process = None

    def _again(self, action: Callable[[], T]) -> T:
        """Run an action on the running template, on a new one if the first is broken."""
        for attempt in (1, 2):
            try:
                if self._control is None:
                    self._run()
                return action()
            except _BROKEN as error:
                last_line = self._stop() or str(error)
                if attempt == 2:
                    why = f"the sandbox process does not start: {last_line}"
                    raise SandboxError(why) from None
            except BaseException:  # Ctrl-C: an answer may be half read
                if self._report is None:
                    self._stop()
                raise
        raise AssertionError

    def _run(self) -> None:
        """Start the template's process.

        Raises:
            SandboxError: This system has no fork, or a package is not installed.
        """
        if not hasattr(socket, "send_fds") or not hasattr(os, "fork"):
            raise SandboxError("the sandbox needs Linux or macOS; on Windows use WSL")
        paths = _import_paths()
        ours, theirs = socket.socketpair()
        with theirs:
            # Where standard streams are closed, the socket may have got one of their numbers.
            given = fcntl.fcntl(theirs, fcntl.F_DUPFD_CLOEXEC, 3)
            try:
                options = [sys.executable, "-s", "-P", "-S", "-W", "ignore", str(_SCRIPT)]
                modules = ",".join(sorted(self._modules))
                arguments = [str(given), ",".join(sorted(self._without)), modules, *paths]
                self._process = subprocess.Popen(
                    options + arguments,
                    pass_fds=[given],
                    env=_ENVIRONMENT,
                    stdin=subprocess.DEVNULL,
                    stdout=subprocess.DEVNULL,
                    stderr=subprocess.PIPE,  # read if it ends
                    cwd="/",
                    process_group=0,  # Ctrl-C in the terminal is for the parent
                )
            except OSError as error:
                ours.close()
                raise SandboxError(f"the sandbox process does not start: {error}") from None
            finally:
                os.close(given)
        self._control = ours

    def _take(self, limits: WorkerLimits) -> Worker:
        """Return the spare if it is as wanted and alive, else a new worker."""
        if self._process is not None and self._process.poll() is not None:
            raise OSError("the template has ended")  # and its spare ends with it
        self._read_report()
        spare, self._spare = self._spare, None
        if spare is not None:
            if spare.limits == limits and self._is_ready(spare):
                return spare
            spare.end()
        worker = self._order(limits)
        if self._is_ready(worker):
            return worker
        worker.end()
        raise OSError("its workers end at once")

    def _order_spare(self, limits: WorkerLimits) -> None:
        if self._keeps_spare and self._spare is None:
            with contextlib.suppress(SandboxError, *_BROKEN):  # the next run's matter
                self._spare = self._order(limits)

    def _order(self, limits: WorkerLimits) -> Worker:
        """Ask for a worker; does not wait.

        Raises:
            SandboxError: This process has no descriptors left.
            OSError: The template takes no orders.
        """
        try:
            worker = Worker(self, next(self._numbers), limits)
        except OSError as error:
            raise SandboxError(f"the sandbox process does not start a worker: {error}") from None
        try:
            self._send(Order(SPAWN, worker.number, limits), worker.given)
        except BaseException:  # Ctrl-C
            worker.close()
            raise
        finally:
            for descriptor in worker.given:
                os.close(descriptor)
        return worker

    def _send(self, order: Order, descriptors: tuple[int, ...] = ()) -> None:
        """Send an order; a template that takes no more of them is broken.

        Raises:
            OSError: It is, or it is gone.
        """
        if self._control is None:
            raise OSError("it ended")
        message = order.pack()
        if socket.send_fds(self._control, [message], descriptors, _DONT_WAIT) < len(message):
            raise OSError("it takes no more orders")

    def _is_ready(self, worker: Worker) -> bool:
        """Wait until a worker says that it is ready; return False if it is dead."""
        return bool(
            self._wait(worker.answers) & select.POLLIN and os.read(worker.answers, 1) == READY
        ) and not (_events(worker.answers) & select.POLLHUP)

    def _read_report(self) -> LayerReport:
        """Return what the template says of its layers when it starts."""
        if self._report is None:
            assert self._control is not None
            self._wait(self._control.fileno())
            if len(head := self._control.recv(4, socket.MSG_WAITALL)) < 4:
                raise OSError("it ended before it was ready")
            (size,) = struct.unpack("<i", head)
            layers, missing = json.loads(self._control.recv(size, socket.MSG_WAITALL))
            self._report = LayerReport(tuple(layers), missing)
        return self._report

    def _wait(self, descriptor: int) -> int:
        """Wait for the template, or a worker, to speak or end; return what `poll` saw.

        Raises:
            OSError: The template ended, or was stopped, or it is overdue.
        """
        last_s = time.monotonic() + _ANSWER_S
        while not (found := _events(descriptor, _LOOK_MS)):
            if self._is_over() or time.monotonic() > last_s:
                raise OSError("it does not answer")
        return found

    def _is_over(self) -> bool:
        """Return True if the template ended, or was stopped."""
        if self._process is None:
            return True
        if not hasattr(os, "waitid"):  # as on macOS before Python 3.13
            return self._process.poll() is not None
        # Not `poll`: a signal in the middle of it leaves a lock behind that `wait` waits for.
        look = os.WEXITED | os.WSTOPPED | os.WNOHANG | os.WNOWAIT
        try:
            return os.waitid(os.P_PID, self._process.pid, look) is not None
        except ChildProcessError:  # collected by other code
            return True

    def _close_ends(self) -> None:
        for end in (self._spare, self._control):
            if end is not None:
                end.close()
        self._control = self._report = self._spare = None

    def _stop(self) -> str:
        """End the template; return the last line it wrote, if any."""
        self._close_ends()
        process, self._process = self._process, None
        if process is None:
            return ""
        process.kill()
        process.wait()
        assert process.stderr is not None
        with process.stderr as errors:
            os.set_blocking(errors.fileno(), False)  # a child may live a moment longer
            lines = (errors.read() or b"").decode(errors="replace").split("\n")
        last = next((line.strip() for line in reversed(lines) if line.strip()), "")
        return last[:_LAST_LINE_CHARS]


def _events(descriptor: int, timeout_ms: int = 0) -> int:
    """Return what `poll` sees of a descriptor, 0 for nothing."""
    poller = select.poll()
    poller.register(descriptor, select.POLLIN)
    found = poller.poll(timeout_ms)
    return found[0][1] if found else 0


def _worker_limits(limits: Limits | None) -> WorkerLimits:
    limits = limits or Limits()
    return WorkerLimits(limits.program_s, limits.memory_bytes)


def _import_paths() -> list[str]:
    """Return the folders the template imports from: only those of the packages it needs."""
    found: dict[str, None] = {}
    for name in _PACKAGES:
        spec = importlib.util.find_spec(name)
        if spec is None or spec.origin is None:
            raise SandboxError(f"package '{name}' is not installed; run: {pip_install(name)}")
        found[str(Path(spec.origin).resolve().parent.parent)] = None
    return list(found)
