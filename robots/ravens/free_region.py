"""Where on the table a rectangle is free of objects."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence

import numpy as np

from cap.errors import NotFound
from robots.ravens.scene import Body
from robots.table.geometry import TABLE_X, TABLE_Y, XY

TABLE = (TABLE_X[0], TABLE_Y[0], TABLE_X[1], TABLE_Y[1])
"""Left, bottom, right, top, metres."""


def nearest(
    bodies: Iterable[Body], size: tuple[float, float], to: XY, within: Sequence[float] = TABLE
) -> XY:
    """Return the centre of the free rectangle that is nearest to a point, metres.

    Args:
        bodies: What stands on the table.
        size: The rectangle's width along x and depth along y, metres.
        to: The point.
        within: The part of the table that it lies in: left, bottom, right, top, metres.

    Raises:
        TypeError: The size is not above 0.
        NotFound: No rectangle of that size is free.
    """
    if min(size) <= 0:
        raise TypeError(f"size must be a width and a depth above 0 metres; got {size}")
    half = np.array(size) / 2
    boxes = [body.bbox() for body in bodies]
    # The nearest centre is the point itself, or one where the rectangle touches something.
    left, bottom, right, top = within
    columns = _candidates(to[0], (left, right), half[0], [(box[0], box[2]) for box in boxes])
    rows = _candidates(to[1], (bottom, top), half[1], [(box[1], box[3]) for box in boxes])
    centres = np.array([(x, y) for x in columns for y in rows]).reshape(-1, 2)
    free = np.ones(len(centres), dtype=bool)
    for box in boxes:
        low, high = np.array(box[:2]) - half, np.array(box[2:]) + half
        free &= ((centres <= low + 1e-9) | (centres >= high - 1e-9)).any(axis=1)
    if not free.any():
        raise NotFound(
            f"no free region of {size[0]:.3g} by {size[1]:.3g} m {_part(within)}; "
            "ask for a smaller one, or clear some room"
        )
    best = min(centres[free].tolist(), key=lambda centre: math.dist(centre, to))
    return float(best[0]), float(best[1])


def _part(within: Sequence[float]) -> str:
    if tuple(within) == TABLE:
        return "on the table"
    left, bottom, right, top = within
    return f"with x {left:.3g} to {right:.3g} and y {bottom:.3g} to {top:.3g}"


def _candidates(
    wanted: float, limits: tuple[float, float], half: float, taken: Iterable[tuple[float, float]]
) -> list[float]:
    """Return where along one axis a centre may be the nearest, within the table, metres."""
    low, high = limits[0] + half, limits[1] - half
    touching = [edge for box in taken for edge in (box[0] - half, box[1] + half)]
    return [
        each for each in sorted({wanted, low, high, *touching}) if low - 1e-9 <= each <= high + 1e-9
    ]
