"""The kitchen in PyBullet: what is near the robot, as collision shapes only."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from robots.kitchen import arm
from robots.kitchen.bodies import (
    ARM_URDF,
    DRAWER_BRAKE_N,
    DRAWER_KG,
    DRAWER_STOPS_M,
    Box,
    boxes_of,
    dish_boxes,
    drawer_boxes,
    near_pieces,
    near_things,
)
from robots.kitchen.objects import Thing
from robots.kitchen.room import OPENING_M, Location, Piece
from robots.kitchen.simulation import KitchenSimulation
from robots.kitchen.state import KitchenState
from robots.simulation.bullet import begin, load_arm, p
from robots.simulation.bullet_arm import BulletArm
from robots.simulation.world import WorldOwner
from robots.table.geometry import Quat, Vec3, yaw_quaternion

_ARM_JOINTS = tuple(range(7))
_HAND = 6
_FINGERS = (7, 8)


class BulletKitchenEngine:
    """A physics server for the kitchen."""

    def __init__(self) -> None:
        """Connect."""
        self._client: int = p.connect(p.DIRECT)

    def build(self, state: KitchenState, host: WorldOwner, sliding: str | None) -> BulletKitchen:
        """Build the simulation of a state; it replaces the one before."""
        return BulletKitchen(self._client, state, host, sliding)

    def close(self) -> None:
        """Disconnect the physics server; doing so twice does no harm."""
        if p.isConnected(self._client):
            p.disconnect(self._client)


class BulletKitchen(BulletArm, KitchenSimulation):
    """A built simulation in PyBullet."""

    joint_numbers, hand, fingers = _ARM_JOINTS, _HAND, _FINGERS
    hold_force_n = 120.0
    passes_held = (_HAND, *_FINGERS)
    fresh_links = True

    def __init__(
        self, client: int, state: KitchenState, host: WorldOwner, sliding: str | None = None
    ) -> None:
        """Build the simulation of a state; one drawer can be moved."""
        self._ids = _build(client, state, sliding)
        loose = self._ids.things.values()
        BulletArm.__init__(self, client, host, self._ids.arm, loose, state.joints, state.gap_m)
        self._begin(state, sliding)

    def numbers(self) -> Mapping[str, int]:
        """Return the bodies of what is near, by name."""
        return self._ids.things

    def take_handle(self) -> bool:
        """Close the fingers on the handle of the drawer; see `KitchenSimulation`."""
        return self._ids.drawer is not None and self.grasp(self._ids.drawer, 0)

    def place_of(self, number: int) -> tuple[Vec3, Quat]:
        """Return where a body is now."""
        place: tuple[Vec3, Quat] = p.getBasePositionAndOrientation(
            number, physicsClientId=self._client
        )
        return place

    def opening_m(self) -> float:
        """Return how far the drawer that can be moved is pulled out."""
        found: float = p.getJointState(self._ids.drawer, 0, physicsClientId=self._client)[0]
        return found


@dataclass(frozen=True)
class _Bodies:
    """PyBullet's numbers for one simulation."""

    arm: int
    """The arm with its gripper."""
    things: Mapping[str, int]
    """Objects that are near, by name."""
    drawer: int | None
    """The drawer that is to be moved."""


def _build(client: int, state: KitchenState, sliding: str | None = None) -> _Bodies:
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
    for piece in near_pieces(state):
        found = _add_piece(client, state, piece, sliding)
        drawer = found if drawer is None else drawer
    things = {thing.name: _add_thing(client, thing) for thing in near_things(state, sliding)}
    return _Bodies(number, things, drawer)


def _add_piece(client: int, state: KitchenState, piece: Piece, sliding: str | None) -> int | None:
    """Add furniture; return the number of the drawer that is to be moved, if it has it."""
    turn = yaw_quaternion(piece.rectangle[4])
    _add_boxes(client, boxes_of(piece), (piece.x, piece.y, 0.0), turn)
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
        linkMasses=[DRAWER_KG],
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
    low, high = DRAWER_STOPS_M
    p.resetJointState(number, 0, opening_m, physicsClientId=client)
    p.setJointMotorControl2(
        number,
        0,
        p.VELOCITY_CONTROL,
        targetVelocity=0,
        force=DRAWER_BRAKE_N,
        physicsClientId=client,
    )
    p.changeDynamics(
        number, 0, lateralFriction=0.7, jointLowerLimit=low, jointUpperLimit=high,
        physicsClientId=client,
    )  # fmt: skip
    return number


def _add_thing(client: int, thing: Thing) -> int:
    length, width, height = thing.kind.size
    if thing.kind.shape == "dish":
        boxes = dish_boxes(thing.kind)
        turns = [p.getQuaternionFromEuler([0.0, *turn]) for _, _, turn in boxes]
        shape = _shape(client, [box[:2] for box in boxes], turns)
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
