"""What one program may use."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Limits:
    """What one program may use."""

    program_s: float = 10.0
    """Wall seconds of the program itself; robot and model calls do not count."""
    total_s: float = 600.0
    """Wall seconds with everything; a net, looked at between calls."""
    calls: int = 10_000
    """Calls of primitives."""
    memory_bytes: int = 1 << 30
    """Private memory of the worker."""
    stdout_chars: int = 100_000
    """Printed characters."""
