"""The kitchen from above, drawn with Pillow: furniture, names, objects, the robot and its arm.

Objects but bowls and plates are drawn larger than they are, so that they can be told apart.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Iterable, Iterator, Sequence
from typing import Any

from PIL import Image, ImageDraw, ImageFont
from shapely.geometry import MultiPoint

from robots.kitchen import arm
from robots.kitchen.grasps import footprint
from robots.kitchen.objects import Color, Thing
from robots.kitchen.room import (
    BASE_R,
    ROOM_X,
    ROOM_Y,
    Piece,
    Point,
)
from robots.kitchen.state import KitchenState
from robots.kitchen.view import PIECE_COLORS
from robots.table.geometry import Rectangle, corners, distance

_OVERSAMPLE = 2
_BORDER_M = 0.12
_WALL, _FLOOR, _TILE = (122, 126, 132), (241, 238, 231), (231, 227, 218)
_SHADOW, _TEXT = (214, 208, 197), (92, 84, 74)
_TILE_M = 0.5
_AJAR_M = 0.01
_LARGER = 2.2
_LEADER_M = 0.16
"""A name that is further from its thing has a line that leads to it."""
Box = tuple[float, float, float, float]
"""Left, upper, right and lower edge, pixels."""
_INSIDE = (88, 104, 96)
_DRAWER = (224, 208, 180)
_BASE, _TOP, _ARM, _JOINT = (62, 72, 88), (86, 98, 118), (236, 238, 242), (222, 120, 52)


def draw(state: KitchenState, width: int, height: int) -> Any:
    """Draw the kitchen from above as a PIL image; right is x, up is y (the back of the room)."""
    brush = _Brush(width * _OVERSAMPLE, height * _OVERSAMPLE)
    brush.room()
    for piece in state.room.pieces:
        _draw_piece(brush, state, piece)
    shut = {name for name, place in state.room.locations.items() if not state.is_open(place)}
    held = state.load()
    seen = [
        thing
        for thing in _from_below(state.things)
        if thing.name not in held and state.location_of(thing.name) not in shut
    ]
    for thing in seen:
        _draw_thing(brush, thing)
    _draw_robot(brush, state)
    _write_names(brush, state, seen)
    return brush.image.resize((width, height), Image.Resampling.LANCZOS)


class _Brush:
    """Draws shapes given in metres."""

    def __init__(self, width: int, height: int) -> None:
        self.image = Image.new("RGB", (width, height), _WALL)
        self._draw = ImageDraw.Draw(self.image)
        wide = ROOM_X[1] - ROOM_X[0] + 2 * _BORDER_M
        high = ROOM_Y[1] - ROOM_Y[0] + 2 * _BORDER_M
        self.scale = min(width / wide, height / high)
        self._width, self._height = width, height
        self._font_px = max(13.0, 0.16 * self.scale)
        self._font = ImageFont.load_default(size=self._font_px)
        self._taken: list[Box] = []
        """Where no name is written: things, the robot, and names."""

    def pixel(self, point: Point) -> Point:
        x, y = point[0] - sum(ROOM_X) / 2, point[1] - sum(ROOM_Y) / 2
        return (self._width / 2 + x * self.scale, self._height / 2 - y * self.scale)

    def room(self) -> None:
        """Draw the floor and its tiles."""
        wide, high = (ROOM_X[1] - ROOM_X[0]) / 2, (ROOM_Y[1] - ROOM_Y[0]) / 2
        self.box((sum(ROOM_X) / 2, sum(ROOM_Y) / 2, wide, high, 0.0), _FLOOR)
        for i in range(1, round((ROOM_X[1] - ROOM_X[0]) / _TILE_M)):
            x = ROOM_X[0] + i * _TILE_M
            self.line([(x, ROOM_Y[0]), (x, ROOM_Y[1])], 0.008, _TILE)
        for i in range(1, round((ROOM_Y[1] - ROOM_Y[0]) / _TILE_M)):
            y = ROOM_Y[0] + i * _TILE_M
            self.line([(ROOM_X[0], y), (ROOM_X[1], y)], 0.008, _TILE)

    def box(self, rectangle: Rectangle, fill: Color, outline: Color | None = None) -> None:
        """Fill a rectangle."""
        hull = MultiPoint(list(corners(rectangle))).convex_hull.exterior.coords
        self._draw.polygon([self.pixel((x, y)) for x, y in hull], fill, outline)

    def disc(self, middle: Point, radius: float, fill: Color, outline: Color | None = None) -> None:
        """Fill a circle."""
        (x, y), r = self.pixel(middle), radius * self.scale
        self._draw.ellipse((x - r, y - r, x + r, y + r), fill, outline)

    def line(self, points: Sequence[Point], width_m: float, fill: Color) -> None:
        """Draw a polyline with round corners."""
        width = max(1, round(width_m * self.scale))
        self._draw.line([self.pixel(point) for point in points], fill, width)
        for point in points[1:-1]:  # Pillow's own go astray where a line turns back
            self.disc(point, width_m / 2, fill)

    def keep_clear(self, middle: Point, radius: float) -> None:
        """Have no name written where something is."""
        (x, y), r = self.pixel(middle), radius * self.scale
        self._taken.append((x - r, y - r, x + r, y + r))

    def text(
        self,
        anchor: Point | None,
        middles: Sequence[Point],
        text: str,
        others: Sequence[Point] = (),
    ) -> Box:
        """Write a name at the first of some points where it covers nothing; return where.

        Where all cover something, the one that covers least serves. It stands nearer to its anchor
        than to the others, if it can. A line leads to the anchor, if the name stands away from it
        or nearer to another.
        """
        wide, high = self._font.getlength(text) / 2 + 3, self._font_px * 0.6
        (left, right), (front, back) = ROOM_X, ROOM_Y
        (x_min, y_max), (x_max, y_min) = self.pixel((left, front)), self.pixel((right, back))
        least, box = math.inf, (0.0, 0.0, 0.0, 0.0)
        for middle in middles:
            x, y = self.pixel(middle)
            x = min(max(x, x_min + wide), x_max - wide)
            y = min(max(y, y_min + high), y_max - high)
            there = (x - wide, y - high, x + wide, y + high)
            covered = sum(_shared(there, taken) for taken in self._taken)
            if self._nearer(there, others, anchor):
                covered += 2 * wide * high
            if covered < least:
                least, box = covered, there
            if covered == 0:
                break
        self._taken.append(box)
        x, y = (box[0] + box[2]) / 2, (box[1] + box[3]) / 2
        if anchor is not None:
            away = _away(box, self.pixel(anchor))
            if away > _LEADER_M * self.scale or self._nearer(box, others, anchor):
                to_x, to_y = self.pixel(anchor)
                near = (min(max(to_x, box[0]), box[2]), min(max(to_y, box[1]), box[3]))
                self._draw.line([near, (to_x, to_y)], _TEXT, 1)
        self._draw.text(
            (x, y), text, _TEXT, self._font, anchor="mm", stroke_width=2, stroke_fill=_FLOOR
        )
        return box

    def _nearer(self, box: Box, others: Sequence[Point], anchor: Point | None) -> bool:
        """Return whether a name is nearer to something else than to what it names."""
        if anchor is None:
            return False
        own = _away(box, self.pixel(anchor))
        return any(_away(box, self.pixel(other)) <= own for other in others)


def _draw_piece(brush: _Brush, state: KitchenState, piece: Piece) -> None:
    color = PIECE_COLORS[piece.kind]
    x, y, length, width, yaw = piece.rectangle
    brush.box((x + 0.03, y - 0.03, length, width, yaw), _SHADOW)
    if piece.kind == "cabinet":
        for name, place in state.room.locations.items():
            out = state.opening_m(name)
            if place.piece == piece and out > _AJAR_M:
                middle = piece.local(0.0, -(piece.depth + out) / 2)
                brush.box((*middle, length, out / 2, yaw), _DRAWER, _shade(_DRAWER))
    brush.box(piece.rectangle, color, _shade(color))
    if piece.kind == "bin":
        brush.box((x, y, length - 0.02, width - 0.02, yaw), _INSIDE)
    if piece.kind == "chair":
        back = piece.local(0.0, piece.depth / 2 - 0.025)
        brush.box((*back, length, 0.025, yaw), _shade(color))


def _write_names(brush: _Brush, state: KitchenState, seen: Sequence[Thing]) -> None:
    """Write what everything is called, last, so that nothing covers it."""
    for thing in seen:
        dish = thing.kind.shape == "dish"
        brush.keep_clear(thing.xy, thing.radius * (1.0 if dish else _LARGER))
    base = state.base
    brush.keep_clear(base.xy, BASE_R)
    for point in arm.links(state.joints):
        x, y, *_ = arm.to_world(base, (*point, 0.0))
        brush.keep_clear((x, y), 0.06)
    for piece in state.room.pieces:
        left, front, right, back = MultiPoint(list(corners(piece.rectangle))).bounds
        below, above = (piece.x, front - 0.12), (piece.x, back + 0.12)
        small = piece.kind in ("chair", "stool", "bin")
        first = below if small else (piece.x, back - 0.08)
        spread = [(left + share * (right - left), back - 0.08) for share in (0.2, 0.8)]
        places = [
            *([] if small else spread),
            below,
            above,
            *_around((piece.x, piece.y), (right - left) / 2),
        ]
        nearest = [  # elsewhere it would seem to be the name of other furniture
            point
            for point in places
            if min(state.room.pieces, key=lambda p: distance(p.rectangle, point)) == piece
        ]
        brush.text(None, [first, *nearest], piece.name)
    for thing in seen:
        others = [other.xy for other in seen if other is not thing]
        brush.text(thing.xy, list(_around(thing.xy, thing.radius)), thing.name, others)


def _around(middle: Point, radius: float) -> Iterator[Point]:
    """Yield points around something, the nearest ones first."""
    for away, step in itertools.product((0.15, 0.3, 0.45, 0.65, 0.9, 1.2, 1.5), range(16)):
        angle = step * math.pi / 8
        r = radius + away
        yield (middle[0] + 1.4 * r * math.cos(angle), middle[1] + r * math.sin(angle))


def _away(box: Box, point: Point) -> float:
    """Return how far a point is from a box, pixels."""
    x, y = point
    return math.dist(point, (min(max(x, box[0]), box[2]), min(max(y, box[1]), box[3])))


def _shared(one: Box, other: Box) -> float:
    """Return the area that two boxes share."""
    wide = min(one[2], other[2]) - max(one[0], other[0])
    high = min(one[3], other[3]) - max(one[1], other[1])
    return max(wide, 0.0) * max(high, 0.0)


def _from_below(things: Iterable[Thing]) -> list[Thing]:
    """Return things in the order they are drawn: a dish before what stands in it, low as it is."""
    return sorted(things, key=lambda thing: (thing.bottom, thing.top))


def _draw_thing(brush: _Brush, thing: Thing) -> None:
    color = thing.kind.color
    if thing.kind.shape == "dish":
        brush.disc(thing.xy, thing.radius, color, _shade(color))
        brush.disc(thing.xy, thing.radius - 0.02, _shade(color))
        brush.disc(thing.xy, thing.radius - 0.045, color)
        return
    shape = footprint(thing)
    length, width = _LARGER * shape.length / 2, _LARGER * shape.width / 2
    if shape.round:
        brush.disc(thing.xy, length, color, _shade(color))
        brush.disc(thing.xy, length / 2.5, _light(color))
        return
    brush.box((*thing.xy, length, width, shape.yaw), color, _shade(color))


def _draw_robot(brush: _Brush, state: KitchenState) -> None:
    base = state.base
    brush.disc((base.x + 0.03, base.y - 0.03), BASE_R, _SHADOW)
    brush.disc(base.xy, BASE_R, _BASE)
    brush.disc(base.xy, BASE_R - 0.05, _TOP)
    brush.line([base.world(-0.07, 0.2), base.world(0.0, 0.27), base.world(0.07, 0.2)], 0.025, _ARM)
    for thing in _from_below(state[name] for name in state.load()):
        _draw_thing(brush, thing)
    places = [arm.to_world(base, (*point, 0.0))[:2] for point in arm.links(state.joints)]
    points = [(x, y) for x, y in places]
    brush.line(points, 0.085, _shade(_ARM))
    brush.line(points, 0.065, _ARM)
    for point in points[:-1]:
        brush.disc(point, 0.05, _JOINT)
    tip, yaw = points[-1], arm.to_world(base, arm.forward(state.joints))[3]
    reach = (state.gap_m / 2 + 0.01) if state.held is None else 0.045
    c, s = math.cos(yaw) * reach, math.sin(yaw) * reach
    for sign in (-1, 1):
        brush.disc((tip[0] + sign * c, tip[1] + sign * s), 0.018, _BASE)


def _shade(color: Color) -> Color:
    red, green, blue = (int(part * 0.78) for part in color)
    return red, green, blue


def _light(color: Color) -> Color:
    red, green, blue = (int(part + (255 - part) * 0.35) for part in color)
    return red, green, blue
