"""Judging functions: each is called in a worker of its own, its results are compared here.

What a problem brings along runs in other workers than the function that is judged: the maker of
inputs, the reference, and each call of a function that a solution may use. Inputs and results cross
as plain data, a fresh copy for every call; nothing a worker says is believed but the results.

A result is plain data of known types, compared here:
    None, truth values and strings must be the same; a truth value is no number.
    Numbers (Python's and numpy's) must agree within the tolerance, two integers exactly where no
    tolerance is stated; NaN and infinity stand only where they are expected.
    Lists, tuples and arrays are one kind: same length at every level, same entries in order. Two
    arrays must have the same shape.
    Dictionaries must have the same keys, in any order.
    Geometries must have the same type and number of parts, and be the same set of points within
    the tolerance: Hausdorff distance, for lines also length, for areas the symmetric difference.
    Anything else is no result: instances of a program's own classes (whatever their `__eq__` says),
    functions, generators and other iterators, sets.
"""

from __future__ import annotations

import math
import zlib
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache
from typing import Any

import msgspec
import numpy as np
import shapely

from benchmarks.problems.problem import LIMITS, Problem, Tolerance
from benchmarks.problems.problem_file import checked
from cap.errors import ProblemError
from cap.program.scope import Primitive, Scope
from cap.result import Failure
from cap.sandbox import wire as codec
from cap.sandbox.limits import Limits
from cap.sandbox.sandbox import Sandbox

MAX_COORDINATES = 10_000
"""A geometry of more is not compared: the work grows with the square."""
_USUAL = Tolerance()
_Number = (int, float, np.integer, np.floating)
_Truth = (bool, np.bool_)
_Sequence = (list, tuple, np.ndarray)


def difference(expected: Any, got: Any, tolerance: Tolerance) -> str | None:
    """Return None if a result is right, else what is wrong with it, in a few words."""
    if not _kind(got) == _kind(expected) != "":
        equal = False
    elif isinstance(expected, shapely.Geometry):
        try:
            equal = _geometries_agree(expected, got, tolerance)
        except shapely.errors.GEOSException as error:
            return f"a geometry that cannot be compared: {shown(str(error))}"
    elif isinstance(expected, _Sequence):
        if isinstance(expected, np.ndarray) and isinstance(got, np.ndarray):
            if expected.shape != got.shape:
                return f"expected shape {expected.shape}, got {got.shape}"
        elif len(expected) != len(got):
            return f"expected {len(expected)} entries, got {len(got)}"
        for place, (right, mine) in enumerate(zip(expected, got, strict=True)):
            if why := difference(right, mine, tolerance):
                return f"[{place}]: {why}"
        return None
    elif isinstance(expected, dict):
        if expected.keys() != got.keys():
            return f"expected keys {shown(list(expected))}, got {shown(list(got))}"
        for key, right in expected.items():
            if why := difference(right, got[key], tolerance):
                return f"[{shown(key)}]: {why}"
        return None
    elif isinstance(expected, _Number) and not isinstance(expected, _Truth):
        equal = _numbers_agree(expected, got, tolerance)
    else:
        equal = expected == got
    return None if equal else f"expected {shown(expected)}, got {shown(got)}"


def unfit(value: Any) -> str | None:
    """Return None for a value that can be compared, else what in it cannot."""
    if _kind(value) == "sequence":
        if isinstance(value, np.ndarray) and value.dtype.kind in "biuf":
            return None
        return next(filter(None, map(unfit, value)), None)
    if isinstance(value, dict):
        if not all(isinstance(key, str | int) for key in value):
            return "a dictionary with keys that are no strings or integers"
        return next(filter(None, map(unfit, value.values())), None)
    return None if _kind(value) else f"a value of type '{type(value).__name__}'"


def shown(value: Any) -> str:
    """Return a value as messages show it: short, geometries as text."""
    try:
        text = value.wkt if isinstance(value, shapely.Geometry) else repr(value)
    except Exception:  # a number too long to write out, a geometry without coordinates
        return f"a value of type '{type(value).__name__}'"
    text = " ".join(text.split())
    return text if len(text) <= 160 else f"{text[:157]}..."


def _kind(value: Any) -> str:
    """Return which of the comparable kinds a value is, or ""."""
    if value is None:
        return "none"
    if isinstance(value, _Truth):
        return "truth"
    if isinstance(value, _Number):
        return "number"
    if isinstance(value, str):
        return "text"
    if isinstance(value, _Sequence):
        return "sequence" if np.ndarray is not type(value) or value.ndim else ""
    if isinstance(value, dict):
        return "mapping"
    return value.geom_type if isinstance(value, shapely.Geometry) else ""


