"""The sandbox: a program runs in a process of its own; robot calls cross as plain data.

The parent holds the clock: a program that passes its limits is killed, whatever it catches.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from typing import Any

from cap.errors import ROBOT_ERRORS, CapError, LimitExceeded, LMPFailed, RobotError
from cap.result import Call, Failure, Result
from cap.sandbox import wire
from cap.sandbox.isolation import LAYERS
from cap.sandbox.processes import Template, Worker, shared_template
from cap.scope import Primitive, Scope

__all__ = ["LAYERS", "Limits", "Sandbox"]


@dataclass(frozen=True)
class Limits:
    """What one program may use."""

    program_s: float = 10.0
    """Wall seconds of the program itself; robot and model calls do not count."""
    total_s: float = 600.0
    """Wall seconds with everything; a net, looked at between calls."""
    calls: int = 10_000
    """Calls of primitives."""
    memory_bytes: int = 1 << 30
    """Private memory of the worker."""
    stdout_chars: int = 100_000
    """Printed characters."""


class Sandbox:
    """Runs programs, each in a fresh worker. A context manager."""

    def __init__(self, limits: Limits | None = None, template: Template | None = None) -> None:
        """Make a sandbox; nothing is started yet.

        Args:
            limits: What each program may use.
            template: Forks the workers; by default the one all sandboxes of this process share.
        """
        self.limits = limits or Limits()
        self._template = template or shared_template()
        self.layers = LAYERS

    def __enter__(self) -> Sandbox:
        """Start loading the worker template."""
        self._template.start()
        return self

    def __exit__(self, *_: object) -> None:
        """Do nothing: workers end with their programs, the shared template with the process."""

    def run(
        self,
        source: str,
        scope: Scope,
        *,
        returns: str | None = None,
        keep: bool = False,
        seed: int = 0,
        on_call: Callable[[Call], None] | None = None,
    ) -> Result:
        """Run one program and serve its calls until it ends or is killed.

        Args:
            source: The program; it must have passed the check.
            scope: The names it may use.
            returns: Variable whose value is the result.
            keep: Bring back every variable it binds, for a session.
            seed: Start of numpy's random numbers inside the program.
            on_call: Told of every call once it is served.

        Returns:
            The value or a typed failure, never an exception of the program.

        Raises:
            SandboxError: No worker could be started.
            KeyboardInterrupt: Passed on after the worker is killed.
        """
        worker = self._template.spawn()
        conversation = _Conversation(worker, scope, self.limits, on_call)
        try:
            job = self._job(source, scope, returns, keep, seed)
            return conversation.hold(job)
        finally:
            worker.end()

    def _job(
        self, source: str, scope: Scope, returns: str | None, keep: bool, seed: int
    ) -> dict[str, Any]:
        return {
            "source": source,
            "definitions": [(entry.name, entry.source) for entry in scope.definitions],
            "primitives": list(scope.primitives),
            "groups": {group: list(members) for group, members in scope.groups.items()},
            "variables": dict(scope.variables),
            "returns": returns,
            "keep": keep,
            "seed": seed,
            "cpu_s": self.limits.program_s,
            "memory_bytes": self.limits.memory_bytes,
            "stdout_chars": self.limits.stdout_chars,
        }


class _Conversation:
    """One worker's calls, from its program to its result."""

    def __init__(
        self,
        worker: Worker,
        scope: Scope,
        limits: Limits,
        on_call: Callable[[Call], None] | None,
    ) -> None:
        self.worker = worker
        self.scope = scope
        self.limits = limits
        self.on_call = on_call
        self.calls: list[Call] = []
        self.start_s = time.monotonic()
        self.program_s = 0.0
        self.raised: dict[str, Failure] = {}
        """Failures of primitives by the message the program sees."""

    def hold(self, job: Mapping[str, Any]) -> Result:
        """Send the job, serve its calls, return its result."""
        try:
            wire.send(self.worker.requests, wire.encode(job))
            while True:
                kind, *rest = self._next_message()
                if kind == "done":
                    return self._result(rest[0])
                if kind != "call" or len(rest) != 3:
                    raise wire.WireError("unknown message")
                wire.send(self.worker.requests, self._serve(*rest))
        except wire.DeadlinePassed:
            limit = f"{self.limits.program_s:g} s"
            return self._failed("timeout", "TimeLimit", f"the program ran longer than {limit}")
        except (wire.PeerClosed, BrokenPipeError):
            why = "its process ended before it finished (out of memory, or killed)"
            return self._failed("killed", "WorkerDied", why)
        except (wire.WireError, ValueError, TypeError, KeyError) as error:
            return self._failed(
                "protocol", "ProtocolError", f"the worker broke the protocol: {error}"
            )
        except _Stop as stop:
            return self._failed("limit", "CallLimit", str(stop))

    def _next_message(self) -> Any:
        """Wait for the worker, no longer than the program's own time allows."""
        begin_s = time.monotonic()
        left_s = self.limits.program_s - self.program_s
        frame = wire.receive(self.worker.answers, begin_s + left_s)
        self.program_s += time.monotonic() - begin_s
        return wire.decode(frame)

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
        except (CapError, TypeError, ValueError, IndexError, KeyError, wire.WireError) as error:
            kind, text = self._note_failure(error)
            answer = wire.encode(["error", kind, text])
            call = replace(call, error=f"{kind}: {text}")
        call = replace(call, duration_s=time.monotonic() - begin_s)
        self.calls.append(call)
        if self.on_call is not None:
            self.on_call(call)
        return answer

    def _note_failure(self, error: Exception) -> tuple[str, str]:
        """Return name and message as the program sees them, and remember who failed."""
        kind, text = type(error).__name__, str(error)
        failure = getattr(error, "failure", None)
        if isinstance(error, LMPFailed) and isinstance(failure, Failure):
            self.raised[text] = failure
        elif isinstance(error, RobotError):
            self.raised[text] = Failure("raised", kind, text, robot=True)
        return kind, text

    def _result(self, message: Mapping[str, Any]) -> Result:
        if message["status"] != "ok":
            result = self._raised(message)
        else:
            result = Result(
                value=wire.decode(message["value"]) if "value" in message else None,
                variables={n: wire.decode(data) for n, data in message["variables"].items()},
                defined=tuple(message["defined"]),
                dropped=tuple(message["dropped"]),
            )
        return replace(
            result,
            calls=tuple(self.calls),
            stdout=str(message["stdout"]),
            program_s=self.program_s,
        )

    def _raised(self, message: Mapping[str, Any]) -> Result:
        """Tell apart the program's own exceptions and those of what it called."""
        error, text, line = str(message["error"]), str(message["message"]), message["line"]
        if error == "OutputLimit":
            limit = f"{self.limits.stdout_chars} characters"
            return Result(failure=Failure("output", error, f"it printed more than {limit}", line))
        if error == "MemoryError":
            limit = f"{self.limits.memory_bytes >> 20} MiB"
            return Result(failure=Failure("memory", error, f"it needed more than {limit}", line))
        if error in ROBOT_ERRORS or error == "LMPFailed":
            for seen, failure in self.raised.items():
                if text.startswith(" ".join(seen.split())[:2000]):
                    return Result(failure=replace(failure, line=line))
        return Result(failure=Failure("raised", error, text, line))

    def _failed(self, kind: Any, error: str, message: str) -> Result:
        return Result(
            failure=Failure(kind, error, message),
            calls=tuple(self.calls),
            program_s=self.program_s,
        )


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
