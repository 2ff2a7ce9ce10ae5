"""The two-finger gripper, a Robotiq 2F-85: sizes, forces, speed, and the room it needs."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from robots.table.geometry import AnySolid, Rectangle, Solid, Vec3, corners, distance, overlap

FINGER_LENGTH = 0.065
"""From the palm to the fingertips, metres."""
FINGER_THICKNESS = 0.010
"""In the closing direction, metres."""
FINGER_WIDTH = 0.022
"""Across the closing direction, metres: the published pad width of the Robotiq 2F-85."""
PALM_SIZE = (0.100, 0.060)
"""Along and across the closing direction, metres."""
OPEN_GAP_M = 0.085
"""The gripper's stroke: the published 85 mm of the Robotiq 2F-85."""
FINGER_SPEED_MPS = 0.15
"""Of each simulated finger while the gripper opens or closes."""
GRIP_FORCE_N = 20.0
"""With which each simulated finger closes on an object."""
FINGER_FORCE_N = 60.0
"""With which a simulated finger is driven to where it should be, but for closing."""
HOLD_FORCE_N = 60.0
"""Limit of the fixed joint that holds what both simulated fingers press on."""

_RELEASE_M = 0.016
"""How much further than the object is wide the fingers open to let it go, metres."""


@dataclass(frozen=True)
class Fingers:
    """How far the fingers of a gripper open."""

    stroke_m: float = OPEN_GAP_M
    """Their greatest distance."""
    stop_anywhere: bool = True
    """Whether they stop at any distance; else they are open as far as they go, or closed."""

    def opened(self, gap_m: float) -> float:
        """Return how far apart they are, metres, once they let go of what they held at a gap."""
        if self.stop_anywhere:
            return min(self.stroke_m, gap_m + _RELEASE_M)
        return self.stroke_m


ROBOTIQ_2F_85 = Fingers()
NO_FINGERS = Fingers(0.0)
"""Of an arm without a gripper: it goes anywhere, and takes nothing."""


@dataclass(frozen=True)
class Grip:
    """One pose of the gripper, pointing straight down."""

    tip: Vec3
    """Between the fingertips, metres."""
    yaw: float
    """Direction in which the fingers close, radians."""
    gap_m: float
    """Distance between the open fingers."""


MARGIN_M = 0.002
"""Between the fingers and anything they must not touch."""
Part = tuple[float, float, float]
"""A part of the hand above the fingers: half its size along the closing direction and across it,
and the height of its lower end above the fingertips, metres."""


def finger_outlines(grip: Grip) -> list[Rectangle]:
    """Return what the two open fingers cover seen from above, their margin included."""
    x, y, _ = grip.tip
    c, s = math.cos(grip.yaw), math.sin(grip.yaw)
    offset = (grip.gap_m + FINGER_THICKNESS) / 2
    half = (FINGER_THICKNESS / 2 + MARGIN_M, FINGER_WIDTH / 2 + MARGIN_M)
    return [(x + sign * offset * c, y + sign * offset * s, *half, grip.yaw) for sign in (-1, 1)]


def first_touched(grip: Grip, hand: Sequence[Part], around: Iterable[AnySolid]) -> AnySolid | None:
    """Return the first thing that an open gripper would touch, or None.

    Args:
        grip: Where it is.
        hand: What there is of it above the fingers.
        around: What it must not touch.
    """
    x, y, z = grip.tip
    parts = [(finger, z) for finger in finger_outlines(grip)]
    parts += [((x, y, along, across, grip.yaw), z + up) for along, across, up in hand]
    for solid in around:
        for rectangle, bottom in parts:
            if solid.top > bottom and _touches(rectangle, bottom, solid):
                return solid
    return None


def _touches(rectangle: Rectangle, bottom: float, solid: Solid) -> bool:
    """Return whether a part of the gripper, from a height upwards, meets something."""
    outline = solid.outline
    if outline is not None:
        return overlap(rectangle, outline)
    room = solid.inner_r(bottom)
    inside = max(math.dist(corner, solid.xy) for corner in corners(rectangle)) < room
    return not inside and distance(rectangle, solid.xy) < solid.outer_r
