"""The kitchen as it is drawn by others: furniture, drawers, objects, the robot and its arm."""

from __future__ import annotations

import itertools
from collections.abc import Iterator, Mapping, Sequence

from cap.robot.view import ORIGIN, Appearance, Placement, Rgb, Shape
from robots.arm.linkage import linkage
from robots.kitchen import arm
from robots.kitchen.bodies import ARM, SLAB_M, boxes_of, drawer_boxes
from robots.kitchen.objects import DISH_FLOOR_M, DISH_WALL_M, Thing
from robots.kitchen.room import (
    BASE_R,
    ROOM_X,
    ROOM_Y,
    Piece,
    PieceKind,
)
from robots.kitchen.state import KitchenState
from robots.simulation.bodies import BoxPart
from robots.table.geometry import Vec3, yaw_quaternion

_FLOOR: Rgb = (241, 238, 231)
_DRAWER: Rgb = (224, 208, 180)
_LEG: Rgb = (120, 112, 104)
_BASE: Rgb = (62, 72, 88)
_TOP: Rgb = (86, 98, 118)
_ARROW: Rgb = (236, 238, 242)
PIECE_COLORS: Mapping[PieceKind, Rgb] = {
    "table": (206, 172, 126),
    "counter": (190, 192, 194),
    "chair": (176, 140, 104),
    "stool": (150, 118, 88),
    "bin": (110, 132, 120),
    "cabinet": (168, 150, 128),
}
_LEG_M, _PANEL_M = 0.025, 0.015
_BASE_M = 0.28
"""Height of the robot's base; a column stands on it, with the shoulder on top."""


def shapes(state: KitchenState) -> Mapping[str, Sequence[Shape]]:
    """Return what each body is made of."""
    x, y = sum(ROOM_X) / 2, sum(ROOM_Y) / 2
    size = (ROOM_X[1] - ROOM_X[0], ROOM_Y[1] - ROOM_Y[0], 0.02)
    floor = Shape("box", _FLOOR, size, _at((x, y, -0.01)))
    rooms = {f"furniture/{piece.name}": tuple(_furniture(piece)) for piece in state.room.pieces}
    drawers = {
        f"furniture/{name}": tuple(_box(_DRAWER, box) for box in drawer_boxes(place))
        for name, place in state.room.locations.items()
        if place.drawer
    }
    column = arm.SHOULDER_Z - _BASE_M
    robot = (
        Shape("cylinder", _BASE, (BASE_R, _BASE_M), _at((0.0, 0.0, _BASE_M / 2))),
        Shape("box", _TOP, (0.18, 0.2, column), _at((0.0, 0.0, _BASE_M + column / 2))),
        Shape("box", _ARROW, (0.06, 0.12, 0.01), _at((BASE_R - 0.06, 0.0, _BASE_M + 0.005))),
    )
    things = {f"objects/{thing.name}": (_object(thing),) for thing in state.things}
    return {
        "floor": (floor,), **rooms, **drawers, "robot": robot, **linkage(ARM.urdf).shapes, **things
    }  # fmt: skip


def view(state: KitchenState) -> Appearance:
    """Return where each body is in a state; what lies in a shut drawer is in it."""
    base = state.base
    turn = yaw_quaternion(base.angle)
    half = state.gap_m / 2
    stands: Placement = (*base.world(0.0, arm.AHEAD_M), arm.SHOULDER_Z, *turn)
    placements: dict[str, Placement] = {"floor": ORIGIN}
    for piece in state.room.pieces:
        placements[f"furniture/{piece.name}"] = (
            piece.x, piece.y, 0.0, *yaw_quaternion(piece.rectangle[4])
        )  # fmt: skip
    for name, place in state.room.locations.items():
        if place.drawer:
            piece = place.piece
            middle = piece.local(0.0, -piece.depth / 2 - state.opening_m(name))
            around = yaw_quaternion(piece.rectangle[4])
            placements[f"furniture/{name}"] = (*middle, place.floor_z, *around)
    placements["robot"] = (base.x, base.y, 0.0, *turn)
    placements |= linkage(ARM.urdf).placements([*state.joints, half, half], stands)
    for thing in state.things:
        placements[f"objects/{thing.name}"] = (*thing.position, *thing.quaternion)
    return Appearance(placements)


def _at(middle: Vec3) -> Placement:
    return (*middle, 0.0, 0.0, 0.0, 1.0)


def _object(thing: Thing) -> Shape:
    kind = thing.kind
    length, _, height = kind.size
    if kind.shape == "box":
        return Shape("box", kind.color, kind.size)
    if kind.shape == "cylinder":
        return Shape("cylinder", kind.color, (length / 2, height))
    rim, foot, low, high = length / 2, kind.foot_r, -height / 2, height / 2
    floor = low + DISH_FLOOR_M
    inside = ((rim - DISH_WALL_M, high), (foot - DISH_WALL_M, floor), (0.0, floor))
    return Shape("lathe", kind.color, profile=((foot, low), (rim, high), *inside))


def _box(color: Rgb, box: BoxPart) -> Shape:
    length, width, height = box.half
    return Shape("box", color, (2 * length, 2 * width, 2 * height), _at(box.middle))


def _furniture(piece: Piece) -> Iterator[Shape]:
    """Yield a piece's boxes, and what of it the arm does not reach: legs, and a cabinet's sides."""
    color = PIECE_COLORS[piece.kind]
    for box in boxes_of(piece):
        yield _box(color, box)
    w, d, tall = piece.width / 2, piece.depth / 2, (piece.height - SLAB_M) / 2
    if piece.kind == "cabinet":
        yield _box(color, BoxPart((w, _PANEL_M / 2, tall), (0.0, d - _PANEL_M / 2, tall)))
        for side in (-1, 1):  # around the drawers, which are as wide as the cabinet
            middle = (side * (w + _PANEL_M / 2), 0.0, tall)
            yield _box(color, BoxPart((_PANEL_M / 2, d, tall), middle))
    elif piece.kind not in ("counter", "bin"):
        for x, y in itertools.product((-1, 1), (-1, 1)):
            foot = (x * (w - _LEG_M), y * (d - _LEG_M), tall)
            yield _box(_LEG, BoxPart((_LEG_M / 2, _LEG_M / 2, tall), foot))
