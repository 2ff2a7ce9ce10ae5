"""The sandbox: a program runs in a process of its own; robot calls cross as plain data.

The parent holds the clock: a program that passes its limits is killed, whatever it catches.

Example:
    with Sandbox(scope, limits=Limits(program_s=1)) as sandbox:
        result = sandbox.run("ret_val = np.mean([1, 2])", returns="ret_val")
"""

from __future__ import annotations

import time
from collections.abc import Mapping, Sequence
from dataclasses import replace
from functools import cached_property
from typing import TYPE_CHECKING, Any

from cap.checker.policy import Policy
from cap.errors import SandboxError, UsageError, clipped
from cap.sandbox.client import WorkerTemplate, shared_template
from cap.sandbox.kernel.layers import LEVELS, LayerReport
from cap.sandbox.limits import Limits, Listeners

if TYPE_CHECKING:
    from cap.program.program import Program
    from cap.program.scope import Scope
    from cap.result import Result
    from cap.sandbox.robot_thread import RobotThread
    from cap.sandbox.server import Stoppable

# What only a run needs is imported by the methods that do, while the template loads.

Arguments = Sequence[tuple[Sequence[Any], Mapping[str, Any]]]
"""Positional and keyword arguments of several calls."""


class Sandbox:
    """Checks programs and runs them, each in a fresh worker. A context manager."""

    def __init__(
        self,
        scope: Scope | None = None,
        *,
        limits: Limits | None = None,
        policy: Policy | None = None,
        min_level: str | None = None,
        template: WorkerTemplate | None = None,
    ) -> None:
        """Make a sandbox; nothing is started yet, unless a level is asked for.

        Args:
            scope: The names programs may use; only the library's by default.
            limits: What each program may use.
            policy: What the check allows; at level `process` it allows less.
            min_level: The weakest of `LEVELS` to accept, of each worker again; by default whatever
                this system has.
            template: Forks the workers; by default one that all sandboxes of this process share.

        Raises:
            UsageError: There is no such level.
            SandboxError: The layers that hold here do not make up the level asked for.
        """
        self._scope = scope
        self.limits = limits or Limits()
        self._policy = policy or Policy()
        self._template = template or shared_template(self._policy.modules)
        self._min_level = min_level
        if min_level is None:
            return
        if min_level not in LEVELS:
            raise UsageError(f"no sandbox level '{min_level}'; there are {', '.join(LEVELS)}")
        self._demand_level(self._template.report())

    def _demand_level(self, report: LayerReport) -> None:
        """Refuse layers that do not make up the level asked for; a new template may hold less.

        Raises:
            SandboxError: Some are lacking.
        """
        if self._min_level and (lacking := report.lacks(self._min_level)):
            why = "; ".join(f"{name} ({reason})" for name, reason in lacking.items())
            asked = f"level '{self._min_level}' is asked for"
            remedy = "--min-level process accepts the check alone, see SECURITY.md"
            raise SandboxError(f"{asked} and this system lacks: {why}; {remedy}")

    @cached_property
    def scope(self) -> Scope:
        """The names programs may use."""
        from cap.program.scope import Scope

        return self._scope or Scope()

    @cached_property
    def robot_thread(self) -> RobotThread:
        """The thread the robot's functions run on."""
        from cap.sandbox.robot_thread import RobotThread

        return RobotThread()

    @cached_property
    def policy(self) -> Policy:
        """What the check allows here; waits until the layers are tried."""
        return self._policy.restricted() if self.level == "process" else self._policy

    @property
    def layers(self) -> tuple[str, ...]:
        """The layers that hold a worker here, each tried; waits until they are."""
        return self._template.report().layers

    @property
    def level(self) -> str:
        """The strongest of `LEVELS` that these layers make up."""
        return self._template.report().level

    def __enter__(self) -> Sandbox:
        """Start loading the worker template."""
        self._template.start(self.limits)
        return self

    def __exit__(self, *_: object) -> None:
        """Do nothing: workers end with their programs, the shared template with the process."""

    def run(self, source: str | bytes, returns: str | None = None) -> Result:
        """Check a program and run it.

        Args:
            source: Python.
            returns: Variable whose value is the result.

        Returns:
            The value or a typed failure, never an exception of the program.

        Raises:
            SandboxError: No worker could be started, or a variable of the scope is not plain data.
        """
        self._template.start(self.limits)
        from cap.checker.checker import examine
        from cap.program.program import Program, ProgramSyntaxError
        from cap.result import Failure, Result

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
        listeners: Listeners | None = None,
        robot: Stoppable | None = None,
        calls: tuple[str, Arguments] | None = None,
    ) -> Result:
        """Run a program that was checked already, and serve its calls until it ends or is killed.

        Args:
            source: The program.
            scope: The names it may use.
            returns: Variable whose value is the result.
            keep: Bring back every variable it binds, for a session.
            seed: Start of random numbers inside the program.
            listeners: Called for each call, line and print.
            robot: Whose functions the scope holds; stopped when a call takes too long.
            calls: A function the program defines and the arguments it is called with at the end.

        Returns:
            The value or a typed failure, never an exception of the program.

        Raises:
            SandboxError: No worker starts, too few layers hold it, or a variable is no plain data.
            KeyboardInterrupt: Passed on after the worker is killed.
        """
        self._template.start(self.limits)
        from cap.sandbox import frames, wire
        from cap.sandbox.results import failure_of_exit, within_scope
        from cap.sandbox.server import Server

        text = source if isinstance(source, str) else source.source
        job = {
            **scope_of_job(text, scope),
            "library": self._policy.library,
            "returns": returns,
            "keep": keep,
            "calls": None if calls is None else list(calls),
            "seed": seed,
            "stdout_chars": self.limits.stdout_chars,
        }
        try:
            frame = wire.encode(job)
        except frames.WireError as error:
            raise SandboxError(f"the program or its variables: {error}") from None
        worker = self._template.spawn(self.limits)
        try:
            self._demand_level(self._template.report())
            thread = self.robot_thread if robot is not None else None
            server = Server(worker, scope, self.limits, listeners, robot=robot, thread=thread)
            if calls is not None:  # one follows the other: the next worker is made meanwhile
                self._template.refill(self.limits)
            result = server.run(frame)
            killed = result.failure is not None and result.failure.kind == "killed"
            if killed and (status := self._template.status(worker)) is not None:
                result = replace(result, failure=failure_of_exit(status, self.limits))
        finally:
            worker.end()
            self._template.refill(self.limits)
        return within_scope(result, scope, text.count("\n") + 1)

    def call_each(
        self,
        source: str | Program,
        scope: Scope,
        function: str,
        calls: Arguments,
        *,
        seed: int = 0,
    ) -> Result:
        """Run a program that was checked already, then call a function it defined, many times.

        All calls share one worker and the program's time, and each has arguments of its own.

        Args:
            source: The program.
            scope: The names it may use.
            function: The one to call; any name the program bound.
            calls: Positional and keyword arguments of each call, plain data.
            seed: Start of the random numbers inside the program.

        Returns:
            As its value a `CallAnswer` for each call, or a typed failure.

        Raises:
            SandboxError: No worker could be started, or an argument is not plain data.
        """
        arguments = [(list(args), dict(named)) for args, named in calls]
        result = self.execute(source, scope, seed=seed, calls=(function, arguments))
        if result.failure is not None:
            return result
        from cap.result import Failure
        from cap.sandbox import frames
        from cap.sandbox.results import out_of_time, read_answers

        deadline_s = time.monotonic() + max(self.limits.program_s - result.program_s, 0.0)

        def look() -> None:
            if time.monotonic() > deadline_s:
                raise frames.DeadlinePassed

        try:
            answers = read_answers(result.value, len(arguments), look)
        except frames.DeadlinePassed:
            return replace(result, value=None, failure=out_of_time(self.limits))
        if answers is None:
            why = "the worker broke the protocol: malformed answers"
            return replace(result, value=None, failure=Failure("protocol", "ProtocolError", why))
        return replace(result, value=answers)


def scope_of_job(source: str, scope: Scope) -> dict[str, Any]:
    """Return the part of a worker's job that a program and its scope determine."""
    return {
        "source": source,
        "definitions": [[entry.name, entry.source] for entry in scope.definitions],
        "variables": dict(scope.variables),
        "primitives": list(scope.primitives),
        "groups": {group: list(names) for group, names in scope.groups.items()},
    }
