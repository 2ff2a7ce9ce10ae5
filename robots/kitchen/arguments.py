"""What programs hand to primitives, checked: positions, trajectories, speeds, velocities."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from cap.errors import LimitExceeded, NotFound, did_you_mean
from robots.kitchen.objects import KINDS, known_name
from robots.kitchen.room import Point
from robots.table.object_names import plain

Array = NDArray[np.float64]
Points = Sequence[Sequence[float]] | Array
MAX_SPEED_MPS = 1.0
MAX_TURN_RADPS = 1.5
MAX_POINTS = 1000


def position(value: Any, what: str) -> Point:
    """Return x and y of a position of the floor plan; its height, if given, is not needed.

    Raises:
        LimitExceeded: A number is not finite.
        TypeError: It is not two or three numbers.
    """
    array = _numbers(value, what, "a position of x, y and z, three numbers")
    if array.shape not in ((2,), (3,)):
        raise TypeError(f"{what} must be a position of x, y and z; got shape {array.shape}")
    return float(array[0]), float(array[1])


def trajectory(value: Any) -> list[Point]:
    """Return waypoints as x and y.

    Raises:
        LimitExceeded: Fewer than two or too many, or a number that is not finite.
        TypeError: They are not points.
    """
    array = _numbers(value, "traj", "points of x, y and z, shape (n, 3)")
    if array.ndim != 2 or array.shape[1] not in (2, 3):
        raise TypeError(f"traj must be points, shape (n, 3); got shape {array.shape}")
    if not 2 <= len(array) <= MAX_POINTS:
        raise LimitExceeded(f"traj must have 2 to {MAX_POINTS} points; it has {len(array)}")
    return [(float(point[0]), float(point[1])) for point in array]


def speed(value: Any) -> float:
    """Return a driving speed, m/s.

    Raises:
        LimitExceeded: It is not above 0 and at most 1 m/s.
    """
    number = float(_numbers(value, "speed", "a number"))
    if not 0.0 < number <= MAX_SPEED_MPS:
        raise LimitExceeded(f"speed {number:g} m/s; it must be above 0 and at most {MAX_SPEED_MPS}")
    return number


def heading(value: Any) -> float | None:
    """Return an angle in radians, or None.

    Raises:
        LimitExceeded: It is not finite.
    """
    if value is None:
        return None
    return math.remainder(float(_numbers(value, "angle", "a number")), 2 * math.pi)


def velocity(x: Any, y: Any, turn: Any) -> tuple[float, float, float]:
    """Return a velocity: m/s to the right and ahead, rad/s to the left.

    Raises:
        LimitExceeded: It is beyond the limits, or not finite.
    """
    right, ahead, turning = (
        float(_numbers(value, name, "a number"))
        for name, value in (("x", x), ("y", y), ("turn", turn))
    )
    if math.hypot(right, ahead) > MAX_SPEED_MPS + 1e-9:
        raise LimitExceeded(
            f"velocity ({right:g}, {ahead:g}) m/s; at most {MAX_SPEED_MPS} m/s in all"
        )
    if abs(turning) > MAX_TURN_RADPS:
        raise LimitExceeded(f"turn {turning:g} rad/s; at most {MAX_TURN_RADPS} rad/s")
    return (right, ahead, turning)


def seen(name: Any, visible: Sequence[str]) -> str:
    """Return the exact name of an object that is seen.

    Raises:
        NotFound: It is not at the present location, or there is nothing of that name.
    """
    if not isinstance(name, str):
        raise TypeError(f"expected the name of an object as text, got {type(name).__name__}")
    text = known_name(name)
    if text in visible:
        return text
    listed = f"here: {', '.join(visible)}" if visible else "nothing is seen here"
    if text in KINDS:
        raise NotFound(f"{name!r} is not seen from here; goto_loc where it is ({listed})")
    raise NotFound(f"no object named {name!r}.{did_you_mean(plain(name), visible)} ({listed})")


def _numbers(value: Any, what: str, wanted: str) -> Array:
    if value is None or isinstance(value, bool):
        raise TypeError(f"{what} must be {wanted}; got {value!r}")
    try:
        array = np.asarray(value, dtype=np.float64)
    except (TypeError, ValueError):
        raise TypeError(f"{what} must be {wanted}; got {value!r:.80}") from None
    if wanted == "a number" and array.shape != ():
        raise TypeError(f"{what} must be {wanted}; got shape {array.shape}")
    if not np.isfinite(array).all():
        raise LimitExceeded(f"{what} has a number that is not finite")
    return array
