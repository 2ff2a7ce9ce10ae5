"""Words against sizes: the lengths, areas and gaps that were asked for, and what was drawn.

A size counts with the word that says what it measures: long, wide, tall, radius, diameter, side. A
bare one ("a 10 cm square") may be any of them. A length that says where something is ("5 cm below
the middle") is no size.
"""

from __future__ import annotations

import math
import re
from collections.abc import Iterator, Mapping, Sequence

import numpy as np

from cap.engine.sentence import NUMBERS, UNITS
from cap.engine.shapes import (
    CHANGE_SHARE,
    CHANGE_SLACK_M,
    SHAPES,
    STRAIGHT_M,
    Points,
    metres,
    middle_of,
    same,
)

AREA_SHARE = 0.04
_SIZE = r"(?P<n{0}>\d+(?:\.\d+)?) ?-?(?P<u{0}>mm|cm|m)\b"
_WORDS = {
    **dict.fromkeys(("long", "length", "perimeter", "circumference"), "length"),
    **dict.fromkeys(("wide", "width", "across", "tall", "high", "height"), "width"),
    **dict.fromkeys(("side", "sides", "edges"), "side"),
    "radius": "radius",
    "diameter": "diameter",
}
_SAID = re.compile(
    rf"{_SIZE.format(1)}[- ](?:in )?(?P<after>{'|'.join(_WORDS)})\b"
    rf"|\b(?P<before>{'|'.join(_WORDS)})(?: of| is)? {_SIZE.format(2)}"
    rf"|{_SIZE.format(3)} (?:horizontal |vertical |diagonal |straight )?(?:{SHAPES})s?\b"
    rf"|\b(?:{SHAPES})s? of {_SIZE.format(4)}(?! (?:around|from|above|below|left|right))"
)
AREA = re.compile(r"(\d+(?:\.\d+)?) ?(?:square |sq\.? ?)(cm|m)\b|(\d+(?:\.\d+)?) ?(cm|m)(?:\^?2|²)")
_WIDE = re.compile(r"(\d+(?:\.\d+)?) ?(mm|cm|m) wide\b")
_HIGH = re.compile(r"(\d+(?:\.\d+)?) ?(mm|cm|m) (?:high|tall)\b")
_SEVERAL = re.compile(rf"\b(?P<number>{'|'.join(NUMBERS)}|\d+) (?:(?!and\b|or\b|to\b|by\b)\w+ )?$")
"""How many of a size, just before it."""
_EACH = re.compile(r"\beach(?: of them)?(?: one)?(?: is| are| be| with)?,? ?(?:a )?$")
_BY = re.compile(r"(\d+(?:\.\d+)?) ?(mm|cm|m) by (\d+(?:\.\d+)?) ?(mm|cm|m)\b")
_APART = re.compile(
    r"(?P<n>\d+(?:\.\d+)?) ?(?P<u>mm|cm|m) (?:apart|from each other|from one another)"
)


def missing_sizes(words: str, shapes: Sequence[Points]) -> Iterator[str]:
    """Yield the stated sizes that nothing new has."""
    if not shapes:
        return
    for match in _SAID.finditer(words):
        several = _SEVERAL.search(words[: match.start()])
        count = 1 if several is None else NUMBERS.get(several["number"]) or int(several["number"])
        if _EACH.search(words[: match.start()]):
            count = len(shapes)
        measured = [_measures(shape) for shape in shapes]
        if count == 1 and len(shapes) > 1:  # a shape of several strokes
            measured.append(_extent(np.concatenate(shapes)))
        size_m = metres(match, next(n for n in "1234" if match[f"n{n}"] is not None))
        kind = _WORDS.get(match["after"] or match["before"] or "", "any")
        sizes = [found[kind] for found in measured]
        having = sum(any(same(size_m, size) for size in found) for found in sizes)
        if having < min(count, len(shapes)):
            near = min((size for found in sizes for size in found), key=lambda s: abs(s - size_m))
            lacking = "nothing new measures" if count == 1 else f"{having} of {count} measure"
            yield f"{lacking} '{match[0]}'; the nearest is {100 * near:.1f} cm"


def not_lying(words: str, shapes: Sequence[Points]) -> Iterator[str]:
    """Yield that a shape is as wide as it was to be high, and as high as it was to be wide."""
    wide, high = _WIDE.search(words), _HIGH.search(words)
    if not wide or not high or len(shapes) != 1:
        return
    width, height = (float(size[1]) * UNITS[size[2]] for size in (wide, high))
    found_width, found_height = np.ptp(shapes[0], axis=0)
    if same(width, height) or not (same(width, found_height) and same(height, found_width)):
        return
    yield f"it is {100 * found_width:.0f} cm wide and {100 * found_height:.0f} cm high"


