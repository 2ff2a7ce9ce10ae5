"""Settings of the engine: how programs are written, tried, approved and repaired."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any, Literal

from cap.checker.library_arguments import CheckedValues, check_values

MOST_SAMPLES = 100
"""The most programs that are tried for one instruction."""
Sort = Literal["static", "runtime", "person"]
"""Repairs of a program that cannot run, that failed while it ran, that the user declined."""


@dataclass(frozen=True)
class Decision:
    """A user's decision on a program."""

    allowed: bool
    """Whether it may run as it is."""
    reason: str = ""
    """Why not: the model reads it, and writes another."""
    edited: str = ""
    """The user's own program in its place: it is checked and shown in the same way."""


Approve = Callable[[str], bool | Decision]
"""Shown the complete program; False refuses it."""
Allow = Callable[[str], bool]
"""Shown one call as text; False refuses it, and ends its program."""


@dataclass(frozen=True)
class Sampling:
    """How many programs are written for an instruction, and by what one of them is chosen."""

    samples: int = 1
    """How many at the most; with 1 nothing is tried before it is carried out."""
    agreement: bool = True
    """Whether what most of them do comes first."""
    goal: bool = True
    """Whether a goal check is written, where the robot has a prompt for it."""
    judge: Callable[[Any], bool] | None = None
    """A caller's own check of the robot's world after a trial; what it accepts is carried out."""
    max_tokens: int | None = None
    """No further program is asked for once they and their trials took so many tokens."""
    max_s: float | None = None
    """No further program is asked for after so many seconds."""
    verify: Literal["words", "goal", "off"] = "words"
    """What a turn's effect is compared with: the words, a goal check as well, or nothing."""


@dataclass(frozen=True)
class Repairs(CheckedValues):
    """How often one instruction's program may be written again."""

    static: int = 2
    """For what is found before it runs."""
    runtime: int = 2
    """For what fails while it runs."""
    undo: bool = False
    """True if in simulation what the last failed program did is undone as well."""


HARDWARE_REPAIRS = Repairs(runtime=0)
"""On hardware what a failed program did stays done, so it is not written again."""


@dataclass(frozen=True)
class GenerationLimits(CheckedValues):
    """How much may be generated for one program."""

    depth: int = 4
    """Waves: a generated function's own helpers are one deeper."""
    functions: int = 16
    """Functions in all."""


@dataclass(frozen=True)
class EngineSettings:
    """How programs are written, approved and repaired."""

    seed: int = 0
    """Start of all random numbers inside programs."""
    approve: Approve | None = None
    """Shown each complete program before it moves anything."""
    allow: Allow | None = None
    """Shown each call that moves the robot before it does; False refuses it."""
    budget: GenerationLimits = field(default_factory=GenerationLimits)
    """How many functions may be generated for one program, and how long an answer may be."""
    sampling: Sampling = field(default_factory=Sampling)
    """How many programs are tried before one is carried out."""
    look: bool = False
    """Whether the model is sent a picture of the scene with each instruction."""
    repairs: Repairs | None = None
    """How often a program may be written again; by default as `Repairs` says, on hardware
    as `HARDWARE_REPAIRS`."""

    def __post_init__(self) -> None:
        """Check the values.

        Raises:
            UsageError: A value is of another kind than its field.
        """
        check_values(self)
        check_values(self.sampling)
