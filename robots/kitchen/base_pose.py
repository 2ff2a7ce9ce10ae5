"""Where the base stands for the arm to reach something."""

from __future__ import annotations

import itertools
import math
from collections.abc import Iterator, Sequence

import numpy as np
import shapely

from cap.errors import Unreachable
from robots.arm.gripper import Grip
from robots.kitchen import arm, paths
from robots.kitchen.room import Location
from robots.kitchen.state import Base, KitchenState
from robots.table.geometry import Vec3

_RADII_M = (0.62, 0.7, 0.55, 0.78, 0.48, 0.85)
_LEAST_M = 0.4
"""What is nearer to the middle of the base is not reached."""
_TURNS = 24
_AHEAD_RAD = 1.9
"""What is further round than this is not reached without turning the base."""
_FRONT_RAD = math.radians(60)


def standing(
    state: KitchenState, grips: Sequence[Grip], travel_z: float, place: Location | None
) -> Iterator[tuple[Grip, Base]]:
    """Yield grips with places of the base from which they are reached, best first.

    The robot stays where it is if it can; else it goes to the nearest place in front of the
    furniture.
    """
    first, ground = grips[0], paths.ground(state)
    for base in (state.base, *_bases(state, ground, first.tip, place)):
        if base != state.base and not _way(ground, state.base, base):
            continue
        for grip in sorted(grips, key=lambda grip: _wrist(base, grip)):
            x, y, z = grip.tip
            bearing = math.atan2(y - base.y, x - base.x) - base.angle
            if abs(math.remainder(bearing, 2 * math.pi)) > _AHEAD_RAD:
                continue
            if math.dist((x, y), base.xy) < _LEAST_M:
                continue
            if arm.reaches(base, np.array([[x, y, z], [x, y, travel_z]])).all():
                yield grip, base


def _wrist(base: Base, grip: Grip) -> float:
    """Return how far the wrist is turned in a grip, in eighths of a turn."""
    turn = arm.wrist_turn(base, grip.tip[:2], grip.yaw)
    return round(abs(math.remainder(turn, 2 * math.pi)) / (math.pi / 4))


def _bases(
    state: KitchenState, ground: paths.Ground, point: Vec3, place: Location | None
) -> list[Base]:
    """Return free places of the base around a point that face it, the nearest first."""
    if place is not None and place.drawer:
        return [Base(*place.stand)]
    piece = None if place is None else place.piece
    found: list[tuple[float, Base]] = []
    for radius, turn in itertools.product(_RADII_M, range(_TURNS)):
        angle = 2 * math.pi * turn / _TURNS + (piece.facing if piece else 0.0)
        if piece is not None and not piece.around:
            off = math.remainder(angle - piece.facing, 2 * math.pi)
            if abs(off) > _FRONT_RAD:
                continue
        base = Base(
            point[0] - radius * math.cos(angle),
            point[1] - radius * math.sin(angle),
            math.remainder(angle, 2 * math.pi),
        )
        if shapely.covers(ground.free, shapely.Point(base.xy)):
            cost = math.dist(base.xy, state.base.xy) + 4 * abs(radius - _RADII_M[0])
            found.append((cost, base))
    return [base for _, base in sorted(found, key=lambda entry: entry[0])]


def _way(ground: paths.Ground, start: Base, goal: Base) -> bool:
    try:
        paths.route(ground, start.xy, goal.xy)
    except Unreachable:
        return False
    return True
