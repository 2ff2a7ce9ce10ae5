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

from cap.engine.sentence import NUMBERS, UNITS, mentions
from cap.engine.shapes import (
    CHANGE_SHARE,
    CHANGE_SLACK_M,
    SHAPES,
    STRAIGHT_M,
    Points,
    box_of,
    corners_of,
    metres,
    middle_of,
    points_of,
    same,
)
from cap.robot.observation import Observation

AREA_SHARE = 0.04
_SIZE = r"(?P<n{0}>\d+(?:\.\d+)?) ?-?(?P<u{0}>mm|cm|m)\b"
_WORDS = {
    **dict.fromkeys(("long", "length", "perimeter", "circumference"), "length"),
    **dict.fromkeys(("wide", "width"), "wide"),
    **dict.fromkeys(("tall", "high", "height"), "high"),
    **dict.fromkeys(("sides", "edges"), "sides"),
    **dict.fromkeys(("side", "edge"), "side"),
    **dict.fromkeys(("radius", "radii"), "radius"),
    **dict.fromkeys(("diameter", "diameters"), "diameter"),
    "across": "across",
}
_SAID = re.compile(
    rf"{_SIZE.format(1)}[- ](?:in )?(?P<after>{'|'.join(_WORDS)})\b"
    rf"|\b(?P<before>{'|'.join(_WORDS)})"
    rf"(?: of| is| are| at| (?:should|must|has to|have to|needs? to) (?:be|measure)| measures?"
    rf"| equal to)? {_SIZE.format(2)}"
    rf"|{_SIZE.format(3)} (?:horizontal |vertical |diagonal |straight )?(?:{SHAPES})s?\b"
    rf"|\b(?:{SHAPES})s? of {_SIZE.format(4)}(?! (?:around|from|above|below|left|right))"
)
_LIST = re.compile(
    rf"(?:(?P<before>{'|'.join(_WORDS)})(?: of| is| are)? )?"
    r"(?P<numbers>\d+(?:\.\d+)?(?:, \d+(?:\.\d+)?)*,? and \d+(?:\.\d+)?) ?(?P<unit>mm|cm|m)\b"
    rf"(?:[- ](?:in )?(?P<after>{'|'.join(_WORDS)}|{SHAPES}))?"
)
"""Several sizes of which one word says what they measure."""
_TURNED = re.compile(
    r"\b(?:square|rectangle|triangle|line|arrow|cross|tilted|rotated|diagonal\w*)s?\b"
)
"""What may be drawn aslant, so that it is as wide as one of its sides is long."""
_EACH_SIDE = re.compile(r"\b(?:each|every) (?:of its )?(?:side|edge)\b")
_EDGE = re.compile(r"\b(?:edges?|borders?|sides?|corners?|margins?|frame)\b")
_OTHER_THAN_CIRCLES = re.compile(
    rf"\b(?:half|semi\w*|quarter|arcs?|(?:{SHAPES.replace('circle|', '')})s?)\b"
)
AREA = re.compile(r"(\d+(?:\.\d+)?) ?(?:square |sq\.? ?)(cm|m)\b|(\d+(?:\.\d+)?) ?(cm|m)(?:\^?2|²)")
_LENGTH = re.compile(_SIZE.format("") + r"(?! (?:spac\w+|steps?|wavelength|period|thick)\b)")
_WIDE = re.compile(r"(\d+(?:\.\d+)?) ?(mm|cm|m) wide\b")
_HIGH = re.compile(r"(\d+(?:\.\d+)?) ?(mm|cm|m) (?:high|tall)\b")
_SEVERAL = re.compile(rf"\b(?P<number>{'|'.join(NUMBERS)}|\d+) (?:(?!and\b|or\b|to\b|by\b)\w+ )?$")
"""How many of a size, just before it."""
_EACH = re.compile(r"\beach(?: of them)?(?: one)?(?: is| are| be| with)?,? ?(?:a )?$")
_TIMES = {"twice": 2.0, "half": 0.5}
_PROPORTION = re.compile(
    rf"\b(?P<times>twice|half|(?:{'|'.join(NUMBERS)})(?= times)) (?:times )?as"
    r" (?P<size>wide|long|high|tall) as (?:it|they) (?:is|are) (?:wide|long|high|tall)\b"
)
_BY = re.compile(r"(\d+(?:\.\d+)?) ?(mm|cm|m) by (\d+(?:\.\d+)?) ?(mm|cm|m)\b")
_APART = re.compile(
    r"(?P<n>\d+(?:\.\d+)?) ?(?P<u>mm|cm|m) (?:apart|from each other|from one another)"
)


