"""The kitchen as it is drawn by others: furniture, drawers, objects, the robot and its arm."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path

from cap.robot.view import ORIGIN, Appearance, Placement, Rgb, Shape
from robots.arm.linkage import linkage
from robots.kitchen import arm
from robots.kitchen.objects import DISH_FLOOR_M, DISH_WALL_M, Thing
from robots.kitchen.room import (
    BASE_R,
    BIN_WALL_M,
    DRAWER_HEIGHT_M,
    DRAWER_WALL_M,
    HANDLE_M,
    HANDLE_UP_M,
    OPENING_M,
    ROOM_X,
    ROOM_Y,
    Location,
    Piece,
    PieceKind,
)
from robots.kitchen.state import KitchenState
from robots.table.geometry import Vec3, yaw_quaternion

_URDF = Path(__file__).with_name("arm.urdf")
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
_SLAB_M, _LEG_M, _PANEL_M = 0.04, 0.025, 0.015
_BASE_M = 0.28
"""Height of the robot's base; a column stands on it, with the shoulder on top."""


def shapes(state: KitchenState) -> Mapping[str, Sequence[Shape]]:
    """Return what each body is made of."""
    x, y = sum(ROOM_X) / 2, sum(ROOM_Y) / 2
    size = (ROOM_X[1] - ROOM_X[0], ROOM_Y[1] - ROOM_Y[0], 0.02)
    floor = Shape("box", _FLOOR, size, _at((x, y, -0.01)))
    rooms = {f"furniture/{piece.name}": tuple(_furniture(piece)) for piece in state.room.pieces}
    drawers = {
        f"furniture/{name}": tuple(_drawer(place))
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
        "floor": (floor,), **rooms, **drawers, "robot": robot, **linkage(_URDF).shapes, **things
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
    placements |= linkage(_URDF).placements([*state.joints, half, half], stands)
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


def _furniture(piece: Piece) -> Iterator[Shape]:
    """Yield a piece's boxes: x along its front, y to its back, z up from the floor."""
    color = PIECE_COLORS[piece.kind]
    w, d, h = piece.width, piece.depth, piece.height

    def box(size: Vec3, middle: Vec3, tint: Rgb = color) -> Shape:
        return Shape("box", tint, size, _at(middle))

    if piece.kind == "counter":
        yield box((w, d, h), (0.0, 0.0, h / 2))
    elif piece.kind == "bin":
        yield box((w, d, BIN_WALL_M), (0.0, 0.0, BIN_WALL_M / 2))
        for side in (-1, 1):
            yield box((w, BIN_WALL_M, h), (0.0, side * (d - BIN_WALL_M) / 2, h / 2))
            yield box((BIN_WALL_M, d, h), (side * (w - BIN_WALL_M) / 2, 0.0, h / 2))
    elif piece.kind == "cabinet":
        yield box((w, d, _SLAB_M), (0.0, 0.0, h - _SLAB_M / 2))
        yield box((w, _PANEL_M, h - _SLAB_M), (0.0, (d - _PANEL_M) / 2, (h - _SLAB_M) / 2))
        for side in (-1, 1):
            middle = (side * (w - _PANEL_M) / 2, 0.0, (h - _SLAB_M) / 2)
            yield box((_PANEL_M, d, h - _SLAB_M), middle)
    else:
        yield box((w, d, _SLAB_M), (0.0, 0.0, h - _SLAB_M / 2))
        tall = h - _SLAB_M
        for x in (-1, 1):
            for y in (-1, 1):
                foot = (x * (w / 2 - _LEG_M), y * (d / 2 - _LEG_M), tall / 2)
                yield box((_LEG_M, _LEG_M, tall), foot, _LEG)
        if piece.kind == "chair":
            yield box((w, 0.05, 0.44), (0.0, d / 2 - 0.025, h + 0.22))


def _drawer(place: Location) -> Iterator[Shape]:
    """Yield a drawer's boxes: origin below the middle of its front, y into the cabinet."""
    wide, t, h = place.piece.width - 2 * _PANEL_M, DRAWER_WALL_M, DRAWER_HEIGHT_M
    deep, bar = OPENING_M + 0.04, HANDLE_M - 0.015
    yield Shape("box", _DRAWER, (wide, deep, t), _at((0.0, deep / 2, -t / 2)))
    for y in (t / 2, deep - t / 2):
        yield Shape("box", _DRAWER, (wide, t, h), _at((0.0, y, h / 2)))
    for side in (-1, 1):
        yield Shape("box", _DRAWER, (t, deep, h), _at((side * (wide - t) / 2, deep / 2, h / 2)))
    yield Shape("box", _LEG, (0.15, 0.012, 0.012), _at((place.handle_x, -bar, HANDLE_UP_M)))
