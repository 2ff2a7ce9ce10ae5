"""Kinematics of a UR5e whose tool points straight down.

Denavit-Hartenberg parameters are those Universal Robots publishes for the UR5e
(a2 = -0.425, a3 = -0.3922, d1 = 0.1625, d4 = 0.1333, d5 = 0.0997, d6 = 0.0996 metres); the closed
form below follows from them for a vertical tool, elbow up and wrist outwards. The base stands at
the origin of the tabletop frame.
"""

from __future__ import annotations

import itertools
import math
import operator
from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

Array = NDArray[np.float64]

D1, D4, D5, D6 = 0.1625, 0.1333, 0.0997, 0.0996
A2, A3 = -0.425, -0.3922
DH = (
    (0.0, D1, math.pi / 2),
    (A2, 0.0, 0.0),
    (A3, 0.0, 0.0),
    (0.0, D4, math.pi / 2),
    (0.0, D5, -math.pi / 2),
    (0.0, D6, 0.0),
)
"""a (m), d (m) and alpha (rad) of each joint."""

MAX_SPEED = math.pi
"""Joint speed limit, rad/s, all six joints."""
MAX_TORQUE = (150.0, 150.0, 150.0, 28.0, 28.0, 28.0)
"""Joint torque limits, Nm."""
TOOL_LENGTH = 0.163
"""Flange to fingertips, metres: the published length of the Robotiq 2F-85."""


def _frames(joints: Sequence[float]) -> list[Array]:
    """Return the 4x4 pose of each link's far end, flange last."""
    links = []
    for angle, (a, d, alpha) in zip(joints, DH, strict=True):
        c, s, ca, sa = math.cos(angle), math.sin(angle), math.cos(alpha), math.sin(alpha)
        links.append(
            [
                [c, -s * ca, s * sa, a * c],
                [s, c * ca, -c * sa, a * s],
                [0.0, sa, ca, d],
                [0.0, 0.0, 0.0, 1.0],
            ]
        )
    return list(itertools.accumulate(np.array(links), operator.matmul))


def forward(joints: Sequence[float]) -> Array:
    """Return the 4x4 pose of the fingertips for six joint angles (rad), in the tabletop frame."""
    pose = _frames(joints)[-1].copy()
    pose[:3, 3] += pose[:3, 2] * TOOL_LENGTH
    return pose


def tips(joints: Array) -> Array:
    """Return the fingertips for many sets of joint angles.

    Args:
        joints: Shape (n, 6), radians.

    Returns:
        Positions in the tabletop frame, shape (n, 3), metres.
    """
    return np.array([forward(angles)[:3, 3] for angles in joints])


def skeleton(joints: Sequence[float]) -> Array:
    """Return points along the middle of the arm from elbow to flange, shape (n, 3), metres."""
    ends = [frame[:3, 3] for frame in _frames(joints)[1:]]
    t = np.linspace(0.0, 1.0, 12)[:, None]
    return np.vstack([a + t * (b - a) for a, b in itertools.pairwise(ends)])


def inverse(tips: Array, yaws: Array) -> Array:
    """Return the joint angles that hold the fingertips at points, tool straight down.

    Args:
        tips: Fingertip positions, shape (n, 3), metres.
        yaws: Direction in which the fingers close, shape (n,), radians.

    Returns:
        Joint angles, shape (n, 6), radians; a row of NaN where the arm does not reach.
    """
    x, y, z = tips[:, 0], tips[:, 1], tips[:, 2]
    with np.errstate(invalid="ignore"):
        q1 = np.arctan2(y, x) + np.arccos(D4 / np.hypot(x, y)) + math.pi / 2
        # In the arm's plane: the wrist seen from the shoulder. Both links have negative a.
        across = -(x * np.cos(q1) + y * np.sin(q1) + D5)
        down = -(z + TOOL_LENGTH + D6 - D1)
        cos3 = (across**2 + down**2 - A2**2 - A3**2) / (2 * A2 * A3)
        q3 = np.arccos(cos3)
    q2 = np.arctan2(down, across) - np.arctan2(-A3 * np.sin(q3), -A2 - A3 * cos3)
    q4 = -math.pi / 2 - q2 - q3
    # Whole turns keep the base joint in (-pi, pi] and the last one beside it.
    q1 = (q1 + math.pi) % (2 * math.pi) - math.pi
    q6 = q1 + math.pi / 2 - yaws
    joints = np.empty((len(tips), 6))
    joints[:, 0], joints[:, 1], joints[:, 2] = q1, q2, q3
    joints[:, 3], joints[:, 4], joints[:, 5] = q4, -math.pi / 2, q6
    if (lost := np.isnan(q2 + q6)).any():
        joints[lost] = np.nan
    return joints


def reaches(tip: tuple[float, float, float]) -> bool:
    """Return whether the fingertips can be held at a point (metres), tool straight down."""
    x, y, z = tip
    if (beside := math.hypot(x, y)) < D4:
        return False
    # As in `inverse`: how far the wrist is from the shoulder, in the arm's plane.
    ahead = math.sqrt((beside - D4) * (beside + D4)) - D5
    return abs(A2 - A3) <= math.hypot(ahead, z + TOOL_LENGTH + D6 - D1) <= abs(A2 + A3)
