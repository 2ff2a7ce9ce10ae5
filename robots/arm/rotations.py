"""Poses as 4x4 matrices, and what people and controllers write instead.

A pose takes points of one frame to another: `base_from_camera @ [x, y, z, 1]`. Lengths are metres,
angles radians. A rotation vector points along the axis and is as long as the angle.
"""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from robots.table.geometry import axes_of

Array = NDArray[np.float64]


def pose_of(position: Sequence[float], rotation: Array | None = None) -> Array:
    """Return the pose (4, 4) of a position (m) and a rotation (3, 3)."""
    pose = np.eye(4)
    pose[:3, 3] = position
    if rotation is not None:
        pose[:3, :3] = rotation
    return pose


def pose_of_tcp(tcp: Sequence[float]) -> Array:
    """Return the pose (4, 4) of x, y, z (m) and a rotation vector (rad), as UR controllers do."""
    return pose_of(tcp[:3], rotation_of(tcp[3:6]))


def rotation_of(vector: Sequence[float] | Array) -> Array:
    """Return the rotation (3, 3) of a rotation vector, radians (Rodrigues' formula)."""
    x, y, z = (float(part) for part in vector)
    angle = math.sqrt(x * x + y * y + z * z)
    cross = np.array([[0.0, -z, y], [z, 0.0, -x], [-y, x, 0.0]])
    if angle < 1e-9:
        turned: Array = np.eye(3) + cross
        return turned
    one, two = math.sin(angle) / angle, (1 - math.cos(angle)) / angle**2
    turned = np.eye(3) + one * cross + two * (cross @ cross)
    return turned


def rotation_of_quaternion(quaternion: Sequence[float]) -> Array:
    """Return the rotation (3, 3) of a quaternion x, y, z, w of any length but 0."""
    return np.array(axes_of(np.asarray(quaternion, dtype=float) / np.linalg.norm(quaternion)))


def quaternion_of(rotation: Array) -> tuple[float, float, float, float]:
    """Return a rotation (3, 3) as a unit quaternion x, y, z, w with w not negative.

    It is the eigenvector of the greatest eigenvalue of a symmetric matrix of the rotation's
    entries (Bar-Itzhack, 2000): no case is special.
    """
    (a, b, c), (d, e, f), (g, h, i) = rotation
    symmetric = np.array(
        [
            [a - e - i, b + d, c + g, h - f],
            [b + d, e - a - i, f + h, c - g],
            [c + g, f + h, i - a - e, d - b],
            [h - f, c - g, d - b, a + e + i],
        ]
    )
    x, y, z, w = np.linalg.eigh(symmetric)[1][:, -1].tolist()
    return (x, y, z, w) if w >= 0 else (-x, -y, -z, -w)


def rotation_vector(rotation: Array) -> Array:
    """Return the rotation vector of a rotation (3, 3), radians, no longer than half a turn."""
    x, y, z, w = quaternion_of(rotation)
    sine = math.sqrt(x * x + y * y + z * z)
    scale = 2.0 if sine < 1e-9 else 2 * math.atan2(sine, w) / sine
    return np.array([x, y, z]) * scale


def nearest_rotation(matrix: Array) -> Array:
    """Return the rotation (3, 3) closest to a matrix in the sense of least squares."""
    left, _, right = np.linalg.svd(matrix)
    sign = np.diag([1.0, 1.0, float(np.sign(np.linalg.det(left @ right)))])
    rotation: Array = left @ sign @ right
    return rotation


def looking(eye: Sequence[float], at: Sequence[float]) -> Array:
    """Return the pose (4, 4) of a level camera at `eye` that looks at a point; metres.

    Its x points right, y down, z forward. Straight down, the top of the picture is towards +y.
    """
    forward = np.subtract(at, eye)
    forward = forward / np.linalg.norm(forward)
    right = np.cross(forward, (0.0, 0.0, 1.0))
    if np.linalg.norm(right) < 1e-9:
        right = np.array([1.0, 0.0, 0.0])
    right = right / np.linalg.norm(right)
    return pose_of(eye, np.column_stack([right, np.cross(forward, right), forward]))
