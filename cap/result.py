"""The result of a program: a value or a failure, with every call it made."""

from __future__ import annotations

import math
import re
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass, field, is_dataclass
from typing import Any, Literal

import numpy as np

FailureKind = Literal[
    "syntax",
    "violation",
    "undefined",
    "generation",
    "model",
    "refused",
    "rehearsal",
    "raised",
    "timeout",
    "memory",
    "output",
    "limit",
    "killed",
    "protocol",
    "value",
    "effect",
    "interrupted",
]
Cause = Literal["model", "program", "robot", "infrastructure", "person"]

EFFECTS = ("moved", "drew", "said", "answered", "nothing")
"""All that a turn's effect is made of, in the order it is reported; see `cap.engine.effect`."""
_REFUSED = ("syntax", "violation", "undefined")
_MODEL = ("model", "generation")
_PERSON = ("refused", "interrupted")
_INFRASTRUCTURE = ("killed", "protocol")
_USAGE = frozenset(["UsageError", "ConfigError", "MissingExtra"])
"""A person's own, found only once the model was asked."""
_UNASKED = ("EndpointFailed", "ModelUnreachable", "NotRecorded")
"""Errors of `cap.errors` that are the endpoint's or a recording's and no model's."""
_ASKED_FOR_NOTHING = "NotFound"
"""The one of a robot's errors that is the program's own."""


class ByValue:
    """Of frozen dataclasses that hold arrays and geometries: compared by what they hold.

    What is compared is their plain data, so an array is the same as a list of its numbers.
    """

    def __eq__(self, other: object) -> bool:
        """Return whether the other is of the same class, and all it holds is the same."""
        if type(other) is not type(self):
            return NotImplemented
        return bool(plain(vars(self)) == plain(vars(other)))

    def __hash__(self) -> int:
        """Return a number that is the same for what is the same: that of its class."""
        return hash(type(self))


@dataclass(frozen=True)
class Failure:
    """Why a turn did not succeed."""

    kind: FailureKind
    """The stage and manner."""
    error: str
    """The exception's or rule's name: `ZeroDivisionError`, `NotFound`, `CAP102`."""
    message: str
    """One line: what, where, remedy."""
    line: int | None = None
    """1-based line of the program, where known."""
    robot: bool = False
    """True if a primitive raised it."""

    @property
    def cause(self) -> Cause:
        """What is to blame, for reports: asking for what is not there is the program's fault.

        A model that could not be asked is not to blame.
        """
        if self.robot:
            return "program" if self.error == _ASKED_FOR_NOTHING else "robot"
        if self.kind in _PERSON:
            return "person"
        if self.kind in _MODEL:
            return "infrastructure" if self.error in _UNASKED else "model"
        return "infrastructure" if self.kind in _INFRASTRUCTURE else "program"

    @property
    def exit_code(self) -> int:
        """The command line's exit code."""
        if self.kind == "interrupted":
            return 130
        if self.kind in _MODEL:
            return 4
        if self.robot:
            return 5
        if self.error in _USAGE:
            return 2
        return 3 if self.kind in _REFUSED else 1

    def __str__(self) -> str:
        """Return the failure as one line."""
        if self.message.startswith(f"{self.error} "):  # a rule's, which names itself and the line
            return self.message
        where = f" (line {self.line})" if self.line else ""
        return f"{self.error}{where}: {self.message}" if self.message else f"{self.error}{where}"


@dataclass(frozen=True, eq=False)
class Call(ByValue):
    """One call of a primitive, as the parent served it."""

    name: str
    """The primitive."""
    args: tuple[Any, ...]
    """Positional arguments, plain data."""
    kwargs: Mapping[str, Any]
    """Keyword arguments, plain data."""
    start_s: float
    """Seconds after the program started."""
    duration_s: float
    """How long it took."""
    result: Any = None
    """What it returned."""
    error: str | None = None
    """`Name: message` if it failed."""
    kind: str = "perception"
    """The primitive's kind: `perception`, `action` or `lmp`."""


def folded(words: Iterable[str]) -> tuple[str, ...]:
    """Return each of them once, in the order they first came: `put`, or `put x 3`."""
    return tuple(f"{word} x {n}" if n > 1 else word for word, n in Counter(words).items())


@dataclass(frozen=True, eq=False)
class Result(ByValue):
    """What the sandbox reports of one program."""

    value: Any = None
    """The value of the variable asked for, or None."""
    failure: Failure | None = None
    """Why it failed, or None."""
    calls: tuple[Call, ...] = ()
    """Every call it made, in order."""
    stdout: str = ""
    """What it printed."""
    variables: Mapping[str, Any] = field(default_factory=dict)
    """Plain data it left bound."""
    defined: Mapping[str, int] = field(default_factory=dict)
    """Functions and classes it left bound as their definitions make them: each with the line of
    its definition in the program, 0 of one that was there before."""
    dropped: tuple[str, ...] = ()
    """Names it bound whose values cannot be kept, functions that no definition makes among them."""
    oversized: tuple[str, ...] = ()
    """Names of plain data for which there is no room among what stays between turns."""
    program_s: float = 0.0
    """Seconds the program itself ran, calls not counted."""
    layers: tuple[str, ...] = ()
    """What held its process: of `cap.sandbox.kernel.layers.LAYERS`; none if it never started."""


def plain(value: Any) -> Any:
    """Return a value as JSON can hold it: arrays as lists, geometries as WKT, the rest by repr."""
    if value is None or isinstance(value, bool | int | str):
        return value
    if isinstance(value, float):
        return value if math.isfinite(value) else repr(value)
    if isinstance(value, np.ndarray | np.generic):
        held = value.tolist()
        # A longer float than Python's remains what it is.
        return repr(held) if isinstance(held, np.generic) else plain(held)
    if isinstance(value, Mapping):
        return {str(key): plain(entry) for key, entry in value.items()}
    if isinstance(value, set | frozenset):
        return sorted((plain(entry) for entry in value), key=repr)
    if isinstance(value, list | tuple):
        return [plain(entry) for entry in value]
    if is_dataclass(value) and not isinstance(value, type):
        return plain(asdict(value))
    return value.wkt if hasattr(value, "wkt") else repr(value)


def between(ends: Sequence[str]) -> str:
    """Return from what to what a thing moved, in words; "" where it was and is on nothing."""
    start, end = ends
    return f"{start and f' from {start}'}{end and f' to {end}'}"


def unmarked(ink: object) -> str:
    """Return how much is drawn, without the mark that distinguishes drawings."""
    return re.sub(r", mark \w+", "", str(ink))
