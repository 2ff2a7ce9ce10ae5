"""The trusted side of one program: serves its worker's calls and holds its deadlines.

LMP primitives run on the caller's thread, where the model, the trace and the person are, and so
does everything while the program makes no robot call. Robot primitives run on the robot's thread
(`robot_thread`): at the first one the conversation moves there, until the program
ends or asks an LMP. The caller's thread waits meanwhile, so it can stop the robot, kill the
workers and go on, whatever a primitive does.
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

from cap.errors import ROBOT_ERRORS, LMPFailed, NotApproved, NotConnected, RobotError
from cap.program.scope import Scope
from cap.result import Call, Failure, FailureKind, Result
from cap.sandbox.limits import Limits
from cap.sandbox.listeners import Listeners
from cap.sandbox.parent import deadlines, primitive_calls
from cap.sandbox.parent.cpu_affinity import WorkerPlace
from cap.sandbox.parent.deadlines import Clocks
from cap.sandbox.parent.result_message import Raised, out_of_time, read_result
from cap.sandbox.parent.robot_thread import Hung, RobotThread, callers_thread
from cap.sandbox.parent.template_client import Worker
from cap.sandbox.template_protocol import ANYWHERE, CORE, GO
from cap.sandbox.wire import codec, frames

_Message = list[Any]
_LAST_LINE = 1_000_000
"""No program is longer; whoever says so of a line lies."""
_FOLLOWED = 32
"""Calls between two looks at where the worker should be."""


_talking: ContextVar[CallServer | None] = ContextVar("conversation", default=None)


class Stoppable(Protocol):
    """What the conversation needs of a robot; a simulated one also has `sim_time_s`."""

    def stop(self) -> None:
        """Stop all motion at once; safe to call from any thread."""


class CallServer:
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
        place: WorkerPlace | None = None,
        layers: tuple[str, ...] = (),
        spent_s: float | None = None,
    ) -> None:
        """Prepare to talk to a worker; `run` does it.

        Args:
            worker: Runs the program.
            scope: What it may use.
            limits: How much of everything.
            listeners: Told of its calls; nobody by default.
            robot: Stopped when a call takes too long.
            thread: The robot's; without a robot the calling thread has one of its own.
            place: Where the worker is; it is brought to the core of the thread that serves it.
            layers: What holds the worker.
            spent_s: What an earlier attempt has used of the program's time, if there was one; as
                long as there was none, half the time is left for another.
        """
        self.worker = worker
        self.limits = limits
        self._told = listeners or Listeners()
        self._print_left = limits.stdout_chars
        self.robot = robot
        self._place = place
        self._layers = layers
        self._log: list[primitive_calls.Entry] = []
        self._kept_bytes = 0
        self._actions = 0
        self.clocks = Clocks(limits)
        self.clocks.program_s = spent_s or 0.0
        self._begins_by = 0.5 if spent_s is None else 1.0
        """The part of its time in which the program has to begin."""
        self._now_s = self.clocks.start_s
        """When the program and its calls last took turns; each end is the other's begin."""
        self._thread = thread or callers_thread()
        self._primitives = scope.primitives
        self._ends = worker.requests, worker.answers
        self._poller = frames.poll_for(worker.answers, select.POLLIN)
        self._raised: Raised = {}
        self._stopped = False
        self._answered = False
        """The worker has said something."""
        self.begun = True
        """False if it was killed or stopped from outside before its program had begun."""
        self._sim_start_s = self._sim_time_s()
        self._inner: list[CallServer] = []
        """The programs its LMP calls run, to be killed with it."""
        self._outer = _talking.get()

    def run(self, job: bytes, *, calls_robot: bool = False) -> Result:
        """Send the job, serve its calls, return its result.

        Args:
            job: The program with all it needs.
            calls_robot: It names a function of the robot: then the conversation begins on the
                robot's thread, where it would soon be anyway.
        """
        tokens = _talking.set(self), deadlines.current.set(self.clocks)
        if self._outer is not None:
            self._outer._inner.append(self)
        self._thread.served.append(self)
        try:
            self._thread.heed_stop()
            result = self._run(job, calls_robot and not self._thread.hung)
            if result.failure is not None:
                self._thread.heed_stop()
            return result
        finally:
            self._thread.served.remove(self)
            if self._outer is not None:
                self._outer._inner.remove(self)
            _talking.reset(tokens[0])
            deadlines.current.reset(tokens[1])

    def _run(self, job: bytes, calls_robot: bool) -> Result:
        """Exchange messages until the program is done, and read the last."""
        try:
            message = self._on_robot_thread(job) if calls_robot else self._begin(job)
            while message[0] == "call":
                if self._thread.hung or self._kind(message[1]) == "lmp":
                    message = self._exchange(self._serve(message))
                else:
                    message = self._on_robot_thread(message)
            return self._with_calls(self._result(message))
        except codec.DeadlinePassed:
            self.begun = self._answered or frames.unread(self._ends[0]) == 0
            return self._timeout()
        except (codec.PeerClosed, BrokenPipeError) as error:
            if self._stopped:
                return self._timeout()
            unsent = isinstance(error, BrokenPipeError)
            self.begun = self._answered or not (unsent or frames.unread(self._ends[0]))
            why = "its process ended before it finished (out of memory, or killed)"
            return self._failed("killed", "WorkerDied", why)
        except codec.WireError as error:
            why = f"the worker broke the protocol: {error}"
            return self._failed("protocol", "ProtocolError", why)
        except _Stop as stop:
            return self._failed(stop.kind, stop.error, str(stop), robot=stop.robot)
        except Hung:
            name, spent = self._abandoned, f"longer than {self.limits.calls_s:g} s"
            why = f"'{name}' took {spent}, did not end when stopped, and may still be running"
            self._log.append((name, (), {}, 0.0, 0.0, None, f"Timeout: {why}"))
            return self._failed("timeout", "CallTimeout", why, robot=True)

    def _on_robot_thread(self, message: _Message | bytes) -> _Message:
        """Serve calls of the robot until there comes something else; return that."""
        stretch = functools.partial(self._robot_calls, message)
        return self._thread.run(stretch, self, self.limits.grace_s)

    def _begin(self, job: bytes) -> _Message:
        """Send the job, with the core of this thread; return the first message."""
        core = ANYWHERE if self._place is None else self._place.begin()
        begin_s, (requests, answers) = self._now_s, self._ends
        deadline_s = self.clocks.deadline_s(begin_s)
        begins_by_s = begin_s + (deadline_s - begin_s) * self._begins_by
        try:
            frames.send(requests, b"".join([CORE.pack(core), job, GO]), begins_by_s)
            try:
                frames.wait(self._poller, begins_by_s)
            except codec.DeadlinePassed:
                if frames.unread(requests):
                    raise
                frames.wait(self._poller, deadline_s)
            answer = frames.read(answers, deadline_s, self._poller)
            self._answered = True
            return self._message(answer, deadline_s)
        finally:
            self._now_s = time.monotonic()
            self.clocks.program_s += self._now_s - begin_s

    def _robot_calls(self, message: _Message | bytes) -> _Message:
        """Serve calls of the robot, on its thread, from the beginning or from one call on."""
        self._now_s = time.monotonic()  # the wait for the thread is nobody's time
        try:
            self.worker.borrow()
            if isinstance(message, bytes):
                message = self._begin(message)
            while message[0] == "call" and self._kind(message[1]) != "lmp":
                message = self._exchange(self._serve(message))
            return message
        finally:
            self.worker.give_back()

    def _exchange(self, frame: bytes) -> _Message:
        """Send a frame and wait for the next, no longer than the program's own time allows."""
        begin_s = self._now_s
        deadline_s = self.clocks.deadline_s(begin_s)
        try:
            answer = frames.exchange(self._ends, self._poller, frame, begin_s, deadline_s)
            return self._message(answer, deadline_s)
        finally:
            self._now_s = time.monotonic()
            self.clocks.program_s += self._now_s - begin_s

    def _message(self, answer: bytes, deadline_s: float) -> _Message:
        """Read a frame of the worker's, in the program's own time."""
        size = len(answer)
        if size <= codec.TINY_BYTES:
            self._kept_bytes += size
            return _checked(codec.decode(answer))
        message = _checked(codec.decode(answer, self._watch(deadline_s)))
        if message[0] == "call":
            self._kept_bytes += codec.kept_bytes(answer, message)
        return message

    def _result(self, message: _Message) -> Result:
        """Read the last message; what the program left is read in its own time."""
        begin_s = time.monotonic()
        watch = self._watch(self.clocks.deadline_s(begin_s))
        try:
            return read_result(message, self._raised, self.limits, watch)
        finally:
            self.clocks.program_s += time.monotonic() - begin_s

    def _watch(self, deadline_s: float) -> Callable[[], None]:
        """Return what ends the reading of a large frame when its time is over."""

        def look() -> None:
            if self._stopped:
                raise codec.PeerClosed
            if time.monotonic() > deadline_s:
                raise codec.DeadlinePassed

        return look

    def _serve(self, message: _Message) -> bytes:
        """Run one primitive here, in the parent; return the answer's frame."""
        _, name, args, kwargs, line, printed = message
        served, primitive = len(self._log), self._primitives.get(name)
        kind = "unknown" if primitive is None else primitive.kind
        if (
            kind == "action"
            or self.robot is not None
            or served >= self.limits.calls
            or self._kept_bytes > self.limits.call_bytes
        ):
            self._check_limits(kind)
        if served % _FOLLOWED == 0 and self._place is not None:
            self._place.follow()
        if printed and self._told.on_print is not None and self._print_left > 0:
            self._told.on_print(printed[: self._print_left])
            self._print_left -= len(printed)
            self._now_s = time.monotonic()
        if self._told.on_line is not None and 0 < line <= _LAST_LINE:
            self._told.on_line(line)
            self._now_s = time.monotonic()
        result = failed = refused = None
        begin_s = self._now_s
        self.clocks.begin(name, begin_s)
        try:
            function = primitive_calls.function_of(primitive, name, args, kwargs)
            if self._thread.hung and kind != "lmp":
                why = "the robot did not stop when told to; see to it, then begin a new session"
                raise NotConnected(why)
            result = function(*args, **kwargs)
            answer = codec.encode(["ok", result])
            self._kept_bytes += len(answer)
        except Exception as error:  # a fault of the robot's own code is its failure, not a crash
            refused = _refusal(error)
            raised, text, given = self._note_failure(error)
            answer = codec.encode(["error", raised, given])
            result, failed = None, f"{raised}: {text}"
            if refused is not None:
                failed = f"{refused.error}: {refused.message}"
        self._now_s = now_s = time.monotonic()
        duration_s = self.clocks.end(now_s)
        start_s = begin_s - self.clocks.start_s
        self._log.append((name, tuple(args), kwargs, start_s, duration_s, result, failed))
        if self._told.on_call is not None:
            self._told.on_call(self._record(self._log[-1]))
            self._now_s = time.monotonic()
        if refused is not None:
            raise _Stop(refused.kind, refused.error, refused.message)
        if self._stopped or self.clocks.calls_s > self.limits.calls_s:
            raise self._too_long(name)
        return answer

    def _check_limits(self, kind: str) -> None:
        """End the program if another call, of that kind, is too much."""
        if len(self._log) >= self.limits.calls:
            why = f"more than {self.limits.calls} calls; is a loop without an end?"
            raise _Stop("limit", "CallLimit", why)
        if kind == "action":
            self._actions += 1
            if self._actions > self.limits.actions:
                why = f"more than {self.limits.actions} actions; is a loop without an end?"
                raise _Stop("limit", "ActionLimit", why)
        if self._kept_bytes > self.limits.call_bytes:
            why = f"calls with more than {self.limits.call_bytes >> 20} MiB in all"
            raise _Stop("limit", "CallBytesLimit", why)
        if self.robot is not None and self._sim_time_s() - self._sim_start_s > self.limits.sim_s:
            why = f"more than {self.limits.sim_s:g} s of simulated time; is a loop without an end?"
            raise _Stop("limit", "SimTimeLimit", why)

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
        kind = next((name for name in names if name in codec.RAISABLE), "")
        text = codec.one_line(str(error) if kind else f"{names[0]}: {error}")
        kind = kind or RobotError.__name__
        failure = getattr(error, "failure", None)
        if isinstance(error, LMPFailed) and isinstance(failure, Failure):
            self._raised[kind, text] = failure
        elif kind in ROBOT_ERRORS:
            self._raised[kind, text] = Failure("raised", kind, text, robot=True)
        given, keyed = text, type(error).__str__ is KeyError.__str__
        if keyed and len(error.args) == 1 and type(error.args[0]) is str:
            given = codec.one_line(error.args[0])
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
        """Give up the call that runs; False if none does. It comes to nothing when it returns."""
        try:
            name, _ = self.clocks.running.pop()
        except IndexError:
            return False
        self._abandoned = name
        return True

    # --- results

    def _too_long(self, name: str) -> _Stop:
        robot = self._kind(name) != "lmp"
        why = f"calls took longer than {self.limits.calls_s:g} s; '{name}' was stopped"
        return _Stop("timeout", "CallTimeout", why, robot=robot)

    def _timeout(self) -> Result:
        if self.clocks.program_s < self.limits.program_s:
            return self._failed("timeout", "CallTimeout", "the program that asked ran out of time")
        return self._with_calls(Result(failure=out_of_time(self.limits)))

    def _failed(
        self, kind: FailureKind, error: str, message: str, *, robot: bool = False
    ) -> Result:
        return self._with_calls(Result(failure=Failure(kind, error, message, robot=robot)))

    def _with_calls(self, result: Result) -> Result:
        served = tuple(map(self._record, self._log))
        program_s = self.clocks.program_s
        return replace(result, calls=served, program_s=program_s, layers=self._layers)

    def _record(self, entry: primitive_calls.Entry) -> Call:
        return primitive_calls.record(entry, self._kind(entry[0]))


