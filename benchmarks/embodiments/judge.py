"""What an instruction asks for, and whether it is so in the world: figures, places, answers.

A trace is right if no point of it or of the figure is further than the tolerance from the other.
Where an instruction leaves a figure's turn open, every turn of it is right. Ways to and fro within
the tolerance are too long, and dots along a figure too short, as for ink. Of things that are
carried their true places count, of all others that they stayed.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Literal

import numpy as np
import shapely
from numpy.typing import NDArray
from shapely.geometry import LineString, MultiLineString
from shapely.geometry.base import BaseGeometry

from benchmarks.drawing import judge
from benchmarks.drawing.judge import TOLERANCE_M
from benchmarks.utterances import bare, last_said, none_of

Array = NDArray[np.float64]
_SPACING_M = 1e-3
"""How densely a line's points are compared."""
_LENGTHS = 0.5, 4.0
"""What is shorter or longer than a figure by such factors is not looked at more closely."""
_LEAST_M = 0.05
"""A line that may be cut keeps at least this."""
_BESIDE_M = 0.12
"""What is beside something has less room between."""
_AMID_M = 0.03
"""What is between two things is closer to the middle of the line from one to the other."""
_STILL_M = 0.01
"""What moved less stayed where it was."""
_LEVEL_M = 0.025
"""What stands as high as before is on the same surface, by so much."""

Places = Mapping[str, tuple[float, float, float]]
"""Where things truly are: centres, metres."""


@dataclass(frozen=True)
class Figure:
    """What a tool should trace."""

    path: Array
    """A path that is right, shape (n, 2), metres."""
    symmetry: int = 0
    """After how many equal turns it is itself again; 0 if its turn is not open."""
    spare_m: float = 0.0
    """A line may end up to this far before either end of `path`."""

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


def differs(trace: BaseGeometry, wanted: Sequence[Figure]) -> str | None:
    """Say how a trace is not what was wanted, all of it and no more; None if it is."""
    if trace.is_empty:
        return "the tool traced nothing"
    if len(wanted) == 1 and wanted[0].spare_m:
        return judge.no_line(trace, LineString(wanted[0].path))
    length = sum(LineString(figure.path).length for figure in wanted)
    if not _LENGTHS[0] * length < trace.length < _LENGTHS[1] * length:
        return f"{100 * trace.length:.0f} cm are drawn for a figure of {100 * length:.0f} cm"
    # Each figure is turned for itself, to be best covered by the trace; then they are compared
    # whole.
    turns = [map(LineString, judge.turns(one.path, one.symmetry)) for one in wanted]
    whole = MultiLineString(
        [min(lines, key=lambda line: _farthest_m(line, trace)) for lines in turns]
    )
    apart = max(_farthest_m(whole, trace), _farthest_m(trace, whole))
    if apart <= TOLERANCE_M:
        gaps = (judge.too_little(trace, line) for line in whole.geoms)
        wrong_amount = judge.too_much(trace, whole.length) or next(filter(None, gaps), None)
        return wrong_amount or next(filter(None, _off_in_shape(trace, whole)), None)
    return f"the trace is {1e3 * apart:.1f} mm from the figure; {1e3 * TOLERANCE_M:g} mm is right"


def _off_in_shape(trace: BaseGeometry, figures: MultiLineString) -> Iterator[str | None]:
    """Yield what is wrong with the shape of each closed figure in a trace, or None."""
    for figure in figures.geoms:
        if figure.is_closed:
            others = [other.buffer(2 * TOLERANCE_M) for other in figures.geoms if other != figure]
            own = trace.intersection(figure.buffer(2 * TOLERANCE_M))
            own = own.difference(shapely.unary_union(others))
            yield judge.differs_in_shape(own, np.array(figure.coords), gaps=bool(others))


def _farthest_m(line: BaseGeometry, other: BaseGeometry) -> float:
    """Return how far a line's farthest point is from another line."""
    dense = shapely.get_coordinates(line.segmentize(_SPACING_M))
    return float(shapely.distance(shapely.points(dense), other).max())


@dataclass(frozen=True)
class Placement:
    """Where a thing should be in the end."""

    thing: str
    """Which."""
    relation: Literal["in", "beside", "between"]
    """How it should be to the others."""
    others: tuple[str, ...]
    """A bowl; what it is to be beside; the two that it is to be between."""


def misplaced(
    wanted: Sequence[Placement], before: Places, now: Places, radius_m: Callable[[str], float]
) -> str | None:
    """Say what is not where it was wanted, or moved although it was not; None if nothing.

    Args:
        wanted: Where things should be.
        before: Where everything was.
        now: Where it is.
        radius_m: Returns the radius of the circle around a thing, metres.
    """
    for one in wanted:
        spots = [np.array(now[name][:2]) for name in one.others]
        away = math.dist(now[one.thing][:2], np.mean(spots, axis=0))
        if one.relation == "in":
            right = away < radius_m(one.others[0])
        else:
            room = away - radius_m(one.thing) - radius_m(one.others[0])
            right = abs(now[one.thing][2] - before[one.thing][2]) < _LEVEL_M
            right &= away < _AMID_M if one.relation == "between" else 0 <= room < _BESIDE_M
        if not right:
            return f"the {one.thing} is not {one.relation} the {' and the '.join(one.others)}"
    carried = {one.thing for one in wanted}
    for name in before:
        if name not in carried and math.dist(before[name], now[name]) > _STILL_M:
            return f"the {name} moved, and nobody asked for that"
    return None


def missaid(wanted: Sequence[str], spoken: Sequence[str]) -> str | None:
    """Say how what was said last is not the list of names that was wanted; None if it is.

    Args:
        wanted: The things to be named, in any order, commas between; none for no question.
        spoken: What was said.
    """
    named = sorted(bare(name.strip()) for name in last_said(spoken).split(","))
    if not wanted or named == sorted(wanted):
        return None
    return f"it said {spoken[-1]!r}, not: {', '.join(wanted)}" if spoken else "it said nothing"


def misanswered(wanted: bool | None, spoken: Sequence[str]) -> str | None:
    """Say how what was said last is not the yes or no that was wanted; None if it is.

    Args:
        wanted: Whether it is seen; None for no question.
        spoken: What was said.
    """
    if wanted is None:
        return None
    answers, said = {"yes": True, "no": False}, last_said(spoken)
    if said not in answers:
        return none_of(spoken, answers)
    return None if answers[said] is wanted else f"it said {said!r}, and that is wrong"
