"""The kitchen from above: furniture, objects, the robot and its arm, and what everything is called.

Objects but bowls and plates are drawn larger than they are, so that they can be distinguished.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Iterable, Iterator
from typing import Any

import numpy as np
import shapely
from PIL import ImageFont

from robots.kitchen.bodies import shapes, view
from robots.kitchen.objects import Color
from robots.kitchen.room import BASE_R, ROOM_X, ROOM_Y, Piece, Point
from robots.kitchen.state import KitchenState
from robots.simulation.top_view import TopView
from robots.table.geometry import corners

_BORDER_M = 0.12
_WALL: Color = (122, 126, 132)
_TEXT, _PAPER = (92, 84, 74), (241, 238, 231)
_LARGER = 2.2
_LETTER_M, _LETTER_PX = 0.16, 19.5
"""Height of letters, and the least."""


def draw(state: KitchenState, width: int, height: int) -> Any:
    """Draw the kitchen from above as a PIL image; right is x, up is y (the back of the room)."""
    x, y = ((low - _BORDER_M, high + _BORDER_M) for low, high in (ROOM_X, ROOM_Y))
    picture = TopView((width, height), x, y, _WALL)
    shown = dict(view(state).placements)
    for thing in state.things:
        if state.shut_in(thing.name):
            del shown[f"objects/{thing.name}"]
    picture.solids(shapes(state), shown, _LARGER)
    names = _Names(picture)
    seen = [thing for thing in state.loose() if f"objects/{thing.name}" in shown]
    for thing in seen:
        names.keep_clear(thing.xy, thing.radius * (1.0 if thing.kind.shape == "dish" else _LARGER))
    names.keep_clear(state.base.xy, BASE_R)
    for piece in state.room.pieces:
        names.write(piece.name, _on_or_beside(piece))
    for thing in seen:
        names.write(thing.name, _around(thing.xy, thing.radius), thing.xy)
    return picture.image()


def _on_or_beside(piece: Piece) -> Iterator[Point]:
    """Yield where a piece's name may be: on it, if it is large, or near it."""
    left, front, right, back = shapely.MultiPoint(list(corners(piece.rectangle))).bounds
    if piece.kind not in ("chair", "stool", "bin"):
        for share in (0.5, 0.2, 0.8):
            yield left + share * (right - left), back - 0.08
    yield piece.x, front - 0.12
    yield from _around((piece.x, piece.y), (right - left) / 2)


def _around(middle: Point, radius: float) -> Iterator[Point]:
    """Yield points around something, the nearest ones first."""
    for away, step in itertools.product((0.15, 0.3, 0.45, 0.65, 0.9, 1.2, 1.5), range(16)):
        angle = step * math.pi / 8
        r = radius + away
        yield (middle[0] + 1.4 * r * math.cos(angle), middle[1] + r * math.sin(angle))


class _Names:
    """Writes names that cover nothing, last, so that nothing covers them."""

    def __init__(self, picture: TopView) -> None:
        self._picture = picture
        self._font_px = max(_LETTER_PX, _LETTER_M * picture.scale)
        self._font = ImageFont.load_default(size=self._font_px)
        self._taken: list[Any] = []
        """Where no name is written: around things, the robot, and names."""

    def keep_clear(self, middle: Point, radius: float) -> None:
        """Have no name written where something is."""
        point = shapely.Point(self._picture.pixel(middle))
        self._taken.append(point.buffer(radius * self._picture.scale).envelope)

    def write(self, name: str, middles: Iterable[Point], thing: Point | None = None) -> None:
        """Write a name at the first of some points where it covers least; a line leads to a thing.

        Args:
            name: What is written.
            middles: Where its middle may be, metres, the best first.
            thing: What it is the name of, where a line is needed.
        """
        half = np.array([self._font.getlength(name) / 2 + 3, self._font_px * 0.6])
        (left, bottom), (right, top) = map(self._picture.pixel, zip(ROOM_X, ROOM_Y, strict=True))
        points = np.array([self._picture.pixel(middle) for middle in middles])
        points = np.clip(points, np.add((left, top), half), np.subtract((right, bottom), half))
        boxes = shapely.box(*(points - half).T, *(points + half).T)
        covered = shapely.area(shapely.intersection(boxes[:, None], self._taken)).sum(axis=1)
        best = int(covered.argmin())
        self._taken.append(boxes[best])
        x, y = points[best].tolist()
        brush = self._picture.brush
        if thing is not None:
            to = self._picture.pixel(thing)
            brush.line(shapely.shortest_line(boxes[best], shapely.Point(to)).coords, _TEXT, 2)
        brush.text((x, y), name, _TEXT, self._font, anchor="mm", stroke_width=3, stroke_fill=_PAPER)
