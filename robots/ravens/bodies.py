"""The tabletop's bodies: for physics engines, and as they are drawn, with the gripper's paths."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from functools import lru_cache
from pathlib import Path

from cap.robot.view import ORIGIN, Appearance, Polyline, Rgb, Shape
from robots.arm import ur5e
from robots.arm.gripper import FINGER_FORCE_N, FINGER_SPEED_MPS, GRIP_FORCE_N, HOLD_FORCE_N
from robots.arm.linkage import linkage
from robots.ravens.scene import (
    BLOCK_MASS_KG,
    BOWL_BASE_R,
    BOWL_FLOOR,
    BOWL_HEIGHT,
    BOWL_MASS_KG,
    BOWL_RIM_R,
    BOWL_WALL,
    Body,
    Scene,
)
from robots.ravens.state import WorldState
from robots.simulation.bodies import ArmBody, BoxPart, Friction, LooseBody, PhysicsWorld, ring
from robots.table.geometry import TABLE_X, TABLE_Y
from robots.table.object_names import color_of

ARM = ArmBody(
    urdf=Path(__file__).with_name("ur5e.urdf"),
    torques=ur5e.MAX_TORQUE,
    finger_mps=FINGER_SPEED_MPS,
    closing_mps=FINGER_SPEED_MPS,
    finger_force_n=FINGER_FORCE_N,
    grip_force_n=GRIP_FORCE_N,
    hold_force_n=HOLD_FORCE_N,
)
_FRICTION = Friction(pybullet=(0.6, 0.002, 0.0), mujoco=(0.35, 0.002, 1e-4))
_RING_BOTTOM_M = 0.008
"""Where a simulated bowl's wall begins above its foot."""


def world_of(state: WorldState) -> PhysicsWorld:
    """Return the table of a state, for a physics engine."""
    return PhysicsWorld(
        ARM,
        state.joints,
        "box",
        _FRICTION,
        tuple(_loose(body) for body in state.scene.bodies),
        state.gap_m,
        held=state.held,
    )


def _loose(body: Body) -> LooseBody:
    if body.kind == "bowl":
        return LooseBody(body.name, _bowl(), BOWL_MASS_KG, body.position, body.quaternion)
    length, width, height = body.size
    box = BoxPart((length / 2, width / 2, height / 2))
    return LooseBody(body.name, (box,), BLOCK_MASS_KG, body.position, body.quaternion)


@lru_cache(maxsize=1)
def _bowl() -> tuple[BoxPart, ...]:
    """Return a bowl's floor and its wall."""
    half = (BOWL_BASE_R - BOWL_WALL / 2) / math.sqrt(2)
    floor = BoxPart((half, half, BOWL_FLOOR / 2), (0.0, 0.0, (BOWL_FLOOR - BOWL_HEIGHT) / 2))
    return (floor, *ring(BOWL_RIM_R, BOWL_BASE_R, BOWL_HEIGHT, BOWL_WALL, _RING_BOTTOM_M))


_MAT: Rgb = (230, 227, 222)
_DESK: Rgb = (204, 179, 148)
_PATH: Rgb = (70, 72, 76)
_MAT_M, _DESK_M, _BORDER_M = 0.004, 0.04, 0.16
_BOWL = (
    (BOWL_BASE_R, -BOWL_HEIGHT / 2),
    (BOWL_RIM_R, BOWL_HEIGHT / 2),
    (BOWL_RIM_R - BOWL_WALL, BOWL_HEIGHT / 2),
    (BOWL_BASE_R - BOWL_WALL, BOWL_FLOOR - BOWL_HEIGHT / 2),
    (0.0, BOWL_FLOOR - BOWL_HEIGHT / 2),
)


def table(mat: Rgb = _MAT) -> tuple[Shape, ...]:
    """Return the mat that is worked on, its top at height 0, and the desk it lies on."""
    (left, right), (front, back) = TABLE_X, TABLE_Y
    x, y = (left + right) / 2, (front + back) / 2
    wide, deep = right - left, back - front
    deeper = deep + _BORDER_M + 0.34  # the arm stands on it too
    at = (x, y + (deeper - deep - _BORDER_M) / 2, -_MAT_M - _DESK_M / 2, 0.0, 0.0, 0.0, 1.0)
    return (
        Shape("box", mat, (wide, deep, _MAT_M), (x, y, -_MAT_M / 2, 0.0, 0.0, 0.0, 1.0)),
        Shape("box", _DESK, (wide + 2 * _BORDER_M, deeper, _DESK_M), at),
    )


def object_shapes(scene: Scene) -> dict[str, tuple[Shape, ...]]:
    """Return what each object is made of."""
    return {f"objects/{body.name}": (_object(body),) for body in scene.bodies}


def _object(body: Body) -> Shape:
    if body.kind == "bowl":
        return Shape("lathe", color_of(body.name), profile=_BOWL)
    return Shape("box", color_of(body.name), body.size)


def shapes(state: WorldState) -> Mapping[str, Sequence[Shape]]:
    """Return what each body is made of."""
    return {"table": table(), **linkage(ARM.urdf).shapes, **object_shapes(state.scene)}


def view(state: WorldState) -> Appearance:
    """Return where each body is in a state."""
    half = state.gap_m / 2
    objects = {
        f"objects/{body.name}": (*body.position, *body.quaternion) for body in state.scene.bodies
    }
    arm = linkage(ARM.urdf).placements([*state.joints, half, half])
    lines = tuple(
        Polyline(tuple((x, y, 0.001) for x, y in path), _PATH, 0.003) for path in state.paths
    )
    return Appearance({"table": ORIGIN, **arm, **objects}, lines)
