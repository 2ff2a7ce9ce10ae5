"""The trusted side of one program: serves its worker's calls and holds the clock."""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import Any

from cap.errors import ROBOT_ERRORS, LimitExceeded, LMPFailed, RobotError
from cap.result import Call, Failure, Result
from cap.sandbox import wire
from cap.sandbox.limits import Limits
from cap.sandbox.processes import Worker
from cap.scope import Primitive, Scope


class Conversation:
    """One worker's calls, from its program to its result."""

    def __init__(
        self,
        worker: Worker,
        scope: Scope,
        limits: Limits,
        on_call: Callable[[Call], None] | None,
    ) -> None:
        """Prepare to talk to a worker; `hold` does it."""
        self.worker = worker
        self.scope = scope
        self.limits = limits
        self.on_call = on_call
        self.calls: list[Call] = []
        self.start_s = time.monotonic()
        self.program_s = 0.0
        self.raised: dict[tuple[str, str], Failure] = {}
        """Failures of primitives by the error's name and message, as the program sees them."""

    def hold(self, job: bytes) -> Result:
        """Send the job, serve its calls, return its result."""
        frame = job
        try:
            while True:
                match self._exchange(frame):
                    case ["done", dict(message)]:
                        return self._result(message)
                    case ["call", str(name), list(args), dict(kwargs)]:
                        frame = self._serve(name, args, kwargs)
                    case _:
                        raise wire.WireError("unknown message")
        except wire.DeadlinePassed:
            limit = f"{self.limits.program_s:g} s"
            return self._failed("timeout", "TimeLimit", f"the program ran longer than {limit}")
        except (wire.PeerClosed, BrokenPipeError):
            why = "its process ended before it finished (out of memory, or killed)"
            return self._failed("killed", "WorkerDied", why)
        except wire.WireError as error:
            why = f"the worker broke the protocol: {error}"
            return self._failed("protocol", "ProtocolError", why)
        except _Stop as stop:
            return self._failed("limit", "CallLimit", str(stop))

    def _exchange(self, frame: bytes) -> Any:
        """Send a frame and wait for the next, no longer than the program's own time allows."""
        begin_s = time.monotonic()
        deadline_s = begin_s + self.limits.program_s - self.program_s
        try:
            wire.send(self.worker.requests, frame, deadline_s)
            answer = wire.receive(self.worker.answers, deadline_s)
        finally:
            self.program_s += time.monotonic() - begin_s
        return wire.decode(answer)

    def _serve(self, name: str, args: list[Any], kwargs: dict[str, Any]) -> bytes:
        """Run one primitive here, in the parent; return the answer's frame."""
        start_s = time.monotonic() - self.start_s
        if len(self.calls) >= self.limits.calls:
            raise _Stop(f"more than {self.limits.calls} calls; is a loop without an end?")
        if start_s > self.limits.total_s:
            raise _Stop(f"longer than {self.limits.total_s:g} s in all")
        known = self.scope.primitives.get(name)
        kind = known.kind if known else "unknown"
        call = Call(name, tuple(args), kwargs, start_s, 0.0, kind=kind)
        begin_s = time.monotonic()
        try:
            result = _invoke(self.scope.primitives, name, args, kwargs)
            answer = wire.encode(["ok", result])
            call = replace(call, result=result)
        except Exception as error:  # a fault of the robot's own code is its failure, not a crash
            raised, text = self._note_failure(error)
            answer = wire.encode(["error", raised, text])
            call = replace(call, error=f"{raised}: {text}")
        call = replace(call, duration_s=time.monotonic() - begin_s)
        self.calls.append(call)
        if self.on_call is not None:
            self.on_call(call)
        return answer

    def _note_failure(self, error: Exception) -> tuple[str, str]:
        """Return name and message as the program sees them, and remember who failed."""
        names = [parent.__name__ for parent in type(error).__mro__]
        kind = next((name for name in names if name in wire.RAISABLE), "")
        text = wire.one_line(str(error) if kind else f"{names[0]}: {error}")
        kind = kind or RobotError.__name__
        failure = getattr(error, "failure", None)
        if isinstance(error, LMPFailed) and isinstance(failure, Failure):
            self.raised[kind, text] = failure
        elif kind in ROBOT_ERRORS:
            self.raised[kind, text] = Failure("raised", kind, text, robot=True)
        return kind, text

    def _result(self, message: Mapping[str, Any]) -> Result:
        match message:
            case {
                "status": "ok",
                "variables": dict(variables),
                "defined": list(defined),
                "dropped": list(dropped),
                "stdout": str(stdout),
            }:
                result = Result(
                    value=_value(message["value"]) if "value" in message else None,
                    variables={str(name): _value(data) for name, data in variables.items()},
                    defined=tuple(map(str, defined)),
                    dropped=tuple(map(str, dropped)),
                )
            case {
                "status": "failed",
                "error": str(error),
                "message": str(text),
                "line": int() | None as line,
                "stdout": str(stdout),
            }:
                result = self._raised(error, text, line)
            case _:
                raise wire.WireError("malformed result")
        calls = tuple(self.calls)
        return replace(result, calls=calls, stdout=stdout, program_s=self.program_s)

    def _raised(self, error: str, text: str, line: int | None) -> Result:
        """Tell apart the program's own exceptions and those of what it called."""
        if error == "OutputLimit":
            limit = f"{self.limits.stdout_chars} characters"
            return Result(failure=Failure("output", error, f"it printed more than {limit}", line))
        if error == "MemoryError":
            limit = f"{self.limits.memory_bytes >> 20} MiB"
            return Result(failure=Failure("memory", error, f"it needed more than {limit}", line))
        for (kind, seen), failure in self.raised.items():
            if kind == error and (text == seen or text.startswith(f"{seen} (in ")):
                return Result(failure=replace(failure, line=line))
        return Result(failure=Failure("raised", error, text, line))

    def _failed(self, kind: Any, error: str, message: str) -> Result:
        return Result(
            failure=Failure(kind, error, message),
            calls=tuple(self.calls),
            program_s=self.program_s,
        )


def _value(data: Any) -> Any:
    """Read a value the worker encoded on its own."""
    if not isinstance(data, bytes):
        raise wire.WireError("malformed result")
    return wire.decode(data)


class _Stop(Exception):
    """A limit of the conversation was passed."""


def _invoke(
    primitives: Mapping[str, Primitive], name: str, args: list[Any], kwargs: dict[str, Any]
) -> Any:
    """Call a primitive after checking the arguments against its signature."""
    primitive = primitives.get(name)
    if primitive is None:
        raise LimitExceeded(f"'{name}' is not in this program's scope")
    try:
        primitive.signature.bind(*args, **kwargs)
    except TypeError as error:
        raise TypeError(f"{name}{primitive.signature}: {error}") from None
    return primitive.function(*args, **kwargs)
