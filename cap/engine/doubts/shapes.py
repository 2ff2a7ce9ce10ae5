"""What is drawn as shapes: what they look like, and what they measure."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

SHARE, SLACK_M = 0.02, 0.001
"""A size may be off by this share of itself, and by so much more."""
STRAIGHT_M, STRAIGHT_SHARE = 0.002, 0.015
"""A line that stays this close to a straight one, or by this share of its size, is a side."""
OPEN_SHARE = 0.3
"""A shape is open if its ends are farther apart than this share of its size."""
REGULAR = 0.03
"""A circle is as wide as it is high, and a square's sides are equal, but for this share."""
ROUND_CORNERS, ROUND_POINTS = 6, 16
"""A circle has more corners; of so many points it is as wide as it is high."""
CORNERS = {
    "triangle": (3,),
    "square": (4,),
    "rectangle": (4,),
    "pentagon": (5,),
    "hexagon": (6,),
    "octagon": (8,),
    "star": (5, 8, 10, 12),
}
KNOWN = ("line", "circle", *CORNERS)
"""The shapes that can be distinguished."""
MEASURES = {
    **dict.fromkeys(("long", "length", "perimeter", "circumference"), "length"),
    **dict.fromkeys(("wide", "width"), "wide"),
    **dict.fromkeys(("tall", "high", "height"), "high"),
    **dict.fromkeys(("side", "sides", "edge", "edges", "across"), "side"),
    **dict.fromkeys(("radius", "radii"), "radius"),
    **dict.fromkeys(("diameter", "diameters"), "diameter"),
}
"""What a size is called, by the word next to it."""
Stroke = Sequence[Sequence[float]]
Points = NDArray[np.float64]
"""The points of a stroke, shape (n, 2): xy in metres."""


def points_of(stroke: Stroke) -> Points:
    """Return the points of a stroke, shape (n, 2)."""
    return np.array(stroke, dtype=float)[:, :2]


def same(wanted: float, found: float, share: float = SHARE, slack: float = SLACK_M) -> bool:
    """Tell whether a length, metres, is as long as was said."""
    return abs(found - wanted) <= share * wanted + slack


def middle_of(shape: Points) -> Points:
    """Return the middle of what a shape takes up, xy in metres."""
    middle: Points = (shape.min(axis=0) + shape.max(axis=0)) / 2
    return middle


def length_of(shape: Points) -> float:
    """Return how long a line is, metres."""
    return float(np.linalg.norm(np.diff(shape, axis=0), axis=1).sum())


def is_closed(shape: Points) -> bool:
    """Tell whether the ends of a line are close to each other, for its size."""
    size = np.ptp(shape, axis=0).max()
    return bool(np.linalg.norm(shape[-1] - shape[0]) <= OPEN_SHARE * size)


def corners_of(shape: Points) -> Points:
    """Return where a line bends, and its ends, shape (n, 2); of a closed one no point twice."""
    import shapely

    straight = min(STRAIGHT_M, STRAIGHT_SHARE * float(np.ptp(shape, axis=0).max()))
    line = shapely.simplify(shapely.linestrings(shape), straight, preserve_topology=False)
    corners: Points = shapely.get_coordinates(line)
    if len(corners) < 4 or np.linalg.norm(corners[0] - corners[-1]) > STRAIGHT_M:
        return corners
    a, b, c = corners[-2], corners[0], corners[1]  # it may begin in the middle of a side
    (ux, uy), (vx, vy) = b - a, c - b
    begins_in_side = abs(ux * vy - uy * vx) < straight * np.linalg.norm(c - a)
    return corners[1:-1] if begins_in_side else corners[:-1]


def sides_between(corners: Points, closed: bool) -> list[float]:
    """Return how long the straight lines between corners are, metres."""
    if closed:
        corners = np.vstack([corners, corners[:1]])
    sides: list[float] = np.linalg.norm(np.diff(corners, axis=0), axis=1).tolist()
    return sides


def looks_like(shape: Points, kind: str, points: int = 0) -> bool:
    """Tell whether a stroke may be what it is called.

    Args:
        shape: The stroke.
        kind: Its name, such as "square".
        points: How many points a star has, if that was said.
    """
    if kind == "line":
        return not is_closed(shape)
    if kind not in KNOWN:
        return True
    if not is_closed(shape):
        return False
    corners = corners_of(shape)
    sizes = sides_between(corners, True) if kind == "square" else np.ptp(shape, axis=0)
    regular = max(sizes) - min(sizes) <= REGULAR * max(sizes)
    if kind == "circle":
        return len(corners) > ROUND_CORNERS and (regular or len(shape) <= ROUND_POINTS)
    usual = (points, 2 * points) if points else CORNERS[kind]
    return len(corners) in usual and (regular or kind != "square")


def sizes_of(shape: Points) -> dict[str, list[float]]:
    """Return what a shape measures, metres, by what that is called in `MEASURES`."""
    wide, high = np.ptp(shape, axis=0).tolist()
    ends = float(np.linalg.norm(shape[-1] - shape[0]))
    corners = corners_of(shape)
    middles = middle_of(shape), corners.mean(axis=0)
    radii = [float(np.linalg.norm(shape - middle, axis=1).max()) for middle in middles]
    return {
        "length": [length_of(shape), ends, wide, high],
        "wide": [wide],
        "high": [high],
        "side": [wide, high, *sides_between(corners, is_closed(shape))],
        "radius": [wide / 2, high / 2, *radii],
        "diameter": [wide, high, *(2 * radius for radius in radii)],
    }
