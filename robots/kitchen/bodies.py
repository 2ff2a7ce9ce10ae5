"""The kitchen's bodies in PyBullet: what is near the robot, as collision shapes only."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from robots.kitchen import arm
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
from robots.simulation.bullet import begin, load_arm, p
from robots.table.geometry import Vec3, distance, yaw_quaternion

ARM_URDF = Path(__file__).with_name("arm.urdf")
ARM_JOINTS = tuple(range(7))
HAND = 6
FINGERS = (7, 8)
_NEAR_M = 1.5
_SLAB_M = 0.04
_WALL_PIECES = 12
"""PyBullet takes 16 shapes in one body at most, the floor's two included."""
_RING_BOTTOM_M = 0.01
_DRAWER_KG = 3.0

Box = tuple[Vec3, Vec3]
"""Half sizes and middle, in the frame of a body."""


@dataclass(frozen=True)
class KitchenBodies:
    """PyBullet's numbers for one simulation."""

    arm: int
    """The arm with its gripper."""
    things: Mapping[str, int]
    """Objects that are near, by name."""
    drawer: int | None
    """The drawer that is to be moved."""


def build(client: int, state: KitchenState, sliding: str | None = None) -> KitchenBodies:
    """Build a simulation anew of what is near the robot, everything at rest.

    Args:
        client: The physics server.
        state: The kitchen.
        sliding: A drawer that can be moved; the others stand still.
    """
    begin(client)
    plane = p.createCollisionShape(p.GEOM_PLANE, physicsClientId=client)
    p.createMultiBody(0, plane, useMaximalCoordinates=True, physicsClientId=client)
    shoulder = (*state.base.world(0.0, arm.AHEAD_M), arm.SHOULDER_Z)
    joints = [*state.joints, state.gap_m / 2, state.gap_m / 2]
    number = load_arm(client, ARM_URDF, joints, shoulder, yaw_quaternion(state.base.angle))
    drawer = None
    for piece in state.room.pieces:
        if distance(piece.rectangle, state.base.xy) < _NEAR_M:
            found = _add_piece(client, state, piece, sliding)
            drawer = found if drawer is None else drawer
    things = {thing.name: _add_thing(client, thing) for thing in _near(state, sliding)}
    return KitchenBodies(number, things, drawer)


def _near(state: KitchenState, sliding: str | None) -> list[Thing]:
    """Return the objects the arm could touch: near it, and not in a drawer that stays shut."""
    found = []
    for thing in state.things:
        at = state.location_of(thing.name)
        place = None if at is None else state.room.locations[at]
        shut = place is not None and not state.is_open(place) and at != sliding
        if not shut and math.dist(thing.xy, state.base.xy) < _NEAR_M:
            found.append(thing)
    return found


def _add_piece(client: int, state: KitchenState, piece: Piece, sliding: str | None) -> int | None:
    """Add furniture; return the number of the drawer that is to be moved, if it has it."""
    turn = yaw_quaternion(piece.rectangle[4])
    _add_boxes(client, _boxes(piece), (piece.x, piece.y, 0.0), turn)
    moved = None
    for name, place in state.room.locations.items():
        if place.piece != piece or not place.drawer:
            continue
        if name == sliding:
            moved = _add_slide(client, place, state.opening_m(name))
        else:
            middle = piece.local(0.0, -piece.depth / 2 - state.opening_m(name))
            _add_boxes(client, drawer_boxes(place), (*middle, place.floor_z), turn)
    return moved


def _boxes(piece: Piece) -> list[Box]:
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


def _shape(client: int, boxes: Sequence[Box], turns: Sequence[object] | None = None) -> int:
    number: int = p.createCollisionShapeArray(
        shapeTypes=[p.GEOM_BOX] * len(boxes),
        halfExtents=[list(half) for half, _ in boxes],
        collisionFramePositions=[list(middle) for _, middle in boxes],
        collisionFrameOrientations=turns or [[0, 0, 0, 1]] * len(boxes),
        physicsClientId=client,
    )
    return number


