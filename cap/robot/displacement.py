"""What moved: objects by where they were before and where they are after."""

from __future__ import annotations

import math
from collections.abc import Mapping

MOVED_M = 0.005
"""Displacements below this are settling, not motion."""

Xyz = tuple[float, float, float]
Positions = Mapping[str, Xyz]
Moved = Mapping[str, tuple[Xyz, Xyz]]
"""Objects that moved: where from and where to, xyz in metres."""


def moved(before: Positions, after: Positions) -> Moved:
    """Return the objects that are elsewhere now."""
    return {
        name: (before[name], now)
        for name, now in after.items()
        if name in before and math.dist(before[name], now) > MOVED_M
    }
