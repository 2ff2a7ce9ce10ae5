"""The sandbox: a program runs in a process of its own; robot calls cross as plain data.

The parent holds the clock: a program that passes its limits is killed, whatever it catches.

Example:
    with Sandbox(scope, limits=Limits(program_s=1)) as sandbox:
        result = sandbox.run("ret_val = np.mean([1, 2])", returns="ret_val")
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from cap.check import Policy, check
from cap.errors import SandboxError
from cap.library import EVERYWHERE
from cap.names import undefined
from cap.program import Program, ProgramSyntaxError
from cap.result import Call, Failure, Result
from cap.sandbox import wire
from cap.sandbox.conversation import Conversation
from cap.sandbox.isolation import LAYERS
from cap.sandbox.limits import Limits
from cap.sandbox.processes import Template, shared_template
from cap.scope import Scope

__all__ = ["LAYERS", "Limits", "Sandbox"]


class Sandbox:
    """Runs programs, each in a fresh worker. A context manager."""

    def __init__(
        self,
        scope: Scope | None = None,
        *,
        limits: Limits | None = None,
        policy: Policy | None = None,
        template: Template | None = None,
    ) -> None:
        """Make a sandbox; nothing is started yet.

        Args:
            scope: The names programs may use; none but the library's by default.
            limits: What each program may use.
            policy: What the check allows.
            template: Forks the workers; by default the one all sandboxes of this process share.
        """
        self.scope = scope or Scope()
        self.limits = limits or Limits()
        self.policy = policy or Policy()
        self.layers = LAYERS
        self._template = template or shared_template()

    def __enter__(self) -> Sandbox:
        """Start loading the worker template."""
        self._template.start()
        return self

    def __exit__(self, *_: object) -> None:
        """Do nothing: workers end with their programs, the shared template with the process."""

    def run(self, source: str, returns: str | None = None) -> Result:
        """Check a program and run it.

        Args:
            source: Python.
            returns: Variable whose value is the result.

        Returns:
            The value or a typed failure, never an exception of the program.

        Raises:
            SandboxError: No worker could be started, or a variable of the scope is not plain data.
        """
        known = self.scope.names() | EVERYWHERE
        try:
            program = Program.parse(source).without_imports(known)
        except ProgramSyntaxError as error:
            failure = Failure("syntax", type(error).__name__, str(error), error.line)
            return Result(failure=failure)
        refused = self._refusal(program, known)
        if refused is not None:
            return Result(failure=refused)
        return self.execute(program.source, self.scope, returns=returns)

    def _refusal(self, program: Program, known: frozenset[str]) -> Failure | None:
        """Return why a program may not run, or None."""
        reserved = frozenset([*self.scope.primitives, *self.scope.groups])
        for violation in check(program.tree, self.policy, reserved):
            return Failure("violation", violation.rule, str(violation), violation.line)
        for entry in undefined(program, known):
            why = f"name '{entry.name}' is not defined"
            return Failure("undefined", "UndefinedName", why, entry.line)
        return None

    def execute(
        self,
        source: str,
        scope: Scope,
        *,
        returns: str | None = None,
        keep: bool = False,
        seed: int = 0,
        on_call: Callable[[Call], None] | None = None,
    ) -> Result:
        """Run a program that was checked already, and serve its calls until it ends or is killed.

        Args:
            source: The program.
            scope: The names it may use.
            returns: Variable whose value is the result.
            keep: Bring back every variable it binds, for a session.
            seed: Start of numpy's random numbers inside the program.
            on_call: Told of every call once it is served.

        Returns:
            The value or a typed failure, never an exception of the program.

        Raises:
            SandboxError: No worker could be started, or a variable of the scope is not plain data.
            KeyboardInterrupt: Passed on after the worker is killed.
        """
        try:
            job = wire.encode(self._job(source, scope, returns, keep, seed))
        except wire.WireError as error:
            raise SandboxError(f"the program or its variables: {error}") from None
        worker = self._template.spawn()
        try:
            return Conversation(worker, scope, self.limits, on_call).hold(job)
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
