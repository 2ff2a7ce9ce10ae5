"""The trusted side of one program: serves its worker's calls and enforces its limits.

LMP primitives run on the caller's thread, where the model, the trace and the user are, and so does
everything while the program makes no robot call. Robot primitives run on the robot's thread
(`robot_thread`): at the first one the conversation moves there, until the program ends or asks an
LMP. The caller's thread waits meanwhile, so it can stop the robot, kill the workers and go on,
whatever a primitive does.
"""

from __future__ import annotations

import contextlib
import functools
import select
import time
from collections.abc import Callable
from contextvars import ContextVar
from dataclasses import replace
from typing import Any, Protocol

from cap.errors import (
    ROBOT_ERRORS,
    LimitExceeded,
    LMPFailed,
    NotApproved,
    NotConnected,
    RobotError,
)
from cap.program.scope import Primitive, Scope
from cap.result import Call, Failure, Result
from cap.sandbox import frames, wire
from cap.sandbox.client import Worker
from cap.sandbox.limits import Clocks, Limits, Listeners, current_clocks
from cap.sandbox.results import Raised, out_of_time, read_result
from cap.sandbox.robot_thread import Hung, RobotThread, callers_thread

_Message = list[Any]
_LAST_LINE = 1_000_000
"""No program has more lines."""
_VALUE_BYTES = 16
"""What each value of a large frame counts at least: it takes memory beyond its bytes."""
_SMALL_BYTES = 256
"""A frame up to this size counts by its bytes alone."""

_current: ContextVar[Server | None] = ContextVar("server", default=None)


class Stoppable(Protocol):
    """What the server needs of a robot; a simulated one also has `sim_time_s`."""

    def stop(self) -> None:
        """Stop all motion at once; safe to call from any thread."""


