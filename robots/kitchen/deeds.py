"""What the arm did, so that it can be taken back, last first."""

from __future__ import annotations

from dataclasses import dataclass

from robots.kitchen.objects import Thing

MOST = 200
"""So many of the last deeds are remembered."""


@dataclass(frozen=True)
class Deed:
    """One pick, one placing, or one drawer pulled or pushed."""

    name: str
    """Of the object or the drawer."""
    was: Thing | None = None
    """Where an object was that was picked up; None for other deeds."""
    riders: tuple[Thing, ...] = ()
    """Where that was which came along with it."""
    opening_m: float | None = None
    """How far a drawer was pulled out; None for other deeds."""
