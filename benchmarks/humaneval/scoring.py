"""Judging samples: the candidate runs in a sandbox worker, the test where it cannot reach.

A candidate is the problem's prompt with the completion, one worker for each. It is called there
with everything the test asks for, and what it returns comes back as plain data; then the test runs
in this process on those values. Whatever a candidate does, all it can send is values.

- Arguments are copies: what a candidate does to them, the test does not see.
- An iterator, a generator too, comes back as an iterator over what it yields, at most 10,000
  values.
- A subclass of a builtin comes back as that builtin, a fraction or decimal as the number exactly
  as large, a view of a dictionary as a set; an instance of any other class is no plain data and
  fails the sample, whatever its `__eq__` says.
- The helpers a test uses are those of the problem's prompt, whatever the candidate makes of them.
"""

from __future__ import annotations

import ast
import time
from dataclasses import dataclass, replace

from benchmarks.humaneval.checks import Asked, Calls, Check
from benchmarks.humaneval.problems import Problem
from cap.checker.checker import check
from cap.checker.policy import Policy
from cap.errors import UsageError
from cap.program.program import Program, ProgramSyntaxError
from cap.result import Failure
from cap.sandbox.limits import Limits
from cap.sandbox.parent.template_client import TemplateClient
from cap.sandbox.sandbox import Sandbox
from cap.sandbox.wire import codec
from cap.scope import Scope

TIMEOUT_S = 3.0
"""The official scorer's."""
MOST_RUNS = 1000
"""How often a candidate is run whose test asks for what depends on its answers."""
POLICY = replace(Policy.benchmark(), library=False)
"""A candidate has what it imports, and nothing else."""
STDOUT_CHARS = 10_000_000
"""A candidate may print as it likes; the official scorer has no limit."""


@dataclass(frozen=True)
class Verdict:
    """What came of one sample."""

    passed: bool
    """True if the test found nothing wrong."""
    result: str
    """`passed`, `timed out`, or `failed:` with the reason, as the official scorer says it."""
    cause: str = ""
    """"" or what is to blame: `program`, or `task` if it ran and is wrong."""


PASSED = Verdict(True, "passed")
TIMED_OUT = Verdict(False, "timed out", "program")


class Scorer:
    """Judges samples, one after another. A context manager."""

    def __init__(
        self,
        timeout_s: float = TIMEOUT_S,
        memory_bytes: int = 1 << 30,
        template: TemplateClient | None = None,
    ) -> None:
        """Prepare a sandbox.

        Args:
            timeout_s: What a candidate may take for all its calls, wall seconds.
            memory_bytes: Private memory of its worker.
            template: Forks the workers; the one of this process by default.

        Raises:
            UsageError: No time at all.
        """
        if not timeout_s > 0:
            raise UsageError(f"a time limit of {timeout_s:g} s lets nothing pass; ask for more")
        self.policy = POLICY
        limits = Limits(program_s=timeout_s, memory_bytes=memory_bytes, stdout_chars=STDOUT_CHARS)
        # One question and one answer for each worker: moving both ends to a core takes longer.
        self.sandbox = Sandbox(
            limits=limits, policy=self.policy, pin=False, rehearse=False, template=template
        )
        self._ready: dict[Problem, tuple[Check, Calls]] = {}
        self._scope = Scope()

    def __enter__(self) -> Scorer:
        """Start loading the worker template."""
        self.sandbox.__enter__()
        return self

    def __exit__(self, *_: object) -> None:
        """Do nothing: workers end with their programs."""

    def score(self, problem: Problem, completion: str) -> Verdict:
        """Judge one completion of a problem.

        Raises:
            UsageError: The problem itself cannot be used.
            SandboxError: No worker could be started.
        """
        test, calls = self._prepared(problem)
        program = self._program(problem.prompt + completion)
        if isinstance(program, Verdict):
            return program
        deadline_s = time.monotonic() + self.sandbox.limits.program_s
        for _ in range(MOST_RUNS):
            result = self.sandbox.call_each(
                program, self._scope, problem.entry_point, calls.arguments
            )
            if result.failure is not None:
                return _failed(result.failure)
            try:
                test.verdict(calls, result.value)
                return PASSED
            except Asked as asked:
                calls = calls.upto(asked.before, asked.call)
            except Exception as error:
                return _wrong(error)
            if time.monotonic() > deadline_s:
                break
        return TIMED_OUT

    def _prepared(self, problem: Problem) -> tuple[Check, Calls]:
        """Return a problem's test and its calls, found out once."""
        if problem not in self._ready:
            test = Check(problem)
            self._ready[problem] = test, test.calls()
        return self._ready[problem]

    def _program(self, source: str) -> Program | Verdict:
        """Return a candidate that may run, or the verdict on one that may not."""
        try:
            program = _as_imported(Program.parse(source))
        except ProgramSyntaxError as error:
            return Verdict(False, f"failed: {error}", "program")
        for violation in check(program.tree, self.policy):
            return Verdict(False, f"failed: refused, {violation}", "program")
        return program


def _as_imported(program: Program) -> Program:
    """Leave out what only a script does, `if __name__ == '__main__'`: nobody would run it."""
    if "__main__" not in program.source:
        return program
    kept = [node for node in program.tree.body if not _is_for_scripts(node)]
    return Program(program.source, ast.Module(kept, []))


def _is_for_scripts(node: ast.stmt) -> bool:
    return (
        isinstance(node, ast.If)
        and not node.orelse
        and ast.unparse(node.test) == "__name__ == '__main__'"
    )


def _failed(failure: Failure) -> Verdict:
    """Return the verdict on a candidate that gave no answers."""
    if failure.kind == "timeout":
        return TIMED_OUT
    return Verdict(False, f"failed: {failure}", "program")


def _wrong(error: Exception) -> Verdict:
    """Return the verdict of a test that raised."""
    text = codec.one_line(str(error)) or type(error).__name__
    cause = "task" if isinstance(error, AssertionError) else "program"
    return Verdict(False, f"failed: {text}", cause)
