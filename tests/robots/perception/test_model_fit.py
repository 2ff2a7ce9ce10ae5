"""Blocks laid on points of the surfaces that a camera sees of them."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from robots.perception.segmentation import fit_block

EDGE = 0.04
SEEDS = st.integers(0, 2**31)


def block_points(rng: np.random.Generator, x: float, y: float, yaw: float, eye: Any) -> Any:
    """Points of the top and of the two sides that look towards the camera."""
    turn = np.array([[math.cos(yaw), -math.sin(yaw)], [math.sin(yaw), math.cos(yaw)]])
    towards = (eye[:2] - (x, y)) @ turn
    points = [np.column_stack([rng.uniform(-0.02, 0.02, (200, 2)), np.full(200, EDGE)])]
    for axis in (0, 1):
        if abs(towards[axis]) > 0.02:
            side = rng.uniform((-0.02, -0.02, 0.0), (0.02, 0.02, EDGE), (120, 3))
            side[:, axis] = math.copysign(0.02, towards[axis])
            points.append(side)
    cloud = np.vstack(points)
    cloud[:, :2] = cloud[:, :2] @ turn.T + (x, y)
    return cloud


@settings(max_examples=15, deadline=None, derandomize=True)
@given(seed=SEEDS, yaw=st.floats(0.4, 1.1), noise_m=st.sampled_from([0.0, 0.002]))
def test_a_block_is_where_its_sides_are(seed: int, yaw: float, noise_m: float) -> None:
    rng = np.random.default_rng(seed)
    eye = np.array([0.0, -1.0, 0.8])
    points = block_points(rng, 0.1, -0.2, yaw, eye)
    points += rng.normal(0, noise_m, points.shape)
    start = (0.1 + rng.uniform(-0.002, 0.002), -0.2 + rng.uniform(-0.002, 0.002), yaw + 0.05)
    x, y, found = fit_block(points, start, EDGE, EDGE, eye)
    assert math.hypot(x - 0.1, y + 0.2) <= (0.0004 if noise_m == 0 else 0.0015)
    assert abs(found - yaw) <= (0.02 if noise_m == 0 else 0.08)
