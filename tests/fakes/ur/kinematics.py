"""Where a UR5e's tool is, and which joints hold it there."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from robots.arm.rotations import Array, pose_of_tcp, rotation_vector
from robots.arm.ur5e import TOOL_LENGTH, forward

_STEP_RAD = 1e-6


def tip(joints: Sequence[float] | Array, tool_m: float) -> Array:
    """Return the 4x4 pose of the tool centre point, `tool_m` in front of the flange."""
    pose = forward(list(joints))
    pose[:3, 3] += pose[:3, 2] * (tool_m - TOOL_LENGTH)
    return pose


def pose_of(joints: Sequence[float], tool_m: float) -> Array:
    """Return x, y, z (m) and the rotation vector (rad) of the tool centre point, shape (6,)."""
    pose = tip(joints, tool_m)
    return np.concatenate([pose[:3, 3], rotation_vector(pose[:3, :3])])


def joints_at(pose: Sequence[float], near: Sequence[float], tool_m: float) -> Array | None:
    """Return joint angles that hold a pose, found from joints nearby; None where there are none."""
    joints, goal = np.array(near, dtype=np.float64), pose_of_tcp(pose)
    for _ in range(60):
        here = tip(joints, tool_m)
        error = _difference(here, goal)
        if np.linalg.norm(error) < 1e-6:
            return joints
        turned = joints + _STEP_RAD * np.eye(6)
        jacobian = np.array([_difference(here, tip(one, tool_m)) for one in turned]).T / _STEP_RAD
        damped = jacobian @ jacobian.T + 1e-5 * np.eye(6)
        step = jacobian.T @ np.linalg.solve(damped, error)
        joints += step * min(1.0, 0.4 / max(_STEP_RAD, float(np.abs(step).max())))
    return None


def _difference(one: Array, other: Array) -> Array:
    """Return how far (m) and by which rotation vector (rad) a pose is from another, shape (6,)."""
    turn = rotation_vector(other[:3, :3] @ one[:3, :3].T)
    return np.concatenate([other[:3, 3] - one[:3, 3], turn])
