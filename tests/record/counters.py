"""How much code one instruction passes, and which files import each other: shown, not compared."""

from __future__ import annotations

from collections.abc import Mapping

from tests import figures
from tests.record.record import Case, Seen


def cases() -> Mapping[str, Case]:
    """Return the counters."""
    return {"one instruction": _one_instruction, "circles within folders": _circles}


def _one_instruction() -> Seen:
    passed = figures.passed()
    return Seen(
        shown={"modules": len(passed.modules), "functions": passed.functions, "depth": passed.depth}
    )


def _circles() -> Seen:
    return Seen(shown=figures.circles(figures.modules()))
