"""What programs hand to primitives, checked: positions, trajectories, speeds, velocities."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any, Literal, cast, get_args

import numpy as np
from numpy.typing import NDArray

from cap.errors import LimitExceeded, NotFound, Unreachable, misspelt
from robots.kitchen.objects import CALLED, KINDS, known_name
from robots.kitchen.room import ROOM_X, ROOM_Y, Point
from robots.table.numbers import finite_numbers

Array = NDArray[np.float64]
Relation = Literal["", "in", "on", "beside"]
"""How something is to be put down by an object or a location; "" for as that takes things."""
Points = Sequence[Sequence[float]] | Array
MAX_SPEED_MPS = 1.0
MAX_TURN_RADPS = 1.5
MAX_POINTS = 1000
MAX_WAIT_S = 600.0
_FAR_M = 100.0
_FLOOR = "x {:g} to {:g} m, y {:g} to {:g} m".format(*ROOM_X, *ROOM_Y)


def position(value: Any, what: str) -> Point:
    """Return x and y of a position of the floor plan; its height, if given, is not needed.

    Raises:
        Unreachable: It is far away.
        TypeError: It is not two or three finite numbers.
    """
    x, y = finite_numbers(
        value, what, "a position of x, y and z, three finite numbers", (2,), (3,)
    ).tolist()[:2]
    if max(abs(x), abs(y)) > _FAR_M:
        raise Unreachable(f"{what} ({x:.3g}, {y:.3g}) m is far outside the room: {_FLOOR}")
    return x, y


def trajectory(value: Any) -> list[Point]:
    """Return waypoints as x and y.

    Raises:
        LimitExceeded: Fewer than two or too many.
        Unreachable: A point is far away.
        TypeError: They are not points.
    """
    if not hasattr(value, "__len__") or isinstance(value, str):
        raise TypeError(f"traj must be points, shape (n, 3); got a {type(value).__name__}")
    if not 2 <= len(value) <= MAX_POINTS:
        raise LimitExceeded(f"traj must have 2 to {MAX_POINTS} points; it has {len(value)}")
    return [position(point, "a point of traj") for point in value]


def number(value: Any, what: str) -> float:
    """Return one finite number.

    Raises:
        TypeError: It is none.
    """
    return float(finite_numbers(value, what, "a finite number", ()))


def speed(value: Any) -> float:
    """Return a driving speed, m/s.

    Raises:
        LimitExceeded: It is not above 0 and at most 1 m/s.
    """
    mps = number(value, "speed")
    if not 0.0 < mps <= MAX_SPEED_MPS:
        raise LimitExceeded(f"speed {mps:g} m/s; it must be above 0 and at most {MAX_SPEED_MPS}")
    return mps


def heading(value: Any) -> float | None:
    """Return an angle in radians, or None."""
    return None if value is None else math.remainder(number(value, "angle"), 2 * math.pi)


def velocity(x: Any, y: Any, turn: Any) -> tuple[float, float, float]:
    """Return a velocity: m/s to the right and ahead, rad/s to the left.

    Raises:
        LimitExceeded: It is beyond the limits.
    """
    right, ahead, turning = number(x, "x"), number(y, "y"), number(turn, "turn")
    if math.hypot(right, ahead) > MAX_SPEED_MPS + 1e-9:
        raise LimitExceeded(
            f"velocity ({right:g}, {ahead:g}) m/s; at most {MAX_SPEED_MPS} m/s in all"
        )
    if abs(turning) > MAX_TURN_RADPS:
        raise LimitExceeded(f"turn {turning:g} rad/s; at most {MAX_TURN_RADPS} rad/s")
    return right, ahead, turning


def relation(value: Any) -> Relation:
    """Return how something is to be put down.

    Raises:
        TypeError: It is not one of those ways.
    """
    if isinstance(value, str) and value in get_args(Relation):
        return cast(Relation, value)
    shown = f"{value!r:.80}" if isinstance(value, str) else type(value).__name__
    raise TypeError(f"relation must be 'in', 'on', 'beside' or ''; got {shown}")


def taken(relation: Relation, hollow: bool, name: str) -> str:
    """Return how something takes things: in it if it is hollow, else on it.

    Raises:
        Unreachable: Another way is asked for.
    """
    takes = "in" if hollow else "on"
    if relation not in ("", takes):
        raise Unreachable(f"things go {takes} the {name}, not {relation} it")
    return takes


def seconds(value: Any) -> float:
    """Return how long to wait.

    Raises:
        LimitExceeded: It is negative or more than 600 s.
    """
    wait_s = number(value, "seconds")
    if not 0.0 <= wait_s <= MAX_WAIT_S:
        raise LimitExceeded(f"cannot wait {wait_s:g} s; seconds must be 0 to {MAX_WAIT_S:g}")
    return wait_s


def name_of(name: Any) -> str:
    """Return a name as this world writes it, whether or not anything has it.

    Raises:
        NotFound: It is an empty list of names: nothing was found.
        TypeError: It is no text.
    """
    if isinstance(name, list | tuple) and not name:
        raise NotFound("no such object is seen here: the list of names is empty")
    if not isinstance(name, str):
        raise TypeError(f"expected a name as text, got {type(name).__name__}")
    return known_name(name)


def object_of(name: Any, visible: Sequence[str]) -> str:
    """Return the exact name of an object, seen or not; of a kind, the one that is seen.

    Raises:
        NotFound: There is nothing of that name, or several of that kind are seen.
        TypeError: It is no text.
    """
    if (text := name_of(name)) in KINDS:
        return text
    found = [each for each in visible if each in CALLED.get(text, ())]
    if len(found) == 1:
        return found[0]
    if found:
        raise NotFound(f"{text!r} may be any of these here: {', '.join(found)}; name one")
    if not text:
        raise NotFound(f"no object is named; say which one is meant ({_listed(visible)})")
    hint = misspelt(text, visible)
    raise NotFound(f"no object named {name!r:.80}.{hint} ({_listed(visible)})")


def seen(name: Any, visible: Sequence[str]) -> str:
    """Return the exact name of an object that is seen.

    Raises:
        NotFound: It is not at the present location, or there is nothing of that name.
        TypeError: It is no text.
    """
    if (text := object_of(name, visible)) in visible:
        return text
    raise NotFound(f"{name!r:.80} is not seen from here; goto_loc where it is ({_listed(visible)})")


def _listed(visible: Sequence[str]) -> str:
    return f"here: {', '.join(visible)}" if visible else "nothing is seen here"
