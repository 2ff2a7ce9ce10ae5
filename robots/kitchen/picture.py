"""The kitchen from above: furniture, objects, the robot and its arm, and what everything is called.

Objects but bowls and plates are drawn larger than they are, so that they can be distinguished.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Iterator, Sequence
from typing import Any

from PIL import ImageFont
from shapely.geometry import MultiPoint

from robots.kitchen import view
from robots.kitchen.objects import Color
from robots.kitchen.room import BASE_R, ROOM_X, ROOM_Y, Piece, Point
from robots.kitchen.state import KitchenState
from robots.simulation.top_view import TopView
from robots.table.geometry import corners, distance

_BORDER_M = 0.12
_WALL: Color = (122, 126, 132)
_TEXT, _PAPER = (92, 84, 74), (241, 238, 231)
_LARGER = 2.2
_LETTER_M, _LETTER_PX = 0.16, 19.5
"""Height of letters, and the least."""
_LEADER_M = 0.16
"""A name that is further from its thing has a line that leads to it."""
_ARM_M = 0.06
Box = tuple[float, float, float, float]
"""Left, upper, right and lower edge, pixels."""


def draw(state: KitchenState, width: int, height: int) -> Any:
    """Draw the kitchen from above as a PIL image; right is x, up is y (the back of the room)."""
    x, y = ((low - _BORDER_M, high + _BORDER_M) for low, high in (ROOM_X, ROOM_Y))
    picture = TopView((width, height), x, y, _WALL)
    shut = {name for name, place in state.room.locations.items() if not state.is_open(place)}
    hidden = {f"objects/{t.name}" for t in state.things if state.location_of(t.name) in shut}
    placed = view.view(state).placements
    shown = {name: place for name, place in placed.items() if name not in hidden}
    picture.solids(view.shapes(state), shown, _LARGER)
    _write_names(picture, state, hidden)
    return picture.image()


def _write_names(picture: TopView, state: KitchenState, hidden: set[str]) -> None:
    """Write what everything is called, last, so that nothing covers it."""
    held = state.load()
    seen = [t for t in state.things if t.name not in held and f"objects/{t.name}" not in hidden]
    names = _Names(picture)
    for thing in seen:
        dish = thing.kind.shape == "dish"
        names.keep_clear(thing.xy, thing.radius * (1.0 if dish else _LARGER))
    names.keep_clear(state.base.xy, BASE_R)
    for x, y in view.arm_points(state):
        names.keep_clear((x, y), _ARM_M)
    for piece in state.room.pieces:
        names.write(piece.name, list(_beside(state, piece)))
    for thing in seen:
        others = [other.xy for other in seen if other is not thing]
        names.write(thing.name, list(_around(thing.xy, thing.radius)), thing.xy, others)


def _beside(state: KitchenState, piece: Piece) -> Iterator[Point]:
    """Yield where a piece's name may be: on it, if it is large, and where no other is nearer."""
    left, front, right, back = MultiPoint(list(corners(piece.rectangle))).bounds
    points = [(piece.x, front - 0.12), (piece.x, back + 0.12)]
    if piece.kind not in ("chair", "stool", "bin"):
        spread = [(left + share * (right - left), back - 0.08) for share in (0.5, 0.2, 0.8)]
        points = [*spread, *points]
    points += _around((piece.x, piece.y), (right - left) / 2)
    yield points[0]
    for point in points:
        if min(state.room.pieces, key=lambda p: distance(p.rectangle, point)) == piece:
            yield point


def _around(middle: Point, radius: float) -> Iterator[Point]:
    """Yield points around something, the nearest ones first."""
    for away, step in itertools.product((0.15, 0.3, 0.45, 0.65, 0.9, 1.2, 1.5), range(16)):
        angle = step * math.pi / 8
        r = radius + away
        yield (middle[0] + 1.4 * r * math.cos(angle), middle[1] + r * math.sin(angle))


class _Names:
    """Writes names that cover nothing."""

    def __init__(self, picture: TopView) -> None:
        self._picture = picture
        self._font_px = max(_LETTER_PX, _LETTER_M * picture.scale)
        self._font = ImageFont.load_default(size=self._font_px)
        self._taken: list[Box] = []
        """Where no name is written: things, the robot, and names."""

    def keep_clear(self, middle: Point, radius: float) -> None:
        """Have no name written where something is."""
        (x, y), r = self._picture.pixel(middle), radius * self._picture.scale
        self._taken.append((x - r, y - r, x + r, y + r))

    def write(
        self,
        name: str,
        middles: Sequence[Point],
        anchor: Point | None = None,
        others: Sequence[Point] = (),
    ) -> Box:
        """Write a name at the first of some points where it covers nothing; return where.

        Where all cover something, the one that covers least serves. It stands nearer to its anchor
        than to the others, if it can. A line leads to the anchor, if the name stands away from it
        or nearer to another.
        """
        wide, high = self._font.getlength(name) / 2 + 3, self._font_px * 0.6
        (left, bottom), (right, top) = (
            self._picture.pixel(corner) for corner in zip(ROOM_X, ROOM_Y, strict=True)
        )
        near = [self._picture.pixel(other) for other in others]
        to = None if anchor is None else self._picture.pixel(anchor)
        found: list[tuple[float, Box, bool]] = []
        for middle in middles:
            x, y = self._picture.pixel(middle)
            x = min(max(x, left + wide), right - wide)
            y = min(max(y, top + high), bottom - high)
            box = (x - wide, y - high, x + wide, y + high)
            astray = to is not None and any(_away(box, each) <= _away(box, to) for each in near)
            covered = sum(_shared(box, taken) for taken in self._taken)
            found.append((covered + 2 * wide * high * astray, box, astray))
            if found[-1][0] == 0:
                break
        _, box, astray = min(found, key=lambda each: each[0])
        self._taken.append(box)
        brush = self._picture.brush
        if to is not None and (astray or _away(box, to) > _LEADER_M * self._picture.scale):
            end = (min(max(to[0], box[0]), box[2]), min(max(to[1], box[1]), box[3]))
            brush.line([end, to], _TEXT, 2)
        x, y = (box[0] + box[2]) / 2, (box[1] + box[3]) / 2
        brush.text((x, y), name, _TEXT, self._font, anchor="mm", stroke_width=3, stroke_fill=_PAPER)
        return box


def _away(box: Box, point: Point) -> float:
    """Return how far a point is from a box, pixels."""
    x, y = point
    return math.dist(point, (min(max(x, box[0]), box[2]), min(max(y, box[1]), box[3])))


def _shared(one: Box, other: Box) -> float:
    """Return the area that two boxes share."""
    wide = min(one[2], other[2]) - max(one[0], other[0])
    high = min(one[3], other[3]) - max(one[1], other[1])
    return max(wide, 0.0) * max(high, 0.0)
