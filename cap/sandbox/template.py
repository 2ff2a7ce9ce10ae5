"""The template process: numpy and shapely loaded once, one fork per program.

Run as a script by `cap.sandbox.processes`: `python -I -S template.py CONTROL_FD PATH...`. It never
sees program text. Each message on the control socket brings two pipe ends; the answer is the
new worker's process id.
"""

from __future__ import annotations

import contextlib
import gc
import os
import signal
import socket
import struct
import sys


def serve(control: socket.socket) -> None:
    """Fork one worker for each message until the parent closes the socket."""
    from cap.sandbox import worker

    _warm()
    while True:
        message, descriptors, _, _ = socket.recv_fds(control, 1, 2)
        if not message:
            return
        _reap()
        pid = os.fork()
        if pid == 0:
            control.close()
            try:
                worker.main(*descriptors)
            finally:
                os._exit(70)
        for descriptor in descriptors:
            os.close(descriptor)
        control.sendall(struct.pack("<i", pid))


def _warm() -> None:
    """Take first-use costs here, once, instead of in every worker."""
    import numpy as np
    import shapely

    from cap.sandbox.namespace import library

    library(0)
    np.linalg.norm(np.linalg.solve(np.eye(3), np.ones(3)))
    np.random.default_rng(0)
    shapely.Polygon([(0, 0), (1, 0), (0, 1)]).buffer(0.1)
    gc.collect()
    gc.freeze()


def _reap() -> None:
    """Collect ended workers; only now may their process ids be used again."""
    with contextlib.suppress(ChildProcessError):
        while os.waitpid(-1, os.WNOHANG)[0]:
            pass


if __name__ == "__main__":
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # Ctrl-C is the parent's to handle
    sys.path[:0] = sys.argv[2:]
    with contextlib.suppress(OSError):  # the parent is gone: nothing is left to do
        serve(socket.socket(fileno=int(sys.argv[1])))