def not_by(words: str, shapes: Sequence[Points]) -> Iterator[str]:
    """Yield what the sides of a shape measure that was to be so much by so much."""
    from shapely import MultiPoint

    match = _BY.search(words)
    if match is None or len(shapes) != 1:
        return
    wanted = sorted((float(match[1]) * UNITS[match[2]], float(match[3]) * UNITS[match[4]]))
    corners = np.array(MultiPoint(shapes[0]).minimum_rotated_rectangle.exterior.coords)
    turned = sorted(np.linalg.norm(np.diff(corners[:3], axis=0), axis=1).tolist())
    if not any(
        all(map(same, wanted, found))
        for found in (turned, sorted(np.ptp(shapes[0], axis=0).tolist()))
    ):
        short, long = (100 * size for size in turned)
        yield f"it is {long:.0f} cm by {short:.0f} cm, where '{match[0]}' was asked for"


def missing_area(words: str, shapes: Sequence[Points]) -> Iterator[str]:
    """Yield a stated area that nothing new has: an outline's, or that of what is hatched."""
    from shapely import MultiPoint

    for match in AREA.finditer(words):
        wanted = float(match[1] or match[3]) * UNITS[match[2] or match[4]] ** 2
        areas = [_outline_area(shape) for shape in shapes]
        drawn = [*shapes, np.concatenate(shapes)] if shapes else []
        areas += [MultiPoint(points).convex_hull.area for points in drawn]
        if areas and not any(same(wanted, area, AREA_SHARE, 0.0) for area in areas):
            near = min(areas, key=lambda area: abs(area - wanted))
            yield f"nothing new has '{match[0]}'; the nearest is {near * 1e4:.0f} square cm"


def _outline_area(shape: Points) -> float:
    (x, y), (next_x, next_y) = shape.T, np.roll(shape, -1, axis=0).T
    return float(abs(np.sum(x * next_y - next_x * y)) / 2)


def missing_gaps(words: str, shapes: Sequence[Points]) -> Iterator[str]:
    """Yield a stated distance between shapes that most of them do not have to their neighbours."""
    from shapely import LineString

    match = _APART.search(words)
    if match is None or len(shapes) < 2:
        return
    wanted = metres(match)
    lines, middles = [LineString(shape) for shape in shapes], [middle_of(shape) for shape in shapes]
    gaps, between = [], []
    for n in range(len(shapes)):
        others = [m for m in range(len(shapes)) if m != n]
        gaps.append(min(lines[n].distance(lines[m]) for m in others))
        between.append(min(math.dist(middles[n], middles[m]) for m in others))
    found = [float(np.median(gaps)), float(np.median(between))]
    if not any(same(wanted, one, CHANGE_SHARE, CHANGE_SLACK_M) for one in found):
        near = min(found, key=lambda one: abs(one - wanted))
        yield f"the shapes are {100 * near:.1f} cm apart, where {100 * wanted:g} cm were asked for"


def _measures(shape: Points) -> Mapping[str, Sequence[float]]:
    """Return what a shape measures, in metres, by what that is called; `any` has all of them."""
    from shapely import LineString

    wide, high = np.ptp(shape, axis=0)
    radius = float(np.linalg.norm(shape - middle_of(shape), axis=1).max())
    steps = np.linalg.norm(np.diff(shape, axis=0), axis=1)
    corners = np.array(LineString(shape).simplify(STRAIGHT_M).coords)
    sides = [wide, high, *np.linalg.norm(np.diff(corners, axis=0), axis=1)]
    found = {
        "length": [float(steps.sum()), float(np.linalg.norm(shape[-1] - shape[0])), wide, high],
        "width": sides,
        "radius": [wide / 2, high / 2, radius],
        "diameter": [wide, high, 2 * radius],
        "side": sides,
    }
    return {**found, "any": [*found["length"], *sides, wide / 2, high / 2]}


def _extent(shape: Points) -> Mapping[str, Sequence[float]]:
    """Return what several strokes measure together: their width and height alone."""
    wide, high = (float(size) for size in np.ptp(shape, axis=0))
    kinds = ("length", "width", "side", "diameter", "any")
    return {**{kind: [wide, high] for kind in kinds}, "radius": [wide / 2, high / 2]}