def missing_sizes(words: str, shapes: Sequence[Points]) -> Iterator[str]:
    """Yield the stated sizes that nothing new has."""
    if not shapes:
        return
    words = _LIST.sub(_one_by_one, words)
    said = list(_SAID.finditer(words))
    each = [_measures(shape, words) for shape in shapes] if said else []
    for match in said:
        several = _SEVERAL.search(words[: match.start()])
        count = 1 if several is None else NUMBERS.get(several["number"]) or int(several["number"])
        if _EACH.search(words[: match.start()]):
            count = len(shapes)
        measured = each
        if count == 1 and len(shapes) > 1:  # a shape of several strokes
            measured = [*each, _extent(np.concatenate(shapes))]
        size_m = metres(match, next(n for n in "1234" if match[f"n{n}"] is not None))
        kind = _WORDS.get(match["after"] or match["before"] or "", "any")
        if kind == "side" and _EACH_SIDE.search(words):
            kind = "sides"
        sizes = [found[kind] for found in measured]
        of_all = all if kind == "sides" and (several is None or count > 1) else any
        having = sum(of_all(same(size_m, size) for size in found) for found in sizes)
        if having < min(count, len(shapes)):
            near = min((size for found in sizes for size in found), key=lambda s: abs(s - size_m))
            lacking = "nothing new measures" if count == 1 else f"{having} of {count} measure"
            yield f"{lacking} '{match[0]}'; the nearest is {100 * near:.1f} cm"


def unmet_lengths(words: str, shapes: Sequence[Points], before: Observation) -> Iterator[str]:
    """Yield the other lengths that are stated and that no new shape has, as a size or a distance.

    Args:
        words: The instruction; `missing_sizes` and `missing_gaps` compare the sizes it names.
        shapes: What is new.
        before: The world before.
    """
    rest = _APART.sub("", _SAID.sub("", _BY.sub("", _LIST.sub(_one_by_one, words))))
    stated = list(_LENGTH.finditer(rest))
    if not shapes or not stated:
        return
    others = [points_of(stroke) for stroke in before.drawn if len(stroke) > 1]
    own, old = ([_marks(shape) for shape in some] for some in (shapes, others))
    places = {**before.landmarks, **{name: at[:2] for name, at in before.positions.items()}}
    named = [name for name, _, _ in mentions(words, places)] or ["middle"]
    anchors = places if _EDGE.search(words) else [name for name in named if name in places]
    fixed = np.array([places[name] for name in anchors]).reshape(-1, 2)
    found = [size for shape in shapes for size in _measures(shape, "")["any"]]
    found += np.ptp(np.concatenate(shapes), axis=0).tolist()
    for n, marks in enumerate(own):
        from_ = np.concatenate([*own[:n], *own[n + 1 :], *old, fixed])
        away = marks[:, None] - from_[None]
        found += [*np.abs(away).ravel(), *np.linalg.norm(away, axis=2).ravel()]
    for match in stated:
        if not any(same(metres(match), size) for size in found):
            yield f"no new shape has '{match[0]}', as a size or a distance"


def _marks(shape: Points) -> Points:
    """Return the points of a shape that distances are measured from, shape (n, 2)."""
    low, top = shape.min(axis=0), shape.max(axis=0)
    return np.array([low, top, (low + top) / 2, shape[0], shape[-1]])


def _one_by_one(match: re.Match[str]) -> str:
    """Return several sizes with what they measure after each."""
    word = match["before"] or match["after"]
    numbers = re.findall(r"\d+(?:\.\d+)?", match["numbers"])
    each = ", ".join(f"{number} {match['unit']} {word}" for number in numbers)
    return each if word else match[0]


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


