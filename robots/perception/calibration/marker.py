"""Where a coloured sticker is in the camera's frame: the other half of a calibration pair."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from cap.errors import NotFound
from robots.perception.camera import Array, Frame
from robots.perception.segmentation import tones
from robots.table.colors import Color

_LEAST_PIXELS = 20
_WIDEST_M = 0.04
"""A marker whose pixels reach further from its middle is more than one thing."""


def find_marker(frame: Frame, color: Color, tolerance: float = 0.06) -> Array:
    """Return the middle of a flat sticker of a colour nothing else has, shape (3,), metres.

    It is in the camera's frame (x right, y down, z forward), whatever the frame's pose says.

    Args:
        frame: A picture that shows it.
        color: Its red, green and blue, 0 to 255, as they are in the picture.
        tolerance: How different its pixels may be: distance between shares of red, green and blue.

    Raises:
        NotFound: Too few pixels have that colour and a depth, or they lie far apart.
    """
    points = replace(frame, pose=np.eye(4)).points()
    wanted = tones(np.array([color], dtype=float))
    away = np.linalg.norm(tones(frame.rgb.astype(float)) - wanted, axis=-1)
    found = points[(away < tolerance) & (frame.depth_m > 0)]
    if len(found) < _LEAST_PIXELS:
        raise NotFound(
            f"only {len(found)} pixels have the marker's colour {color} and a depth; go closer, or "
            "take the colour from the picture"
        )
    middle = np.median(found, axis=0)
    if np.quantile(np.linalg.norm(found - middle, axis=1), 0.9) > _WIDEST_M:
        raise NotFound(f"more than one thing has the marker's colour {color}; use another colour")
    place: Array = middle
    return place
