"""Words against a drawing: the shapes and sizes that were asked for, and what was drawn.

A size counts with the word that says what it measures: long, wide, tall, radius, diameter, side. A
bare one ("a 10 cm square") may be any of them. A length that says where something is ("5 cm below
the middle") is no size. Where one drawn shape replaced another, the change is compared: how much
bigger it is, and how far and which way it moved.
"""

from __future__ import annotations

import math
import re
from collections.abc import Iterator, Mapping, Sequence

import numpy as np
from numpy.typing import NDArray

from cap.engine.sentence import mentions
from cap.robot.observation import Observation

SHARE, SLACK_M = 0.02, 0.001
"""A size may be off by this share of itself, and by so much more."""
CHANGE_SHARE = 0.05
"""A change of size, a move or a gap may be off by this share, and by `CHANGE_SLACK_M`."""
CHANGE_SLACK_M = 0.003
IN_A_ROW = 0.1
"""Shapes are in a row if none is off the line through them by more of its length."""
AREA_SHARE = 0.04
UNITS = {"mm": 1e-3, "cm": 1e-2, "m": 1.0}
NUMBERS = {
    **{"two": 2, "three": 3, "four": 4, "five": 5, "six": 6, "seven": 7, "eight": 8},
    **{"nine": 9, "ten": 10, "twelve": 12},
}
COUNTS = {"a": 1, "an": 1, "one": 1, "another": 1, **NUMBERS}
_STRAIGHT_M = 0.002
"""A line that stays this close to a straight one is a side, and no curve."""
_SIZE = r"(?P<n{0}>\d+(?:\.\d+)?) ?-?(?P<u{0}>mm|cm|m)\b"
_WORDS = {
    **dict.fromkeys(("long", "length", "perimeter", "circumference"), "length"),
    **dict.fromkeys(("wide", "width", "across", "tall", "high", "height"), "width"),
    **dict.fromkeys(("side", "sides", "edges"), "side"),
    "radius": "radius",
    "diameter": "diameter",
}
_SHAPES = (
    "line|circle|square|triangle|rectangle|pentagon|hexagon|octagon|star|cross|arrow|house|heart"
)
_SAID = re.compile(
    rf"{_SIZE.format(1)}[- ](?:in )?(?P<after>{'|'.join(_WORDS)})\b"
    rf"|\b(?P<before>{'|'.join(_WORDS)})(?: of| is)? {_SIZE.format(2)}"
    rf"|{_SIZE.format(3)} (?:{_SHAPES})s?\b"
    rf"|\b(?:{_SHAPES})s? of {_SIZE.format(4)}(?! (?:around|from|above|below|left|right))"
)
_AREA = re.compile(
    r"(\d+(?:\.\d+)?) ?(?:square |sq\.? ?)(cm|m)\b|(\d+(?:\.\d+)?) ?(cm|m)(?:\^?2|²)"
)
_SEVERAL = re.compile(rf"\b(?P<number>{'|'.join(NUMBERS)}|\d+) (?:\w+ )?$")
"""How many of a size, just before it."""
_APART = re.compile(
    r"(?P<n>\d+(?:\.\d+)?) ?(?P<u>mm|cm|m) (?:apart|from each other|from one another)"
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
_DRAWS = re.compile(
    r"(?:draw|sketch|paint|add|make|now|and|put|also|i want|i'd like|a|an|another)\b"
)
_ERASE = re.compile(
    r"^(?:erase|wipe|clear|delete) (?:everything|it all|all(?: of it)?|"
    r"(?:all of )?the (?:whole )?(?:board|drawing))(?: (?:on|off|from) the board)?$"
)
_ERASE_ONE = re.compile(rf"^(?:erase|wipe|delete|remove) (?:it|that|the (?:{_SHAPES}))$")
_SHAPE = re.compile(
    rf"\b({'|'.join(COUNTS)}|\d+) (?!(?:mm|cm|m)\b)(?:[\w.]+ ){{0,3}}?({_SHAPES}|dot)(?:e?s)?\b"
    r"(?! of (?:two|three|four|five|six|\d))"
)
_PARTS = re.compile(r":|\b(?:made|out|consist\w+|composed|using) (?:of|up)?\b|\bhouse\b.*\bwith\b")
"""Words after which shapes are parts of another one."""
_LINE = re.compile(r"\b(horizontal|vertical)\b")
_STRAIGHT = re.compile(r"\bstraight line\b")
_LINE_WAY = re.compile(r"\bline\b.* (?:to (?:the|its) )?(?P<way>left|right|upwards?|downwards?)\b")
_BENT = re.compile(r"\b(?:from|wavy|curv\w+|zig|then|and|dashed|around|bent|left of|right of)\b")
_ROW = re.compile(r"\bin (?:a|one) (?:\w+ )?(?:row|line|column)\b")
_CHANGE = re.compile(
    r"^(?:make|turn|change|scale|move|shift|rotate|flip|mirror) (?:it|the [\w ]+?|that)\b.*"
    r"\b(?:\w+er|twice|half|times|left|right|up|down|degrees)\b"
)
_FACTOR = re.compile(
    r"\b(?P<times>twice|half|\d+(?:\.\d+)?(?= times)|(?:two|three|four|five|six|seven|eight|ten)"
    r"(?= times))(?: times)?(?: as| the)? (?:big|bigger|large|larger|size|tall|long|longer|wide)"
)
_MOVE = re.compile(
    r"^(?:move|shift) (?:it|that|the [\w ]+?)(?: by)? (?P<n>\d+(?:\.\d+)?) ?(?P<u>mm|cm|m)"
    r"(?: further)?(?: (?:to the|to your))? (?P<way>left|right|up|down)(?:wards?)?$"
)
_WAYS = {"left": (-1, 0), "right": (1, 0), "up": (0, 1), "down": (0, -1)}
_SIDE = re.compile(r"\b(?P<side>above|over|below|under|beneath|left of|right of|around)(?: the)? $")

Stroke = Sequence[Sequence[float]]
Points = NDArray[np.float64]
"""The points of a stroke, shape (n, 2): xy in metres."""


def missing_in_drawing(
    words: str, before: Observation, after: Observation, new: Sequence[Stroke]
) -> Iterator[str]:
    """Yield what a drawing lacks, or has too much; a line each.

    Args:
        words: The instruction, as `plain_words` has it.
        before: The world before.
        after: The world after.
        new: The new strokes, xy in metres; one shape is taken to be one stroke, or all of them.
    """
    shapes = [_points(stroke) for stroke in new if len(stroke) > 1]
    text = _AREA.sub("", words)
    one = len(before.drawn) == 1 and _ERASE_ONE.match(words)
    if after.drawn and (_ERASE.match(words) or one):
        yield "there is still something drawn"
    if _CHANGE.match(words) and before.drawn:
        yield from _not_changed(words, before, after, new)
        return
    yield from _missing_area(words, shapes)
    yield from _missing_sizes(text, shapes)
    yield from _missing_gaps(text, shapes)
    if not shapes or not _DRAWS.match(words) or _PARTS.search(words):
        return
    named = _SHAPE.findall(text)
    count = sum(COUNTS.get(number) or int(number) for number, _ in named)
    if len(shapes) < count:
        yield f"{len(shapes)} drawn, where {count} shapes were asked for"
    elif count > 2 and len(shapes) == count and _ROW.search(words) and not _in_a_row(shapes):
        yield "the shapes are not in a row"
    if count == 1 and len(shapes) == 1:
        yield from _unlike(text, named[0][1], shapes[0])
    if count <= 1 and len(shapes) == 1:
        yield from _misplaced(words, shapes[0], before)


def _points(stroke: Stroke) -> Points:
    return np.array(stroke, dtype=float)[:, :2]


def _same(wanted: float, found: float, share: float = SHARE, slack: float = SLACK_M) -> bool:
    return abs(found - wanted) <= share * wanted + slack


def _metres(match: re.Match[str], which: str = "") -> float:
    return float(match[f"n{which}"]) * UNITS[match[f"u{which}"]]


def _missing_sizes(words: str, shapes: Sequence[Points]) -> Iterator[str]:
    """Yield the stated sizes that nothing new has."""
    if not shapes:
        return
    whole = [np.concatenate(shapes)] if len(shapes) > 1 else []
    for match in _SAID.finditer(words):
        several = _SEVERAL.search(words[: match.start()])
        count = 1 if several is None else NUMBERS.get(several["number"]) or int(several["number"])
        measured = [_measures(shape) for shape in [*shapes, *(whole if count == 1 else ())]]
        size_m = _metres(match, next(n for n in "1234" if match[f"n{n}"] is not None))
        kind = _WORDS.get(match["after"] or match["before"] or "", "any")
        sizes = [found[kind] for found in measured]
        having = sum(any(_same(size_m, size) for size in found) for found in sizes)
        if having < min(count, len(shapes)):
            near = min((size for found in sizes for size in found), key=lambda s: abs(s - size_m))
            lacking = "nothing new measures" if count == 1 else f"{having} of {count} measure"
            yield f"{lacking} '{match[0]}'; the nearest is {100 * near:.1f} cm"


def _missing_area(words: str, shapes: Sequence[Points]) -> Iterator[str]:
    """Yield a stated area that nothing new has: an outline's, or that of what is hatched."""
    from shapely import MultiPoint

    for match in _AREA.finditer(words):
        wanted = float(match[1] or match[3]) * UNITS[match[2] or match[4]] ** 2
        areas = [_outline_area(shape) for shape in shapes]
        drawn = [*shapes, np.concatenate(shapes)] if shapes else []
        areas += [MultiPoint(points).convex_hull.area for points in drawn]
        if areas and not any(_same(wanted, area, AREA_SHARE, 0.0) for area in areas):
            near = min(areas, key=lambda area: abs(area - wanted))
            yield f"nothing new has '{match[0]}'; the nearest is {near * 1e4:.0f} square cm"


def _outline_area(shape: Points) -> float:
    (x, y), (next_x, next_y) = shape.T, np.roll(shape, -1, axis=0).T
    return float(abs(np.sum(x * next_y - next_x * y)) / 2)


def _missing_gaps(words: str, shapes: Sequence[Points]) -> Iterator[str]:
    """Yield a stated distance between shapes that most of them do not have to their neighbours."""
    from shapely import LineString

    match = _APART.search(words)
    if match is None or len(shapes) < 2:
        return
    wanted = _metres(match)
    lines, middles = [LineString(shape) for shape in shapes], [_middle(shape) for shape in shapes]
    gaps, between = [], []
    for n in range(len(shapes)):
        others = [m for m in range(len(shapes)) if m != n]
        gaps.append(min(lines[n].distance(lines[m]) for m in others))
        between.append(min(math.dist(middles[n], middles[m]) for m in others))
    found = [float(np.median(gaps)), float(np.median(between))]
    if not any(_same(wanted, one, CHANGE_SHARE, CHANGE_SLACK_M) for one in found):
        near = min(found, key=lambda one: abs(one - wanted))
        yield f"the shapes are {100 * near:.1f} cm apart, where {100 * wanted:g} cm were asked for"


def _in_a_row(shapes: Sequence[Points]) -> bool:
    middles = np.array([_middle(shape) for shape in shapes])
    centred = middles - middles.mean(axis=0)
    _, spread, _ = np.linalg.svd(centred)
    return bool(spread[1] <= IN_A_ROW * spread[0])


def _middle(shape: Points) -> Points:
    middle: Points = (shape.min(axis=0) + shape.max(axis=0)) / 2
    return middle


def _measures(shape: Points) -> Mapping[str, Sequence[float]]:
    """Return what a shape measures, in metres, by what that is called; `any` has all of them."""
    from shapely import LineString

    wide, high = np.ptp(shape, axis=0)
    radius = float(np.linalg.norm(shape - _middle(shape), axis=1).max())
    steps = np.linalg.norm(np.diff(shape, axis=0), axis=1)
    corners = np.array(LineString(shape).simplify(_STRAIGHT_M).coords)
    sides = [wide, high, *np.linalg.norm(np.diff(corners, axis=0), axis=1)]
    found = {
        "length": [float(steps.sum()), float(np.linalg.norm(shape[-1] - shape[0])), wide, high],
        "width": sides,
        "radius": [wide / 2, high / 2, radius],
        "diameter": [wide, high, 2 * radius],
        "side": sides,
    }
    return {**found, "any": [size for sizes in found.values() for size in sizes]}


def _unlike(words: str, named: str, shape: Points) -> Iterator[str]:
    """Yield how one shape differs from what it is called."""
    wide, high = np.ptp(shape, axis=0)
    straight = float(np.linalg.norm(shape[-1] - shape[0]))
    length = float(np.linalg.norm(np.diff(shape, axis=0), axis=1).sum())
    if (line := _LINE.search(words)) and (wide > high) != (line[1] == "horizontal"):
        yield f"the line is not {line[1]}"
    if _STRAIGHT.search(words) and not _same(length, straight):
        yield "the line is not straight"
    way = _LINE_WAY.search(words) if named == "line" and not _BENT.search(words) else None
    if way is not None:
        x, y = _WAYS[way["way"].removesuffix("s").removesuffix("ward")]
        dx, dy = shape[-1] - shape[0]
        if dx * x + dy * y < (1 - CHANGE_SHARE) * length:
            yield f"the line does not go straight {way['way']}"
    if (usual := CORNERS.get(named)) and (found := _corners(shape)) not in usual:
        yield f"it has {found} corners, which no {named} has"


def _misplaced(words: str, shape: Points, before: Observation) -> Iterator[str]:
    """Yield where one shape is not, of the named things."""
    names = mentions(words, before.positions)
    places = {name: before.positions[name][:2] for name, _, _ in names}
    if len(names) == 1 and (side := _SIDE.search(words[: names[0][1]])):
        ((name, (x, y)),) = places.items()
        low, top = shape.min(axis=0), shape.max(axis=0)
        middle_x, middle_y = (low + top) / 2
        so = {
            **dict.fromkeys(("above", "over"), middle_y > y),
            **dict.fromkeys(("below", "under", "beneath"), middle_y < y),
            "left of": middle_x < x,
            "right of": middle_x > x,
            "around": bool((low < (x, y)).all() and ((x, y) < top).all()),
        }
        if not so[side["side"]]:
            yield f"it is not {side['side']} {name!r}"
    if len(places) == 2 and re.search(r"\bfrom (?:the )?$", words[: names[0][1]]):
        for end in (shape[0], shape[-1]):
            apart = {name: math.dist(xyz[:2], end) for name, xyz in before.positions.items()}
            if (nearest := min(apart, key=lambda name: apart[name])) not in places:
                yield f"the line ends at {nearest!r}"


def _not_changed(
    words: str, before: Observation, after: Observation, new: Sequence[Stroke]
) -> Iterator[str]:
    """Yield how a shape that was to be changed is not as it was to be."""
    gone = [line for line in before.drawn if line not in after.drawn]
    if new and not gone:
        yield "what was drawn before is still there beside it"
    if len(new) != 1 or len(gone) != 1 or min(len(new[0]), len(gone[0])) < 2:
        return
    was, now = _points(gone[0]), _points(new[0])
    if match := _MOVE.match(words):
        x, y = _WAYS[match["way"]]
        dx, dy = _middle(now) - _middle(was)
        wanted, along = _metres(match), dx * x + dy * y
        if not _same(wanted, along, CHANGE_SHARE, CHANGE_SLACK_M):
            yield f"it moved {100 * along:.1f} cm, where {100 * wanted:g} cm were asked for"
    if match := _FACTOR.search(words):
        said = match["times"]
        factor = {"twice": 2.0, "half": 0.5}.get(said) or float(NUMBERS.get(said, 0) or said)
        times = float(np.linalg.norm(np.ptp(now, axis=0)) / np.linalg.norm(np.ptp(was, axis=0)))
        if not any(_same(one, times, CHANGE_SHARE, 0.0) for one in (factor, math.sqrt(factor))):
            yield f"it is {times:.2g} times as big, where {factor:g} times was asked for"


def _corners(shape: Points) -> int:
    """Return how many corners a closed line has, as it is seen."""
    from shapely import LineString

    corners = np.array(LineString(shape).simplify(_STRAIGHT_M).coords)
    if np.linalg.norm(corners[0] - corners[-1]) >= SHARE:
        return len(corners)
    a, b, c = corners[-2], corners[0], corners[1]  # it may begin in the middle of a side
    (ux, uy), (vx, vy) = b - a, c - b
    straight = abs(ux * vy - uy * vx) < _STRAIGHT_M * np.linalg.norm(c - a)
    return len(corners) - 1 - int(straight)
