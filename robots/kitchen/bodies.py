"""The kitchen's bodies: for physics engines what is near the robot, for pictures everything.

In the picture from above, objects but bowls and plates are drawn larger than they are.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import lru_cache
from pathlib import Path
from typing import Any

import numpy as np
import shapely
from PIL import ImageFont

from cap.robot.view import ORIGIN, Appearance, Placement, Rgb, Shape
from robots.arm.linkage import linkage
from robots.kitchen import arm
from robots.kitchen.objects import DISH_FLOOR_M, DISH_WALL_M, Color, Kind, Thing
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
    Point,
)
from robots.kitchen.state import KitchenState
from robots.simulation.bodies import (
    ArmBody,
    BoxPart,
    CylinderPart,
    FixedBody,
    Friction,
    LooseBody,
    Parts,
    PhysicsWorld,
    SlidingDrawer,
    ring,
)
from robots.simulation.top_view import TopView
from robots.table.geometry import Vec3, corners, distance, yaw_quaternion

ARM = ArmBody(
    urdf=Path(__file__).with_name("arm.urdf"),
    torques=arm.MAX_TORQUE,
    finger_mps=0.2,
    closing_mps=0.08,
    finger_force_n=60.0,
    grip_force_n=arm.GRIP_FORCE_N,
    hold_force_n=120.0,
    hand_passes=True,
    fresh_links=True,
)
SLAB_M = 0.04
"""Thickness of a table's top."""
_FRICTION = Friction(pybullet=(0.7, 0.003, 0.002), mujoco=(0.5, 0.003, 0.002))
_NEAR_M = 1.5
_RING_BOTTOM_M = 0.01
_DRAWER_KG = 3.0
_DRAWER_BRAKE_N = 4.0
_DRAWER_STOPS_M = (-0.002, OPENING_M + 0.02)
_DRAWER_CENTRE_M = (0.0, OPENING_M / 2, 0.05)


def world_of(state: KitchenState, sliding: str | None) -> PhysicsWorld:
    """Return what is near the robot, for a physics engine.

    Args:
        state: The kitchen.
        sliding: A drawer that can be moved; the others stand still.
    """
    return PhysicsWorld(
        ARM,
        state.joints,
        "plane",
        _FRICTION,
        tuple(_near_things(state, sliding)),
        state.gap_m,
        tuple(_furniture(state, sliding)),
        (*state.base.world(0.0, arm.AHEAD_M), arm.SHOULDER_Z),
        state.base.angle,
        state.held,
    )


def _furniture(state: KitchenState, sliding: str | None) -> Iterator[FixedBody]:
    """Yield the furniture the arm could touch, with its drawers."""
    for piece in state.room.pieces:
        if distance(piece.rectangle, state.base.xy) >= _NEAR_M:
            continue
        yaw = piece.rectangle[4]
        yield FixedBody(boxes_of(piece), (piece.x, piece.y, 0.0), yaw)
        for name, place in state.room.locations.items():
            if place.piece != piece or not place.drawer:
                continue
            opening_m = state.opening_m(name)
            if name == sliding:
                yield SlidingDrawer(
                    drawer_boxes(place),
                    (*piece.local(0.0, -piece.depth / 2), place.floor_z),
                    yaw,
                    opening_m,
                    _DRAWER_STOPS_M,
                    _DRAWER_KG,
                    _DRAWER_CENTRE_M,
                    _DRAWER_BRAKE_N,
                )
            else:
                front = piece.local(0.0, -piece.depth / 2 - opening_m)
                yield FixedBody(drawer_boxes(place), (*front, place.floor_z), yaw)


def _near_things(state: KitchenState, sliding: str | None) -> Iterator[LooseBody]:
    """Yield the objects the arm could touch: near it, and not in a drawer that stays shut."""
    for thing in state.things:
        slides = sliding is not None and state.location_of(thing.name) == sliding
        near = math.dist(thing.xy, state.base.xy) < _NEAR_M
        if near and (slides or not state.shut_in(thing.name)):
            yield LooseBody(
                thing.name,
                _parts(thing.kind),
                thing.kind.mass_kg,
                thing.position,
                thing.quaternion,
                rests=not slides,
            )


