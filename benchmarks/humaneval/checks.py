"""The trusted side: a problem's own test, run here with a stand-in for the candidate.

The test and the helpers it uses come from the problem file. The stand-in takes the results the
worker sent, in the order of the calls; a candidate has no way to the test but those values.
"""

from __future__ import annotations

import builtins
import contextlib
import random
import types
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from functools import cached_property
from typing import Any

from benchmarks.humaneval.problems import Problem
from cap.errors import UsageError
from cap.sandbox.wire import codec
from cap.sandbox.worker.call_list import CallAnswer

Call = tuple[list[Any], dict[str, Any]]
"""Positional and keyword arguments."""


@dataclass(frozen=True)
class Calls:
    """What a test calls a candidate with, in order."""

    arguments: Sequence[Call]
    """Of each call; no two share a part."""

    @cached_property
    def encoded(self) -> tuple[bytes, ...]:
        """The same as bytes, to be compared with what a test asks for."""
        return tuple(codec.encode([args, named]) for args, named in self.arguments)

    def upto(self, count: int, call: Call) -> Calls:
        """Return the first of them, and another."""
        return Calls([*self.arguments[:count], call])


_SEED = 0
"""Where a test's random numbers start: every sample meets the same inputs."""


class CandidateFailed(Exception):
    """The candidate raised an exception that is not one of Python's own."""


class Asked(BaseException):
    """A test called the candidate with arguments that nobody tried; no test catches it."""

    def __init__(self, before: int, call: Call) -> None:
        super().__init__(f"call {before + 1} is a new one")
        self.before = before
        """How many calls had an answer."""
        self.call = call


class Check:
    """A problem's test, ready to run against what candidates answered."""

    def __init__(self, problem: Problem) -> None:
        """Compile it.

        Raises:
            UsageError: The problem's own text is no Python.
        """
        self.problem = problem
        self._helpers = _compiled(problem, "prompt")
        self._test = _compiled(problem, "test")
        self._draws = "random" in problem.test or "random" in problem.prompt

    def calls(self) -> Calls:
        """Return what the test calls the candidate with.

        Most tests tell without a candidate, by an answer that is equal to everything; the others
        are run with the canonical solution.

        Raises:
            UsageError: The canonical solution fails the test.
        """
        try:
            return self._calls(lambda *_, **__: _Anything())
        except Exception:  # what a test says of such an answer is of no interest
            return self._calls_of_solution()

    def _calls_of_solution(self) -> Calls:
        space: dict[str, Any] = {}
        try:
            exec(_compiled(self.problem, "prompt", self.problem.canonical_solution), space)
            return self._calls(space[self.problem.entry_point])
        except Exception as error:
            raise UsageError(
                f"'{self.problem.task_id}': its canonical solution fails its own test: {error!r}"
            ) from None

    def _calls(self, function: Callable[..., Any]) -> Calls:
        """Run the test with a function that answers; return the arguments it was given."""
        seen: list[Call] = []

        def candidate(*args: Any, **named: Any) -> Any:
            seen.append(copied(args, named))
            own, own_named = copied(args, named)
            return function(*own, **own_named)

        self._run(candidate)
        return Calls(seen)

    def verdict(self, calls: Calls, answers: Sequence[CallAnswer]) -> None:
        """Run the test on a candidate's answers; returns if it passes.

        Args:
            calls: What the candidate was called with.
            answers: What came of each.

        Raises:
            Asked: The test makes another call.
            Exception: The test failed.
        """
        given = calls.encoded
        place = 0

        def candidate(*args: Any, **named: Any) -> Any:
            nonlocal place
            if place == len(given) or codec.encode([list(args), named]) != given[place]:
                raise Asked(place, copied(args, named))
            place += 1
            return _given(answers[place - 1])

        self._run(candidate)

    def _run(self, candidate: Callable[..., Any]) -> None:
        space: dict[str, Any] = {"__name__": "__main__"}
        exec(self._helpers, space)
        exec(self._test, space)
        space[self.problem.entry_point] = candidate  # some tests call it by its name
        with _same_random_numbers() if self._draws else contextlib.nullcontext():
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


def _compiled(problem: Problem, part: str, more: str = "") -> types.CodeType:
    source = getattr(problem, part) + more
    try:
        return compile(source, f"<{problem.task_id} {part}>", "exec", dont_inherit=True)
    except (SyntaxError, ValueError) as error:
        raise UsageError(f"'{problem.task_id}': its {part} is no Python: {error}") from None


@contextmanager
def _same_random_numbers() -> Iterator[None]:
    before = random.getstate()
    random.seed(_SEED)
    try:
        yield
    finally:
        random.setstate(before)
