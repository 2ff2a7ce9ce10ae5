"""How likely a skill succeeds where the robot is: SayCan's formulas, one for each family."""

from __future__ import annotations

PICK_VALUES = (0.2, 0.5)
"""A pick's value where it cannot succeed, and where it will."""
FARTHEST_M = 100.0
"""How far a place can be, metres."""
PLACE = 1.0
"""Putting down is taken to be possible always."""


def pick(value: float) -> float:
    """Return the affordance of a pick from its value function."""
    low, high = PICK_VALUES
    return min(1.0, max(0.0, (value - low) / (high - low)))


def goto(distance_m: float) -> float:
    """Return the affordance of going to what is so far away."""
    return max(0.0, (FARTHEST_M - distance_m) / FARTHEST_M)


def drawer(beside: bool) -> float:
    """Return the affordance of every drawer skill: it needs the robot beside the drawer."""
    return float(beside)
