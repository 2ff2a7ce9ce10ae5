"""Running one program after another: checked, each in a worker of its own, its calls served."""

from __future__ import annotations

import contextlib
import marshal
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache
from typing import TYPE_CHECKING, Any

from cap.checker.checker import examine
from cap.checker.policy import Policy
from cap.errors import SandboxError, clipped
from cap.program.parser import compiled, parsed
from cap.program.program import Program, ProgramSyntaxError
from cap.result import Call, Failure, Result
from cap.sandbox.limits import Limits
from cap.sandbox.parent import cpu_affinity
from cap.sandbox.parent.call_server import CallServer, Stoppable
from cap.sandbox.parent.cpu_affinity import WorkerPlace
from cap.sandbox.parent.needs import are_plain, is_plain, words_of
from cap.sandbox.parent.result_message import explain, out_of_time, within, without_hiding
from cap.sandbox.parent.robot_thread import RobotThread
from cap.sandbox.parent.template_client import TemplateClient
from cap.sandbox.template_protocol import ANYWHERE
from cap.sandbox.wire import codec
from cap.sandbox.worker.call_list import CallList, read_answers
from cap.scope import Scope

if TYPE_CHECKING:
    from cap.sandbox.parent.template_client import Worker


Arguments = Sequence[tuple[Sequence[Any], Mapping[str, Any]]]
"""Positional and keyword arguments of several calls."""


@dataclass(frozen=True)
class Job:
    """One program on its way to a worker."""

    frame: bytes
    """What the worker is sent."""
    scope: Scope
    """The names the program may use."""
    calls_robot: bool
    """It names a function that runs on the robot's thread."""
    on_call: Callable[[Call], None] | None
    """Told of every call once it is served."""
    on_line: Callable[[int], None] | None
    """Told of every line that begins."""
    robot: Stoppable | None
    """Whose functions the scope holds."""