class Server:
    """One worker's calls, from its program to its result."""

    def __init__(
        self,
        worker: Worker,
        scope: Scope,
        limits: Limits,
        listeners: Listeners | None = None,
        *,
        robot: Stoppable | None = None,
        thread: RobotThread | None = None,
    ) -> None:
        """Prepare to serve a worker; `run` does it.

        Args:
            worker: Runs the program.
            scope: What it may use.
            limits: How much of everything.
            listeners: Called for each call, line and print.
            robot: Stopped when a call takes too long.
            thread: The robot's; without a robot the calling thread has one of its own.
        """
        self.worker = worker
        self.limits = limits
        self._listeners = listeners or Listeners()
        self._print_left = limits.stdout_chars
        self.robot = robot
        self._calls: list[Call] = []
        self._call_bytes = 0
        self._actions = 0
        self.clocks = Clocks(limits)
        self._now_s = self.clocks.start_s
        """When the program and its calls last took turns; each end is the other's begin."""
        self._thread = thread or callers_thread()
        self._primitives = scope.primitives
        self._poller = frames.poll_for(worker.answers, select.POLLIN)
        self._ends = worker.requests, worker.answers
        self._raised: Raised = {}
        self._stopped = False
        self._sim_start_s = self._sim_time_s()
        self._inner: list[Server] = []
        """The programs its LMP calls run, to be killed with it."""
        self._outer = _current.get()

    def run(self, job: bytes) -> Result:
        """Send the job, serve its calls, return its result."""
        tokens = _current.set(self), current_clocks.set(self.clocks)
        if self._outer is not None:
            self._outer._inner.append(self)
        self._thread.served.append(self)
        try:
            self._thread.heed_stop()
            result = self._run(job)
            if result.failure is not None:
                self._thread.heed_stop()
            return result
        finally:
            self._thread.served.remove(self)
            if self._outer is not None:
                self._outer._inner.remove(self)
            _current.reset(tokens[0])
            current_clocks.reset(tokens[1])

    def _run(self, job: bytes) -> Result:
        """Exchange messages until the program is done, and read the last."""
        try:
            message = self._exchange(job)
            while message[0] == "call":
                if self._thread.hung or self._kind(message[1]) == "lmp":
                    message = self._exchange(self._serve(message))
                else:
                    stretch = functools.partial(self._robot_calls, message)
                    message = self._thread.run(stretch, self, self.limits.grace_s)
            return self._with_calls(self._result(message))
        except frames.DeadlinePassed:
            return self._timeout()
        except (frames.PeerClosed, BrokenPipeError):
            if self._stopped:
                return self._timeout()
            why = "its process ended before it finished (out of memory, or killed)"
            return self._failed(Failure("killed", "WorkerDied", why))
        except frames.WireError as error:
            why = f"the worker broke the protocol: {error}"
            return self._failed(Failure("protocol", "ProtocolError", why))
        except _Stop as stop:
            return self._failed(stop.failure)
        except Hung:
            name, spent = self._abandoned, f"longer than {self.limits.calls_s:g} s"
            why = f"'{name}' took {spent}, did not end when stopped, and may still be running"
            call = Call(name, (), {}, 0.0, 0.0, None, f"Timeout: {why}", self._kind(name))
            self._calls.append(call)
            return self._failed(Failure("timeout", "CallTimeout", why, robot=True))

    def _robot_calls(self, message: _Message) -> _Message:
        """Serve calls of the robot, on its thread, until something else arrives; return that."""
        self._now_s = time.monotonic()  # the wait for the thread counts for neither side
        try:
            self.worker.borrow()
            while message[0] == "call" and self._kind(message[1]) != "lmp":
                message = self._exchange(self._serve(message))
            return message
        finally:
            self.worker.give_back()

    def _exchange(self, frame: bytes) -> _Message:
        """Send a frame and read the next, no longer than the program's own time allows."""
        begin_s = self._now_s
        deadline_s = self.clocks.deadline_s(begin_s)
        try:
            requests, answers = self._ends
            frames.send(requests, frame, deadline_s)
            answer = frames.receive(answers, deadline_s, self._poller)
            return self._message(answer, deadline_s)
        finally:
            self._now_s = time.monotonic()
            self.clocks.program_s += self._now_s - begin_s

    def _message(self, frame: bytes, deadline_s: float) -> _Message:
        """Return the message of a frame, read in the program's own time."""
        message = _checked(wire.decode(frame, self._watch(deadline_s)))
        if message[0] == "call":
            self._call_bytes += len(frame)
            if len(frame) > _SMALL_BYTES:
                values = wire.count_values(message) * _VALUE_BYTES
                self._call_bytes += max(0, values - len(frame))
        return message

    def _result(self, message: _Message) -> Result:
        """Read the last message; what the program left is read in its own time."""
        begin_s = time.monotonic()
        watch = self._watch(self.clocks.deadline_s(begin_s))
        try:
            return read_result(message[1], self._raised, self.limits, watch)
        finally:
            self.clocks.program_s += time.monotonic() - begin_s

    def _watch(self, deadline_s: float) -> Callable[[], None]:
        """Return what ends the reading of a large frame when its time is over."""

        def look() -> None:
            if self._stopped:
                raise frames.PeerClosed
            if time.monotonic() > deadline_s:
                raise frames.DeadlinePassed

        return look

    def _serve(self, message: _Message) -> bytes:
        """Run one primitive here, in the parent; return the answer's frame."""
        _, name, args, kwargs, line, printed = message
        kind = self._kind(name)
        self._actions += kind == "action"
        sim_s = self._sim_time_s() - self._sim_start_s
        if found := self.limits.exceeded(len(self._calls), self._actions, self._call_bytes, sim_s):
            raise _Stop(Failure("limit", *found))
        if printed and self._listeners.on_print is not None and self._print_left > 0:
            self._listeners.on_print(printed[: self._print_left])
            self._print_left -= len(printed)
        if self._listeners.on_line is not None and 0 < line <= _LAST_LINE:
            self._listeners.on_line(line)
        result = failed = refused = None
        begin_s = time.monotonic()
        self.clocks.begin(name, begin_s)
        try:
            function = _function(self._primitives.get(name), name, args, kwargs)
            if self._thread.hung and kind != "lmp":
                why = "the robot did not stop when asked to; check it, then start a new session"
                raise NotConnected(why)
            result = function(*args, **kwargs)
            answer = wire.encode(["ok", result])
            self._call_bytes += len(answer)
        except Exception as error:  # a fault of the robot's own code is its failure, not a crash
            refused = _refusal(error)
            raised, text, given = self._note_failure(error)
            answer = wire.encode(["error", raised, given])
            result, failed = None, f"{raised}: {text}"
            if refused is not None:
                failed = f"{refused.error}: {refused.message}"
        duration_s = self.clocks.end(time.monotonic())
        start_s = begin_s - self.clocks.start_s
        call = Call(name, tuple(args), kwargs, start_s, duration_s, result, failed, kind)
        self._calls.append(call)
        if self._listeners.on_call is not None:
            self._listeners.on_call(call)
        self._now_s = time.monotonic()
        if refused is not None:
            raise _Stop(replace(refused, line=None, robot=False))
        if self._stopped or self.clocks.calls_s > self.limits.calls_s:
            why = f"{self.limits.reason('CallTimeout')}; '{name}' was stopped"
            raise _Stop(Failure("timeout", "CallTimeout", why, robot=kind != "lmp"))
        return answer

    def _kind(self, name: str) -> str:
        """Return a primitive's kind, `unknown` of what is none."""
        primitive = self._primitives.get(name)
        return "unknown" if primitive is None else primitive.kind

    def _sim_time_s(self) -> float:
        return float(getattr(self.robot, "sim_time_s", 0.0))

    def _note_failure(self, error: Exception) -> tuple[str, str, str]:
        """Remember who failed; return name, message, and what the program's exception is made of.

        The last two differ where Python quotes a key once it is shown.
        """
        names = [parent.__name__ for parent in type(error).__mro__]
        kind = next((name for name in names if name in wire.RAISABLE), "")
        text = wire.one_line(str(error) if kind else f"{names[0]}: {error}")
        kind = kind or RobotError.__name__
        failure = getattr(error, "failure", None)
        if isinstance(error, LMPFailed) and isinstance(failure, Failure):
            self._raised[kind, text] = failure
        elif kind in ROBOT_ERRORS:
            self._raised[kind, text] = Failure("raised", kind, text, robot=True)
        given, keyed = text, type(error).__str__ is KeyError.__str__
        if keyed and len(error.args) == 1 and type(error.args[0]) is str:
            given = wire.one_line(error.args[0])
        return kind, text, given

    # --- the waiting thread's side (`robot_thread.TimedWork`)

    def left_s(self) -> float:
        """Return the seconds until the call that runs, or the next, may be too long."""
        return self.clocks.left_s()

    def interrupt(self) -> None:
        """Stop the robot and kill the workers of this program and of those inside it."""
        self._stopped = True
        for inner in list(self._inner):
            inner.interrupt()
        if self.robot is not None:
            with contextlib.suppress(Exception):  # the deadline holds, whatever the robot says
                self.robot.stop()
        self.worker.kill()

    def abandon(self) -> bool:
        """Abandon the call that runs, whatever it returns later; False if none does."""
        try:
            name, _ = self.clocks.running.pop()
        except IndexError:
            return False
        self._abandoned = name
        return True

    # --- results

    def _timeout(self) -> Result:
        if self.clocks.program_s < self.limits.program_s:
            why = "the program that asked ran out of time"
            return self._failed(Failure("timeout", "CallTimeout", why))
        return self._failed(out_of_time(self.limits))

    def _failed(self, failure: Failure) -> Result:
        return self._with_calls(Result(failure=failure))

    def _with_calls(self, result: Result) -> Result:
        return replace(
            result,
            calls=tuple(self._calls),
            program_s=self.clocks.program_s,
            layers=self.worker.layers,
        )


