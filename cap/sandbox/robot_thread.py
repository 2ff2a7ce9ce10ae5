"""The one thread a robot's functions run on, watched by the thread that waits for them.

Robot functions may block: in C, in a socket, in a lock. So they do not run on the caller's thread.
That one waits, and so it can always stop the robot, answer Ctrl-C and go on after a grace time,
whatever the function does. The hand-over costs some 30 us; so work is handed over in stretches, a
whole run of calls at a time, and never call by call.

What a function has to ask a person is asked on the thread that waits: Ctrl-C comes to that one, so
it ends the question, and nobody is left who reads what is typed later.
"""

from __future__ import annotations

import contextlib
import contextvars
import os
import queue
import threading
import time
from collections.abc import Callable
from typing import Any, Protocol, TypeVar

from cap.errors import NotApproved

T = TypeVar("T")
_own = threading.local()
"""Of each thread: its own robot thread, and on a robot's the outcome that is waited for."""
_STACK_BYTES = 16 << 20
"""Values nested to their limit are read on this stack."""
_NAP_S = 0.005
"""The shortest wait before another look at the clock."""
_LONG_S = 0.5
"""The longest: a signal that comes just before a wait begins is handled only after it."""
_AGAIN_S = 0.05
"""Between two tellings of a function to end."""


class TimedWork(Protocol):
    """What runs on the thread, as the waiting side sees it."""

    def left_s(self) -> float:
        """Return the seconds until its time may be over; none left means that it is."""

    def interrupt(self) -> None:
        """Tell it to end: stop the robot, kill the workers."""

    def abandon(self) -> bool:
        """Let go of a call that does not end; False if it is not inside one."""


class _Outcome:
    """The result of one piece of work: it can be asked for again, also after a wait was cut short.

    What is taken from a queue cannot: a signal may come between the taking and the having.
    """

    def __init__(self) -> None:
        self._answer: tuple[Any, BaseException | None] | None = None
        self._told = threading.Lock()
        self._told.acquire()
        self._question: Callable[[], Any] | None = None
        """What the work asks, until the waiting thread has taken it up."""
        self._asked: _Outcome | None = None
        """The result of its last question."""
        self._ended = False
        """The work was asked to end: no answer counts from then on."""

    def tell(self, answer: tuple[Any, BaseException | None]) -> None:
        self._answer = answer
        self.wake()

    def within(self, seconds: float) -> tuple[Any, BaseException | None] | None:
        """Wait so long for the answer, or for a question; None if there is no answer yet."""
        if self._answer is None and self._question is None:
            self._told.acquire(timeout=seconds)
        return self._answer

    def ask(self, question: Callable[[], T]) -> T:
        """Have the waiting thread answer a question of the work; on the work's thread.

        Raises:
            NotApproved: The work was asked to end before there was an answer.
        """
        self._asked = asked = _Outcome()
        self._question = question
        if self._ended:
            raise _unanswered()
        self.wake()
        while (answer := asked.within(_LONG_S)) is None:
            pass
        value, error = answer
        if error is not None:
            raise error
        return value  # type: ignore[no-any-return]

    def answer_question(self) -> None:
        """Answer what the work asks, if it asks something; on the waiting thread."""
        question, self._question = self._question, None
        if question is None or self._asked is None:
            return
        try:
            answer: tuple[Any, BaseException | None] = (question(), None)
        except Exception as error:  # the thread that asked raises it
            answer = (None, error)
        self._asked.tell(answer)

    def end(self) -> None:
        """Leave its question, and each that is still to come, without an answer."""
        self._ended, self._question = True, None
        if self._asked is not None:
            self._asked.tell((None, _unanswered()))

    def wake(self) -> None:
        """Have who waits look again."""
        with contextlib.suppress(RuntimeError):  # somebody else has just done so
            self._told.release()


def _unanswered() -> NotApproved:
    return NotApproved("stopped before there was an answer; the program ended there")


class Hung(Exception):
    """A function did not end in its grace time; it still runs."""


