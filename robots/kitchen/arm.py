"""The arm: seven joints in series, as on many arms of this size, with its tool held straight down.

Joints 1, 3, 5 and 7 turn about the links, 2, 4 and 6 bend; shoulder and wrist are each one point.
Frame of the arm: origin in the shoulder, x ahead of the robot, y to its left, z up; metres,
radians. With the tool straight down the elbow is held above the line from shoulder to wrist, which
leaves joints 3 and 5 at zero and makes the inverse a formula.
"""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from robots.arm.motion import ArmModel
from robots.kitchen.objects import Pose4
from robots.kitchen.state import Base

Array = NDArray[np.float64]

UPPER_M = 0.48
FOREARM_M = 0.48
TOOL_M = 0.30
"""From the wrist to the fingertips."""
SHOULDER_Z = 1.0
"""Height of the shoulder above the floor."""
AHEAD_M = 0.10
"""How far the shoulder is ahead of the middle of the base."""
LIMITS = np.array([2.96, 2.09, 2.96, 2.6, 2.96, 2.9, 3.2])
"""Joint angles lie within plus and minus these."""
MAX_SPEED = np.array([1.7, 1.7, 1.7, 2.2, 2.4, 3.1, 3.1])
"""rad/s."""
MAX_TORQUE = (320.0, 320.0, 180.0, 180.0, 110.0, 60.0, 60.0)
"""Nm."""
GRIP_FORCE_N = 25.0
"""Of the closing fingers."""
_ACCELERATION = np.array([6.0, 6.0, 6.0, 10.0, 15.0, 15.0, 15.0])
"""Planned, rad/s^2: the torques then drive the arm with a full hand at any reach."""
PARK_POSE = (0.12, 0.0, 0.3, 0.0)
"""Where the fingertips wait, the arm folded: x, y, z (m) and yaw (rad) in the arm's frame."""


def inverse(tips: Array, yaws: Array) -> Array:
    """Return joint angles that hold the fingertips at points, tool straight down.

    Args:
        tips: In the arm's frame, shape (n, 3), metres.
        yaws: Direction in which the fingers close, shape (n,), radians.

    Returns:
        Joint angles, shape (n, 7), radians; a row of NaN where the arm does not reach.
    """
    x, y, z = tips[:, 0], tips[:, 1], tips[:, 2] + TOOL_M
    out = np.hypot(x, y)
    with np.errstate(invalid="ignore"):
        bend = (out**2 + z**2 - UPPER_M**2 - FOREARM_M**2) / (2 * UPPER_M * FOREARM_M)
        q4 = np.arccos(np.where(np.abs(bend) <= 1, bend, np.nan))
    q1 = np.arctan2(y, x)
    q2 = np.arctan2(out, z) - np.arctan2(FOREARM_M * np.sin(q4), UPPER_M + FOREARM_M * np.cos(q4))
    q6 = math.pi - q2 - q4
    zero = np.zeros_like(q1)
    joints: Array = np.stack([q1, q2, zero, q4, zero, q6, q1 - yaws], axis=1)
    joints[(np.abs(joints) > LIMITS).any(axis=1)] = np.nan
    return joints


PARK_JOINTS: tuple[float, ...] = tuple(
    inverse(np.array([PARK_POSE[:3]]), np.array(PARK_POSE[3:]))[0].tolist()
)
"""Joint angles of the folded arm."""


def forward(joints: Sequence[float]) -> tuple[float, float, float, float]:
    """Return where joint angles hold the fingertips in the arm's frame: x, y, z (m), yaw (rad).

    The yaw is that of a tool that points straight down.
    """
    return (*links(joints)[-1], float(joints[0] - joints[6]))


def links(joints: Sequence[float]) -> list[tuple[float, float, float]]:
    """Return shoulder, elbow, wrist and fingertips in the arm's frame: x, y, z in metres."""
    turn = np.eye(3)
    place = np.zeros(3)
    found = [(0.0, 0.0, 0.0)]
    lengths = (0.0, UPPER_M, 0.0, FOREARM_M, 0.0, 0.0, TOOL_M)
    for joint, (angle, link) in enumerate(zip(joints, lengths, strict=True)):
        c, s = math.cos(angle), math.sin(angle)
        bend = [[c, 0, s], [0, 1.0, 0], [-s, 0, c]]  # about y
        twist = [[c, -s, 0], [s, c, 0], [0, 0, 1.0]]  # about z
        turn = turn @ np.array(bend if joint % 2 else twist)
        if link:
            place = place + turn @ np.array([0.0, 0.0, link])
            found.append((float(place[0]), float(place[1]), float(place[2])))
    return found


def to_arm(base: Base, points: Array, yaws: Array) -> tuple[Array, Array]:
    """Return points (n, 3) and directions (n,) of the world in the arm's frame."""
    x, y = base.world(0.0, AHEAD_M)
    c, s = math.cos(base.angle), math.sin(base.angle)
    dx, dy = points[:, 0] - x, points[:, 1] - y
    moved = np.stack([c * dx + s * dy, c * dy - s * dx, points[:, 2] - SHOULDER_Z], axis=1)
    return moved, yaws - base.angle


def to_world(base: Base, pose: Pose4) -> Pose4:
    """Return a pose x, y, z, yaw of the arm's frame in the world."""
    x, y = base.world(-pose[1], AHEAD_M + pose[0])
    return (x, y, pose[2] + SHOULDER_Z, pose[3] + base.angle)


def body(base: Base) -> ArmModel:
    """Return what motions of the arm are computed with while the base stands somewhere."""
    return ArmModel(
        lambda tips, yaws: inverse(*to_arm(base, tips, yaws)), 0.9 * MAX_SPEED, _ACCELERATION
    )


def reaches(base: Base, points: Array) -> NDArray[np.bool_]:
    """Return which points (n, 3) of the world the fingertips reach, tool straight down."""
    local, _ = to_arm(base, points, np.full(len(points), base.angle))
    q1 = np.arctan2(local[:, 1], local[:, 0])
    return np.asarray(~np.isnan(inverse(local, q1)).any(axis=1))


def wrist_yaw(base: Base, point: tuple[float, float], yaw: float) -> float:
    """Return the direction of closing, turned by half turns so that the wrist is least turned.

    Args:
        base: Where the robot stands.
        point: Where the fingertips go, metres.
        yaw: Direction in which the fingers close, radians; its opposite is the same grip.
    """
    return yaw + math.pi * round(wrist_turn(base, point, yaw) / math.pi)


def full_turn_yaw(base: Base, point: tuple[float, float], yaw: float) -> float:
    """Return a direction of the hand, turned by whole turns so that the wrist is least turned."""
    return yaw + 2 * math.pi * round(wrist_turn(base, point, yaw) / (2 * math.pi))


def wrist_turn(base: Base, point: tuple[float, float], yaw: float) -> float:
    """Return the angle of the last joint over a point, radians, whole turns not taken off."""
    right, ahead = base.local(point)
    return math.atan2(-right, ahead - AHEAD_M) - yaw + base.angle
