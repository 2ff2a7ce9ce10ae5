"""Starting and ending workers from the parent: the template process, its spare, its children."""

from __future__ import annotations

import atexit
import contextlib
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
from functools import cached_property
from pathlib import Path

from cap.errors import SandboxError, pip_install, stop_in
from cap.sandbox import template_protocol
from cap.sandbox.kernel import libc
from cap.sandbox.kernel.layers import LayerReport
from cap.sandbox.limits import Limits
from cap.sandbox.template_protocol import Order, WorkerLimits
from cap.sandbox.wire.errors import PeerClosed

_SCRIPT = Path(__file__).parents[1] / "worker" / "template.py"
_PACKAGES = ("cap", "numpy", "shapely", "msgpack")
_LIBRARIES = ("numpy", "shapely")
"""What plain programs do without: a process that has loaded them takes twice as long to fork."""
_ENVIRONMENT = {
    "OPENBLAS_NUM_THREADS": "1",
    "OMP_NUM_THREADS": "1",
    # What the linker finds at first use it would find anew in each worker.
    "LD_BIND_NOW": "1",
    # The same program must walk through the same set in the same order every time.
    "PYTHONHASHSEED": "0",
}
_ANSWER_S = 30.0
"""The template answers in a millisecond once it is loaded; later, it is broken."""
_LOOK_MS = 500
"""Between two looks at whether it still runs."""
_HURRY_S = 0.003
"""Programs that follow each other in less do so all along: there is no time to prepare a spare."""
_MOST_CHARS = 300
"""Of the last line a template wrote."""
_CLOSED = getattr(socket, "MSG_CMSG_CLOEXEC", 0)
_AT_ONCE = getattr(socket, "MSG_DONTWAIT", 0)
"""A template that takes no more orders is broken: nobody waits for it."""
_BROKEN = (OSError, struct.error, ValueError)


