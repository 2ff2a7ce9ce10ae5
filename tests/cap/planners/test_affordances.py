"""SayCan's formulas, at the ends and between them."""

from __future__ import annotations

import pytest

from cap.planners import affordances
from tests.rows import rows, table

CASES = table(__file__, "affordances")


@rows(("kind", "given", "expected"), CASES.values(), CASES)
def test_affordances(kind: str, given: float, expected: float) -> None:
    assert getattr(affordances, kind)(given) == pytest.approx(expected)
    assert (affordances.PLACE, affordances.TERMINATE) == (1.0, 0.1)
