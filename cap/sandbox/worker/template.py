"""The template process: libraries loaded once, one fork per program.

Run as a script by the parent, as `template.py CONTROL_FD WITHOUT BLOCKED PATH...`, where WITHOUT
names the layers to leave out, and BLOCKED the libraries that no program here may have.
It never sees program text. It first says which layers hold; then it loads what programs need,
locks itself down and serves.
"""

from __future__ import annotations

import contextlib
import fcntl
import gc
import importlib
import json
import os
import signal
import socket
import struct
import sys
from pathlib import Path

_BLOCK_BYTES = 8 << 20
_ENCODINGS = (
    *("ascii", "big5", "charmap", "cp1251", "cp1252", "cp437", "euc_jp", "euc_kr", "gb18030"),
    *("gb2312", "gbk", "iso8859_15", "koi8_r", "latin_1", "raw_unicode_escape", "shift_jis"),
    *("unicode_escape", "utf_16", "utf_16_be", "utf_16_le", "utf_32", "utf_32_be", "utf_32_le"),
    *("utf_7", "utf_8_sig"),
)
"""Pure computation, each in a module of its own."""
_LATE = (
    *(f"encodings.{name}" for name in _ENCODINGS),
    *("difflib", "unicodedata"),
)
"""What the libraries import on first use; a worker has no files left to import from."""
_FOR_ATTACKS = ("ctypes", "mmap", "os", "resource", "select", "signal", "socket", "subprocess")
"""What programs with Python's own builtins attack with, in tests of the other layers."""


def main(descriptor: int, without: frozenset[str]) -> None:
    """Try the layers, say which hold, load the libraries, lock, and serve.

    Args:
        descriptor: Of the control socket.
        without: Layers to leave out.
    """
    from cap.errors import SandboxError
    from cap.sandbox.kernel import lockdown, namespaces

    signal.signal(signal.SIGINT, signal.SIG_IGN)  # Ctrl-C is for the parent
    with contextlib.suppress(OSError):  # the first to go when memory runs out
        Path("/proc/self/oom_score_adj").write_text("1000")
    try:
        report = lockdown.probe(without)
    except SandboxError as error:
        sys.exit(str(error))  # the parent reads what is said last
    if "namespaces" in report.layers:
        namespaces.enter()
    control = socket.socket(fileno=descriptor)
    hello = json.dumps([report.layers, dict(report.missing)]).encode()
    control.sendall(struct.pack("<i", len(hello)) + hello)
    _load(_FOR_ATTACKS if "builtins" in without else ())
    if "language" in without:
        from cap.sandbox.worker import unrestricted

        unrestricted.load()

    from cap.sandbox.worker import fork_server

    serving = fcntl.fcntl(control.detach(), fcntl.F_DUPFD_CLOEXEC, fork_server.CONTROL)
    server = fork_server.ForkServer(socket.socket(fileno=serving), report)
    os.close(descriptor)
    os.closerange(3, serving)  # the lowest are the workers', who find them where they need them
    os.environ.clear()
    gc.freeze()
    gc.enable()
    lockdown.lock_template(report)
    server.serve()


def _load(more: tuple[str, ...]) -> None:
    """Import everything a program may need, and take first-use costs once for all workers."""
    for name in (*_LATE, *more):
        importlib.import_module(name)
    if sys.modules.get("numpy", True) is None:  # blocked
        return
    import numpy as np
    import numpy.ma
    import shapely

    square = np.eye(64) + 0.1
    np.linalg.solve(square, square[0])
    square @ square.T
    np.random.default_rng(0)
    shapely.Polygon([(0, 0), (1, 0), (0, 1)]).buffer(0.1)
    # Freeing a large block teaches the allocator to keep such blocks instead of mapping anew.
    bytearray(_BLOCK_BYTES)


if __name__ == "__main__":
    gc.disable()  # imports make much that stays and hardly any garbage
    _, control_fd, left_out, blocked, *sys.path[:0] = sys.argv
    for name in filter(None, blocked.split(",")):
        sys.modules[name] = None  # type: ignore[assignment] # so that it is not imported
    with contextlib.suppress(ConnectionError):  # the parent is gone: nothing is left to do
        main(int(control_fd), frozenset(filter(None, left_out.split(","))))