def _add_boxes(client: int, boxes: Sequence[Box], position: Vec3, turn: object) -> None:
    number = p.createMultiBody(
        0, _shape(client, boxes), -1, position, turn, useMaximalCoordinates=True,
        physicsClientId=client,
    )  # fmt: skip
    p.changeDynamics(number, -1, lateralFriction=0.7, physicsClientId=client)


def _add_slide(client: int, place: Location, opening_m: float) -> int:
    """Add a drawer on rails; its joint is how far it is pulled out, metres."""
    piece = place.piece
    middle = piece.local(0.0, -piece.depth / 2)
    number: int = p.createMultiBody(
        0,
        -1,
        -1,
        (*middle, place.floor_z),
        yaw_quaternion(piece.rectangle[4]),
        linkMasses=[_DRAWER_KG],
        linkCollisionShapeIndices=[_shape(client, drawer_boxes(place))],
        linkVisualShapeIndices=[-1],
        linkPositions=[[0, 0, 0]],
        linkOrientations=[[0, 0, 0, 1]],
        linkInertialFramePositions=[[0, OPENING_M / 2, 0.05]],
        linkInertialFrameOrientations=[[0, 0, 0, 1]],
        linkParentIndices=[0],
        linkJointTypes=[p.JOINT_PRISMATIC],
        linkJointAxis=[[0, -1, 0]],
        physicsClientId=client,
    )
    p.resetJointState(number, 0, opening_m, physicsClientId=client)
    p.setJointMotorControl2(
        number, 0, p.VELOCITY_CONTROL, targetVelocity=0, force=4.0, physicsClientId=client
    )
    p.changeDynamics(
        number, 0, lateralFriction=0.7, jointLowerLimit=-0.002, jointUpperLimit=OPENING_M + 0.02,
        physicsClientId=client,
    )  # fmt: skip
    return number


def _add_thing(client: int, thing: Thing) -> int:
    length, width, height = thing.kind.size
    if thing.kind.shape == "dish":
        shape = _dish_shape(client, thing.kind)
    elif thing.kind.shape == "box":
        half = [length / 2, width / 2, height / 2]
        shape = p.createCollisionShape(p.GEOM_BOX, halfExtents=half, physicsClientId=client)
    else:
        shape = p.createCollisionShape(
            p.GEOM_CYLINDER, radius=length / 2, height=height, physicsClientId=client
        )
    number: int = p.createMultiBody(
        thing.kind.mass_kg,
        shape,
        basePosition=thing.position,
        baseOrientation=thing.quaternion,
        useMaximalCoordinates=True,
        physicsClientId=client,
    )
    p.changeDynamics(
        number,
        -1,
        lateralFriction=0.7,
        spinningFriction=0.003,
        rollingFriction=0.002,
        linearDamping=0.04,
        angularDamping=0.1,
        activationState=p.ACTIVATION_STATE_ENABLE_SLEEPING | p.ACTIVATION_STATE_SLEEP,
        physicsClientId=client,
    )
    return number


def _dish_shape(client: int, kind: Kind) -> int:
    """Return a bowl or plate: a floor, a ring of leaning boxes; its origin at half its height."""
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
    boxes: list[Box] = [(slab, (0.0, 0.0, floor_z))]
    turns: list[Sequence[float]] = [[0.0, 0.0, 0.0, 1.0]]
    turned = p.getQuaternionFromEuler([0.0, 0.0, math.pi / 4])
    boxes.append((slab, (0.0, 0.0, floor_z)))
    turns.append(turned)
    for piece in range(_WALL_PIECES):
        angle = 2 * math.pi * piece / _WALL_PIECES
        x, y = middle_r * math.cos(angle), middle_r * math.sin(angle)
        wall = (DISH_WALL_M / 2, half_width, half_length)
        boxes.append((wall, (x, y, middle_z - height / 2)))
        turns.append(p.getQuaternionFromEuler([0.0, lean, angle]))
    return _shape(client, boxes, turns)
