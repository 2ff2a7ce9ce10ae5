"""SIGTERM and SIGHUP end a command like Ctrl-C: robot stopped, workers killed, trace closed.

The handler raises `Stopped` in the main thread. That alone may come to nothing:

- Python handles signals between two steps of the main thread. One that comes just before that
  thread waits in C, or comes to another thread, is handled only when the wait is over.
- An exception raised inside a finalizer, or in a callback of a C library, is printed and dropped.

So a thread of its own is told of each signal at once, by the wakeup descriptor. It looks whether
the exception is on its way; where it is not, it wakes the main thread, which raises another.
"""

from __future__ import annotations

import os
import signal
import threading
import time
import weakref

from cap.errors import Stopped, stop_in

_LOOK_S = 0.1
"""Between two looks at whether the main thread has taken notice."""
_CTRL_C_LOOKS = 2
"""Ctrl-C may be caught for good, so it is not raised again: only waits in C are woken."""


class StopSignals:
    """Inside, in the main thread, SIGTERM and SIGHUP raise `Stopped` until it gets out."""

    def __init__(self) -> None:
        """Listen to nothing yet."""
        self._asked = 0
        """The signal that asked to stop, 0 before."""
        self._raised: weakref.ref[Stopped] | None = None
        """Dead once the exception was dropped."""
        self._ended = False
        self._told = self._tell = -1
        """The ends of the pipe that each signal's number goes through."""

    def __enter__(self) -> None:
        """Take over the signals."""
        if not hasattr(signal, "pthread_kill"):  # Windows ends a process in its own way
            return
        self._told, self._tell = os.pipe()
        os.set_blocking(self._tell, False)
        for number in (signal.SIGTERM, signal.SIGHUP):
            signal.signal(number, self._stop)
        # By default this one is ignored: it may come late, and to any thread, without harm.
        signal.signal(signal.SIGURG, lambda _, frame: self._stop(self._asked, frame))
        self.listen()
        threading.Thread(target=self._watch, name="cap-signals", daemon=True).start()

    def __exit__(self, kind: object, error: BaseException | None, trace: object) -> None:
        """Give the signals back: from now on they end the process at once."""
        self._ended = True
        if self._tell != -1:
            for number in (signal.SIGTERM, signal.SIGHUP):
                signal.signal(number, signal.SIG_DFL)
        if (stop := stop_in(error)) is not None and stop is not error:
            raise stop

    def listen(self) -> None:
        """Have the thread told of signals, also after an event loop took that for itself."""
        if self._tell != -1:
            signal.set_wakeup_fd(self._tell, warn_on_full_buffer=False)

    def _stop(self, number: int, frame: object) -> None:
        self._asked = number
        if number == 0 or self._ended or self._on_its_way():
            return
        stopped = Stopped(128 + number)
        self._raised = weakref.ref(stopped)
        try:
            raise stopped
        finally:
            del stopped  # its traceback holds this frame, which must not hold it

    def _on_its_way(self) -> bool:
        return self._raised is not None and self._raised() is not None

    def _watch(self) -> None:
        """Wake the main thread until it has taken notice of what this thread was told."""
        main = threading.main_thread().ident
        assert main is not None
        while not self._ended:
            numbers = os.read(self._told, 64)
            for _ in range(_CTRL_C_LOOKS if signal.SIGINT in numbers else 0):
                time.sleep(_LOOK_S)
                signal.pthread_kill(main, signal.SIGURG)
            for number in {signal.SIGTERM, signal.SIGHUP}.intersection(numbers):
                self._asked = number
            while self._asked and not self._ended:
                time.sleep(_LOOK_S)
                if not self._on_its_way():
                    signal.pthread_kill(main, signal.SIGURG)


stop_signals = StopSignals()
"""The process's own: signals are one to a process."""
