"""What is drawn as shapes: how big they are, what they look like, and where they are."""

from __future__ import annotations

import math
import re
from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from cap.engine.sentence import UNITS

SHARE, SLACK_M = 0.02, 0.001
"""A size may be off by this share of itself, and by so much more."""
CHANGE_SHARE = 0.05
"""A change of size, a move or a gap may be off by this share, and by `CHANGE_SLACK_M`."""
CHANGE_SLACK_M = 0.003
STRAIGHT_M = 0.002
"""A line that stays this close to a straight one is a side, and no curve."""
MIDDLE_M = 0.06
"""A shape in the middle of the board is not farther from it."""
SHAPES = (
    "line|circle|square|triangle|rectangle|pentagon|hexagon|octagon|star|cross|arrow|house|heart"
)
CORNERS = {
    "triangle": (3,),
    "square": (4,),
    "rectangle": (4,),
    "pentagon": (5,),
    "hexagon": (6,),
    "octagon": (8,),
    "star": (5, 8, 10, 12),
}
WAYS = {
    "left": (-1, 0),
    "right": (1, 0),
    "up": (0, 1),
    "down": (0, -1),
    "above": (0, 1),
    "below": (0, -1),
}
PLACE = re.compile(
    r"\b(?:in|into|to|at|on|along) the (?P<place>(?:top|bottom) (?:left|right) corner"
    r"|(?:top|bottom|left|right) (?:side|half)|middle)\b(?! of)"
)
Stroke = Sequence[Sequence[float]]
Points = NDArray[np.float64]
"""The points of a stroke, shape (n, 2): xy in metres."""


def points_of(stroke: Stroke) -> Points:
    """Return the points of a stroke, shape (n, 2)."""
    return np.array(stroke, dtype=float)[:, :2]


def same(wanted: float, found: float, share: float = SHARE, slack: float = SLACK_M) -> bool:
    """Tell whether a length, metres, is as long as was said."""
    return abs(found - wanted) <= share * wanted + slack


def metres(match: re.Match[str], which: str = "") -> float:
    """Return a length that a pattern found, metres."""
    return float(match[f"n{which}"]) * UNITS[match[f"u{which}"]]


def middle_of(shape: Points) -> Points:
    """Return the middle of what a shape takes up, xy in metres."""
    middle: Points = (shape.min(axis=0) + shape.max(axis=0)) / 2
    return middle


def box_of(shape: Points) -> tuple[float, float]:
    """Return the short and the long side of the least rectangle around a shape, metres."""
    from shapely import MultiPoint

    hull = MultiPoint(shape).convex_hull
    if not hull.area:
        return 0.0, float(hull.length)
    corners = np.array(hull.minimum_rotated_rectangle.exterior.coords)
    short, long = sorted(np.linalg.norm(np.diff(corners[:3], axis=0), axis=1).tolist())
    return short, long


def size_of(shape: Points) -> float:
    """Return the diagonal of what a shape takes up, metres."""
    return float(np.linalg.norm(np.ptp(shape, axis=0)))


def holds(outer: Any, inner: Any) -> bool:
    """Tell whether one outline has the middle of a smaller one in it."""
    return bool(outer.area > inner.area and outer.contains(inner.representative_point()))


def is_a(shape: Points, kind: str) -> bool:
    """Tell whether a stroke looks like a shape of a name."""
    closed = bool(np.linalg.norm(shape[0] - shape[-1]) <= 0.05 * np.ptp(shape, axis=0).max())
    corners = corners_of(shape) if closed else 0
    if kind == "line":
        return not closed
    if kind == "circle":
        return closed and corners > 8
    return closed and corners in CORNERS.get(kind, ())


def corners_of(shape: Points) -> int:
    """Return how many corners a closed line has, as it is seen."""
    from shapely import LineString

    corners = np.array(LineString(shape).simplify(STRAIGHT_M).coords)
    if np.linalg.norm(corners[0] - corners[-1]) >= SHARE:
        return len(corners)
    a, b, c = corners[-2], corners[0], corners[1]  # it may begin in the middle of a side
    (ux, uy), (vx, vy) = b - a, c - b
    straight = abs(ux * vy - uy * vx) < STRAIGHT_M * np.linalg.norm(c - a)
    return len(corners) - 1 - int(straight)


def not_at_side(side: str, shape: Points, at: Sequence[float], name: str) -> Iterator[str]:
    """Yield that a shape is not at a side of a point, such as above it."""
    low, top = shape.min(axis=0), shape.max(axis=0)
    (middle_x, middle_y), (x, y) = (low + top) / 2, at
    so = {
        **dict.fromkeys(("above", "over"), middle_y > y),
        **dict.fromkeys(("below", "under", "beneath"), middle_y < y),
        "left of": middle_x < x,
        "right of": middle_x > x,
        "around": bool((low < (x, y)).all() and ((x, y) < top).all()),
    }
    if not so[side]:
        yield f"it is not {side} {name}"


def not_at_place(place: str, shape: Points, middle: Sequence[float]) -> Iterator[str]:
    """Yield where on the board a shape is not: the middle of it counts."""
    x, y = middle_of(shape) - np.array(middle[:2])
    if place == "middle":
        away = math.hypot(x, y)
        if away > MIDDLE_M:
            yield f"its middle is {100 * away:.0f} cm from the middle of the board"
        return
    sides = {"left": x < 0, "right": x > 0, "top": y > 0, "bottom": y < 0}
    if not all(sides[word] for word in place.split() if word in sides):
        yield f"it is not in the {place}"
