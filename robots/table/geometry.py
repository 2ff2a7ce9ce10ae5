"""Rectangles and points seen from above."""

from __future__ import annotations

import math
from collections.abc import Iterator

Rectangle = tuple[float, float, float, float, float]
"""Centre x, centre y, half length, half width (metres) and yaw of the length (radians)."""


def corners(rectangle: Rectangle) -> Iterator[tuple[float, float]]:
    """Yield the four corners."""
    x, y, length, width, yaw = rectangle
    c, s = math.cos(yaw), math.sin(yaw)
    for a in (-length, length):
        for b in (-width, width):
            yield (x + a * c - b * s, y + a * s + b * c)


def distance(rectangle: Rectangle, point: tuple[float, float]) -> float:
    """Return the distance from a point to a rectangle, 0 inside."""
    x, y, length, width, yaw = rectangle
    dx, dy = point[0] - x, point[1] - y
    along = abs(dx * math.cos(yaw) + dy * math.sin(yaw)) - length
    across = abs(dy * math.cos(yaw) - dx * math.sin(yaw)) - width
    return math.hypot(max(0.0, along), max(0.0, across))


def overlap(first: Rectangle, second: Rectangle) -> bool:
    """Return whether two rectangles overlap, by the separating axis theorem."""
    for yaw in (first[4], first[4] + math.pi / 2, second[4], second[4] + math.pi / 2):
        c, s = math.cos(yaw), math.sin(yaw)
        a = [x * c + y * s for x, y in corners(first)]
        b = [x * c + y * s for x, y in corners(second)]
        if max(a) <= min(b) or max(b) <= min(a):
            return False
    return True