def _parts(kind: Kind) -> Parts:
    length, width, height = kind.size
    if kind.shape == "dish":
        return _dish(kind)
    if kind.shape == "box":
        return (BoxPart((length / 2, width / 2, height / 2)),)
    return CylinderPart(length / 2, height)


@lru_cache
def _dish(kind: Kind) -> tuple[BoxPart, ...]:
    """Return a bowl's or plate's floor, of two boxes across each other, and its wall."""
    height = kind.size[2]
    half = (kind.foot_r - DISH_WALL_M) / math.sqrt(2)
    slab, middle = (half, half, DISH_FLOOR_M / 2), (0.0, 0.0, (DISH_FLOOR_M - height) / 2)
    floor = [BoxPart(slab, middle), BoxPart(slab, middle, (0.0, math.pi / 4))]
    wall = ring(kind.size[0] / 2, kind.foot_r, height, DISH_WALL_M, _RING_BOTTOM_M)
    return (*floor, *wall)


def boxes_of(piece: Piece) -> tuple[BoxPart, ...]:
    """Return a piece's boxes; x along its front, y to its back, z up from the floor."""
    w, d, h = piece.width / 2, piece.depth / 2, piece.height
    slab = BoxPart((w, d, SLAB_M / 2), (0.0, 0.0, h - SLAB_M / 2))
    if piece.kind == "counter":
        return (BoxPart((w, d, h / 2), (0.0, 0.0, h / 2)),)
    if piece.kind == "chair":
        return (slab, BoxPart((w, 0.025, 0.22), (0.0, d - 0.025, h + 0.22)))
    if piece.kind == "bin":
        t = BIN_WALL_M / 2
        sides = [BoxPart((w, t, h / 2), (0.0, s * (d - t), h / 2)) for s in (-1, 1)]
        ends = [BoxPart((t, d, h / 2), (s * (w - t), 0.0, h / 2)) for s in (-1, 1)]
        return (BoxPart((w, d, t), (0.0, 0.0, t)), *sides, *ends)
    return (slab,)


def drawer_boxes(place: Location) -> tuple[BoxPart, ...]:
    """Return a drawer's boxes: origin below the middle of its front, y into the cabinet."""
    w, t, h = place.piece.width / 2, DRAWER_WALL_M / 2, DRAWER_HEIGHT_M / 2
    deep = (OPENING_M + 0.04) / 2
    bar = HANDLE_M - 0.015
    sides = [BoxPart((t, deep, h), (s * (w - t), deep, h)) for s in (-1, 1)]
    ends = [BoxPart((w, t, h), (0.0, y, h)) for y in (t, 2 * deep - t)]
    x, up = place.handle_x, HANDLE_UP_M
    posts = [BoxPart((0.006, bar / 2, 0.006), (x + s * 0.07, -bar / 2, up)) for s in (-1, 1)]
    floor = BoxPart((w, deep, t), (0.0, deep, -t))
    return (floor, *sides, *ends, *posts, BoxPart((0.076, 0.006, 0.006), (x, -bar, up)))


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
    rooms = {f"furniture/{piece.name}": tuple(_piece(piece)) for piece in state.room.pieces}
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


def _piece(piece: Piece) -> Iterator[Shape]:
    """Yield a piece's boxes, and what of it the arm does not reach: legs, and a cabinet's sides."""
    color = PIECE_COLORS[piece.kind]
    for box in boxes_of(piece):
        yield _box(color, box)
    w, d, tall = piece.width / 2, piece.depth / 2, (piece.height - SLAB_M) / 2
    thin = _PANEL_M / 2
    walls: list[tuple[float, float, float, float]] = []
    if piece.kind == "cabinet":  # around the drawers, which are as wide as it is
        walls = [(0.0, d - thin, w, thin), (-w - thin, 0.0, thin, d), (w + thin, 0.0, thin, d)]
    elif piece.kind not in ("counter", "bin"):
        color, thin = _LEG, _LEG_M / 2
        corners = itertools.product((_LEG_M - w, w - _LEG_M), (_LEG_M - d, d - _LEG_M))
        walls = [(x, y, thin, thin) for x, y in corners]
    for x, y, wide, deep in walls:
        yield _box(color, BoxPart((wide, deep, tall), (x, y, tall)))


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
