"""A world for a physics engine, as plain data: an arm, what stands still, and what may move.

Frame: metres, kilograms, radians; a body's boxes are in a frame of its own.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from robots.table.geometry import Quat, Vec3

_RING_PIECES = 12
"""Boxes around a dish: PyBullet takes 16 shapes in a body at most, its floor included."""


@dataclass(frozen=True)
class BoxPart:
    """A box, part of a body."""

    half: Vec3
    """Half its edges, metres."""
    middle: Vec3 = (0.0, 0.0, 0.0)
    """In the frame of the body, metres."""
    turn: tuple[float, float] = (0.0, 0.0)
    """How it is turned: first so far about y, then about z, radians."""


@dataclass(frozen=True)
class CylinderPart:
    """An upright cylinder, the whole of a body."""

    radius: float
    """Metres."""
    height: float
    """Metres."""


Parts = tuple[BoxPart, ...] | CylinderPart
"""What a body is made of."""


@dataclass(frozen=True)
class FixedBody:
    """A body that stands still."""

    boxes: tuple[BoxPart, ...]
    """What it is made of."""
    position: Vec3
    """Metres."""
    yaw: float = 0.0
    """Turn about the vertical, radians."""


@dataclass(frozen=True)
class SlidingDrawer(FixedBody):
    """A drawer on rails: it stands `opening_m` ahead of its position, along its -y."""

    opening_m: float = 0.0
    """How far it is pulled out."""
    stops_m: tuple[float, float] = (0.0, 0.0)
    """How far it goes in and out."""
    mass_kg: float = 0.0
    """Mass."""
    centre: Vec3 = (0.0, 0.0, 0.0)
    """Of its mass, metres."""
    brake_n: float = 0.0
    """Friction of its rails."""


@dataclass(frozen=True)
class LooseBody:
    """A body that may move."""

    name: str
    """Such as `red block`."""
    parts: Parts
    """What it is made of."""
    mass_kg: float
    """Mass."""
    position: Vec3
    """Metres."""
    quaternion: Quat
    """x, y, z, w."""
    rests: bool = True
    """Whether it stands on what stands still."""


@dataclass(frozen=True)
class Friction:
    """How bodies rub: sliding, spinning and rolling, in each engine's own terms."""

    pybullet: Vec3
    """PyBullet multiplies the values of the two bodies."""
    mujoco: Vec3
    """MuJoCo takes the greater."""


@dataclass(frozen=True)
class ArmBody:
    """An arm."""

    urdf: Path
    """What it is made of: the joints of the arm, the last of them the hand's, then two fingers, or
    a fixed link `tip`."""
    torques: Sequence[float]
    """The most each joint of the arm may use, Nm."""
    fingers: bool = True
    """Whether it has fingers; else its last link is a pen, or the like."""
    finger_mps: float = 0.0
    """Of each finger while it opens."""
    closing_mps: float = 0.0
    """Of each finger while it closes: faster, it would sink into what is light."""
    finger_force_n: float = 0.0
    """With which a finger is driven to where it should be, but for closing."""
    grip_force_n: float = 0.0
    """With which a finger closes on something."""
    hold_force_n: float = 0.0
    """Limit of the fixed joint that holds what both fingers press on, in PyBullet."""
    hand_passes: bool = False
    """Whether the hand, as the fingers, need not touch what is fixed to it."""
    fresh_links: bool = False
    """Whether PyBullet computes again where links are when it is asked."""


@dataclass(frozen=True)
class PhysicsWorld:
    """Everything at rest, before the first step."""

    arm: ArmBody
    """The arm."""
    joints: Sequence[float]
    """Its joint angles, radians."""
    ground: Literal["plane", "box", "none"]
    """What everything stands on: what stands on a plane wakes on one corner in PyBullet, and
    creeps; a box is 4 m wide."""
    friction: Friction
    """Of all bodies but the ground."""
    loose: tuple[LooseBody, ...] = ()
    """What may move."""
    gap_m: float = 0.0
    """Distance between its fingers."""
    fixed: tuple[FixedBody, ...] = ()
    """What stands still, and the drawer that slides."""
    base: Vec3 = (0.0, 0.0, 0.0)
    """Where the arm stands, metres."""
    base_yaw: float = 0.0
    """How it is turned about the vertical, radians."""
    held: str | None = None
    """What is fixed to the hand."""


GROUND_M = 2.0
"""Half the edges of the box that is the ground."""


def ring(rim_r: float, foot_r: float, height: float, wall: float, bottom: float) -> list[BoxPart]:
    """Return the wall of a dish: a ring of boxes that lean outwards.

    Args:
        rim_r: Outer radius at the rim, metres.
        foot_r: Outer radius at the foot, metres.
        height: Of the dish, whose middle is at half of it, metres.
        wall: How thick it is, metres.
        bottom: Height above the foot at which the ring begins, so that the dish stands on its floor
            alone, metres.
    """
    slope = (rim_r - foot_r) / height
    lean = math.atan(slope)
    middle_z = (bottom + height) / 2
    middle_r = foot_r + slope * middle_z - wall / 2 / math.cos(lean)
    half_length = (height - bottom) / 2 / math.cos(lean)
    half_width = rim_r * math.tan(math.pi / _RING_PIECES)
    boxes = []
    for piece in range(_RING_PIECES):
        angle = 2 * math.pi * piece / _RING_PIECES
        x, y = middle_r * math.cos(angle), middle_r * math.sin(angle)
        half = (wall / 2, half_width, half_length)
        boxes.append(BoxPart(half, (x, y, middle_z - height / 2), (lean, angle)))
    return boxes