class RobotThread:
    """Runs one robot's functions, one at a time, in the order they are asked for."""

    hung = False
    """True after a robot's function did not return when stopped; until `reset`."""
    has_robot = True
    """False where plain functions run: nobody has to see to one that hangs, and others go on."""
    stop_asked = False
    """Who waits for the robot, now or next, gets a KeyboardInterrupt; who asked takes it back."""
    _jobs: queue.SimpleQueue[Any] | None = None
    _thread: threading.Thread | None = None
    _waited: _Outcome | None = None
    """The result of the work that is waited for."""

    def __init__(self) -> None:
        """Start nothing yet."""
        self._process = os.getpid()
        self.served: list[TimedWork] = []
        """The programs whose calls it may get, also while they make none."""
        self._begun: dict[int, tuple[_Outcome, TimedWork]] = {}
        """The last work of each waiting thread, until it is over: a second Ctrl-C may cut short
        how the first one ends it."""

    def __del__(self) -> None:
        """Let the thread end."""
        self.reset()

    def reset(self) -> None:
        """Go on with a new thread, after somebody made sure that the robot is at rest."""
        if self._jobs is not None:
            self._jobs.put(None)
        self.hung = False
        self._jobs = self._thread = None

    def stop(self) -> None:
        """End what is waited for, and the programs behind it, as Ctrl-C does; from any thread."""
        self.stop_asked = True
        for program in list(self.served):
            program.interrupt()
        if (waited := self._waited) is not None:
            waited.wake()

    def run(self, work: Callable[[], T], watched: TimedWork, grace_s: float) -> T:
        """Run something on the thread and wait for it; on the thread itself, just run it.

        Args:
            work: What to run.
            watched: How to tell its time and to end it.
            grace_s: How long it may take to end, in seconds, once it is asked to.

        Raises:
            Hung: It did not.
            KeyboardInterrupt: Passed on after the work was asked to end.
        """
        if self._thread is threading.current_thread():
            return work()
        if self._process != os.getpid():  # threads do not survive a fork
            self._jobs, self._begun = None, {}
        if (left := self._begun.get(threading.get_ident())) is not None:
            self._end(*left, grace_s)
        if self._jobs is None:
            self._process = os.getpid()
            self._jobs = queue.SimpleQueue()
            self._thread = _start(self._jobs)
        self._waited = outcome = _Outcome()
        answer = None
        try:
            self.heed_stop()
            self._begun[threading.get_ident()] = outcome, watched
            self._jobs.put((work, contextvars.copy_context(), outcome))
            while answer is None and (left_s := watched.left_s()) > 0:
                answer = outcome.within(min(max(left_s, _NAP_S), _LONG_S))
                if answer is None:
                    self.heed_stop()
                outcome.answer_question()
        except BaseException:  # Ctrl-C comes to the thread that waits
            self._end(outcome, watched, grace_s)
            raise
        finally:
            self._waited = None
        if answer is None and not self._end(outcome, watched, grace_s):
            raise Hung
        while answer is None:  # between two calls: its worker is dead, so it ends by itself
            answer = outcome.within(_LONG_S)
        self._begun.pop(threading.get_ident(), None)
        value, error = answer
        if error is not None:
            raise error
        return value  # type: ignore[no-any-return]

    def heed_stop(self) -> None:
        """End who waits, if that was asked for.

        Raises:
            KeyboardInterrupt: It was.
        """
        if self.stop_asked:
            raise KeyboardInterrupt

    def _end(self, outcome: _Outcome, watched: TimedWork, grace_s: float) -> bool:
        """Tell the work to end, again and again; False if it hangs in a call.

        A stop that comes just before a robot's function begins would count as one before it.
        """
        outcome.end()
        last_s = time.monotonic() + grace_s
        while True:
            watched.interrupt()
            left_s = last_s - time.monotonic()
            ended = outcome.within(max(0.0, min(left_s, _AGAIN_S))) is not None
            if ended or left_s <= 0.0:
                break
        hangs = not ended and watched.abandon()
        if hangs and self.has_robot:
            self.hung = True
        elif hangs:
            self.reset()
        self._begun.pop(threading.get_ident(), None)
        return not hangs


def _start(jobs: queue.SimpleQueue[Any]) -> threading.Thread:
    before = threading.stack_size(_STACK_BYTES)
    try:
        # A daemon: a function that never returns must not keep the process from ending.
        thread = threading.Thread(target=_serve, args=(jobs,), name="cap-robot", daemon=True)
        thread.start()
    finally:
        threading.stack_size(before)
    return thread


def _serve(jobs: queue.SimpleQueue[Any]) -> None:
    while (job := jobs.get()) is not None:
        work, context, outcome = job
        _own.waiting = outcome
        try:
            answer: tuple[Any, BaseException | None] = (context.run(work), None)
        except BaseException as error:  # the waiting thread raises it
            answer = (None, error)
        outcome.tell(answer)
        del job, work, context, outcome, answer, _own.waiting  # keep nothing alive until the next


def on_waiting_thread(question: Callable[[], T]) -> T:
    """Answer a question on the thread that waits for the robot's, where Ctrl-C ends it.

    Raises:
        NotApproved: The caller was asked to end before there was an answer.
    """
    outcome: _Outcome | None = getattr(_own, "waiting", None)
    return question() if outcome is None else outcome.ask(question)


def callers_thread() -> RobotThread:
    """Return the calling thread's own, for programs without a robot."""
    try:
        thread: RobotThread = _own.thread
    except AttributeError:
        thread = _own.thread = RobotThread()
        thread.has_robot = False
    return thread
