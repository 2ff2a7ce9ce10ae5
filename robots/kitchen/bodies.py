"""The kitchen's bodies as boxes, for any physics engine: what is near the robot."""

from __future__ import annotations

import math
from pathlib import Path

from robots.kitchen.objects import DISH_FLOOR_M, DISH_WALL_M, Kind, Thing
from robots.kitchen.room import (
    BIN_WALL_M,
    DRAWER_HEIGHT_M,
    DRAWER_WALL_M,
    HANDLE_M,
    HANDLE_UP_M,
    OPENING_M,
    Location,
    Piece,
)
from robots.kitchen.state import KitchenState
from robots.table.geometry import Vec3, distance

ARM_URDF = Path(__file__).with_name("arm.urdf")
_NEAR_M = 1.5
_SLAB_M = 0.04
_WALL_PIECES = 12
"""PyBullet takes 16 shapes in one body at most, the floor's two included."""
_RING_BOTTOM_M = 0.01
DRAWER_KG = 3.0
DRAWER_BRAKE_N = 4.0
"""Friction of a drawer's rails."""
DRAWER_STOPS_M = (-0.002, OPENING_M + 0.02)
"""How far a drawer goes in and out."""

Box = tuple[Vec3, Vec3]
"""Half sizes and middle, in the frame of a body."""


def near_pieces(state: KitchenState) -> list[Piece]:
    """Return the furniture the arm could touch."""
    return [
        piece for piece in state.room.pieces if distance(piece.rectangle, state.base.xy) < _NEAR_M
    ]


def near_things(state: KitchenState, sliding: str | None) -> list[Thing]:
    """Return the objects the arm could touch: near it, and not in a drawer that stays shut."""
    found = []
    for thing in state.things:
        at = state.location_of(thing.name)
        place = None if at is None else state.room.locations[at]
        shut = place is not None and not state.is_open(place) and at != sliding
        if not shut and math.dist(thing.xy, state.base.xy) < _NEAR_M:
            found.append(thing)
    return found


def boxes_of(piece: Piece) -> list[Box]:
    """Return a piece's boxes; x along its front, y to its back, z up from the floor."""
    w, d, h = piece.width / 2, piece.depth / 2, piece.height
    slab: Box = ((w, d, _SLAB_M / 2), (0.0, 0.0, h - _SLAB_M / 2))
    if piece.kind == "counter":
        return [((w, d, h / 2), (0.0, 0.0, h / 2))]
    if piece.kind == "chair":
        return [slab, ((w, 0.025, 0.22), (0.0, d - 0.025, h + 0.22))]
    if piece.kind == "bin":
        t = BIN_WALL_M / 2
        sides: list[Box] = [((w, t, h / 2), (0.0, s * (d - t), h / 2)) for s in (-1, 1)]
        ends: list[Box] = [((t, d, h / 2), (s * (w - t), 0.0, h / 2)) for s in (-1, 1)]
        return [((w, d, t), (0.0, 0.0, t)), *sides, *ends]
    return [slab]


def drawer_boxes(place: Location) -> list[Box]:
    """Return a drawer's boxes: origin below the middle of its front, y into the cabinet."""
    w, t, h = place.piece.width / 2, DRAWER_WALL_M / 2, DRAWER_HEIGHT_M / 2
    deep = (OPENING_M + 0.04) / 2
    bar = HANDLE_M - 0.015
    sides: list[Box] = [((t, deep, h), (s * (w - t), deep, h)) for s in (-1, 1)]
    ends: list[Box] = [((w, t, h), (0.0, y, h)) for y in (t, 2 * deep - t)]
    x, up = place.handle_x, HANDLE_UP_M
    posts: list[Box] = [((0.006, bar / 2, 0.006), (x + s * 0.07, -bar / 2, up)) for s in (-1, 1)]
    floor: Box = ((w, deep, t), (0.0, deep, -t))
    return [floor, *sides, *ends, *posts, ((0.076, 0.006, 0.006), (x, -bar, up))]


def dish_boxes(kind: Kind) -> list[tuple[Vec3, Vec3, tuple[float, float]]]:
    """Return a bowl's or plate's floor and its ring of leaning boxes.

    Returns:
        Of each its half edges and its middle (metres, from the axis at half the height), and how it
        is turned: first so far about y, then about z, radians.
    """
    rim_r, height = kind.size[0] / 2, kind.size[2]
    slope = (rim_r - kind.foot_r) / height
    lean = math.atan(slope)
    middle_z = (_RING_BOTTOM_M + height) / 2
    middle_r = kind.foot_r + slope * middle_z - DISH_WALL_M / 2 / math.cos(lean)
    half_length = (height - _RING_BOTTOM_M) / 2 / math.cos(lean)
    half_width = rim_r * math.tan(math.pi / _WALL_PIECES)
    floor_half = (kind.foot_r - DISH_WALL_M) / math.sqrt(2)
    floor_z = (DISH_FLOOR_M - height) / 2
    slab = (floor_half, floor_half, DISH_FLOOR_M / 2)
    turns = ((0.0, 0.0), (0.0, math.pi / 4))
    boxes: list[tuple[Vec3, Vec3, tuple[float, float]]] = [
        (slab, (0.0, 0.0, floor_z), turn) for turn in turns
    ]
    for piece in range(_WALL_PIECES):
        angle = 2 * math.pi * piece / _WALL_PIECES
        x, y = middle_r * math.cos(angle), middle_r * math.sin(angle)
        wall = (DISH_WALL_M / 2, half_width, half_length)
        boxes.append((wall, (x, y, middle_z - height / 2), (lean, angle)))
    return boxes