class _Stop(Exception):
    """A limit of the conversation was passed."""

    def __init__(self, kind: FailureKind, error: str, message: str, *, robot: bool = False) -> None:
        super().__init__(message)
        self.kind = kind
        self.error = error
        self.robot = robot


def _refusal(error: Exception) -> Failure | None:
    """Return a person's no, to a call or inside an LMP's program: no program goes on after it."""
    if isinstance(error, NotApproved):
        return Failure("refused", NotApproved.__name__, str(error))
    failure = error.failure if isinstance(error, LMPFailed) else None
    return failure if failure is not None and failure.kind == "refused" else None


def _checked(message: Any) -> _Message:
    """Return a message of the worker's in its full form: a call or a result.

    Raises:
        WireError: It is neither.
    """
    if type(message) is list and message:
        if message[0] == "call":
            given = len(message)
            if given == 3:  # as nearly all
                message += ({}, 0, "")
            elif given in (4, 5):
                message += (0, "")[given - 4 :]
            named = len(message) == 6 and type(message[1]) is str and type(message[2]) is list
            if named and (given == 3 or [*map(type, message[3:])] == [dict, int, str]):
                return message
        elif message[0] == "done" and len(message) == 2 and type(message[1]) is dict:
            return message
    raise codec.WireError("unknown message")