def not_in_proportion(words: str, shapes: Sequence[Points]) -> Iterator[str]:
    """Yield how much wider than high a shape is, that was to be so many times as wide."""
    match = _PROPORTION.search(words)
    if match is None or len(shapes) != 1:
        return
    wide, high = (float(size) for size in np.ptp(shapes[0], axis=0))
    times = _TIMES.get(match["times"]) or float(NUMBERS[match["times"]])
    size, other = (wide, high) if match["size"] in ("wide", "long") else (high, wide)
    if not same(times * other, size, CHANGE_SHARE, CHANGE_SLACK_M):
        yield f"it is {100 * wide:.0f} cm wide and {100 * high:.0f} cm high"


def not_by(words: str, shapes: Sequence[Points]) -> Iterator[str]:
    """Yield what the sides of a shape measure that was to be so much by so much."""
    match = _BY.search(words)
    if match is None or len(shapes) != 1:
        return
    wanted = sorted((float(match[1]) * UNITS[match[2]], float(match[3]) * UNITS[match[4]]))
    turned = box_of(shapes[0])
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
        wanted = area_m2(match)
        areas = [_outline_area(shape) for shape in shapes]
        drawn = [*shapes, np.concatenate(shapes)] if shapes else []
        areas += [MultiPoint(points).convex_hull.area for points in drawn]
        if areas and not any(same(wanted, area, AREA_SHARE, 0.0) for area in areas):
            near = min(areas, key=lambda area: abs(area - wanted))
            yield f"nothing new has '{match[0]}'; the nearest is {near * 1e4:.0f} square cm"


def area_m2(match: re.Match[str]) -> float:
    """Return an area that `AREA` found, square metres."""
    return float(match[1] or match[3]) * UNITS[match[2] or match[4]] ** 2


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


def _measures(shape: Points, words: str) -> Mapping[str, Sequence[float]]:
    """Return what a shape measures, in metres, by what that is called; `any` has all of them."""
    from shapely import LineString

    wide, high = (float(size) for size in np.ptp(shape, axis=0))
    length = float(np.linalg.norm(np.diff(shape, axis=0), axis=1).sum())
    if "circle" in words and not _OTHER_THAN_CIRCLES.search(words):
        size = max(wide, high)
        kinds = ("wide", "high", "across", "diameter", "side", "sides")
        found = {kind: [size] for kind in kinds}
        return {**found, "length": [length], "radius": [size / 2], "any": [size, size / 2, length]}
    corners = np.array(LineString(shape).simplify(STRAIGHT_M).coords)
    middles = (middle_of(shape), np.unique(corners.round(6), axis=0).mean(axis=0))
    radii = [float(np.linalg.norm(shape - middle, axis=1).max()) for middle in middles]
    edges = np.linalg.norm(np.diff(corners, axis=0), axis=1).tolist()
    sides = [wide, high, *edges]
    turned = _TURNED.search(words)
    found = {
        "length": [length, float(np.linalg.norm(shape[-1] - shape[0])), wide, high],
        "wide": sides if turned else [wide],
        "high": sides if turned else [high],
        "across": sides if turned else [wide, high],
        "radius": [wide / 2, high / 2, *([] if "semi" in words or "half" in words else radii)],
        "diameter": [wide, high, *(2 * radius for radius in radii)],
        "side": sides,
        "sides": edges if corners_of(shape) == len(edges) else sides[:2],
    }
    return {**found, "any": [*found["length"], *sides, wide / 2, high / 2]}


def _extent(shape: Points) -> Mapping[str, Sequence[float]]:
    """Return what several strokes measure together: their width and height alone."""
    wide, high = (float(size) for size in np.ptp(shape, axis=0))
    kinds = ("length", "across", "side", "sides", "diameter", "any")
    both = {kind: [wide, high] for kind in kinds}
    return {**both, "wide": [wide], "high": [high], "radius": [wide / 2, high / 2]}
