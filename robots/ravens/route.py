"""Where the gripper may travel over the table, and how fast: decided before anything moves.

The fingertips keep one height on the whole way, above everything that stands on the table.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from cap.errors import LimitExceeded, Unreachable
from robots.arm import ur5e
from robots.arm.motion import PARK, TABLE, Pose
from robots.arm.strokes import Array, length_m, resampled
from robots.ravens.scene import Scene
from robots.table.geometry import TABLE_X, TABLE_Y
from robots.table.numbers import finite_numbers

SPEED_MPS = 0.25
"""Of the fingertips where a program names none."""
SLOWEST_MPS, FASTEST_MPS = 0.01, 1.0
MAX_LENGTH_M = 20.0
_SPACING_M = 0.01
"""How densely the arm's reach is tested."""
_ROUNDING_M = 1e-9


def height_m(scene: Scene) -> float:
    """Return the fingertips' height while they follow a path over a scene."""
    return max(TABLE.least, scene.top() + TABLE.lift)


def pose_over(xy: Any, height: float) -> Pose:
    """Return the pose above a point of the table, metres; the wrist as it waits."""
    return Pose(float(xy[0]), float(xy[1]), height, PARK.yaw)


def checked_speed(speed: Any) -> float:
    """Return a speed, m/s.

    Raises:
        TypeError: It is no finite number.
        LimitExceeded: The arm does not move so slowly or so fast.
    """
    number = float(finite_numbers(speed, "speed", "a number of metres per second", ()))
    if not SLOWEST_MPS <= number <= FASTEST_MPS:
        raise LimitExceeded(
            f"speed {number:g} m/s is beyond the arm; use {SLOWEST_MPS:g} to {FASTEST_MPS:g}"
        )
    return number


def check_on_table(points: Array) -> None:
    """Refuse a path that leaves the table.

    Raises:
        Unreachable: A point is off it.
    """
    low, high = np.array([TABLE_X[0], TABLE_Y[0]]), np.array([TABLE_X[1], TABLE_Y[1]])
    outside = ((points < low - _ROUNDING_M) | (points > high + _ROUNDING_M)).any(axis=1)
    if outside.any():
        number = int(outside.argmax())
        x, y = points[number]
        raise Unreachable(
            f"point {number} at ({x:.4g}, {y:.4g}) m is off the table, which spans "
            f"x {TABLE_X[0]} to {TABLE_X[1]} and y {TABLE_Y[0]} to {TABLE_Y[1]}"
        )


def check_path(scene: Scene, points: Array) -> None:
    """Refuse a path that the gripper cannot follow over a scene.

    Raises:
        Unreachable: It leaves the table, or the arm does not reach it at the height it takes to
            clear what stands there.
        LimitExceeded: It is too long.
    """
    check_on_table(points)
    if (length := length_m(points)) > MAX_LENGTH_M:
        raise LimitExceeded(f"the path is {length:.0f} m long; use at most {MAX_LENGTH_M:g} m")
    dense = resampled(points, _SPACING_M)
    height = height_m(scene)
    joints = ur5e.inverse(
        np.column_stack([dense, np.full(len(dense), height)]), np.zeros(len(dense))
    )
    lost = np.isnan(joints).any(axis=1)
    if lost.any():
        x, y = dense[int(lost.argmax())]
        raise Unreachable(
            f"the arm does not reach ({x:.2f}, {y:.2f}) {height:.2f} m high, over what stands on "
            "the table; take the stack down or stay closer to the middle"
        )