def _numbers_agree(expected: Any, got: Any, tolerance: Tolerance) -> bool:
    whole = int, np.integer
    try:
        if isinstance(expected, whole) and isinstance(got, whole):
            if tolerance.abs == _USUAL.abs:
                tolerance = msgspec.structs.replace(tolerance, abs=0)
            if tolerance.rel == _USUAL.rel:
                tolerance = msgspec.structs.replace(tolerance, rel=0)
            return abs(int(expected) - int(got)) <= tolerance.allowed(int(expected))
        right, mine = float(expected), float(got)
    except OverflowError:  # an integer that no float reaches
        return False
    if not math.isfinite(right) or not math.isfinite(mine):
        return right == mine or (math.isnan(right) and math.isnan(mine))
    return abs(right - mine) <= tolerance.allowed(right)


def _geometries_agree(expected: Any, got: Any, tolerance: Tolerance) -> bool:
    if shapely.get_num_coordinates(got) > MAX_COORDINATES or got.has_z != expected.has_z:
        return False
    if expected.is_empty or got.is_empty:
        return bool(expected.is_empty and got.is_empty)
    if shapely.get_num_geometries(got) != shapely.get_num_geometries(expected):
        return False
    if not np.isfinite(shapely.get_coordinates(got)).all() or got.is_valid < expected.is_valid:
        return False
    if not expected.hausdorff_distance(got) <= tolerance.abs:
        return False
    if shapely.get_dimensions(expected) == 1:
        # Corners on each other's lines do not yet make the same line.
        dense = shapely.hausdorff_distance(expected, got, densify=0.1)
        return bool(dense <= tolerance.abs) and _numbers_agree(
            expected.length, got.length, tolerance
        )
    if shapely.get_dimensions(expected) == 2 and expected.is_valid:
        apart = expected.symmetric_difference(got).area
        return bool(apart <= tolerance.abs + tolerance.rel * expected.area)
    return True


@dataclass(frozen=True)
class Exam:
    """The cases of a problem for one seed, with what is right."""

    problem: Problem
    """Whose."""
    cases: tuple[list[Any], ...]
    """Arguments of each call; with the scene before them where there is one."""
    expected: tuple[Any, ...]
    """The reference's results."""


@dataclass(frozen=True)
class Verdict:
    """The result of one function."""

    passed: int
    """Cases with the right result, up to the first wrong one."""
    cases: int
    """All."""
    missed: str
    """Why it is not right, one line; "" if it is."""

    @property
    def right(self) -> bool:
        """True if every result was right."""
        return not self.missed


class Desk:
    """Hands out the cases of one problem and takes in results; a robot to the engine."""

    name = "desk"
    simulated = True
    about = ""
    """A problem says all there is to say."""

    def __init__(
        self,
        problem: Problem,
        cases: Sequence[list[Any]],
        take: Callable[[int, Any], str | None],
    ) -> None:
        """Begin with the first case.

        Args:
            problem: Whose cases they are.
            cases: What to call the function with.
            take: Called with each result and the case's number; returns what is wrong, or None.
        """
        self.missed = ""
        """What was wrong first."""
        self.handed_in = 0
        """Right results so far."""
        self._problem = problem
        self._cases = cases
        self._take = take
        self._open = False
        """A case is out, and no result is in."""

    def primitives(self) -> Mapping[str, Primitive]:
        """Return what the loop is driven by, and the functions that are given."""
        found = {
            function.__name__: Primitive.of(function, "perception")
            for function in (self.next_case, self.hand_in)
        }
        for name in self._problem.given_names:
            found[name] = Primitive.of(self._given(name), "perception", name)
        return found

    def positions(self) -> Mapping[str, Any]:
        """Return no object: there is none."""
        return {}

    def context(self) -> Mapping[str, Any]:
        """Return no facts."""
        return {}

    def stop(self) -> None:
        """Do nothing: nothing moves."""

    def close(self) -> None:
        """Do nothing: nothing is held."""

    def next_case(self) -> list[Any] | None:
        """Return the arguments of the next call; None if there is none, or one went wrong."""
        if self._open:
            raise ValueError("the case before has no result yet")
        if self.missed or self.handed_in == len(self._cases):
            return None
        self._open = True
        return self._arguments

    def hand_in(self, value: Any, arguments: list[Any]) -> None:
        """Take the result of the case that is open, with its arguments as the call left them."""
        if not self._open:
            raise ValueError("no case is open")
        if codec.encode(arguments) != codec.encode(self._arguments):
            self._miss("it changed its arguments")
        elif wrong := self._take(self.handed_in, value):
            self._miss(wrong)
        else:
            self.handed_in += 1
        self._open = False

    def verdict(self, failure: Failure | None) -> Verdict:
        """Return the whole result, given how the program ended."""
        if failure is not None and not self.missed:
            self._miss(str(failure))
        if self.handed_in < len(self._cases) and not self.missed:
            self._miss("it ended before the last case")
        return Verdict(self.handed_in, len(self._cases), self.missed)

    @property
    def _arguments(self) -> list[Any]:
        case = self._cases[self.handed_in]
        return case[1:] if self._problem.given else case

    def _miss(self, why: str) -> None:
        if self._open:
            called = f"{self._problem.name}({', '.join(map(shown, self._arguments))})"
            why = f"case {self.handed_in + 1}, {called}: {why}"
        self.missed = why

    def _given(self, name: str) -> Callable[..., Any]:
        """Return a given function: it runs in a worker of its own, about the open case's scene."""

        def call(*arguments: Any, **named: Any) -> Any:
            if not self._open:
                raise ValueError(f"{name}() can be called inside {self._problem.name}() only")
            asked = codec.encode([self._cases[self.handed_in][0], [list(arguments), named]])
            return codec.decode(_answered(self._problem.given, name, asked))

        return call


