"""Whether an open gripper, pointing straight down, has room among what stands around."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence

from robots.arm.gripper import FINGER_THICKNESS, FINGER_WIDTH, Grip
from robots.table.geometry import AnySolid, Rectangle, Solid, corners, distance, overlap

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
