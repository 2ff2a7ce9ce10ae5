"""The template's own work: fork a worker for each order, remember how the old ones ended."""

from __future__ import annotations

import contextlib
import ctypes
import os
import select
import signal
import socket
import sys
import time
from collections.abc import Callable, Sequence
from functools import partial
from typing import NoReturn

from cap.sandbox import template_protocol
from cap.sandbox.kernel import lockdown
from cap.sandbox.kernel.layers import LayerReport
from cap.sandbox.template_protocol import ANYWHERE, Order, WorkerLimits
from cap.sandbox.worker import worker
from cap.sandbox.worker.worker import Parent

CONTROL = 10
"""The control socket here, out of the way of the workers' own."""
_REQUESTS, _ANSWERS = 3, 4
"""A worker's own two descriptors, besides /dev/null on 0 to 2: the lowest that are free here."""
_REMEMBERED = 256
"""How many ended workers are remembered until somebody asks."""
_END_S = 0.5
"""How long a question waits for a worker that is just ending."""


class ForkServer:
    """Forks workers, each with its ends of two pipes that the parent made."""

    def __init__(self, control: socket.socket, report: LayerReport) -> None:
        """Prepare everything that workers share; the libraries are loaded already.

        Args:
            control: To the parent.
            report: The layers that hold.
        """
        self._control = control
        self._report = report
        self._children: dict[int, int] = {}
        """Process ids of the workers that live, by their numbers."""
        self._numbers: dict[int, int] = {}
        """The other way round."""
        self._ended: dict[int, int] = {}
        """Wait statuses of some that ended, by their numbers."""
        self._first: dict[WorkerLimits, Sequence[Callable[[], object]]] = {}
        """What a worker does first, by its limits; each step is ready to be called."""
        self._lock = lockdown.worker_lock(report)
        self._mapped_bytes = lockdown.mapped_bytes()
        if "language" in report.without:
            from cap.sandbox.worker.unrestricted import Unrestricted  # no other template needs it

            self._setup: worker.ProgramSetup = Unrestricted()
        else:
            self._setup = worker.ProgramSetup(own_builtins="builtins" in report.without)
        self._parent = Parent(_REQUESTS, _ANSWERS)
        self._cores = os.sched_getaffinity(0) if hasattr(os, "sched_getaffinity") else set()
        self._avoided = ANYWHERE
        self._fork: Callable[[], int] = os.fork
        if sys.platform == "linux":
            # `os.fork` reseeds modules and runs hooks in the child: half a millisecond that a
            # process with one thread and no hooks does not need. `PyDLL` keeps the interpreter's
            # lock held over it.
            self._fork = ctypes.PyDLL(None).fork

    def serve(self) -> None:
        """Answer each order until the parent closes the socket."""
        while True:
            message, given, _, _ = socket.recv_fds(
                self._control, template_protocol.ORDER_BYTES, 2, socket.MSG_WAITALL
            )
            if not message:
                return
            order = Order.read(message)
            if order.setting_bytes != template_protocol.AS_BEFORE:
                setting = self._control.recv(order.setting_bytes, socket.MSG_WAITALL)
                self._setup.expect(setting, self._parent)
            match order.kind:
                case template_protocol.NOW | template_protocol.SPARE:
                    if given != [_REQUESTS, _ANSWERS]:
                        raise OSError(f"a worker's pipes came as {given}")
                    self._start(order)
                case template_protocol.STATUS:
                    self._answer(order, self._status(order.number))
                case template_protocol.IDENTITY:
                    child = self._children.get(order.number, -1)
                    if child < 0 or not hasattr(os, "pidfd_open"):
                        self._answer(order, child)
                    else:  # a descriptor tells the process, whoever has its number later
                        named = os.pidfd_open(child)
                        self._answer(order, child, named)
                        os.close(named)
            if order.ended in self._children:  # after the fork, for which somebody may wait
                self._end(self._children[order.ended], order.caller)
            self._collect()  # only now may the process ids of ended workers be used again

    def _end(self, child: int, core: int) -> None:
        """Kill a worker, away from the caller: taking a process down takes as long as forking one.

        Args:
            child: Its process id.
            core: The caller's, `ANYWHERE` if it may be any.
        """
        with contextlib.suppress(ProcessLookupError):  # it has ended by itself
            if cores := self._cores - {core}:
                os.sched_setaffinity(child, cores)
            os.kill(child, signal.SIGKILL)

    def _collect(self) -> None:
        """Note which workers have ended."""
        with contextlib.suppress(ChildProcessError):
            while (ended := os.waitpid(-1, os.WNOHANG)) != (0, 0):
                child, status = ended
                number = self._numbers.pop(child, 0)
                self._children.pop(number, None)
                self._ended[number] = status
                if len(self._ended) > _REMEMBERED:
                    del self._ended[next(iter(self._ended))]

    def _status(self, number: int) -> int:
        """Return how a worker ended, after a short wait for it; -1 if it did not, or is unknown."""
        last_s = time.monotonic() + _END_S
        while number in self._children and time.monotonic() < last_s:
            time.sleep(_END_S / 500)
            self._collect()
        return self._ended.pop(number, -1)

    def _answer(self, order: Order, value: int, *given: int) -> None:
        message = template_protocol.ANSWER.pack(order.kind, order.number, value)
        socket.send_fds(self._control, [message], given)

    def _start(self, order: Order) -> None:
        """Fork one worker and keep nothing of its pipes here.

        What can be done before the fork is done here: every page a child writes to is copied, be
        it for the count of references to a function that it calls.

        Args:
            order: What it may use, and where.
        """
        if order.caller != self._avoided and len(self._cores) > 1:
            # Not on the caller's: an order that woke this process there held it up.
            os.sched_setaffinity(0, self._cores - {order.caller})
            self._avoided = order.caller
        if order.limits not in self._first:  # most orders ask for the same
            self._first = {order.limits: self._steps(order.limits)}
        first = self._first[order.limits]
        child = self._fork()
        if child == 0:
            try:
                self._become(first, order)
            finally:
                os._exit(70)
        if child < 0:
            raise OSError("fork failed")
        self._children[order.number], self._numbers[child] = child, order.number
        os.closerange(_REQUESTS, _ANSWERS + 1)

    def _steps(self, limits: WorkerLimits) -> Sequence[Callable[[], object]]:
        """Return what a worker does first: close everything but its two pipes, and take limits."""
        return (
            partial(os.dup2, 0, 2),  # standard output is nobody's already
            partial(os.closerange, _ANSWERS + 1, os.sysconf("SC_OPEN_MAX")),
            *lockdown.worker_limits(limits, self._mapped_bytes, self._report),
            # Whoever waits ends the rehearsing.
            partial(os.write, _ANSWERS, template_protocol.READY),
        )

    def _become(self, first: Sequence[Callable[[], object]], order: Order) -> NoReturn:
        """Lock this process down and run its one program."""
        for step in first:
            step()
        if order.kind == template_protocol.SPARE:
            self._setup.rehearse(lambda: bool(select.select([_REQUESTS], [], [], 0)[0]))
        self._setup.prepare(self._setup.expected, self._parent)
        if self._cores:  # only now, so as not to be in the caller's way before
            anywhere = order.core == ANYWHERE
            os.sched_setaffinity(0, self._cores if anywhere else {order.core})
        for step in self._lock:
            step()
        worker.main(self._setup, self._parent, order.core, self._cores)
