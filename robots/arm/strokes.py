"""Paths over the table: points of x and y in metres, checked, made denser, made simpler."""

from __future__ import annotations

import itertools
import math
from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray
from shapely.geometry import LineString

from cap.errors import LimitExceeded
from robots.table.numbers import real_numbers

Array = NDArray[np.float64]
Points = Sequence[Sequence[float]] | Array
Stroke = tuple[tuple[float, float], ...]
"""A polyline as plain data."""
MAX_POINTS = 10_000
_SIMPLE_M = 1e-4
"""What a kept path may leave out."""


def path_of(value: Any, what: str) -> Array:
    """Return waypoints as an array of shape (n, 2), metres.

    Raises:
        TypeError: They are not two or more finite points.
        LimitExceeded: They are too many, or a number is more than a float holds.
    """
    points = real_numbers(value, what, "points of x and y")
    if points.ndim != 2 or points.shape[1] != 2 or len(points) < 2:
        raise TypeError(f"{what} must be 2 or more points, shape (n, 2); got shape {points.shape}")
    if len(points) > MAX_POINTS:
        raise LimitExceeded(f"{what} has {len(points)} points; use at most {MAX_POINTS}")
    if not np.isfinite(points).all():
        raise TypeError(f"{what} has a point that is not finite")
    return points


def resampled(points: Array, spacing_m: float) -> Array:
    """Return points evenly along a polyline, its own corners included, shape (n, 2)."""
    pieces = [points[:1]]
    for start, end in itertools.pairwise(points):
        count = max(1, math.ceil(float(np.linalg.norm(end - start)) / spacing_m))
        pieces.append(start + np.linspace(0.0, 1.0, count + 1)[1:, None] * (end - start))
    return np.vstack(pieces)


def length_m(points: Array) -> float:
    """Return how long a polyline is, metres."""
    return float(np.linalg.norm(np.diff(points, axis=0), axis=1).sum())


def stroke_of(points: Sequence[Sequence[float]] | Array) -> Stroke:
    """Return points as a stroke, with what a line through the rest says left out."""
    simple = LineString(np.asarray(points)).simplify(_SIMPLE_M)
    return tuple((float(x), float(y)) for x, y in simple.coords)
