"""The kitchen as plain data: furniture, named locations, and where a robot stands at each.

Frame: metres, world frame, origin on the floor about where the table is, x right, y to the back, z
up; angles in radians, counter-clockwise from x. The kitchen is at the back and on the right; two
chairs and a stool stand free on the left and in front, with room to drive around each.
"""

from __future__ import annotations

import math
import tomllib
from collections.abc import Mapping
from dataclasses import dataclass, replace
from functools import cached_property, lru_cache
from pathlib import Path
from typing import Any, Literal

import numpy as np
from shapely.geometry import Polygon

from robots.table.geometry import Rectangle, Vec3, polygon

Point = tuple[float, float]
PieceKind = Literal["table", "counter", "chair", "stool", "bin", "cabinet"]

_FURNITURE: Mapping[str, Any] = tomllib.loads(
    Path(__file__).with_name("room.toml").read_text(encoding="utf-8")
)
ROOM_X = (-5.7, 3.0)
ROOM_Y = (-7.0, 2.5)
BASE_R = 0.22
"""Radius of the robot's base, metres."""
BIN_WALL_M = 0.015
DRAWER_WALL_M = 0.01
DRAWER_HEIGHT_M = 0.16
"""Of a drawer's walls above its floor."""
OPENING_M = 0.32
"""How far a drawer is pulled out."""
HANDLE_M = 0.075
"""How far a drawer's handle stands out."""
HANDLE_UP_M = 0.1
"""Height of the handle above the drawer's floor."""
OPEN_M = 0.2
"""A drawer pulled out this far counts as open."""
_INSET_M = 0.05
"""Between the edge of a surface and what stands on it."""
_STAND_M = 0.40
"""From the edge of a piece of furniture to the middle of a robot that stands at it."""
_STAND_AT_DRAWERS_M = 0.85


@dataclass(frozen=True)
class Piece:
    """One piece of furniture: a box seen from above."""

    name: str
    """Such as `table`."""
    kind: PieceKind
    """What it is."""
    x: float
    """Middle, metres."""
    y: float
    """Middle, metres."""
    width: float
    """Along its front, metres."""
    depth: float
    """From its front to its back, metres."""
    height: float
    """Of its top; of a bin its rim, of a chair its seat, metres."""
    facing: float
    """Heading of a robot that stands at its front, radians."""
    around: bool = False
    """Whether it can be served from every side, not from the front only."""

    @property
    def rectangle(self) -> Rectangle:
        """Its outline, the first half length along its front."""
        return (self.x, self.y, self.width / 2, self.depth / 2, self.facing - math.pi / 2)

    def local(self, along: float, inwards: float) -> Point:
        """Return the point so far right of its middle, and so far from the middle to the back."""
        c, s = math.cos(self.facing), math.sin(self.facing)
        return (self.x + along * s + inwards * c, self.y - along * c + inwards * s)


@dataclass(frozen=True)
class Location:
    """A named place where things stand or lie."""

    name: str
    """Such as `table` or `top drawer`."""
    piece: Piece
    """Furniture it belongs to."""
    floor_z: float
    """Height of what things stand on, metres."""
    drawer: bool = False
    """Whether it must be open to be used."""
    handle_x: float = 0.0
    """How far right of the middle of a drawer its handle is: not under the one above, metres."""

    @property
    def stand(self) -> tuple[float, float, float]:
        """Where the robot stands at it: x, y (m) and heading (rad)."""
        away = _STAND_AT_DRAWERS_M if self.drawer else _STAND_M
        return (*self.piece.local(0.0, -self.piece.depth / 2 - away), self.piece.facing)

    def area(self, opening_m: float = 0.0) -> Rectangle:
        """Return where things can be put, seen from above.

        Args:
            opening_m: How far it is pulled out, for a drawer.
        """
        piece = self.piece
        width, depth, middle = piece.width, piece.depth, 0.0
        inset = BIN_WALL_M if piece.kind == "bin" else _INSET_M
        if piece.kind in ("chair", "stool"):
            inset = 0.03
        if self.drawer:  # what is out of the cabinet can be reached from above
            depth, inset = max(opening_m, 2 * DRAWER_WALL_M), DRAWER_WALL_M
            middle = -(piece.depth + opening_m) / 2
        return (
            *piece.local(0.0, middle),
            width / 2 - inset,
            depth / 2 - inset,
            piece.facing - math.pi / 2,
        )

    def middle(self, opening_m: float = 0.0) -> Vec3:
        """Return the middle of its surface, metres; of a shut drawer, of its furniture."""
        if self.drawer and opening_m <= OPEN_M:
            return (self.piece.x, self.piece.y, self.floor_z)
        x, y, *_ = self.area(opening_m)
        return (x, y, self.floor_z)

    @property
    def walled(self) -> bool:
        """Whether things go into it, not onto it."""
        return self.drawer or self.piece.kind == "bin"

    @property
    def headroom_m(self) -> float:
        """Height above its floor up to which things count as being there."""
        return DRAWER_HEIGHT_M + 0.06 if self.drawer else 0.6


@dataclass(frozen=True)
class Room:
    """The furniture."""

    pieces: tuple[Piece, ...]
    """All of it, in the order locations are named."""

    @cached_property
    def locations(self) -> Mapping[str, Location]:
        """Every location by name."""
        found: dict[str, Location] = {}
        for piece in self.pieces:
            if piece.kind == "cabinet":
                for drawer in _FURNITURE["drawers"]:
                    found[drawer["name"]] = Location(piece=piece, drawer=True, **drawer)
            else:
                floor_z = BIN_WALL_M if piece.kind == "bin" else piece.height
                found[piece.name] = Location(piece.name, piece, floor_z)
        return found


def sample_room(rng: np.random.Generator) -> Room:
    """Return the kitchen with every piece a little elsewhere, as a seed has it."""
    own = rng.spawn(1)[0]
    pieces = []
    for entry in _FURNITURE["pieces"]:
        draws = own if entry.get("own_draws") else rng
        x, y = _drawn(entry["x"], draws), _drawn(entry["y"], draws)
        facing = _drawn(entry["turns"], draws, math.pi / 2)
        width, depth, height = entry["size"]
        piece = Piece(entry["name"], entry["kind"], x, y, width, depth, height, facing)
        pieces.append(replace(piece, around=entry.get("around", False)))
    return Room(tuple(pieces))


def _drawn(what: Any, draws: np.random.Generator, unit: float = 1.0) -> float:
    """Return a value, or one drawn around it, of a quantity of `room.toml`."""
    value, spread = what if isinstance(what, list) else (what, 0.0)
    return float(value * unit + (draws.uniform(-spread, spread) if spread else 0.0))


Drawers = tuple[tuple[str, float], ...]
"""How far each drawer is pulled out, metres, by name."""


@lru_cache(maxsize=256)
def obstacles(room: Room, drawers: Drawers) -> tuple[tuple[str, Polygon], ...]:
    """Return what stands on the floor, seen from above, by name: furniture and open drawers."""
    found = [(piece.name, polygon(piece.rectangle)) for piece in room.pieces]
    for name, opening in drawers:
        if opening > 0.005:
            piece = room.locations[name].piece
            reach = opening + HANDLE_M
            middle = piece.local(0.0, -(piece.depth + reach) / 2)
            outline = (*middle, piece.width / 2, reach / 2, piece.facing - math.pi / 2)
            found.append((name, polygon(outline)))
    return tuple(found)
