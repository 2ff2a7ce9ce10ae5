"""The sandbox: a program runs in a process of its own; robot calls cross as plain data.

The parent holds the clock: a program that passes its limits is killed, whatever it catches.

Example:
    with Sandbox(scope, limits=Limits(program_s=1)) as sandbox:
        result = sandbox.run("ret_val = np.mean([1, 2])", returns="ret_val")
"""

from __future__ import annotations

import contextlib
import time
from dataclasses import replace
from functools import cached_property
from typing import TYPE_CHECKING

from cap.checker.declared_types import require
from cap.checker.policy import Policy
from cap.errors import SandboxError, UsageError, clipped
from cap.sandbox.kernel.layers import LEVELS, LayerReport
from cap.sandbox.limits import Limits
from cap.sandbox.parent.template_client import TemplateClient, shared_template
from cap.sandbox.template_protocol import ANYWHERE

if TYPE_CHECKING:
    from cap.program.program import Program
    from cap.program.scope import Scope
    from cap.result import Result
    from cap.sandbox.listeners import Listeners
    from cap.sandbox.parent.call_server import Stoppable
    from cap.sandbox.parent.job import Arguments, Job
    from cap.sandbox.parent.robot_thread import RobotThread
    from cap.sandbox.worker.call_list import CallList

# What only a run needs is imported by the methods that do, while the template loads.


