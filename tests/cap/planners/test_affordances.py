"""SayCan's formulas, at the ends and between them."""

from __future__ import annotations

import pytest

from cap.planners import affordances


@pytest.mark.parametrize(
    ("value", "expected"), [(0.0, 0.0), (0.2, 0.0), (0.35, 0.5), (0.5, 1.0), (0.9, 1.0)]
)
def test_a_pick_is_as_possible_as_its_value_between_two_bounds(
    value: float, expected: float
) -> None:
    assert affordances.pick(value) == pytest.approx(expected)


@pytest.mark.parametrize(
    ("distance_m", "expected"), [(0.0, 1.0), (3.0, 0.97), (50.0, 0.5), (100.0, 0.0), (250.0, 0.0)]
)
def test_going_somewhere_is_less_likely_the_further_it_is(
    distance_m: float, expected: float
) -> None:
    assert affordances.goto(distance_m) == pytest.approx(expected)


def test_putting_down_ending_and_drawers_have_their_constants() -> None:
    assert (affordances.PLACE, affordances.TERMINATE) == (1.0, 0.1)
    assert (affordances.drawer(True), affordances.drawer(False)) == (1.0, 0.0)
