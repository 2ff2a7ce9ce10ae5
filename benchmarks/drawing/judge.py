"""Whether the ink is what was asked for: shape, size and place, in metres.

Two figures agree in size and place if no point of either is further than the tolerance from the
other (Hausdorff distance), and in shape if the same holds, with a tolerance of its own, once both
are moved to their middles and scaled to one mean radius: no hexagon is a circle, however small.
Where an instruction leaves a figure's turn open, every turn of it is right. Ink that runs to and
fro within the tolerance is too much ink, and dots along a figure are too little.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import shapely
from numpy.typing import NDArray
from shapely.geometry import LineString, MultiLineString, Point, Polygon
from shapely.geometry.base import BaseGeometry
from shapely.ops import substring

from benchmarks.suite_folder import Before
from robots.drawing import DrawingRobot
from robots.drawing.board import NEAREST_M
from robots.ravens.scene import BLOCK_HALF
from robots.table.geometry import PLACES

Array = NDArray[np.float64]
Words = Mapping[str, Any]
MIDDLE = np.array(PLACES["middle"])
TOLERANCE_M = 0.005
"""Greatest distance between ink and figure."""
SHAPE = 0.05
"""The same of figures scaled to a mean radius of 1: between a regular decagon and an octagon for
what is to be a circle."""
MOST_INK = 1.2
"""Ink for a figure, in lengths of it; what is drawn twice along the same line counts once."""
LEAST_COVERED = 0.85
"""Share of a figure's outline that has ink beside it; one that is smaller by the tolerance may lack
so much at its corners."""
SPARE_M = NEAREST_M + 0.015
"""A line between two blocks ends at most so far from the centre of either: 1.5 cm from the nearest
point that the pen may reach."""
_STEP_M = 1e-3
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


def differs(found: BaseGeometry, figure: Array) -> str | None:
    """Say how far ink is from a closed figure; None if it is within the tolerances."""
    if found.is_empty:
        return "there is no ink"
    wanted = LineString(figure)
    apart = float(found.hausdorff_distance(wanted.segmentize(_STEP_M)))
    if apart > TOLERANCE_M:
        return f"the ink is {1e3 * apart:.1f} mm from the figure; {1e3 * TOLERANCE_M:g} mm is right"
    wrong_amount = too_much(found, wanted.length) or too_little(found, wanted)
    return wrong_amount or differs_in_shape(found, figure)


def differs_in_shape(
    found: BaseGeometry, figure: Array, symmetry: int = 0, *, gaps: bool = False
) -> str | None:
    """Say how far ink is from a closed figure of whatever size and place; None if it is alike.

    Args:
        found: The ink.
        figure: Its corners, closed.
        symmetry: Where its turn is open: after how many equal turns it is itself again.
        gaps: Parts of the figure may lack ink, where another figure crosses it.
    """
    own = _normal(found)
    wanted = [_normal(LineString(turn)) for turn in turns(figure, symmetry)]
    if gaps:
        points = shapely.points(shapely.get_coordinates(own))
        apart = min(float(shapely.distance(points, line).max()) for line in wanted)
    else:
        apart = min(float(own.hausdorff_distance(line)) for line in wanted)
    if apart > SHAPE:
        return f"the ink has another shape, by {100 * apart:.0f} % of its size"
    return None


def differs_however_turned(found: BaseGeometry, corners: Array, symmetry: int) -> str | None:
    """Say how far ink is from a regular polygon in its best turn; None if it is right.

    Args:
        found: The ink.
        corners: The polygon, closed.
        symmetry: After how many equal turns it is itself again.
    """
    reasons = []
    for turned in turns(corners, symmetry):
        reasons.append(differs(found, turned))
        if reasons[-1] is None:
            return None
    return reasons[0]


def outlines(strokes: Sequence[LineString]) -> list[LineString]:
    """Return strokes joined end to end to the figures they make; what is drawn twice counts once.

    Of several strokes that begin or end where one ends, the nearest goes on with it.
    """
    left = list(strokes)
    found: list[LineString] = []
    while left:
        line = shapely.get_coordinates(left.pop(0))
        turned = 0
        while left and turned < 2 and not _closed(line):
            ends = [(i, end) for i in range(len(left)) for end in (0, -1)]
            gaps = [math.dist(line[-1], left[i].coords[end]) for i, end in ends]
            nearest = int(np.argmin(gaps))
            if gaps[nearest] > TOLERANCE_M:
                line, turned = line[::-1], turned + 1
                continue
            place, end = ends[nearest]
            more = shapely.get_coordinates(left.pop(place))
            line = np.vstack([line, more if end == 0 else more[::-1]])
        outline = LineString(line)
        if not any(outline.hausdorff_distance(other) <= TOLERANCE_M for other in found):
            found.append(outline)
    return found


def _closed(line: Array) -> bool:
    """Return whether a line ends where it began, and was elsewhere in between."""
    away = np.linalg.norm(line - line[0], axis=1)
    return bool(away[-1] <= TOLERANCE_M < away.max() / 2)


def encloses(stroke: LineString, xy: Sequence[float] | Array) -> bool:
    """Return whether a stroke closes around a point."""
    if math.dist(stroke.coords[0], stroke.coords[-1]) > TOLERANCE_M or len(stroke.coords) < 4:
        return False
    return bool(Polygon(stroke.coords).buffer(0).contains(Point(xy)))


def no_line(found: BaseGeometry, straight: LineString) -> str | None:
    """Say why ink is no line between two blocks; None if it is one.

    Args:
        found: The ink.
        straight: From the centre of the first to that of the second.
    """
    if found.is_empty or not found.within(straight.buffer(TOLERANCE_M)):
        return "the line does not run straight from one block to the other"
    between = substring(straight, SPARE_M, straight.length - SPARE_M)
    if ends_early(found, straight) or not between.within(found.buffer(TOLERANCE_M)):
        return "the line ends far from the blocks"
    return too_much(found, straight.length) or too_little(found, between)


def ends_early(found: BaseGeometry, straight: LineString) -> bool:
    """Return whether ink along a line ends further than it may from an end of that line."""
    places = shapely.line_locate_point(straight, shapely.points(shapely.get_coordinates(found)))
    return bool(places.min() > SPARE_M or places.max() < straight.length - SPARE_M)


def no_bisection(found: BaseGeometry, center: Array, radius: float) -> str | None:
    """Say why ink is no circle with one straight line that bisects it; None if it is."""
    ring = LineString(circle(center, radius))
    if not ring.within(found.buffer(TOLERANCE_M)):
        return "there is no such circle"
    off = shapely.get_coordinates(found.difference(ring.buffer(TOLERANCE_M))) - center
    away = np.linalg.norm(off, axis=1)
    if not len(off) or away.max() < TOLERANCE_M:
        return "there is no line"
    reach = max(radius, float(away.max()))
    way = off[away.argmax()] / away.max()
    across = LineString([center - radius * way, center + radius * way])
    if not across.within(found.buffer(TOLERANCE_M)):
        return "no straight line runs through the circle's middle from side to side"
    line = LineString([center - reach * way, center + reach * way])
    if not found.within(shapely.union(ring, line).buffer(TOLERANCE_M)):
        return "there is more than a circle and a straight line through its middle"
    wrong_amount = too_much(found, ring.length + line.length)
    return wrong_amount or too_little(found, ring) or too_little(found, across)


def too_much(found: BaseGeometry, length_m: float) -> str | None:
    """Say how much more ink there is than a figure of some length takes; None if it is not."""
    drawn = float(shapely.unary_union(found).length)
    if drawn <= MOST_INK * length_m:
        return None
    return f"{100 * drawn:.0f} cm are drawn for a figure of {100 * length_m:.0f} cm"


def too_little(found: BaseGeometry, wanted: LineString) -> str | None:
    """Say how much of a line has no ink beside it; None if it is hardly any."""
    points = shapely.points(shapely.get_coordinates(found.segmentize(_STEP_M / 2)))
    beside = points[shapely.distance(points, wanted) <= TOLERANCE_M]
    steps = max(1, math.ceil(wanted.length / _STEP_M))
    places = shapely.line_locate_point(wanted, beside, normalized=True)
    covered = len(np.unique(np.minimum(places * steps, steps - 1).astype(int))) / steps
    if covered >= LEAST_COVERED:
        return None
    share = f"{100 * covered:.0f} % of the figure is drawn"
    return f"only {share}; {100 * LEAST_COVERED:.0f} % is right"


def turns(corners: Array, symmetry: int) -> list[Array]:
    """Return a closed polygon turned about its middle, from its first turn on.

    Args:
        corners: The polygon, closed.
        symmetry: After how many equal turns it is itself again; 0 if its turn is not open.
    """
    if not symmetry:
        return [corners]
    middle = corners[:-1].mean(axis=0)
    turned = []
    for angle in np.linspace(0, 2 * math.pi / symmetry, _TURNS, endpoint=False):
        c, s = math.cos(angle), math.sin(angle)
        turned.append(middle + (corners - middle) @ np.array([[c, s], [-s, c]]))
    return turned


def _normal(found: BaseGeometry) -> BaseGeometry:
    """Return lines moved to their middle and scaled to a mean radius of 1, in small steps."""
    dense = shapely.unary_union(found).segmentize(_STEP_M)
    points = shapely.get_coordinates(dense)
    middle = shapely.get_coordinates(dense.centroid)[0]
    mean = float(np.linalg.norm(points - middle, axis=1).mean()) or 1.0
    return shapely.transform(dense, lambda xy: (xy - middle) / mean)


# --- the tasks: what their words are, and what the board must show


def two_blocks(rng: np.random.Generator, robot: DrawingRobot) -> Words:
    """Draw two blocks with nothing between them."""
    names = robot.get_obj_names()
    first, second = (str(name) for name in rng.permutation(names)[:2])
    third = next(name for name in names if name not in (first, second))
    straight = LineString([robot.get_obj_pos(name) for name in (first, second)])
    # A third block may stand in the way: then the two next to it are asked for.
    if straight.distance(Point(robot.get_obj_pos(third))) < 2 * BLOCK_HALF + 0.01:
        second = third
    return {"first": first, "second": second}


def radius_and_its_double(rng: np.random.Generator, robot: DrawingRobot) -> Words:
    """Draw a radius, centimetres."""
    r = int(rng.integers(3, 6))
    return {"r": r, "double": 2 * r}


def circle_in_the_middle(before: Before, robot: DrawingRobot, words: Words) -> str | None:
    """Say how the ink is no circle around the middle."""
    return differs(ink(robot), circle(MIDDLE, words["r"] / 100))


def circle_of_twice_the_radius(before: Before, robot: DrawingRobot, words: Words) -> str | None:
    """Say how the ink is no circle of twice the radius."""
    return differs(ink(robot), circle(MIDDLE, words["double"] / 100))


def circle_moved_up(before: Before, robot: DrawingRobot, words: Words) -> str | None:
    """Say how the ink is no circle so far above the middle."""
    return differs(ink(robot), circle(MIDDLE + np.array([0, words["up"] / 100]), words["r"] / 100))


def circle_around_block(before: Before, robot: DrawingRobot, words: Words) -> str | None:
    """Say how the ink is no circle around a block."""
    where = before.positions[words["name"]][:2]
    return differs(ink(robot), circle(where, words["r"] / 100))


def square_in_the_middle(before: Before, robot: DrawingRobot, words: Words) -> str | None:
    """Say how the ink is no square around the middle, however it is turned."""
    unit = np.array([[-1, -1], [1, -1], [1, 1], [-1, 1], [-1, -1]])
    return differs_however_turned(ink(robot), MIDDLE + words["side"] / 200 * unit, 4)


def hexagon_in_the_middle(before: Before, robot: DrawingRobot, words: Words) -> str | None:
    """Say how the ink is no regular hexagon around the middle, however it is turned."""
    return differs_however_turned(ink(robot), regular(MIDDLE, words["r"] / 100, 6), 6)


def line_between_blocks(before: Before, robot: DrawingRobot, words: Words) -> str | None:
    """Say how the ink is no line from one block to another."""
    ends = [before.positions[words[name]][:2] for name in ("first", "second")]
    return no_line(ink(robot), LineString(ends))


def bisected_circle(before: Before, robot: DrawingRobot, words: Words) -> str | None:
    """Say how the ink is no circle around the middle with a line that bisects it."""
    return no_bisection(ink(robot), MIDDLE, words["r"] / 100)


def circle_and_square(before: Before, robot: DrawingRobot, words: Words) -> str | None:
    """Say how the ink is not a circle around the middle and a square around one block alone."""
    ring = circle(MIDDLE, words["r"] / 100)
    near = LineString(ring).buffer(TOLERANCE_M)
    strokes = [LineString(stroke) for stroke in robot.state.strokes]
    first = MultiLineString([stroke for stroke in strokes if stroke.within(near)])
    if differs(first, ring):
        return "the circle is gone"
    others = outlines([stroke for stroke in strokes if not stroke.within(near)])
    square = regular((0.0, 0.0), 0.1, 4)
    name, places = words["name"], before.positions
    if [differs_in_shape(outline, square, 4) for outline in others] == [None]:
        inside = [block for block, xyz in places.items() if encloses(others[0], xyz[:2])]
        if inside == [name] and not too_little(ink(robot), others[0]):
            return None
    return f"there is no square around the {name} alone"


def circles_around_blocks(before: Before, robot: DrawingRobot, words: Words) -> str | None:
    """Say how the ink is not one circle around each block."""
    found = outlines([LineString(stroke) for stroke in robot.state.strokes])
    if len(found) != len(before.positions):
        return f"there are {len(found)} figures for {len(before.positions)} blocks"
    for outline in found:
        if differs_in_shape(outline, circle((0.0, 0.0), 0.1)):
            return "not every figure is a circle"
        if lacking := too_little(ink(robot), outline):
            return lacking
    for name, (x, y, _) in before.positions.items():
        if sum(encloses(outline, (x, y)) for outline in found) != 1:
            return f"there is not exactly one circle around the {name}"
    return None