class Sandbox:
    """Checks programs and runs them, each in a fresh worker. A context manager."""

    def __init__(
        self,
        scope: Scope | None = None,
        *,
        limits: Limits | None = None,
        policy: Policy | None = None,
        min_level: str | None = None,
        pin: bool = True,
        template: TemplateClient | None = None,
    ) -> None:
        """Make a sandbox; nothing is started yet, unless a level is asked for.

        Args:
            scope: The names programs may use; none but the library's by default.
            limits: What each program may use.
            policy: What the check allows.
            min_level: The weakest of `LEVELS` to accept, of each worker anew; whatever this system
                has by default.
            pin: Keep the worker on its caller's core while only one thread runs programs; the
                caller itself keeps all its cores.
            template: Forks the workers; by default the one all sandboxes of this process share.

        Raises:
            UsageError: There is no such level, or the limits are none.
            SandboxError: The layers that hold here do not make up the level asked for.
        """
        require("limits", limits, Limits | None)
        self._scope = scope
        self.limits = limits or Limits()
        self.policy = policy or Policy()
        self._pin = pin
        self._template = template or shared_template()
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
            raise SandboxError(f"{asked} and this system lacks: {why}")

    @cached_property
    def scope(self) -> Scope:
        """The names programs may use."""
        from cap.program.scope import Scope

        return self._scope or Scope()

    @cached_property
    def robot_thread(self) -> RobotThread:
        """The thread the robot's functions run on."""
        from cap.sandbox.parent.robot_thread import RobotThread

        return RobotThread()

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
        self._likely.start(self.limits)
        return self

    @property
    def _likely(self) -> TemplateClient:
        """The template that the scope makes likely."""
        needed = self._scope is not None and (self._scope.primitives or self._scope.variables)
        return self._template if needed else self._template.plain

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
            UsageError: The variable's name is no text.
        """
        if returns is not None and type(returns) is not str:
            require("returns", returns, str | None)
        self._likely.start(self.limits)
        if not (self._template.has_spare or self._template.plain.has_spare):
            self._expect(source)
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

    def _expect(self, source: str | bytes) -> None:
        """Have the worker of a program made while that is read."""
        from cap.sandbox.parent.job import setting_of
        from cap.sandbox.parent.needs import is_plain, words_of
        from cap.sandbox.wire.errors import WireError

        scope = self.scope
        plain = isinstance(source, str) and is_plain(words_of(source, scope), scope)
        with contextlib.suppress(WireError):  # that is said when the program runs
            setting = setting_of(scope, self.policy, stdout_chars=self.limits.stdout_chars)
            (self._template.plain if plain else self._template).expect(self.limits, setting)

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
        calls: CallList | None = None,
    ) -> Result:
        """Run a program that was checked already, and serve its calls until it ends or is killed.

        Args:
            source: The program; one that is compiled already is not compiled again.
            scope: The names it may use.
            returns: Variable whose value is the result.
            keep: Bring back every variable it binds, for a session.
            seed: Start of numpy's random numbers inside the program.
            listeners: Told of its calls; nobody by default.
            robot: Whose functions the scope holds; stopped when a call takes too long.
            calls: What `call_each` has called at its end.

        Returns:
            The value or a typed failure, never an exception of the program.

        Raises:
            SandboxError: No worker starts, too few layers hold it, or a variable is no plain data.
            UsageError: The seed is no whole number.
            KeyboardInterrupt: Passed on after the worker is killed.
        """
        if type(seed) is not int:
            require("seed", seed, int)
        self._likely.start(self.limits)
        from cap.result import Failure, Result
        from cap.sandbox.parent.job import Job
        from cap.sandbox.parent.result_message import not_begun, within, without_hiding
        from cap.sandbox.wire import codec

        try:
            job = Job.of(
                source,
                scope,
                self.policy,
                returns=returns,
                keep=keep,
                seed=seed,
                calls=calls,
                tells_lines=listeners is not None and listeners.on_line is not None,
                stdout_chars=self.limits.stdout_chars,
                restricted=self._template.restricts,
            )
        except codec.WireError as error:
            raise SandboxError(f"the program or its variables: {error}") from None
        except (SyntaxError, ValueError, RecursionError, MemoryError) as error:
            reason = str(getattr(error, "msg", error))
            return Result(failure=Failure("raised", type(error).__name__, codec.one_line(reason)))
        result, begun = self._in_worker(job, listeners, robot)
        if not begun:  # another worker runs it, in what is left of its time
            result, begun = self._in_worker(job, listeners, robot, result.program_s)
            result = result if begun else not_begun(result, scope, self.limits)
        return without_hiding(within(result, job.lines), scope)

    def _in_worker(
        self,
        job: Job,
        listeners: Listeners | None,
        robot: Stoppable | None,
        spent_s: float | None = None,
    ) -> tuple[Result, bool]:
        """Have a worker run a job; return what came of it, and whether it had begun at all.

        Args:
            job: What is to be done.
            listeners: Told of its calls.
            robot: Whose functions the scope holds.
            spent_s: What an earlier attempt has used of the program's time, if there was one.
        """
        from cap.sandbox.parent import cpu_affinity
        from cap.sandbox.parent.call_server import CallServer
        from cap.sandbox.parent.result_message import explain

        template = self._template.plain if job.plain else self._template
        core = cpu_affinity.here() if self._pin else ANYWHERE
        worker = template.spawn(self.limits, core, job.setting)
        try:
            self._demand_level(worker.report)
            # One that is on no core yet takes time to move; without calls it gains nothing by it.
            follows = worker.order.core != ANYWHERE or not job.plain
            with (
                cpu_affinity.near(worker, core if follows else ANYWHERE, follows=follows)
                if self._pin and cpu_affinity.available()
                else contextlib.nullcontext()
            ) as place:
                server = CallServer(
                    worker,
                    job.scope,
                    self.limits,
                    listeners,
                    robot=robot,
                    thread=self.robot_thread if robot is not None else None,
                    place=place,
                    layers=worker.report.layers,
                    spent_s=spent_s,
                )
                frame = job.for_worker(worker.setting)
                result = server.run(frame, calls_robot=job.calls_robot)
                if place is not None and follows:
                    core = place.core
            if result.failure is not None:
                result = explain(result, worker, template, self.limits)
            return result, server.begun
        finally:
            template.refill(self.limits, core, ended=worker, setting=job.setting)

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
        self._likely.start(self.limits)
        from cap.result import Failure
        from cap.sandbox.parent.needs import are_plain
        from cap.sandbox.parent.result_message import out_of_time
        from cap.sandbox.wire import codec
        from cap.sandbox.worker.call_list import CallList, read_answers

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
