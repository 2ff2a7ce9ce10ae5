"""Ctrl-C, SIGTERM, SIGHUP and SIGQUIT end a command: robot stopped, workers killed, trace closed.

A signal raises an exception in the main thread. That alone may come to nothing:

- Python handles signals between two steps of the main thread. One that comes just before that
  thread waits in C, or comes to another thread, is handled only when the wait is over.
- An exception raised inside a finalizer, or in a callback of a C library, is printed and dropped;
  a library may catch it and go on.
- What is done on the way out may wait for something that does not come.

So the request is what counts, not the exception: it stands until a turn that Ctrl-C ended has
taken it, or the process is gone. A thread of its own gets each signal at once, by the wakeup
descriptor. As long as the request stands and the main thread is not just dealing with it, that
thread wakes it, and the exception is raised again. A second request ends the process at once, and
so does a first that the main thread does not come to terms with.

Who stops something presses Ctrl-C more than once. What comes within a second of a request is that
request, also once it was taken, until something else begins. Where nothing runs that could be
stopped, as at a prompt, Ctrl-C raises nothing: so there is no moment between a program and the
prompt at which it would end the session.
"""

from __future__ import annotations

import contextlib
import os
import select
import signal
import sys
import threading
import time
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

from cap.errors import Stopped, stop_in

if TYPE_CHECKING:
    from sys import UnraisableHookArgs
    from types import FrameType

BY_CTRL_C = "stopped by Ctrl-C"
_LOOK_S = 0.1
"""Time between two checks of whether the main thread has noticed."""
_SAME_S = 1.0
"""Signals this close are one request: a terminal that closes sends several, and so do groups, and
people press a key again."""
_LAST_S = 20.0
"""What is done on the way out may take so long: robots come to rest, workers end."""


