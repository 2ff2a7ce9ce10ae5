"""The sandbox: a program runs in a process of its own; robot calls cross as plain data.

The parent holds the clock: a program that passes its limits is killed, whatever it catches.

Example:
    with Sandbox(scope, limits=Limits(program_s=1)) as sandbox:
        result = sandbox.run("ret_val = np.mean([1, 2])", returns="ret_val")
"""

from __future__ import annotations

import contextlib
import marshal
from collections.abc import Callable
from dataclasses import replace
from functools import lru_cache
from operator import is_
from typing import TYPE_CHECKING, Any

from cap.check import Policy, check
from cap.errors import SandboxError, UsageError, clipped
from cap.library import EVERYWHERE
from cap.names import undefined
from cap.program import Program, ProgramSyntaxError, compiled
from cap.result import Call, Failure, Result
from cap.sandbox import pinning
from cap.sandbox.endings import explain
from cap.sandbox.layers import LEVELS
from cap.sandbox.limits import Limits
from cap.sandbox.orders import ANYWHERE
from cap.sandbox.processes import Template, shared_template
from cap.sandbox.robot_thread import RobotThread
from cap.scope import Scope

if TYPE_CHECKING:
    from cap.sandbox.conversation import Stoppable
    from cap.sandbox.processes import Worker

__all__ = ["LEVELS", "Limits", "Sandbox"]


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
        template: Template | None = None,
    ) -> None:
        """Make a sandbox; nothing is started yet, unless a level is asked for.

        Args:
            scope: The names programs may use; none but the library's by default.
            limits: What each program may use.
            policy: What the check allows.
            min_level: The weakest of `LEVELS` to accept; whatever this system has by default.
            pin: Keep the worker on the caller's core while only one thread runs programs.
            template: Forks the workers; by default the one all sandboxes of this process share.

        Raises:
            SandboxError: The layers that hold here do not make up the level asked for.
        """
        self.scope = scope or Scope()
        self.limits = limits or Limits()
        self.policy = policy or Policy()
        self._names: tuple[Scope, Policy, frozenset[str]] | None = None
        self._pin = pin and pinning.available()
        self._template = template or shared_template()
        self.robot_thread = RobotThread()
        if min_level is not None:
            self._require(min_level)

    @property
    def layers(self) -> tuple[str, ...]:
        """The layers that hold a worker here, each tried; waits until they are."""
        return self._template.report().layers

    @property
    def level(self) -> str:
        """The strongest of `LEVELS` that these layers make up."""
        return self._template.report().level

    def _require(self, level: str) -> None:
        if level not in LEVELS:
            raise UsageError(f"no sandbox level '{level}'; there are {', '.join(LEVELS)}")
        lacking = self._template.report().lacks(level)
        if lacking:
            why = "; ".join(f"{name} ({reason})" for name, reason in lacking.items())
            raise SandboxError(f"level '{level}' is asked for and this system lacks: {why}")

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
        known = self._known()
        try:
            program = Program.parse(source).without_imports(known)
        except ProgramSyntaxError as error:
            failure = Failure("syntax", type(error).__name__, str(error), error.line)
            return Result(failure=failure)
        refused = self._refusal(program, known)
        if refused is not None:
            return Result(failure=refused)
        return self.execute(program, self.scope, returns=returns)

    def _known(self) -> frozenset[str]:
        """Return every name a program may read, collected once for each scope and policy."""
        given = self.scope, self.policy
        if self._names is None or not all(map(is_, self._names, given)):
            self._names = *given, self.scope.names() | EVERYWHERE | self.policy.builtins
        return self._names[2]

    def _refusal(self, program: Program, known: frozenset[str]) -> Failure | None:
        """Return why a program may not run, or None."""
        reserved = frozenset([*self.scope.primitives, *self.scope.groups])
        for violation in check(program.tree, self.policy, reserved):
            return Failure("violation", violation.rule, str(violation), violation.line)
        for entry in undefined(program, known):
            why = f"name '{clipped(entry.name)}' is not defined"
            return Failure("undefined", "UndefinedName", why, entry.line)
        return None

    def execute(
        self,
        source: str | Program,
        scope: Scope,
        *,
        returns: str | None = None,
        keep: bool = False,
        seed: int = 0,
        on_call: Callable[[Call], None] | None = None,
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
            robot: Whose functions the scope holds; stopped when a call takes too long.

        Returns:
            The value or a typed failure, never an exception of the program.

        Raises:
            SandboxError: No worker could be started, or a variable of the scope is not plain data.
            KeyboardInterrupt: Passed on after the worker is killed.
        """
        # These load numpy, which takes as long here as in the template: both at the same time.
        self._template.start(self.limits)
        from cap.sandbox import wire
        from cap.sandbox.conversation import Conversation

        try:
            job = wire.encode(self._job(source, scope, returns, keep, seed))
        except wire.WireError as error:
            raise SandboxError(f"the program or its variables: {error}") from None
        except (SyntaxError, ValueError, RecursionError, MemoryError) as error:
            reason = str(getattr(error, "msg", error))
            return Result(failure=Failure("raised", type(error).__name__, wire.one_line(reason)))
        worker = self._template.spawn(self.limits, self._core())
        try:
            with self._placed(worker):
                result = Conversation(
                    worker,
                    scope,
                    self.limits,
                    on_call,
                    robot=robot,
                    thread=self.robot_thread if robot is not None else None,
                ).hold(job)
            result = explain(result, worker, self._template, self.limits)
            return replace(result, layers=self._template.report().layers)
        finally:
            worker.end()
            self._template.refill(self.limits, self._core())

    def _placed(self, worker: Worker) -> contextlib.AbstractContextManager[None]:
        """Return what keeps worker and caller on one core meanwhile."""
        if not self._pin:
            return contextlib.nullcontext()
        return pinning.same_core(worker, worker.core)

    def _core(self) -> int:
        """Return the core for the next worker."""
        return pinning.here() if self._pin else ANYWHERE

    def _job(
        self, source: str | Program, scope: Scope, returns: str | None, keep: bool, seed: int
    ) -> dict[str, Any]:
        from cap.sandbox import wire

        return {
            "code": _shipped(source),
            "definitions": [_shipped(entry.source, entry.name) for entry in scope.definitions],
            "primitives": list(scope.primitives),
            "groups": {group: list(members) for group, members in scope.groups.items()},
            "variables": wire.encode_shared(dict(scope.variables)) if scope.variables else b"",
            "returns": returns,
            "keep": keep,
            "seed": seed,
            "policy": self.policy.as_data(),
            "stdout_chars": self.limits.stdout_chars,
        }


def _shipped(source: str | Program, name: str = "program") -> bytes:
    """Return a program's code object as bytes, for the worker; nothing ever comes back this way."""
    if isinstance(source, Program):
        return marshal.dumps(source.code)
    return _compiled_text(source, f"<{name}>")


@lru_cache(maxsize=256)
def _compiled_text(source: str, name: str) -> bytes:
    return marshal.dumps(compiled(source, name))