class Worker:
    """One running worker, as the parent holds it."""

    def __init__(self, template: TemplateClient, order: Order) -> None:
        """Make its two pipes; the template is asked for the process behind them.

        Raises:
            OSError: There are no descriptors left.
        """
        self._template = template
        self.order = order
        """What was asked for."""
        self.report = LayerReport()
        """The layers that hold it; known once it is taken."""
        self.setting = b""
        """What its program will most likely find, as the template was told."""
        theirs, self.requests = os.pipe()
        """Write end: the program, then answers to its calls."""
        try:
            self.answers, told = os.pipe()
            """Read end: that it is ready, its calls, its result."""
        except OSError:
            os.close(theirs)
            os.close(self.requests)
            raise
        self.given = theirs, told
        """Its own ends, until they are with the template."""
        os.set_blocking(self.requests, False)  # one that does not read must not hold the parent
        self._open = [self.requests, self.answers]
        self._borrowed = self._closed = False

    @cached_property
    def pid(self) -> int:
        """Its process id here.

        Raises:
            ProcessLookupError: It is over.
        """
        return self._template.pid(self)

    def end(self) -> None:
        """Kill it if it still runs and close the parent's ends."""
        self.kill()
        self.close()

    def kill(self) -> None:
        """End it, whatever it does; harmless after it ended, and in any thread."""
        self._template.kill(self)

    def close(self) -> None:
        """Close the parent's ends, or have the thread that uses them do it; harmless if they are.

        A number that is closed may be another pipe's a moment later, and that thread would use it.
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


_shared: dict[tuple[int, frozenset[str]], TemplateClient] = {}
"""The templates of this process, by its own process id: a fork must not talk over its parent."""


def shared_template(without: frozenset[str] = frozenset()) -> TemplateClient:
    """Return the one template of its kind in this process; it ends with the process.

    Args:
        without: As for `TemplateClient`.
    """
    own = os.getpid()
    if (own, without) not in _shared:
        for other in [key for key in _shared if key[0] != own]:
            del _shared[other]
        _shared[own, without] = TemplateClient(without=without)
        atexit.register(_shared[own, without].close)
    return _shared[own, without]


_clients: weakref.WeakSet[TemplateClient] = weakref.WeakSet()


def _forget_all() -> None:
    """Let go, in a fork, of the templates of the process it came from."""
    for client in list(_clients):
        client.forget()
    # Python 3.11 has a lock for each cached property of a class; who holds one may not be here.
    ours = [module for name, module in sys.modules.items() if name.partition(".")[0] == "cap"]
    kinds = [kind for module in ours for kind in vars(module).values() if isinstance(kind, type)]
    for entry in [entry for kind in kinds for entry in vars(kind).values()]:
        if isinstance(entry, cached_property) and hasattr(entry, "lock"):
            entry.lock = threading.RLock()


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_forget_all)


class TemplateClient:
    """The warm process that forks workers; started at first use, restarted if it dies.

    One spare worker is kept ready, locked down and warm, so that a program starts at once.
    """

    def __init__(
        self,
        *,
        spare: bool = True,
        without: frozenset[str] = frozenset(),
        libraries: bool = True,
    ) -> None:
        """Start nothing yet.

        Args:
            spare: Keep a worker ready.
            without: Layers to leave out: for tests the kernel's, `capabilities` and `builtins`;
                `language` for programs that find Python as it is, held by the kernel alone.
            libraries: Load numpy and shapely; without them workers are for plain programs.
        """
        self._libraries = libraries
        self._keeps_spare = spare
        self._without = without
        self._process: subprocess.Popen[bytes] | None = None
        self._control: socket.socket | None = None
        self._report: LayerReport | None = None
        self._spare: Worker | None = None
        self._last: Worker | None = None
        """The last that was told to end. To close its pipes at once wakes it, on the core of who
        goes on, and taking a process down takes longer than most programs; where they follow each
        other, that core is soon idle, and the other is not."""
        self._ended_s = -_HURRY_S
        """When that was, on the monotonic clock."""
        self._setting: bytes | None = None
        """What the template knows of programs; None if that is not certain."""
        self._numbers = itertools.count(1)
        self._lock = threading.Lock()
        _clients.add(self)

    @cached_property
    def plain(self) -> TemplateClient:
        """The same without numpy and shapely, for programs that cannot tell the difference."""
        if not self._libraries or "builtins" in self._without:  # those may import what they like
            return self
        return TemplateClient(spare=self._keeps_spare, without=self._without, libraries=False)

    @property
    def restricts(self) -> bool:
        """True if programs find the names that the check lists; else Python as it is."""
        return "language" not in self._without

    def forget(self) -> None:
        """Begin anew in a fork: the template, its spare and the lock are the other process's."""
        self._lock = threading.Lock()
        self._let_go()
        if self._process is not None:
            assert self._process.stderr is not None
            self._process.stderr.close()
            self._process.returncode = 0  # not this process's to wait for
        self._process = None

    def _let_go(self) -> None:
        """Close what leads to the template, which may be over."""
        for end in (self._spare, self._last, self._control):
            if end is not None:
                end.close()
        self._control = self._report = self._spare = self._last = self._setting = None

    def spawn(
        self,
        limits: Limits | None = None,
        core: int = template_protocol.ANYWHERE,
        setting: bytes = b"",
    ) -> Worker:
        """Take the spare, or have a worker forked; return it once it waits for its program.

        Args:
            limits: What its program may use.
            core: Where a worker that has to be forked stays; a spare is where it was asked to be.
            setting: What its program finds, for one that has to be forked.

        Raises:
            SandboxError: The template cannot be started, or died twice.
        """
        allowed = _worker_limits(limits)
        with self._lock:
            hurried = time.monotonic() - self._ended_s < _HURRY_S
            try:
                worker = self._take(allowed, core, setting)
            except _BROKEN:
                self._stop()
                try:
                    worker = self._take(allowed, core, setting)
                except _BROKEN as error:
                    raise self._does_not_start(error) from None
            try:
                if hurried and self._keeps_spare:  # so will the next be: it is made meanwhile
                    self._have_made(template_protocol.NOW, allowed, core, setting)
            except BaseException:  # Ctrl-C
                worker.end()
                raise
        return worker

    def expect(self, limits: Limits, setting: bytes) -> None:
        """Have a worker made while its program is being read, unless one is there or on its way.

        Args:
            limits: What its program may use.
            setting: What its program will most likely find.
        """
        with self._lock:
            allowed, anywhere = _worker_limits(limits), template_protocol.ANYWHERE
            self._have_made(template_protocol.NOW, allowed, anywhere, setting)

    @property
    def has_spare(self) -> bool:
        """True if a worker waits or is on its way."""
        return self._spare is not None

    def refill(
        self,
        limits: Limits | None = None,
        core: int = template_protocol.ANYWHERE,
        *,
        ended: Worker | None = None,
        setting: bytes = b"",
    ) -> None:
        """Ask for the next spare if none is on its way, without waiting for it.

        Args:
            limits: What its program may use.
            core: Where it stays.
            ended: One to be ended, in the same order.
            setting: What its program will most likely find.
        """
        ordered, gone = False, [ended]
        try:
            with self._lock:
                hurried = self._spare is not None
                if self._keeps_spare:
                    allowed = _worker_limits(limits)
                    ordered = self._have_made(
                        template_protocol.SPARE, allowed, core, setting, ended=ended
                    )
                if ended is not None:
                    self._ended_s = time.monotonic()
                    last, self._last = self._last, None if hurried else ended
                    gone = [last, ended if hurried else None]
        finally:
            if ended is not None and not ordered:
                ended.kill()
            for worker in gone:
                if worker is not None:
                    worker.close()

    def _have_made(
        self,
        kind: bytes,
        limits: WorkerLimits,
        core: int,
        setting: bytes,
        ended: Worker | None = None,
    ) -> bool:
        """Order a spare unless there is one; tell whether that was done."""
        if self._control is None or self._spare is not None:
            return False
        with contextlib.suppress(SandboxError, *_BROKEN):  # the next run's matter
            self._spare = self._order(kind, limits, core, setting=setting, ended=ended)
            return True
        return False

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
        if self._control is None and self.plain is not self:  # the same hold in both
            return self.plain.report()
        with self._lock:
            try:
                return self._greeting(self._running())
            except _BROKEN as error:
                raise self._does_not_start(error) from None

    def status(self, worker: Worker) -> int | None:
        """Return how a worker ended, as `os.waitpid` tells it; None if that is not known."""
        with self._lock, contextlib.suppress(*_BROKEN):
            status, _ = self._ask(template_protocol.STATUS, worker)
            return None if status < 0 else status
        return None

    def pid(self, worker: Worker) -> int:
        """Return a worker's process id here; the template may live among others of its own.

        Raises:
            ProcessLookupError: It is over, or so is the template.
        """
        with self._lock, contextlib.suppress(*_BROKEN):
            number, named = self._ask(template_protocol.IDENTITY, worker)
            for descriptor in named:
                try:
                    facts = Path(f"/proc/self/fdinfo/{descriptor}").read_bytes()
                finally:
                    os.close(descriptor)
                number = int(facts.partition(b"\nPid:")[2].partition(b"\n")[0])
            if number > 0:
                return number
        raise ProcessLookupError

    def kill(self, worker: Worker) -> None:
        """End a worker; one of a template that is gone ended with it."""
        control = self._control
        if control is not None:
            order = Order(template_protocol.END, ended=worker.order.number)
            with contextlib.suppress(OSError):
                control.send(order.pack(), _AT_ONCE)

    def close(self) -> None:
        """End the template, and with it every worker."""
        with self._lock:
            self._stop()
        if (plain := vars(self).get("plain", self)) is not self:
            plain.close()

    def _running(self) -> socket.socket:
        if self._control is None:
            if not hasattr(socket, "send_fds") or not hasattr(os, "fork"):
                raise SandboxError("the sandbox needs Linux or macOS; on Windows use WSL")
            paths = _import_paths()
            self._control, theirs = socket.socketpair()
            command = [sys.executable, "-s", "-P", "-S", "-W", "ignore", str(_SCRIPT)]
            blocked = () if self._libraries else _LIBRARIES
            arguments = [str(theirs.fileno()), ",".join(sorted(self._without)), ",".join(blocked)]
            arguments += paths
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

    def _take(self, limits: WorkerLimits, core: int, setting: bytes) -> Worker:
        """Return the spare if it is as wanted and alive, else a new worker."""
        report = self._greeting(self._running())
        spare, self._spare = self._spare, None
        if spare is not None and self._is_ready(spare, limits):
            spare.report = report
            return spare
        worker = self._order(template_protocol.NOW, limits, core, setting=setting, awaited=True)
        if self._is_ready(worker, limits):
            worker.report = report
            return worker
        raise OSError("its workers end at once")

    def _order(
        self,
        kind: bytes,
        limits: WorkerLimits,
        core: int,
        *,
        setting: bytes,
        ended: Worker | None = None,
        awaited: bool = False,
    ) -> Worker:
        """Ask for a worker, and have another one ended; does not wait.

        Where its caller will wait for it, the template may have the caller's core.

        Raises:
            SandboxError: This process has no descriptors left.
            OSError: The template takes no orders.
        """
        assert self._control is not None
        last = 0 if ended is None else ended.order.number
        anywhere = awaited or core == template_protocol.ANYWHERE
        caller = template_protocol.ANYWHERE if anywhere else libc.current_core()
        ahead = setting if len(setting) <= template_protocol.LONGEST_SETTING else b""
        news = b"" if ahead == self._setting else ahead
        size = template_protocol.AS_BEFORE if ahead == self._setting else len(ahead)
        order = Order(kind, next(self._numbers), last, limits, core, caller, size)
        worker = self._prepared(order)
        ordered = False
        try:
            message = order.pack() + news
            worker.setting, self._setting = ahead, None
            if socket.send_fds(self._control, [message], worker.given, _AT_ONCE) < len(message):
                raise OSError("it takes no more orders")
            self._setting = ahead
            ordered = True
        finally:
            for descriptor in worker.given:
                os.close(descriptor)
            if not ordered:  # nobody else could close it, be it for Ctrl-C
                worker.close()
        return worker

    def _prepared(self, order: Order) -> Worker:
        """Return a worker's ends of its pipes; where descriptors lack, the last one's are let go.

        Raises:
            SandboxError: This process has no descriptors left.
        """
        while True:
            try:
                return Worker(self, order)
            except OSError as error:
                last, self._last = self._last, None
                if last is None:
                    why = f"the sandbox process does not start a worker: {error}"
                    raise SandboxError(why) from None
                last.close()

    def _is_ready(self, worker: Worker, limits: WorkerLimits) -> bool:
        """Wait until a worker says that it is ready; end it if it is dead or not as wanted.

        Raises:
            OSError: The template ended, or somebody stopped it.
        """
        ready = False
        try:
            if worker.order.limits == limits:
                if self._is_over():
                    raise OSError("it ended")  # and its workers are ending
                ended = self._wait(worker.answers) & select.POLLHUP
                ready = not ended and os.read(worker.answers, 1) == template_protocol.READY
            return ready
        finally:
            if not ready:
                worker.end()

    def _ask(self, kind: bytes, worker: Worker) -> tuple[int, list[int]]:
        """Ask the template about a worker; return its answer, and a descriptor if it gives one."""
        if self._control is None:
            raise OSError("it ended")
        number = worker.order.number
        self._control.send(Order(kind, number).pack(), _AT_ONCE)
        while True:
            self._wait(self._control.fileno())
            data, given, flags, _ = socket.recv_fds(
                self._control, template_protocol.ANSWER.size, 1, _CLOSED
            )
            *about, value = template_protocol.ANSWER.unpack(data)
            if about == [kind, number]:
                if flags & socket.MSG_CTRUNC:  # what came with it found no place here
                    raise OSError("no descriptors left")
                return value, given
            for descriptor in given:  # somebody asked and did not wait for the answer
                os.close(descriptor)

    def _greeting(self, control: socket.socket) -> LayerReport:
        """Return what the template said of its layers when it started."""
        if self._report is None:
            try:
                self._wait(control.fileno())
                if len(head := control.recv(4, socket.MSG_WAITALL)) < 4:
                    raise OSError("it ended before it was ready")
                (size,) = struct.unpack("<i", head)
                layers, missing = json.loads(control.recv(size, socket.MSG_WAITALL))
            except BaseException as error:  # a stop comes in many shapes
                if stop_in(error) is not None:  # it may be half read
                    self._stop()
                raise
            self._report = LayerReport(tuple(layers), missing)
        return self._report

    def _wait(self, descriptor: int) -> int:
        """Wait for the template, or a worker, to speak or end; return what `poll` saw.

        Raises:
            OSError: The template ended, or somebody stopped it, or it is overdue.
        """
        poller = select.poll()
        poller.register(descriptor, select.POLLIN)
        last_s = time.monotonic() + _ANSWER_S
        while not (found := poller.poll(_LOOK_MS)):
            if self._is_over() or time.monotonic() > last_s:
                raise OSError("it does not answer")
        return found[0][1]

    def _is_over(self) -> bool:
        """Tell whether the template ended, or somebody stopped it."""
        if self._process is None:
            return True
        if not hasattr(os, "waitid"):  # as on macOS before Python 3.13: a stop shows by silence
            return self._process.poll() is not None
        # Not `poll`: a signal in the middle of it leaves a lock behind that `wait` waits for.
        look = os.WEXITED | os.WSTOPPED | os.WNOHANG | os.WNOWAIT
        try:
            return os.waitid(os.P_PID, self._process.pid, look) is not None
        except ChildProcessError:  # somebody else has collected it
            return True

    def _does_not_start(self, error: BaseException) -> SandboxError:
        """Stop what there is of the template; return the error with what it said last."""
        words = self._stop() or str(error)
        return SandboxError(f"the sandbox process does not start: {words}")

    def _stop(self) -> str:
        """End the template; return the last line it wrote, if any."""
        self._let_go()
        words = ""
        if self._process is not None:
            self._process.kill()
            self._process.wait()
            assert self._process.stderr is not None
            with self._process.stderr as said:
                os.set_blocking(said.fileno(), False)  # a child may live a moment longer
                lines = (said.read() or b"").decode(errors="replace").split("\n")
            words = next((line.strip() for line in reversed(lines) if line.strip()), "")
        self._process = None
        return words[:_MOST_CHARS]


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
