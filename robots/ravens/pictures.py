"""How the tabletop is photographed, whichever engine draws it."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray
from PIL import Image

from robots.arm.rotations import looking
from robots.perception.lens import Lens

VIEW = looking((0.26, -1.6, 1.0), (-0.04, -0.35, 0.165))
"""Where a spectator stands."""
_FIELD_OF_VIEW_DEG = 44.0
_NEAR_M, _FAR_M = 0.003, 10.0
CAMERA_POSE = looking((0.0, -1.2, 0.85), (0.0, -0.47, 0.0))
"""The depth camera looks from the front, below the waiting hand: the arm hides nothing."""
FRONT_LENS = Lens(320, 320, 40.0, 0.2, 3.0)
"""What its pictures measure."""
FINE_FROM_PX = 257
"""Pictures at least this wide are drawn at twice their size, then reduced: smooth edges, four times
the work. Smaller ones are frames of a film: those have no shadows, which would be half the work."""
_SKY = ((244, 246, 248), (214, 220, 226))
"""Background colour at the top and at the bottom of a picture."""


def view_lens(width: int, height: int) -> Lens:
    """Return a spectator's lens for a picture of a size, pixels."""
    return Lens(width, height, _FIELD_OF_VIEW_DEG, _NEAR_M, _FAR_M)


def before_sky(rgb: NDArray[np.uint8], empty: NDArray[np.bool_], size: tuple[int, int]) -> Any:
    """Return a picture with the background where nothing is, reduced to a size, as a PIL image.

    Args:
        rgb: Shape (height, width, 3).
        empty: Which pixels show nothing, shape (height, width).
        size: Width and height of the result.
    """
    picture = Image.fromarray(np.where(empty[:, :, None], sky(len(rgb)), rgb))
    return picture.resize(size, Image.Resampling.BOX)


def sky(height: int) -> NDArray[np.uint8]:
    """Return the background of a picture so many pixels high, shape (height, 1, 3)."""
    top, bottom = (np.array(color, dtype=np.float64) for color in _SKY)
    fall = np.linspace(0.0, 1.0, height)[:, None, None]
    return (top + fall * (bottom - top)).astype(np.uint8)
