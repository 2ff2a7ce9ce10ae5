"""Judging samples: the candidate runs in a sandbox worker, the test where it cannot reach.

A candidate is the problem's prompt with the completion, one worker for each. It is called there
with everything the test asks for, and what it returns comes back as plain data; then the test runs
in this process on those values. Whatever a candidate does, all it can send is values.

Where the kernel's layers hold a worker, a candidate finds Python as it is, and no text is refused:
what reaches for the machine fails when it is done. Elsewhere the check comes first, as for robots.

- Arguments are copies: what a candidate does to them, the test does not see.
- An iterator, a generator too, comes back as an iterator over what it yields, at most 10,000
  values; so does what is no plain data and can be iterated over.
- A subclass of a builtin comes back as that builtin, a fraction or decimal as the number exactly
  as large, a view of a dictionary as a set; an instance of any other class is no plain data and
  fails the sample, whatever its `__eq__` says.
- The helpers a test uses are those of the problem's prompt, whatever the candidate makes of them.

The test and the helpers it uses come from the problem file. In place of the candidate the test
meets a stand-in that takes the results the worker sent, in the order of the calls; a candidate has
no way to the test but those values.
"""

from __future__ import annotations

import builtins
import contextlib
import io
import random
import secrets
import signal
import threading
import time
import types
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

from benchmarks.humaneval.problems import HumanEvalProblem
from cap.checker.checker import check
from cap.checker.policy import Policy
from cap.errors import UsageError
from cap.program.program import Program, ProgramSyntaxError
from cap.program.scope import Scope
from cap.result import Failure
from cap.sandbox import frames
from cap.sandbox import wire as codec
from cap.sandbox.client import WorkerTemplate, shared_template
from cap.sandbox.limits import Limits
from cap.sandbox.results import CallAnswer
from cap.sandbox.sandbox import Sandbox

TIMEOUT_S = 3.0
"""The official scorer's."""
MEMORY_BYTES = 1 << 30
"""Private memory of a candidate's worker."""
MOST_RUNS = 1000
"""How often a candidate is run whose test asks for what depends on its answers."""
POLICY = replace(Policy.benchmark(), library=False)
"""What the check allows where the kernel holds nothing: a candidate has what it imports."""
LEVEL = "kernel-seccomp"
"""The weakest level of the sandbox at which its walls alone decide."""
_REFUSALS = ("MemoryError", "ModuleNotFoundError", "PermissionError", "WireError")
"""What a candidate fails with that met a wall of the sandbox; elsewhere it may have gone on."""
_NO_THREAD = "can't start new thread"
_TELLING_BYTES = 3
"""An answer that is at least so long is known again in other data."""
STDOUT_CHARS = 10_000_000
"""A candidate may print as it likes; the official scorer has no limit."""

Call = tuple[list[Any], dict[str, Any]]
"""Positional and keyword arguments."""


@dataclass(frozen=True)
class SampleVerdict:
    """The result of one sample."""

    passed: bool
    """True if the test found nothing wrong."""
    result: str
    """`passed`, `timed out`, or `failed:` with the reason, as the official scorer says it."""
    cause: str = ""
    """"" or what is to blame: `program`, or `task` if it ran and is wrong."""
    refused: str = ""
    """Of one that failed, what it was refused here and the official scorer may allow; or ""."""


PASSED = SampleVerdict(True, "passed")
TIMED_OUT = SampleVerdict(False, "timed out", "program")


