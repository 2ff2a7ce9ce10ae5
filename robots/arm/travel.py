"""How the fingertips travel: up, across, over everything in between, and straight down.

Each robot's heights are named here: what is changed here changes what the arm clears.
"""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import dataclass, replace

from robots.arm.motion import Pose
from robots.table.geometry import Solid, Vec3


@dataclass(frozen=True)
class Heights:
    """How high an arm travels, metres."""

    lift: float
    """Free height between what travels and what it passes over."""
    straight: float
    """The fingers come and go at least this far straight up and down."""
    least: float = 0.0
    """What travels is at least this high."""


TABLE = Heights(lift=0.03, straight=0.07, least=0.10)
"""Of an arm at the table; `least` is the height at which it points and follows paths."""
KITCHEN = Heights(lift=0.04, straight=0.06)
"""Of the arm in the kitchen."""
PEN_UP_M = 0.09
"""Height of a pen between strokes: over blocks of 4 cm."""
PARK = Pose(0.0, -0.38, 0.32, math.pi / 2)
"""Where an arm at the table waits between motions, clear of the view."""
CORRIDOR_M = 0.10
"""Half the width of the strip that must be free below the travelling gripper at the table."""


def highest_between(obstacles: Iterable[Solid], start: Vec3, end: Vec3) -> float:
    """Return the height of the highest thing near the straight way between two points, metres."""
    dx, dy = end[0] - start[0], end[1] - start[1]
    length = dx * dx + dy * dy
    highest = 0.0
    for each in obstacles:
        along = (each.xy[0] - start[0]) * dx + (each.xy[1] - start[1]) * dy
        t = min(1.0, max(0.0, along / length)) if length else 0.0
        nearest = (start[0] + t * dx, start[1] + t * dy)
        if math.dist(nearest, each.xy) < CORRIDOR_M + each.radius:
            highest = max(highest, each.top)
    return highest


def over(start: Pose, end: Pose, height: float) -> list[Pose]:
    """Return the way to a pose: up to a height (m), across at it, and straight down."""
    up = replace(start, z=max(start.z, height))
    return [start, up, replace(end, z=height), end]


def away(start: Pose, height: float, rest: Pose, heights: Heights) -> list[Pose]:
    """Return the way to where an arm waits: straight up, to a height (m) at least, and there."""
    up = replace(start, z=max(height, start.z + heights.straight))
    return [start, up, rest]
