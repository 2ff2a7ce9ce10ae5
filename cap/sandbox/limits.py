"""What one program may use."""

from __future__ import annotations

from dataclasses import dataclass

from cap.checker.declared_types import check_values

HARDWARE_ACTIONS = 200
"""Calls of actions that one program may make of a real robot: more is a loop without an end."""


@dataclass(frozen=True)
class Limits:
    """What one program may use; a person's approval counts for none of it."""

    program_s: float = 10.0
    """Wall seconds of the program itself; robot and model calls do not count."""
    calls_s: float = 600.0
    """Wall seconds in robot and model calls, together."""
    sim_s: float = 3600.0
    """Seconds of simulated time, looked at after each call; of a real robot, in the rehearsal."""
    grace_s: float = 1.0
    """Wall seconds a robot call may take to end after it was stopped."""
    calls: int = 10_000
    """Calls of primitives."""
    actions: int = 10_000
    """Calls of actions among them."""
    call_bytes: int = 64 << 20
    """Arguments and results of all calls, as they cross: the caller keeps them to the end."""
    memory_bytes: int = 1 << 30
    """Private memory of the worker."""
    stdout_chars: int = 100_000
    """Printed characters."""

    def __post_init__(self) -> None:
        """Refuse what cannot be.

        Raises:
            UsageError: A value is of another kind than its field.
        """
        check_values(self)
