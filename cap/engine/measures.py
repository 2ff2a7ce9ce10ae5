"""Sizes that an instruction states, against what was drawn: a 60 cm line is none of 62 cm.

A size counts with the word that says what it measures: long, wide, tall, radius, diameter, side. A
bare one ("a 10 cm square") may be any of them. What says where something is, or how far it moves,
("5 cm to the left", "3 cm apart") is no size.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence

import numpy as np
from numpy.typing import NDArray

SHARE, SLACK_M = 0.02, 0.001
"""A size may be off by this share of itself, and by so much more."""
UNITS = {"mm": 1e-3, "cm": 1e-2, "m": 1.0}
NUMBERS = {"two": 2, "three": 3, "four": 4, "five": 5, "six": 6, "seven": 7, "eight": 8}
_STRAIGHT_M = 0.002
"""Sides are told apart from curves by lines that stay this close to them."""
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
_SEVERAL = re.compile(rf"\b(?P<number>{'|'.join(NUMBERS)}|\d+) (?:\w+ )?$")
"""How many of a size, just before it."""

Stroke = Sequence[Sequence[float]]


def missing_sizes(words: str, drawn: Sequence[Stroke]) -> Iterator[str]:
    """Yield the stated sizes that nothing new in a drawing has; a line each.

    Args:
        words: The instruction, in small letters.
        drawn: The new strokes, xy in metres; one shape is taken to be one stroke, or all of them.
    """
    shapes = [np.array(stroke, dtype=float)[:, :2] for stroke in drawn if len(stroke) > 1]
    said = list(_SAID.finditer(words))
    if not shapes or not said:
        return
    whole = [np.concatenate(shapes)] if len(shapes) > 1 else []
    for match in said:
        several = _SEVERAL.search(words[: match.start()])
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
