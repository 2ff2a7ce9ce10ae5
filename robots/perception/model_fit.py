"""Known shapes laid on the points that show them, by least squares.

What a camera shows of an object is lopsided: a block's top and the sides that face it, the outside
of a bowl's near wall and the inside of its far one. So each point is compared with the surface it
was seen on, which follows from the camera's place, and nothing is averaged over what is hidden.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from robots.arm.rotations import Array

_STEPS = 6
_CLOSE = 1e-6
"""A step so small (m, rad) is the last one."""
_TRUST_M = 0.006
"""Points further from the surface belong to something else."""
_GRAZING = 0.15
"""Sine of the least angle at which a side is seen well enough."""
_RIM_M = 0.0015
"""Points closer to the rim may be on its upper face, which says nothing of where the bowl is."""
_LEAST_POINTS = 6
_FARTHEST_M = 0.015
"""A fit that ends further from where it began has followed something else."""


@dataclass(frozen=True)
class Bowl:
    """A bowl's profile: straight walls that lean outwards."""

    rim_r_m: float
    """Outer radius at the rim."""
    base_r_m: float
    """Outer radius at the foot."""
    height_m: float
    """From foot to rim."""
    wall_m: float
    """Thickness of wall and floor."""


def fit_block(
    points: Array, place: tuple[float, float, float], top_z: float, edge_m: float, eye: Array
) -> tuple[float, float, float]:
    """Return a block's x, y (m) and yaw (rad), from points on its top and sides, shape (n, 3).

    Args:
        points: What was seen of it, metres.
        place: Where it is about: x, y, yaw.
        top_z: Height of its top, metres.
        edge_m: Its edge.
        eye: Where the camera is, shape (3,), metres.
    """
    x, y, yaw = place
    half = edge_m / 2
    below = points[:, 2] - top_z
    for _ in range(_STEPS):
        turn = np.array([[math.cos(yaw), -math.sin(yaw)], [math.sin(yaw), math.cos(yaw)]])
        local = (points[:, :2] - (x, y)) @ turn
        towards = (eye[:2] - (x, y)) @ turn
        # A side is seen if the camera is well beyond its plane; distances to others say nothing.
        seen = np.abs(towards) - half > _GRAZING * math.dist(eye, (x, y, top_z))
        away = np.where(seen, local * np.sign(towards) - half, -np.inf)
        side = away.argmax(axis=1)
        error = away.max(axis=1)
        use = (error > below) & (np.abs(error) < _TRUST_M)
        if use.sum() < _LEAST_POINTS:
            break
        sign = np.sign(towards)[side[use]]
        normal = turn.T[side[use]] * sign[:, None]
        # Turned by a small angle, a point of the block at (u, v) moves by (-v, u).
        lever = np.where(side[use] == 0, local[use, 1], -local[use, 0]) * sign
        slopes = np.column_stack([-normal, lever])
        step = np.linalg.lstsq(slopes, -error[use], rcond=1e-3)[0]
        x, y, yaw = x + step[0], y + step[1], yaw + step[2]
        if np.abs(step).max() < _CLOSE:
            break
    if math.dist((x, y), place[:2]) > _FARTHEST_M:
        return place
    return float(x), float(y), float(yaw)


def fit_bowl(
    points: Array, place: tuple[float, float], rim_z: float, bowl: Bowl, eye: Array
) -> tuple[float, float]:
    """Return the x and y (m) of a bowl's axis, from points on its wall, shape (n, 3).

    Args:
        points: What was seen of its wall, metres.
        place: Where it is about.
        rim_z: Height of its rim, metres.
        bowl: Its profile.
        eye: Where the camera is, shape (3,), metres.
    """
    x, y = place
    below = points[:, 2] - rim_z
    spread = bowl.rim_r_m - bowl.base_r_m
    outside = spread / bowl.height_m
    inside = spread / (bowl.height_m - bowl.wall_m)
    for _ in range(_STEPS):
        reach = points[:, :2] - (x, y)
        radius = np.maximum(np.linalg.norm(reach, axis=1), 1e-6)
        outwards = reach / radius[:, None]
        view = eye - points
        faces_out = np.einsum("ni,ni->n", outwards, view[:, :2]) > outside * view[:, 2]
        wall = np.where(
            faces_out, bowl.rim_r_m + outside * below, bowl.rim_r_m - bowl.wall_m + inside * below
        )
        error = radius - wall
        use = (np.abs(error) < _TRUST_M) & (below < -_RIM_M)
        if use.sum() < _LEAST_POINTS:
            break
        # A third unknown takes up how much wider than its profile the bowl seems to be.
        slopes = np.column_stack([-outwards[use], -np.ones(use.sum())])
        step = np.linalg.lstsq(slopes, -error[use], rcond=1e-2)[0]
        x, y = x + step[0], y + step[1]
        if np.abs(step[:2]).max() < _CLOSE:
            break
    return place if math.dist((x, y), place) > _FARTHEST_M else (float(x), float(y))
