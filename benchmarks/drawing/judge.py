"""Whether the ink is what was asked for: shape, size and place, in metres.

Two figures agree if no point of either is further than the tolerance from the other (Hausdorff
distance). Where an instruction leaves a figure's turn open, every turn of it is right.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence

import numpy as np
from numpy.typing import NDArray
from shapely.geometry import LineString, MultiLineString, Point
from shapely.geometry.base import BaseGeometry

from robots.drawing import DrawingRobot

Array = NDArray[np.float64]
TOLERANCE_M = 0.005
"""Greatest distance between ink and figure."""
_TURNS = 90
"""Turns of a figure that are tried."""


def regular(center: Sequence[float] | Array, radius: float, corners: int) -> Array:
    """Return a closed regular polygon, shape (corners + 1, 2), metres."""
    angles = np.linspace(0, 2 * math.pi, corners + 1)
    return np.asarray(center) + radius * np.stack([np.cos(angles), np.sin(angles)], axis=1)


def circle(center: Sequence[float] | Array, radius: float) -> Array:
    """Return a circle as a closed polygon of many corners, metres."""
    return regular(center, radius, 128)


def ink(robot: DrawingRobot) -> MultiLineString:
    """Return the ink on the board."""
    return robot.state.ink()


def differs(found: BaseGeometry, wanted: Iterable[Array]) -> str | None:
    """Say how far ink is from figures; None if it is within the tolerance."""
    figure = MultiLineString([LineString(points) for points in wanted])
    if found.is_empty:
        return "there is no ink"
    apart = _apart(found, figure)
    if apart > TOLERANCE_M:
        return f"the ink is {1e3 * apart:.1f} mm from the figure; {1e3 * TOLERANCE_M:g} mm is right"
    return None


def differs_however_turned(found: BaseGeometry, corners: Array, symmetry: int) -> str | None:
    """Say how far ink is from a regular polygon in its best turn; None if it is right.

    Args:
        found: The ink.
        corners: The polygon, closed.
        symmetry: After how many equal turns it is itself again.
    """
    middle = corners[:-1].mean(axis=0)
    reasons = []
    for angle in np.linspace(0, 2 * math.pi / symmetry, _TURNS, endpoint=False):
        c, s = math.cos(angle), math.sin(angle)
        turned = middle + (corners - middle) @ np.array([[c, s], [-s, c]])
        reasons.append(differs(found, [turned]))
        if reasons[-1] is None:
            return None
    return reasons[0]


def _apart(first: BaseGeometry, second: BaseGeometry) -> float:
    return float(first.hausdorff_distance(second.segmentize(1e-3)))


def is_straight(stroke: LineString) -> bool:
    """Return whether a stroke is one straight line."""
    ends = LineString([stroke.coords[0], stroke.coords[-1]])
    return float(stroke.hausdorff_distance(ends)) <= TOLERANCE_M


def encloses(stroke: LineString, xy: Sequence[float]) -> bool:
    """Return whether a stroke closes around a point."""
    if math.dist(stroke.coords[0], stroke.coords[-1]) > TOLERANCE_M or len(stroke.coords) < 4:
        return False
    from shapely.geometry import Polygon

    return bool(Polygon(stroke.coords).buffer(0).contains(Point(xy)))