class Scorer:
    """Judges samples, one after another. A context manager."""

    def __init__(
        self,
        timeout_s: float = TIMEOUT_S,
        template: WorkerTemplate | None = None,
    ) -> None:
        """Prepare a sandbox.

        Args:
            timeout_s: What a candidate may take for all its calls, wall seconds.
            template: Forks the workers; by default the one that this process shares.

        Raises:
            UsageError: No time at all.
        """
        if not timeout_s > 0:
            raise UsageError(f"a time limit of {timeout_s:g} s lets nothing pass; ask for more")
        self.limits = Limits(
            program_s=timeout_s, memory_bytes=MEMORY_BYTES, stdout_chars=STDOUT_CHARS
        )
        self._template = template or shared_template(POLICY.modules)
        self._ready: dict[HumanEvalProblem, tuple[ProblemTest, CandidateCalls]] = {}
        self._scope = Scope()

    def __enter__(self) -> Scorer:
        """Start loading the worker template."""
        self._template.start(self.limits)
        return self

    @cached_property
    def sandbox(self) -> Sandbox:
        """Runs the candidates; waits until it is known what holds them."""
        return Sandbox(limits=self.limits, policy=POLICY, template=self._template)

    @property
    def checks(self) -> bool:
        """True if the check refuses texts; else the kernel's layers decide."""
        return bool(self._template.report().lacks(LEVEL))

    def __exit__(self, *_: object) -> None:
        """Do nothing: workers end with their programs."""

    def score(self, problem: HumanEvalProblem, text: str, *, whole: bool = False) -> SampleVerdict:
        """Judge one sample of a problem.

        Args:
            problem: Which.
            text: A completion of its prompt.
            whole: It is a whole program instead, which needs no prompt.

        Raises:
            UsageError: The problem itself cannot be used.
            SandboxError: No worker could be started.
        """
        if problem not in self._ready:
            test = ProblemTest(problem, self.limits.program_s)
            self._ready[problem] = test, test.calls()
        test, calls = self._ready[problem]
        source = text if whole else f"{problem.prompt}{text}\n"
        program = self._checked(source) if self.checks else source
        if isinstance(program, SampleVerdict):
            return program
        deadline_s = time.monotonic() + self.limits.program_s
        for _ in range(MOST_RUNS):
            result = self.sandbox.call_each(
                program, self._scope, problem.entry_point, calls.arguments
            )
            if result.failure is not None:
                return _failed(result.failure)
            try:
                test.verdict(calls, result.value)
                return PASSED
            except NewCall as asked:
                calls = CandidateCalls([*calls.arguments[: asked.before], asked.call])
            except TestTimeout:
                break
            except Exception as error:
                why = codec.one_line(str(error)) or type(error).__name__
                cause = "task" if isinstance(error, AssertionError) else "program"
                met = (_wall(a.value, a.message) for a in result.value if a.kind == "raises")
                refused = next(filter(None, met), "")
                return SampleVerdict(False, f"failed: {why}", cause, refused)
            if time.monotonic() > deadline_s:
                break
        return TIMED_OUT

    def _checked(self, source: str) -> Program | SampleVerdict:
        """Return a candidate that may run, or the verdict on one that may not."""
        try:
            program = Program.parse(source)
        except ProgramSyntaxError as error:
            return SampleVerdict(False, f"failed: {error}", "program")
        for violation in check(program, self.sandbox.policy):
            why = str(violation)
            return SampleVerdict(False, f"failed: refused, {why}", "program", why)
        return program


def _failed(failure: Failure) -> SampleVerdict:
    """Return the verdict on a candidate that gave no answers."""
    if failure.kind == "timeout":
        return TIMED_OUT
    refused = _wall(failure.error, failure.message)
    return SampleVerdict(False, f"failed: {failure}", "program", refused)


def _wall(error: str, message: str) -> str:
    """Return what of an exception is a wall's doing, or ""."""
    if error in _REFUSALS or message == _NO_THREAD:
        return f"{error}: {message}".removesuffix(": ")
    return ""


# --- the trusted side


@dataclass(frozen=True)
class CandidateCalls:
    """What a test calls a candidate with, in order."""

    arguments: Sequence[Call]
    """Of each call; no two share a part."""

    @cached_property
    def encoded(self) -> tuple[bytes, ...]:
        """The same as bytes, to be compared with what a test asks for."""
        return tuple(codec.encode([args, named]) for args, named in self.arguments)

    def first_told(self, answers: Sequence[bytes | None]) -> int | None:
        """Return the first call that may be given the answer to another one before it, if any.

        Short answers, as truth values and small numbers are, stand anywhere by chance.

        Args:
            answers: To each call, encoded; None where that cannot be.
        """
        for place, given in enumerate(self.encoded):
            for answer, asked in zip(answers[:place], self.encoded, strict=False):
                if answer is None or len(answer) < _TELLING_BYTES:
                    continue
                if answer in given and asked != given:
                    return place
        return None


class CandidateFailed(Exception):
    """The candidate raised an exception that is not one of Python's own."""


class NewCall(BaseException):
    """A test called the candidate with arguments that nobody tried; no test catches it."""

    def __init__(self, before: int, call: Call) -> None:
        super().__init__(f"call {before + 1} is a new one")
        self.before = before
        """How many calls had an answer."""
        self.call = call


class TestTimeout(BaseException):
    """A test takes longer than it may; no test catches it."""

    __test__ = False  # no test of pytest's


