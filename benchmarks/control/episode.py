"""What every controlled thing has beside its own readings and commands: nobody moves objects."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from cap.program.scope import Primitive
from robots.base import primitives_of

Array = NDArray[np.float64]


def commanded(values: object, count: int, what: str) -> Array:
    """Return a command of so many numbers.

    Raises:
        ValueError: It is something else.
    """
    try:
        found = np.asarray(values, dtype=float)
    except (TypeError, ValueError, OverflowError):
        found = np.array([math.nan])
    if found.shape != (count,) or not np.isfinite(found).all():
        number = {2: "two", 6: "six"}[count]
        raise ValueError(f"{what} are {number} finite numbers, not {values!r}")
    return found


class Episode:
    """One simulation whose time passes only in a program's calls."""

    simulated = True
    STEP_S: float
    """Simulated time of one step."""
    track: list[list[float]]
    """What was measured at first and after each step."""

    @property
    def steps(self) -> int:
        """Steps so far."""
        return len(self.track) - 1

    @property
    def sim_time_s(self) -> float:
        """Simulated time since the start, seconds."""
        return self.steps * self.STEP_S

    def primitives(self) -> Mapping[str, Primitive]:
        """Return the functions programs may call, by name."""
        return primitives_of(self)

    def context(self) -> Mapping[str, Any]:
        """Return no facts: everything changes with every step."""
        return {}

    def positions(self) -> Mapping[str, tuple[float, float, float]]:
        """Return nothing: no object is moved about."""
        return {}

    def stop(self) -> None:
        """Do nothing: time passes only inside one call."""

    def close(self) -> None:
        """Release nothing."""
