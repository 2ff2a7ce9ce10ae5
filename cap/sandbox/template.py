"""The template process: libraries loaded once, one fork per program.

The parent runs it as a script: `template.py CONTROL_FD WITHOUT MODULES PATH...`, where WITHOUT
names the kernel layers to leave out and MODULES those that programs may import. It never sees
program text. It says which layers hold, loads the modules, locks itself down and forks workers.
"""

from __future__ import annotations

import contextlib
import ctypes
import fcntl
import gc
import importlib
import json
import os
import signal
import socket
import struct
import sys
import time
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from cap.sandbox.frames import Order, WorkerLimits
    from cap.sandbox.kernel.layers import LayerReport
    from cap.sandbox.worker import ProgramRunner

_CONTROL = 10
"""The control socket here, out of the way of the workers' own descriptors."""
_REQUESTS, _ANSWERS = 3, 4
"""A worker's two pipes; 0 to 2 are /dev/null. They are the lowest that are free here."""
_REMEMBERED = 256
"""Ended workers whose status is kept until the parent asks."""
_END_S = 0.5
"""How long a question waits for a worker that is just ending."""
_LARGE_BLOCK_BYTES = 8 << 20
_LATE = (
    *(
        f"encodings.{name}"
        for name in (
            *("ascii", "big5", "charmap", "cp1251", "cp1252", "cp437", "euc_jp", "euc_kr"),
            *("gb18030", "gb2312", "gbk", "iso8859_15", "koi8_r", "latin_1", "raw_unicode_escape"),
            *("shift_jis", "unicode_escape", "utf_16", "utf_16_be", "utf_16_le", "utf_32"),
            *("utf_32_be", "utf_32_le", "utf_7", "utf_8_sig"),
        )
    ),
    *("_strptime", "difflib", "unicodedata"),
)
"""What the library imports on first use: a worker has no files left to import from."""


def main(descriptor: int, without: frozenset[str], modules: Sequence[str]) -> None:
    """Try the layers, report them, load the modules, lock down, and fork workers on request.

    Args:
        descriptor: Of the control socket.
        without: Layers to leave out, for tests.
        modules: What programs may import.
    """
    from cap.errors import SandboxError
    from cap.sandbox.kernel import lockdown, namespaces

    signal.signal(signal.SIGINT, signal.SIG_IGN)  # Ctrl-C is for the parent
    with contextlib.suppress(OSError):  # the first to go when memory runs out
        Path("/proc/self/oom_score_adj").write_text("1000")
    try:
        report = lockdown.probe(without)
    except SandboxError as error:
        sys.exit(str(error))  # the parent reads the last line
    if "namespaces" in report.layers:
        namespaces.enter()
    control = socket.socket(fileno=descriptor)
    hello = json.dumps([report.layers, dict(report.missing)]).encode()
    control.sendall(struct.pack("<i", len(hello)) + hello)
    for name in (*_LATE, *modules):
        with contextlib.suppress(ImportError):  # a Python may be built without some
            importlib.import_module(name)
    _warm_up()

    from cap.sandbox.worker import ProgramRunner

    restricted = "seccomp" not in report.layers and "views" not in without
    programs = ProgramRunner(modules, restricted=restricted)
    serving = fcntl.fcntl(control.detach(), fcntl.F_DUPFD_CLOEXEC, _CONTROL)
    server = _ForkServer(socket.socket(fileno=serving), report, programs)
    os.close(descriptor)
    os.closerange(3, serving)
    os.environ.clear()
    gc.freeze()
    gc.enable()
    lockdown.lock_template(report)
    server.serve()


def _warm_up() -> None:
    """Take the first-use costs of numpy and shapely once for all workers."""
    import numpy as np
    import shapely

    square = np.eye(64) + 0.1
    np.linalg.solve(square, square[0])
    square @ square.T
    np.random.default_rng(0)
    shapely.Polygon([(0, 0), (1, 0), (0, 1)]).buffer(0.1)
    # Freeing a large block teaches the allocator to keep such blocks instead of mapping them again.
    bytearray(_LARGE_BLOCK_BYTES)