class StopSignals:
    """Inside, a signal raises KeyboardInterrupt or `Stopped` until it gets out, or is taken."""

    def __init__(self) -> None:
        """Listen to nothing yet."""
        self.asked = 0
        """The signal that asked to stop and was not taken; 0 if none did."""
        self.why = BY_CTRL_C
        """How an interrupt is described: code that raises one for another reason sets and resets
        it."""
        self._since_s: float | None = None
        """When the watching thread got that request."""
        self._unnoticed = False
        """The watching thread got a signal that the main thread has not noticed yet."""
        self._raises = False
        self._held = 0
        """How many times what the main thread does may not be broken off just now."""
        self._idle = False
        """Nothing runs that Ctrl-C could stop."""
        self._taken_s: float | None = None
        """When Ctrl-C ended something, and nothing else has begun since."""
        self._numbers: dict[int, Any] = {}
        """What was done before about each signal that is looked after."""
        self._reader = self._writer = -1
        """The ends of the pipe that each signal's number goes through."""

    def __enter__(self) -> None:
        """Take over the signals, but for those the process was started to ignore (`nohup`)."""
        if not hasattr(signal, "pthread_kill"):  # Windows ends a process in its own way
            return
        stops = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP, signal.SIGQUIT)
        before = {one: signal.getsignal(one) for one in stops}
        self._numbers = {one: what for one, what in before.items() if what != signal.SIG_IGN}
        self._reader, self._writer = os.pipe()
        os.set_blocking(self._writer, False)
        # By default this one is ignored: it may come late, and to any thread, without harm.
        signal.signal(signal.SIGURG, self._look)
        self._raises = True
        self.listen()
        sys.unraisablehook = _say_dropped
        threading.Thread(target=self._watch, name="cap-signals", daemon=True).start()

    def __exit__(self, *_: object) -> None:
        """Give the signals back: from now on each ends the process at once.

        Raises:
            BaseException: The request, if one stands, whatever has become of it.
        """
        self._raises = False
        for number, before in self._numbers.items():
            at_once = signal.SIG_DFL if before == signal.default_int_handler else before
            signal.signal(number, at_once)
        if self.asked:
            raise self._exception() from None

    def listen(self) -> None:
        """Get signals, also after an event loop took them over."""
        if self._raises:
            for number in self._numbers:
                signal.signal(number, self._stop)
            signal.set_wakeup_fd(self._writer, warn_on_full_buffer=False)

    @contextlib.contextmanager
    def held(self) -> Iterator[None]:
        """Inside, the main thread is not broken off; for what takes no time, but must be whole."""
        if threading.current_thread() is not threading.main_thread():  # it alone is broken off
            yield
            return
        self._held += 1
        try:
            yield
        finally:
            self._held -= 1
            self._look()

    @contextlib.contextmanager
    def released(self) -> Iterator[None]:
        """Inside, within what is `held`, the main thread may be broken off."""
        if threading.current_thread() is not threading.main_thread():
            yield
            return
        before, self._held = self._held, 0
        try:
            self._look()
            yield
        finally:  # no call comes before it, so no stop does
            self._held = before

    @contextlib.contextmanager
    def idle(self) -> Iterator[None]:
        """Inside, Ctrl-C does nothing, but for where it is `heard`."""
        self._idle = True
        try:
            yield
        finally:
            self._idle = False

    @contextlib.contextmanager
    def heard(self) -> Iterator[None]:
        """Inside, something runs that Ctrl-C stops."""
        self.begun()
        before, self._idle = self._idle, False
        try:
            yield
        finally:  # no call comes before it, so no stop does
            self._idle = before

    def begun(self) -> None:
        """Note that something else begins: Ctrl-C is of it, however soon after another one."""
        self._taken_s = None

    def taken(self) -> None:
        """Note that Ctrl-C has ended what it should, and that the command goes on without."""
        self._taken_s = time.monotonic()
        if self.asked == signal.SIGINT:
            self.asked, self._since_s = 0, None

    def _stop(self, number: int, frame: FrameType | None) -> None:
        """Note a request; in the main thread, as all handlers."""
        taken_s = self._taken_s
        again = taken_s is not None and time.monotonic() - taken_s < _SAME_S
        if self.asked in (0, signal.SIGINT) and not (again and number == signal.SIGINT):
            self.asked = number
        with contextlib.suppress(BlockingIOError):  # an event loop may have got it instead
            os.write(self._writer, b"\0")
        self._look()

    def _look(self, *_: object) -> None:
        """Raise the exception of the request, unless the main thread is dealing with it."""
        self._unnoticed = False
        if self._idle and self.asked == signal.SIGINT:
            self.asked = 0
        if not self.asked:
            self._since_s = None
        elif self._raises and not self._held and stop_in(sys.exc_info()[1]) is None:
            raise self._exception()

    def _exception(self) -> BaseException:
        return KeyboardInterrupt() if self.asked == signal.SIGINT else Stopped(128 + self.asked)

    def _watch(self) -> None:
        """Wake the main thread until it deals with the signals this thread got."""
        main = threading.main_thread().ident
        assert main is not None
        number = 0
        while True:
            stands = self._unnoticed or self.asked
            ready = select.select([self._reader], [], [], _LOOK_S if stands else None)[0]
            numbers = set(os.read(self._reader, 64) if ready else b"").intersection(self._numbers)
            now_s = time.monotonic()
            since_s = self._since_s
            if since_s is None:
                if numbers or self.asked:
                    self._since_s = now_s
            elif now_s - since_s > (_SAME_S if numbers else _LAST_S):
                os._exit(128 + (self.asked or number))
            if numbers:
                self._unnoticed, number = True, min(numbers)
            elif not ready and (self._unnoticed or stop_in(_current(main)) is None):
                signal.pthread_kill(main, signal.SIGURG)


def _current(thread: int) -> BaseException | None:
    """Return the exception that a thread is dealing with."""
    found = sys._current_exceptions().get(thread)
    return found[1] if isinstance(found, tuple) else found  # a triple up to Python 3.11


def _say_dropped(dropped: UnraisableHookArgs) -> None:
    """Say what Python drops, but for a stop: that is raised again."""
    if stop_in(dropped.exc_value) is None:
        sys.__unraisablehook__(dropped)


stop_signals = StopSignals()
"""The process's own: signals are one to a process."""