class _Stop(Exception):
    """A limit of the conversation was passed."""

    def __init__(self, failure: Failure) -> None:
        self.failure = failure


def _function(
    primitive: Primitive | None, name: str, args: list[Any], kwargs: dict[str, Any]
) -> Callable[..., Any]:
    """Return what to call.

    Raises:
        LimitExceeded: There is no such primitive.
        TypeError: The arguments do not fit its signature.
    """
    if primitive is None:
        raise LimitExceeded(f"'{name}' is not in this program's scope")
    try:
        primitive.signature.bind(*args, **kwargs)
    except TypeError as error:
        raise TypeError(f"{name}{primitive.signature}: {error}") from None
    return primitive.function


def _refusal(error: Exception) -> Failure | None:
    """Return a user's refusal, of a call or in an LMP's program: no program goes on after it."""
    if isinstance(error, NotApproved):
        return Failure("refused", NotApproved.__name__, str(error))
    failure = error.failure if isinstance(error, LMPFailed) else None
    return failure if failure is not None and failure.kind == "refused" else None


def _checked(message: Any) -> _Message:
    """Return a message of the worker's: a call or a result.

    Raises:
        WireError: It is neither.
    """
    kinds = {"call": [str, str, list, dict, int, str], "done": [str, dict]}
    named = type(message) is list and message and type(message[0]) is str
    if not named or [*map(type, message)] != kinds.get(message[0]):
        raise frames.WireError("unknown message")
    return message  # type: ignore[no-any-return]
