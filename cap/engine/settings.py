"""Settings of the engine: declared once, handed on as one object."""

from __future__ import annotations

from dataclasses import dataclass, field

from cap.checker.declared_types import check_values
from cap.engine.answer import Approve
from cap.engine.approval import Allow
from cap.engine.best_of import Sampling
from cap.engine.function_generation import GenerationLimits
from cap.engine.repair import Repairs


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
    """How often a program may be written again; by default as `Repairs` says, but on hardware never
    for what fails while it runs."""

    def __post_init__(self) -> None:
        """Refuse what cannot be.

        Raises:
            UsageError: A value is of another kind than its field.
        """
        check_values(self)
        check_values(self.sampling)