@lru_cache(maxsize=128)
def examine(problem: Problem, seed: int) -> Exam:
    """Make the cases of a problem for a seed, and have the reference answer them; once.

    Raises:
        ProblemError: The cases cannot be made, or the reference fails them.
    """
    cases, written = _cases(problem, seed)
    results: list[Any] = []

    def take(number: int, value: Any) -> str | None:
        if wrong := unfit(value):
            return f"it returned {wrong}"
        own = number < len(problem.cases) and problem.cases[number].tolerance is not None
        # A tolerance of its own is about the value that is written beside it.
        results.append(written[number] if own and number in written else value)
        if number not in written:
            return None
        return difference(written[number], value, problem.tolerance_of(number))

    verdict = judge_source(problem, problem.reference, Desk(problem, cases, take), LIMITS)
    if not verdict.right:
        raise ProblemError(f"problem '{problem.name}': the reference fails: {verdict.missed}")
    return Exam(problem, tuple(cases), tuple(results))


def desk(exam: Exam) -> Desk:
    """Return a desk that compares what comes in with what is right."""

    def take(number: int, value: Any) -> str | None:
        return difference(exam.expected[number], value, exam.problem.tolerance_of(number))

    return Desk(exam.problem, exam.cases, take)


def judge(exam: Exam, source: str, limits: Limits = LIMITS) -> Verdict:
    """Judge a solution that is already written."""
    return judge_source(exam.problem, source, desk(exam), limits)


def judge_source(problem: Problem, source: str, place: Desk, limits: Limits) -> Verdict:
    """Have a solution called for every case of a desk."""
    sandbox = Sandbox(Scope(primitives=place.primitives()), limits=limits)
    result = sandbox.run(f"{source.rstrip()}\n\n\n{problem.loop}")
    return place.verdict(result.failure)


_MADE = """
case_arguments = [{cases}
]
rng = np.random.default_rng({seed})
case_arguments += [arguments(rng) for number in range({count})]
exam = [[list(entry) for entry in case_arguments], [{written}
]]
"""


def _cases(problem: Problem, seed: int) -> tuple[list[list[Any]], dict[int, Any]]:
    """Return the arguments of every call, and the results that are written in the file."""
    # A problem's own seed: what others there are, and their order, change nothing.
    own_seed = np.random.SeedSequence([seed, zlib.crc32(problem.name.encode())])
    made = _MADE.format(
        cases="".join(f"\n[{case.entries}\n]," for case in problem.cases),
        written="".join(
            f"\n[{number}, {case.result}\n],"
            for number, case in enumerate(problem.cases)
            if case.result is not None
        ),
        seed=int(own_seed.generate_state(1)[0]),
        count=problem.random_cases if problem.random else 0,
    )
    maker = problem.random or "def arguments(rng):\n    return []"
    source = f"{problem.setup}\n\n\n{maker}\n\n\n{made}"
    result = Sandbox(limits=LIMITS).run(source, returns="exam")
    where = f"problem '{problem.name}': its cases"
    if result.failure is not None:
        raise ProblemError(f"{where} cannot be made: {result.failure}")
    cases, written = result.value
    for number, case in enumerate(cases, 1):
        scene, counts = bool(problem.given), problem.counts
        least, most = counts[0] + scene, counts[-1] + scene
        if not least <= len(case) <= most:
            needed = f"{least} to {most}" if least < most else str(most)
            why = f"{where}: case {number} has {len(case)} entries, not {needed}"
            bracketed = len(case) == 1 + scene and isinstance(case[-1], list)
            remedy = "; write the arguments without brackets around them" if bracketed else ""
            raise ProblemError(why + remedy)
        if wrong := unfit(case):
            raise ProblemError(f"{where}: case {number} holds {wrong}")
    return cases, dict(written)


@lru_cache(maxsize=10_000)
def _answered(source: str, name: str, asked: bytes) -> bytes:
    """Return what a given function answers, encoded; raise what it raises."""
    program = checked(f"{source}\n\n\nanswer = {name}(*asked[0], **asked[1])\n", "given")
    scope = Scope(variables=dict(zip(("scene", "asked"), codec.decode(asked), strict=True)))
    result = Sandbox(limits=replace(LIMITS, calls=0)).execute(program, scope, returns="answer")
    if (failure := result.failure) is not None:
        raise codec.RAISABLE.get(failure.error, ValueError)(f"{name}(): {failure.message}")
    return codec.encode(result.value)
