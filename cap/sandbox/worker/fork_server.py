"""The template's own work: fork a worker for each order, remember how the old ones ended."""

from __future__ import annotations

import contextlib
import ctypes
import os
import select
import socket
import sys
from collections.abc import Callable
from typing import NoReturn

from cap.sandbox import template_protocol
from cap.sandbox.kernel import lockdown
from cap.sandbox.kernel.layers import LayerReport
from cap.sandbox.kernel.lockdown import KernelLimits
from cap.sandbox.template_protocol import WorkerLimits, WorkerOrder
from cap.sandbox.worker import worker

CONTROL = 10
"""The control socket here, out of the way of the descriptors that workers renumber."""
_REQUESTS, _ANSWERS = 3, 4
"""A worker's own two descriptors, besides /dev/null on 0 to 2."""
_REMEMBERED = 256
"""How many ended workers are remembered until somebody asks."""


class ForkServer:
    """Forks workers, each with two pipes whose other ends go to the parent."""

    def __init__(self, control: socket.socket, report: LayerReport) -> None:
        """Prepare everything that workers share; the libraries are loaded already.

        Args:
            control: To the parent.
            report: The layers that hold.
        """
        self._control = control
        self._report = report
        self._ended: dict[int, int] = {}
        self._limits: dict[WorkerLimits, KernelLimits] = {}
        self._lock = lockdown.worker_lock(report)
        self._mapped_bytes = lockdown.mapped_bytes()
        self._setup = worker.ProgramSetup(own_builtins="builtins" in report.without)
        self._most_descriptors = os.sysconf("SC_OPEN_MAX")
        self._fork: Callable[[], int] = os.fork
        if sys.platform == "linux":
            # `os.fork` reseeds modules and runs hooks in the child: half a millisecond that a
            # process with one thread and no hooks does not need. `PyDLL` keeps the interpreter's
            # lock held over it.
            self._fork = ctypes.PyDLL(None).fork

    def serve(self) -> None:
        """Answer each order until the parent closes the socket."""
        while message := self._control.recv(template_protocol.ORDER_BYTES, socket.MSG_WAITALL):
            # Collect ended workers; only now may their process ids be used again.
            with contextlib.suppress(ChildProcessError):
                while (ended := os.waitpid(-1, os.WNOHANG)) != (0, 0):
                    child, status = ended
                    self._ended[child] = status
                    if len(self._ended) > _REMEMBERED:
                        del self._ended[next(iter(self._ended))]
            if message[:1] == template_protocol.STATUS:
                _, child = template_protocol.QUESTION.unpack(message)
                status = self._ended.pop(child, -1)
                self._control.sendall(
                    template_protocol.ANSWER.pack(template_protocol.STATUS, status)
                )
            else:
                self._start(WorkerOrder.read(message), message[:1] == template_protocol.SPARE)

    def _start(self, order: WorkerOrder, spare: bool) -> None:
        """Fork one worker and keep nothing of its pipes here.

        What can be done before the fork is done here: every page a child writes to is copied.
        """
        theirs, requests = os.pipe()
        answers, their_answers = os.pipe()
        os.set_blocking(requests, False)  # a worker that does not read must not hold the parent
        if order.limits not in self._limits:  # most orders ask for the same
            limits = lockdown.kernel_limits(order.limits, self._mapped_bytes)
            self._limits = {order.limits: limits}
        limits = self._limits[order.limits]
        child = self._fork()
        if child == 0:
            try:
                self._become(theirs, their_answers, limits, order.core, spare)
            finally:
                os._exit(70)
        if child < 0:
            raise OSError("fork failed")
        # The worker's ends go before the parent knows of it: it tells by them that a worker died.
        for descriptor in (theirs, their_answers):
            os.close(descriptor)
        self._announce(child, requests, answers)

    def _announce(self, child: int, requests: int, answers: int) -> None:
        """Send the parent its ends, and what names the process where its number does not."""
        given = [requests, answers]
        if hasattr(os, "pidfd_open"):
            given.append(os.pidfd_open(child))
        message = template_protocol.ANSWER.pack(template_protocol.WORKER, child)
        socket.send_fds(self._control, [message], given)
        for descriptor in given:
            os.close(descriptor)

    def _become(
        self, requests: int, answers: int, limits: KernelLimits, core: int, spare: bool
    ) -> NoReturn:
        """Close everything but the two pipes, lock this process down, run its one program."""
        os.dup2(answers, CONTROL - 1)
        os.dup2(requests, _REQUESTS)
        os.dup2(CONTROL - 1, _ANSWERS)
        os.dup2(0, 1)
        os.dup2(0, 2)
        os.closerange(_ANSWERS + 1, self._most_descriptors)
        limits.apply(self._report)
        if spare:
            self._setup.rehearse(lambda: bool(select.select([_REQUESTS], [], [], 0)[0]))
        # The core only now, so as not to be in the caller's way before.
        if core != template_protocol.ANYWHERE:
            os.sched_setaffinity(0, {core})
        for step in self._lock:
            step()
        worker.main(self._setup, _REQUESTS, _ANSWERS)
