"""Figures an instruction asks for, where they are wanted, and whether a trace is one.

A trace is right if no point of it or of the figure is further than the tolerance from the other.
Where an instruction leaves a figure's turn open, every turn of it is right.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np
import shapely
from numpy.typing import NDArray
from shapely.geometry import LineString, MultiLineString
from shapely.geometry.base import BaseGeometry

from benchmarks.drawing import judge
from benchmarks.drawing.judge import TOLERANCE_M

Array = NDArray[np.float64]
_TURNS = 90
"""Turns of a figure that are tried."""
_SPACING_M = 1e-3
"""How densely a line's points are compared."""
_LEAST_M = 0.05
"""A line that may be cut keeps at least this."""


@dataclass(frozen=True)
class Figure:
    """What a tool should trace."""

    path: Array
    """A path that is right, shape (n, 2), metres."""
    symmetry: int = 0
    """After how many equal turns it is itself again; 0 if its turn is not open."""
    spare_m: float = 0.0
    """A line may end so far before either end of `path`, or beyond it."""

    @property
    def shortest(self) -> Array | None:
        """The shortest path that is right; None if too little of a line would be left."""
        if not self.spare_m:
            return self.path
        start, end = self.path
        length = float(np.linalg.norm(end - start))
        if length < 2 * self.spare_m + _LEAST_M:
            return None
        cut = self.spare_m * (end - start) / length
        return np.stack([start + cut, end - cut])

    def turned(self) -> Iterator[Array]:
        """Yield the path in every turn that is right."""
        yield self.path
        if self.symmetry:
            middle = self.path[:-1].mean(axis=0)
            for angle in np.linspace(0, 2 * math.pi / self.symmetry, _TURNS, endpoint=False):
                c, s = math.cos(angle), math.sin(angle)
                yield middle + (self.path - middle) @ np.array([[c, s], [-s, c]])


def regular(center: Sequence[float] | Array, radius: float, corners: int) -> Figure:
    """Return a regular polygon, however it is turned; lengths in metres."""
    return Figure(judge.regular(center, radius, corners), symmetry=corners)


def circle(center: Sequence[float] | Array, radius: float) -> Figure:
    """Return a circle; lengths in metres."""
    return Figure(judge.circle(center, radius))


def line(start: Array, end: Array, spare_m: float = 0.0) -> Figure:
    """Return a straight line between two points, metres."""
    return Figure(np.stack([start, end]), spare_m=spare_m)


def differs(trace: BaseGeometry, wanted: Sequence[Figure]) -> str | None:
    """Say how a trace is not what was wanted, all of it and no more; None if it is."""
    if trace.is_empty:
        return "the tool traced nothing"
    if len(wanted) == 1 and wanted[0].spare_m:
        start, end = wanted[0].path
        over = wanted[0].spare_m * (end - start) / np.linalg.norm(end - start)
        if not trace.within(LineString([start - over, end + over]).buffer(TOLERANCE_M)):
            return "the trace does not run straight from one to the other"
        if not LineString(wanted[0].shortest).within(trace.buffer(TOLERANCE_M)):
            return "the trace does not reach from one to the other"
        return None
    # Each figure is turned for itself, to be best covered by the trace; then they are compared
    # whole.
    turns = [[LineString(path) for path in figure.turned()] for figure in wanted]
    whole = MultiLineString(
        [min(lines, key=lambda line: _farthest_m(line, trace)) for lines in turns]
    )
    apart = max(_farthest_m(whole, trace), _farthest_m(trace, whole))
    if apart <= TOLERANCE_M:
        return None
    return f"the trace is {1e3 * apart:.1f} mm from the figure; {1e3 * TOLERANCE_M:g} mm is right"


def _farthest_m(line: BaseGeometry, other: BaseGeometry) -> float:
    """Return how far a line's farthest point is from another line."""
    dense = shapely.get_coordinates(line.segmentize(_SPACING_M))
    return float(shapely.distance(shapely.points(dense), other).max())
