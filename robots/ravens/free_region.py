"""Where on the table a rectangle is free of objects."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

import shapely

from cap.errors import NotFound
from robots.ravens.scene import Body
from robots.table.geometry import TABLE_X, TABLE_Y, XY

TABLE = (TABLE_X[0], TABLE_Y[0], TABLE_X[1], TABLE_Y[1])
"""Left, bottom, right, top, metres."""
_ROUNDING_M = 1e-9


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
    left, bottom, right, top = within
    # What may be its centre: it fits in there, and reaches into no box around an object.
    across, up = size[0] / 2 - _ROUNDING_M, size[1] / 2 - _ROUNDING_M
    free = shapely.Polygon()
    if left + across < right - across and bottom + up < top - up:
        free = shapely.box(left + across, bottom + up, right - across, top - up)
    for x0, y0, x1, y1 in (body.bbox() for body in bodies):
        free = free.difference(shapely.box(x0 - across, y0 - up, x1 + across, y1 + up))
    if free.is_empty:
        part = f"with x {left:.3g} to {right:.3g} and y {bottom:.3g} to {top:.3g}"
        raise NotFound(
            f"no free region of {size[0]:.3g} by {size[1]:.3g} m "
            f"{'on the table' if tuple(within) == TABLE else part}; ask for a smaller one, or "
            "clear some room"
        )
    # Of places equally near, the one to the left, then the one in front.
    point = shapely.Point(to[0] - _ROUNDING_M, to[1] - _ROUNDING_M / 2)
    x, y = shapely.shortest_line(free, point).coords[0]
    return round(x, 8), round(y, 8)
