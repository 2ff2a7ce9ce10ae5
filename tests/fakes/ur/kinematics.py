"""Where a UR5e's flange is, and which joints hold it there: published Denavit-Hartenberg values."""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

Array = NDArray[np.float64]

_DH = (
    (0.0, 0.1625, math.pi / 2),
    (-0.425, 0.0, 0.0),
    (-0.3922, 0.0, 0.0),
    (0.0, 0.1333, math.pi / 2),
    (0.0, 0.0997, -math.pi / 2),
    (0.0, 0.0996, 0.0),
)
"""a (m), d (m) and alpha (rad) of each joint."""
_LEAST = 1e-9


def to_matrix(vector: Sequence[float]) -> Array:
    """Return the rotation of a rotation vector (rad), shape (3, 3)."""
    angle = math.sqrt(sum(v * v for v in vector))
    if angle < _LEAST:
        return np.eye(3)
    x, y, z = (v / angle for v in vector)
    cross = np.array([[0.0, -z, y], [z, 0.0, -x], [-y, x, 0.0]])
    return np.asarray(np.eye(3) + math.sin(angle) * cross + (1 - math.cos(angle)) * cross @ cross)


def to_vector(rotation: Array) -> Array:
    """Return the rotation vector (rad) of a rotation, no longer than pi, shape (3,)."""
    angle = math.acos(max(-1.0, min(1.0, (float(np.trace(rotation)) - 1.0) / 2.0)))
    if angle < 1e-7:
        return np.zeros(3)
    if angle > math.pi - 1e-4:
        outer = (rotation + np.eye(3)) / 2.0
        column = int(np.argmax(np.diag(outer)))
        return np.asarray(outer[:, column] / math.sqrt(outer[column, column]) * angle)
    skew = rotation - rotation.T
    axis = np.array([skew[2, 1], skew[0, 2], skew[1, 0]])
    return np.asarray(axis * angle / (2.0 * math.sin(angle)))


def frames(joints: Sequence[float]) -> list[Array]:
    """Return the 4x4 poses from the base to the flange, seven of them."""
    pose = np.eye(4)
    found = [pose]
    for q, (a, d, alpha) in zip(joints, _DH, strict=True):
        c, s, ca, sa = math.cos(q), math.sin(q), math.cos(alpha), math.sin(alpha)
        pose = pose @ np.array(
            [
                [c, -s * ca, s * sa, a * c],
                [s, c * ca, -c * sa, a * s],
                [0.0, sa, ca, d],
                [0.0, 0.0, 0.0, 1.0],
            ]
        )
        found.append(pose)
    return found


def tip(joints: Sequence[float], tool_m: float) -> Array:
    """Return the 4x4 pose of the tool centre point, `tool_m` in front of the flange."""
    pose = frames(joints)[-1].copy()
    pose[:3, 3] += pose[:3, 2] * tool_m
    return pose


def pose_of(joints: Sequence[float], tool_m: float) -> Array:
    """Return x, y, z (m) and the rotation vector (rad) of the tool centre point, shape (6,)."""
    pose = tip(joints, tool_m)
    return np.concatenate([pose[:3, 3], to_vector(pose[:3, :3])])


def joints_at(pose: Sequence[float], near: Sequence[float], tool_m: float) -> Array | None:
    """Return joint angles that hold a pose, found from joints nearby; None where there are none."""
    joints = np.array(near, dtype=np.float64)
    rotation = to_matrix(pose[3:])
    for _ in range(60):
        chain = frames(joints)
        at = chain[-1][:3, 3] + chain[-1][:3, 2] * tool_m
        error = np.concatenate(
            [np.asarray(pose[:3]) - at, to_vector(rotation @ chain[-1][:3, :3].T)]
        )
        if np.linalg.norm(error) < 1e-6:
            return joints
        bases = np.array(chain[:-1])
        axes = bases[:, :3, 2]
        jacobian = np.hstack([np.cross(axes, at - bases[:, :3, 3]), axes]).T
        damped = jacobian @ jacobian.T + 1e-5 * np.eye(6)
        step = jacobian.T @ np.linalg.solve(damped, error)
        joints += step * min(1.0, 0.4 / max(_LEAST, float(np.abs(step).max())))
    return None
