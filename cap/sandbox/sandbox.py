"""The sandbox: a program runs in a process of its own; robot calls cross as plain data.

The parent holds the clock: a program that passes its limits is killed, whatever it catches.

Example:
    with Sandbox(scope, limits=Limits(program_s=1)) as sandbox:
        result = sandbox.run("ret_val = np.mean([1, 2])", returns="ret_val")
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import cached_property
from typing import TYPE_CHECKING, Any

from cap.checker.policy import Policy
from cap.errors import SandboxError, UsageError
from cap.sandbox.kernel.layers import LEVELS
from cap.sandbox.limits import Limits
from cap.sandbox.parent.template_client import TemplateClient, shared_template

if TYPE_CHECKING:
    from cap.program.program import Program
    from cap.result import Call, Result
    from cap.sandbox.parent.call_server import Stoppable
    from cap.sandbox.parent.robot_thread import RobotThread
    from cap.sandbox.runner import Runner
    from cap.scope import Scope


class Sandbox:
    """Runs programs, each in a fresh worker. A context manager."""

    def __init__(
        self,
        scope: Scope | None = None,
        *,
        limits: Limits | None = None,
        policy: Policy | None = None,
        min_level: str | None = None,
        pin: bool = True,
        rehearse: bool = True,
        template: TemplateClient | None = None,
    ) -> None:
        """Make a sandbox; nothing is started yet, unless a level is asked for.

        Args:
            scope: The names programs may use; none but the library's by default.
            limits: What each program may use.
            policy: What the check allows.
            min_level: The weakest of `LEVELS` to accept; whatever this system has by default.
            pin: Keep the worker on its caller's core while only one thread runs programs; the
                caller itself keeps all its cores.
            rehearse: Let a spare worker run common programs until it is needed; of no use where
                programs follow each other at once.
            template: Forks the workers; by default the one all sandboxes of this process share.

        Raises:
            UsageError: There is no such level.
            SandboxError: The layers that hold here do not make up the level asked for.
        """
        self._scope = scope
        self.limits = limits or Limits()
        self.policy = policy or Policy()
        self._pin = pin
        self._rehearse = rehearse
        self._template = template or shared_template()
        if min_level is None:
            return
        if min_level not in LEVELS:
            raise UsageError(f"no sandbox level '{min_level}'; there are {', '.join(LEVELS)}")
        if lacking := self._template.report().lacks(min_level):
            why = "; ".join(f"{name} ({reason})" for name, reason in lacking.items())
            raise SandboxError(f"level '{min_level}' is asked for and this system lacks: {why}")

    @cached_property
    def scope(self) -> Scope:
        """The names programs may use."""
        from cap.scope import Scope

        return self._scope or Scope()

    @property
    def robot_thread(self) -> RobotThread:
        """The thread the robot's functions run on."""
        return self._runner.robot_thread

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
        self._start()
        return self

    def _start(self) -> None:
        """Start the template that the scope makes likely, unless one runs."""
        needed = self._scope is not None and (self._scope.primitives or self._scope.variables)
        (self._template if needed else self._template.plain).start(self.limits)

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
        return self._ready().run(source, returns)

    def execute(
        self,
        source: str | Program,
        scope: Scope,
        *,
        returns: str | None = None,
        keep: bool = False,
        seed: int = 0,
        on_call: Callable[[Call], None] | None = None,
        on_line: Callable[[int], None] | None = None,
        robot: Stoppable | None = None,
    ) -> Result:
        """Run a program that was checked already, and serve its calls until it ends or is killed.

        Args:
            source: The program; one that is compiled already is not compiled again.
            scope: The names it may use.
            returns: Variable whose value is the result.
            keep: Bring back every variable it binds, for a session.
            seed: Start of numpy's random numbers inside the program.
            on_call: Told of every call once it is served.
            on_line: Told before every call which line of the program makes it.
            robot: Whose functions the scope holds; stopped when a call takes too long.

        Returns:
            The value or a typed failure, never an exception of the program.

        Raises:
            SandboxError: No worker could be started, or a variable of the scope is not plain data.
            KeyboardInterrupt: Passed on after the worker is killed.
        """
        return self._ready().execute(
            source,
            scope,
            returns=returns,
            keep=keep,
            seed=seed,
            on_call=on_call,
            on_line=on_line,
            robot=robot,
        )

    def call_each(
        self,
        source: str | Program,
        scope: Scope,
        function: str,
        calls: Sequence[tuple[Sequence[Any], Mapping[str, Any]]],
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
        return self._ready().call_each(source, scope, function, calls, seed)

    def _ready(self) -> Runner:
        """Return the runner; limits and policy may be set between programs."""
        self._runner.limits, self._runner.policy = self.limits, self.policy
        return self._runner

    @cached_property
    def _runner(self) -> Runner:
        # What only a run needs is imported while the template loads.
        self._start()
        from cap.sandbox.runner import Runner

        return Runner(
            self.scope,
            self.limits,
            self.policy,
            self._template,
            pin=self._pin,
            rehearse=self._rehearse,
        )
