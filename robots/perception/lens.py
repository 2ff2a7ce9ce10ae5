"""A simulated camera's lens, and the lamp that lights what it sees."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from robots.perception.camera import Array


@dataclass(frozen=True)
class Lens:
    """What a camera's pictures measure."""

    width: int
    """Pixels."""
    height: int
    """Pixels."""
    field_deg: float
    """Vertical field of view, as the renderer takes it."""
    near_m: float = 0.1
    """Closest distance it sees."""
    far_m: float = 3.0
    """What is further has no depth."""

    @property
    def intrinsics(self) -> Array:
        """Pinhole matrix, shape (3, 3), pixels."""
        focal = self.height / 2 / math.tan(math.radians(self.field_deg) / 2)
        # The renderer's axis meets column width / 2 and row height / 2 - 1, as planes show.
        across, down = self.width / 2 + 0.5, self.height / 2 - 0.5
        return np.array([[focal, 0.0, across], [0.0, focal, down], [0.0, 0.0, 1.0]])


@dataclass(frozen=True)
class Light:
    """One lamp, and what it does."""

    direction: tuple[float, float, float] = (-0.5, -0.5, 1.3)
    """Towards the lamp."""
    distance_m: float = 2.4
    """How far off it is."""
    ambient: float = 0.6
    """Share of light that comes from everywhere."""
    diffuse: float = 0.45
    """Share that depends on how a surface is turned."""
    shadow: bool = True
    """Whether things cast shadows, which is as much work as the picture itself."""