class Runner:
    """What a `Sandbox` does once there is a program."""

    def __init__(
        self,
        scope: Scope,
        limits: Limits,
        policy: Policy,
        template: TemplateClient,
        *,
        pin: bool,
        rehearse: bool,
    ) -> None:
        """Prepare to run; the arguments are the sandbox's."""
        self.scope = scope
        self.limits = limits
        self.policy = policy
        self.robot_thread = RobotThread()
        self._template = template
        self._pin = pin and cpu_affinity.available()
        self._rehearse = rehearse

    def run(self, source: str | bytes, returns: str | None) -> Result:
        """Check a program and run it, as `Sandbox.run` says."""
        try:
            examined = examine(Program.parse(source), self.scope, self.policy)
        except ProgramSyntaxError as error:
            failure = Failure("syntax", type(error).__name__, str(error), error.line)
            return Result(failure=failure)
        for violation in examined.violations:
            refused = Failure("violation", violation.rule, str(violation), violation.line)
            return Result(failure=refused)
        for entry in examined.undefined:
            why = f"name '{clipped(entry.name)}' is not defined"
            return Result(failure=Failure("undefined", "UndefinedName", why, entry.line))
        return self.execute(examined.program, self.scope, returns=returns)

    def execute(
        self,
        source: str | Program,
        scope: Scope,
        *,
        returns: str | None = None,
        keep: bool = False,
        seed: int = 0,
        calls: CallList | None = None,
        on_call: Callable[[Call], None] | None = None,
        on_line: Callable[[int], None] | None = None,
        robot: Stoppable | None = None,
    ) -> Result:
        """Run a program that was checked already, as `Sandbox.execute` says."""
        text = _text(source)
        words = words_of(text, scope)
        asked = {returns or "", "" if calls is None else calls.function}
        plain = is_plain(words | asked, scope) and (calls is None or calls.plain)
        template = self._template.plain if plain else self._template
        try:
            told = {"lines": True} if on_line is not None else {}
            frame = codec.encode({**self._job(source, scope, returns, keep, seed, calls), **told})
        except codec.WireError as error:
            raise SandboxError(f"the program or its variables: {error}") from None
        except (SyntaxError, ValueError, RecursionError, MemoryError) as error:
            reason = str(getattr(error, "msg", error))
            return Result(failure=Failure("raised", type(error).__name__, codec.one_line(reason)))
        calls_robot = _names_robot_call(words, scope)
        job = Job(frame, scope, calls_robot, on_call, on_line, robot)
        result, unread = self._in_worker(template, job)
        if unread:  # another worker runs it
            result, _ = self._in_worker(template, job)
        if result.failure is not None:
            result = within(result, text.count("\n") + 1)
        return without_hiding(result, scope)

    def _in_worker(self, template: TemplateClient, job: Job) -> tuple[Result, bool]:
        """Have a worker run a job; return what came of it, and whether it was never read."""
        place: WorkerPlace | None = None
        core = self._core()
        worker = template.spawn(self.limits, core)
        if not self._rehearse:  # the next program follows at once: its worker is made meanwhile
            template.refill(self.limits, core, rehearsed=False)
        try:
            with self._near(worker, core) as place:
                server = CallServer(
                    worker,
                    job.scope,
                    self.limits,
                    job.on_call,
                    job.on_line,
                    robot=job.robot,
                    thread=self.robot_thread if job.robot is not None else None,
                    place=place,
                    layers=template.report().layers,
                )
                result = server.run(job.frame, calls_robot=job.calls_robot)
            if result.failure is not None:
                result = explain(result, worker, template, self.limits)
            return result, server.unread
        finally:
            core = ANYWHERE if place is None else place.core
            template.refill(self.limits, core, rehearsed=self._rehearse, ended=worker)

    def call_each(
        self, source: str | Program, scope: Scope, function: str, calls: Arguments, seed: int
    ) -> Result:
        """Run a program and call what it defined, as `Sandbox.call_each` says."""
        try:
            given = codec.encode([[list(args), dict(named)] for args, named in calls])
        except codec.WireError as error:
            raise SandboxError(f"the arguments of '{clipped(function)}': {error}") from None
        plain = are_plain([value for args, named in calls for value in (*args, *named.values())])
        result = self.execute(source, scope, seed=seed, calls=CallList(function, given, plain))
        if result.failure is not None:
            return result
        deadline_s = time.monotonic() + max(self.limits.program_s - result.program_s, 0.0)

        def look() -> None:
            if time.monotonic() > deadline_s:
                raise codec.DeadlinePassed

        try:
            answers = read_answers(result.value, len(calls), look)
        except codec.DeadlinePassed:
            return replace(result, value=None, failure=out_of_time(self.limits))
        if answers is None:
            why = "the worker broke the protocol: malformed answers"
            return replace(result, value=None, failure=Failure("protocol", "ProtocolError", why))
        return replace(result, value=answers)

    def _near(
        self, worker: Worker, core: int
    ) -> contextlib.AbstractContextManager[WorkerPlace | None]:
        """Return what keeps the worker near the thread that serves it."""
        if not self._pin:
            return contextlib.nullcontext()
        return cpu_affinity.near(worker, core)

    def _core(self) -> int:
        """Return the core for the next worker."""
        return cpu_affinity.here() if self._pin else ANYWHERE

    def _job(
        self,
        source: str | Program,
        scope: Scope,
        returns: str | None,
        keep: bool,
        seed: int,
        calls: CallList | None,
    ) -> dict[str, Any]:
        return {
            "calls": None if calls is None else [calls.function, calls.arguments],
            "code": _shipped(source) if self._template.restricts else _text(source).encode(),
            "definitions": [_shipped(entry.source, entry.name) for entry in scope.definitions],
            "primitives": list(scope.primitives),
            "groups": {group: list(members) for group, members in scope.groups.items()},
            "variables": codec.encode_shared(dict(scope.variables)) if scope.variables else b"",
            "returns": returns,
            "keep": keep,
            "seed": seed,
            "policy": self.policy.as_data(),
            "library": self.policy.library,
            "stdout_chars": self.limits.stdout_chars,
        }


def _names_robot_call(words: set[str], scope: Scope) -> bool:
    """Tell whether a program names a function that runs on the robot's thread."""
    return not words.isdisjoint(scope.groups) or any(
        scope.primitives[name].kind != "lmp" for name in words & scope.primitives.keys()
    )


def _text(source: str | Program) -> str:
    return source if isinstance(source, str) else source.source


def _shipped(source: str | Program, name: str = "program") -> bytes:
    """Return a program's code object as bytes, for the worker; nothing ever comes back this way."""
    if isinstance(source, Program):
        return marshal.dumps(source.code)
    return _compiled_text(source, f"<{name}>")


@lru_cache(maxsize=256)
def _compiled_text(source: str, name: str) -> bytes:
    return marshal.dumps(compiled(source, parsed(source), name))