class _ForkServer:
    """Forks workers, each with its ends of two pipes that the parent made."""

    def __init__(
        self, control: socket.socket, report: LayerReport, programs: ProgramRunner
    ) -> None:
        from cap.sandbox.kernel import lockdown

        self._control = control
        self._report = report
        self._programs = programs
        self._children: dict[int, int] = {}
        """Numbers of the workers that live, by their process ids."""
        self._statuses: dict[int, int] = {}
        """Wait statuses of workers that ended, by their numbers."""
        self._lock = lockdown.worker_lock(report)
        self._mapped_bytes = lockdown.mapped_bytes()
        self._fork: Callable[[], int] = os.fork
        if sys.platform == "linux":
            # `os.fork` reseeds modules and runs hooks in the child: half a millisecond that a
            # process with one thread and no hooks does not need. `PyDLL` keeps the interpreter's
            # lock held over it.
            self._fork = ctypes.PyDLL(None).fork

    def serve(self) -> None:
        """Follow each order until the parent closes the socket."""
        from cap.sandbox import frames

        while True:
            message, pipes, _, _ = socket.recv_fds(
                self._control, frames.ORDER_BYTES, 2, socket.MSG_WAITALL
            )
            if not message:
                return
            order = frames.Order.read(message)
            if order.kind == frames.SPAWN:
                if pipes != [_REQUESTS, _ANSWERS]:
                    raise OSError(f"a worker's pipes came as {pipes}")
                self._spawn(order)
            elif order.kind == frames.END:
                for child, number in self._children.items():
                    if number == order.number:
                        os.kill(child, signal.SIGKILL)
            else:
                status = self._status(order.number)
                self._control.sendall(frames.STATUS_ANSWER.pack(order.number, status))
            self._collect()  # only now may the process ids of ended workers be used again

    def _spawn(self, order: Order) -> None:
        """Fork one worker and keep nothing of its pipes here."""
        child = self._fork()
        if child == 0:
            try:
                self._become_worker(order.limits)
            finally:
                os._exit(70)
        if child < 0:
            raise OSError("fork failed")
        self._children[child] = order.number
        os.closerange(_REQUESTS, _ANSWERS + 1)

    def _become_worker(self, limits: WorkerLimits) -> None:
        from cap.sandbox.kernel import lockdown

        os.dup2(0, 2)  # standard output is /dev/null already
        os.closerange(_ANSWERS + 1, os.sysconf("SC_OPEN_MAX"))
        for step in (
            *lockdown.worker_limits(limits, self._mapped_bytes, self._report),
            *self._lock,
        ):
            step()
        self._programs.serve(_REQUESTS, _ANSWERS)

    def _collect(self) -> None:
        """Note which workers have ended."""
        with contextlib.suppress(ChildProcessError):
            while (ended := os.waitpid(-1, os.WNOHANG)) != (0, 0):
                child, status = ended
                if (number := self._children.pop(child, None)) is not None:
                    self._statuses[number] = status
                    if len(self._statuses) > _REMEMBERED:
                        del self._statuses[next(iter(self._statuses))]

    def _status(self, number: int) -> int:
        """Return how a worker ended, after a short wait for it; -1 if it did not, or is unknown."""
        last_s = time.monotonic() + _END_S
        while number in self._children.values() and time.monotonic() < last_s:
            time.sleep(_END_S / 500)
            self._collect()
        return self._statuses.pop(number, -1)


if __name__ == "__main__":
    gc.disable()  # imports make much that stays and hardly any garbage
    _, control_fd, left_out, listed, *sys.path[:0] = sys.argv
    with contextlib.suppress(ConnectionError):  # the parent is gone: nothing is left to do
        main(int(control_fd), frozenset(filter(None, left_out.split(","))), listed.split(","))
