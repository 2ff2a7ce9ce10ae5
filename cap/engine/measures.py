"""What an instruction says of a drawing, against what was drawn: a 60 cm line is none of 62 cm.

A size counts with the word that says what it measures: long, wide, tall, radius, diameter, side. A
bare one ("a 10 cm square") may be any of them. What says where something is, or how far it moves,
("5 cm to the left", "3 cm apart") is no size.
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
UNITS = {"mm": 1e-3, "cm": 1e-2, "m": 1.0}
NUMBERS = {"two": 2, "three": 3, "four": 4, "five": 5, "six": 6, "seven": 7, "eight": 8}
_STRAIGHT_M = 0.002
"""A line that stays this close to a straight one is a side, and no curve."""
_SIZE = r"(?P<n{0}>\d+(?:\.\d+)?) ?-?(?P<u{0}>mm|cm|m)\b"
_WORDS = {
    "long": "length",
    "length": "length",
    "wide": "width",
    "width": "width",
    "across": "width",
    "tall": "width",
    "high": "width",
    "height": "width",
    "radius": "radius",
    "diameter": "diameter",
    "perimeter": "length",
    "circumference": "length",
    "side": "side",
    "sides": "side",
    "edges": "side",
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

COUNTS = {"a": 1, "an": 1, "one": 1, "another": 1, **NUMBERS}
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
    r"^(?:erase|wipe|clear|delete) (?:everything|all|it all|the (?:whole )?(?:board|drawing))\b"
)
_ERASE_ONE = re.compile(rf"^(?:erase|wipe|delete|remove) (?:it|that|the (?:{_SHAPES}))$")
_SHAPE = re.compile(
    rf"\b({'|'.join(COUNTS)}|\d+) (?!(?:mm|cm|m)\b)(?:[\w.]+ ){{0,3}}?({_SHAPES}|dot)(?:e?s)?\b"
    r"(?! of (?:two|three|four|five|six|\d))"
)
_PARTS = re.compile(r"\b(?:made|out|consist\w+|composed|using) (?:of|up)?\b")
_LINE = re.compile(r"\b(horizontal|vertical)\b")
_CHANGE = re.compile(
    r"^(?:make|turn|change|scale|move|shift|rotate|flip|mirror) (?:it|the [\w ]+?|that)\b.*"
    r"\b(?:\w+er|twice|half|left|right|up|down|degrees)\b"
)
_SIDE = re.compile(r"\b(?P<side>above|over|below|under|beneath|left of|right of|around)(?: the)? $")

Stroke = Sequence[Sequence[float]]


def missing_sizes(words: str, drawn: Sequence[Stroke]) -> Iterator[str]:
    """Yield the stated sizes that nothing new in a drawing has; a line each.

    Args:
        words: The instruction, in small letters.
        drawn: The new strokes, xy in metres; one shape is taken to be one stroke, or all of them.
    """
    shapes = [np.array(stroke, dtype=float)[:, :2] for stroke in drawn if len(stroke) > 1]
    yield from _missing_area(words, shapes)
    said = list(_SAID.finditer(_AREA.sub("", words)))
    if not shapes or not said:
        return
    whole = [np.concatenate(shapes)] if len(shapes) > 1 else []
    for match in said:
        several = _SEVERAL.search(_AREA.sub("", words)[: match.start()])
        count = 1 if several is None else NUMBERS.get(several["number"]) or int(several["number"])
        measured = [_measures(shape) for shape in [*shapes, *(whole if count == 1 else ())]]
        which = next(n for n in "1234" if match[f"n{n}"] is not None)
        size_m = float(match[f"n{which}"]) * UNITS[match[f"u{which}"]]
        kind = _WORDS.get(match["after"] or match["before"] or "", "any")
        sizes = [found.get(kind, [*found["any"]]) for found in measured]
        having = sum(any(_same(size_m, size) for size in found) for found in sizes)
        if having < min(count, len(shapes)):
            near = min((size for found in sizes for size in found), key=lambda s: abs(s - size_m))
            lacking = "nothing new measures" if count == 1 else f"{having} of {count} measure"
            yield f"{lacking} '{match[0]}'; the nearest is {100 * near:.1f} cm"


def _missing_area(words: str, shapes: Sequence[NDArray[np.float64]]) -> Iterator[str]:
    """Yield a stated area that nothing new has."""
    for match in _AREA.finditer(words):
        wanted = float(match[1] or match[3]) * UNITS[match[2] or match[4]] ** 2
        areas = [_area(shape) for shape in shapes]
        if areas and all(abs(area - wanted) > 2 * SHARE * wanted for area in areas):
            near = min(areas, key=lambda area: abs(area - wanted))
            yield f"nothing new has '{match[0]}'; the nearest is {near * 1e4:.0f} square cm"


def _area(shape: NDArray[np.float64]) -> float:
    (x, y), (next_x, next_y) = shape.T, np.roll(shape, -1, axis=0).T
    return float(abs(np.sum(x * next_y - next_x * y)) / 2)


def _same(wanted_m: float, size_m: float) -> bool:
    return abs(size_m - wanted_m) <= SHARE * wanted_m + SLACK_M


def _measures(shape: NDArray[np.float64]) -> Mapping[str, Sequence[float]]:
    """Return what a shape measures, in metres, by what that is called; `any` has all of them."""
    from shapely import LineString

    wide, high = np.ptp(shape, axis=0)
    middle = (shape.min(axis=0) + shape.max(axis=0)) / 2
    radius = float(np.linalg.norm(shape - middle, axis=1).max())
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


def missing_in_drawing(
    words: str, before: Observation, after: Observation, new: Sequence[Stroke]
) -> Iterator[str]:
    """Yield what a drawing lacks, or has too much.

    Args:
        words: The instruction, in small letters.
        before: The world before.
        after: The world after.
        new: The new strokes, xy in metres.
    """
    kept = [line for line in before.drawn if line in after.drawn]
    one = len(before.drawn) == 1 and _ERASE_ONE.match(words)
    if after.drawn and (_ERASE.match(words) or one):
        yield "there is still something drawn"
    if _CHANGE.match(words) and new and before.drawn and len(kept) == len(before.drawn):
        yield "what was drawn before is still there beside it"
        return
    shapes = [np.array(line, dtype=float)[:, :2] for line in new if len(line) > 1]
    if not shapes or not _DRAWS.match(words) or _PARTS.search(words):
        return
    said = _SHAPE.findall(words)
    count = sum(COUNTS.get(number) or int(number) for number, _ in said)
    if len(shapes) < count:
        yield f"{len(shapes)} drawn, where {count} shapes were asked for"
    if count > 1 or len(shapes) != 1:
        return
    (shape,) = shapes
    wide, high = np.ptp(shape, axis=0)
    if (line := _LINE.search(words)) and (wide > high) != (line[1] == "horizontal"):
        yield f"the line is not {line[1]}"
    if said and (usual := CORNERS.get(said[0][1])) and (found := _corners(shape)) not in usual:
        yield f"it has {found} corners, which no {said[0][1]} has"
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


def _corners(shape: NDArray[np.float64]) -> int:
    """Return how many corners a closed line has, as it is seen."""
    from shapely import LineString

    corners = np.array(LineString(shape).simplify(_STRAIGHT_M).coords)
    closed = bool(np.linalg.norm(corners[0] - corners[-1]) < SHARE)
    if closed:  # it may begin in the middle of a side
        a, b, c = corners[-2], corners[0], corners[1]
        (ux, uy), (vx, vy) = b - a, c - b
        straight = abs(ux * vy - uy * vx) < _STRAIGHT_M * np.linalg.norm(c - a)
        return len(corners) - 1 - int(straight)
    return len(corners)
