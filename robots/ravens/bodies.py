"""The tabletop's bodies: table, blocks, bowls and the arm, for physics engines."""

from __future__ import annotations

import math
from functools import lru_cache
from pathlib import Path

from robots.arm import ur5e
from robots.arm.gripper import FINGER_FORCE_N, FINGER_SPEED_MPS, GRIP_FORCE_N, HOLD_FORCE_N
from robots.ravens.scene import (
    BLOCK_MASS_KG,
    BOWL_BASE_R,
    BOWL_FLOOR,
    BOWL_HEIGHT,
    BOWL_MASS_KG,
    BOWL_RIM_R,
    BOWL_WALL,
    Body,
)
from robots.ravens.world import WorldState
from robots.simulation.bodies import ArmBody, BoxPart, Friction, LooseBody, PhysicsWorld, ring

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