class ProblemTest:
    """A problem's test, ready to run against what candidates answered."""

    def __init__(self, problem: HumanEvalProblem, timeout_s: float = TIMEOUT_S) -> None:
        """Compile it.

        Args:
            problem: Whose.
            timeout_s: How long it may run each time.

        Raises:
            UsageError: The problem's own text is no Python.
        """
        self.problem = problem
        self._timeout_s = timeout_s
        self._helpers = _compiled(problem, "prompt", problem.canonical_solution)
        self._test = _compiled(problem, "test")
        self._draws = "random" in problem.test or "random" in problem.prompt
        # Every sample meets the same inputs, and none can draw them ahead of the test.
        self._seed = secrets.randbits(64)

    def calls(self) -> CandidateCalls:
        """Return what the test calls the candidate with.

        Most tests tell without a candidate, by an answer that is equal to everything; the others
        are run with the canonical solution. Where its answers go into later calls, these are left
        out: a candidate that looked ahead would find there what it was asked for.

        Raises:
            UsageError: The canonical solution fails the test.
        """
        # What it says of such an answer is of no interest.
        with contextlib.suppress(Exception, TestTimeout):
            return self._calls(lambda *_, **__: _Anything())
        space: dict[str, Any] = {}
        answers: list[bytes | None] = []

        def solution(*args: Any, **named: Any) -> Any:
            answers.append(None)
            value = space[self.problem.entry_point](*args, **named)
            with contextlib.suppress(frames.WireError):
                answers[-1] = codec.encode(value)
            return value

        try:
            with _time_limit(self._timeout_s):
                exec(self._helpers, space)
            calls = self._calls(solution)
            return CandidateCalls(calls.arguments[: calls.first_told(answers)])
        except TestTimeout:
            raise UsageError(
                f"'{self.problem.task_id}': its canonical solution and its test do not end "
                f"within {self._timeout_s:g} s"
            ) from None
        except Exception as error:
            raise UsageError(
                f"'{self.problem.task_id}': its canonical solution fails its own test: {error!r}"
            ) from None

    def _calls(self, function: Callable[..., Any]) -> CandidateCalls:
        """Run the test with a function that answers; return the arguments it was given."""
        seen: list[Call] = []

        def candidate(*args: Any, **named: Any) -> Any:
            seen.append(copied(args, named))
            own, own_named = copied(args, named)
            return function(*own, **own_named)

        self._run(candidate)
        return CandidateCalls(seen)

    def verdict(self, calls: CandidateCalls, answers: Sequence[CallAnswer]) -> None:
        """Run the test on a candidate's answers; returns if it passes.

        Args:
            calls: What the candidate was called with.
            answers: The result of each.

        Raises:
            NewCall: The test makes another call.
            TestTimeout: The test does not end in time.
            Exception: The test failed.
        """
        given = calls.encoded
        place = 0

        def candidate(*args: Any, **named: Any) -> Any:
            nonlocal place
            if place == len(given) or codec.encode([list(args), named]) != given[place]:
                raise NewCall(place, copied(args, named))
            place += 1
            return _given(answers[place - 1])

        self._run(candidate)

    def _run(self, candidate: Callable[..., Any]) -> None:
        space: dict[str, Any] = {"__name__": "__main__"}
        drawn = _random_numbers(self._seed) if self._draws else contextlib.nullcontext()
        # What a test prints is for nobody.
        with drawn, contextlib.redirect_stdout(io.StringIO()), _time_limit(self._timeout_s):
            exec(self._helpers, space)
            exec(self._test, space)
            space[self.problem.entry_point] = candidate  # some tests call it by its name
            space["check"](candidate)


class _Anything:
    """The answer a test likes, whatever it is compared with."""

    def __eq__(self, other: object) -> bool:
        return True

    def __abs__(self) -> _Anything:
        return self

    def __sub__(self, other: object) -> _Anything:
        return self

    def __lt__(self, other: object) -> bool:
        return True

    __hash__ = None  # type: ignore[assignment]


def copied(args: Sequence[Any], named: Mapping[str, Any]) -> Call:
    """Return arguments that share no part with those given."""
    positional, keyword = codec.decode(codec.encode([list(args), dict(named)]))
    return positional, keyword


def _given(answer: CallAnswer) -> Any:
    """Return what the candidate returned, or raise what it raised."""
    if answer.kind == "value":
        return answer.value
    if answer.kind == "yields":
        return iter(answer.value)
    kind = getattr(builtins, answer.value, None)
    if isinstance(kind, type) and issubclass(kind, Exception):
        with contextlib.suppress(TypeError):  # a few take more than a message
            raise kind(answer.message)
    raise CandidateFailed(f"{answer.value}: {answer.message}")


def _compiled(problem: HumanEvalProblem, part: str, more: str = "") -> types.CodeType:
    source = getattr(problem, part) + more
    try:
        return compile(source, f"<{problem.task_id} {part}>", "exec", dont_inherit=True)
    except (SyntaxError, ValueError) as error:
        raise UsageError(f"'{problem.task_id}': its {part} is no Python: {error}") from None


@contextmanager
def _time_limit(seconds: float) -> Iterator[None]:
    """Raise `TestTimeout` in what takes longer; a single call into C ends first.

    Signals reach the main thread alone; elsewhere there is no limit.
    """
    if threading.current_thread() is not threading.main_thread():
        yield
        return

    def stop(*_: object) -> None:
        raise TestTimeout

    before = signal.signal(signal.SIGALRM, stop)
    signal.setitimer(signal.ITIMER_REAL, seconds, 1.0)  # again, for a test that catches all
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, before)


@contextmanager
def _random_numbers(seed: int) -> Iterator[None]:
    before = random.getstate()
    random.seed(seed)
    try:
        yield
    finally:
        random.setstate(before)
