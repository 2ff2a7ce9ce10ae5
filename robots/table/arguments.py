"""What programs hand to primitives, read leniently: names, points, objects at points."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence, Set
from typing import Any

import numpy as np
from numpy.typing import NDArray

from cap.errors import Collision, LimitExceeded, NotFound
from robots.table.geometry import PLACES, XY, Solid
from robots.table.numbers import finite_numbers
from robots.table.object_names import find

Place = str | Sequence[float] | NDArray[np.float64]

_PICK_RADIUS = 0.03
"""An object given by a point may be this far from it, metres."""


def point(value: Any, what: str) -> XY:
    """Return x and y as floats.

    Raises:
        TypeError: It is not two finite numbers.
        LimitExceeded: A number is more than a float holds.
    """
    x, y = finite_numbers(value, what, "x and y, two finite numbers", (2,))
    return float(x), float(y)


def count(value: Any, what: str, least: int) -> int:
    """Return a whole number.

    Raises:
        TypeError: It is none.
        LimitExceeded: It is too small.
    """
    if isinstance(value, bool) or not isinstance(value, int | np.integer):
        raise TypeError(f"{what} must be a whole number; got a {type(value).__name__}")
    if value < least:
        raise LimitExceeded(f"{what} must be {least} or more")
    return int(value)


def names_in_order(value: Any, what: str, call: str) -> list[str]:
    """Return a list of names.

    Args:
        value: What was handed over.
        what: Its name, for the message.
        call: How it is called, for the message.

    Raises:
        TypeError: It is no list: one name, or something without an order or with more than names.
    """
    if isinstance(value, str | bytes | Mapping | Set) or not isinstance(value, Iterable):
        kind = "one name" if isinstance(value, str) else f"a {type(value).__name__}"
        raise TypeError(f"{what} must be a list of names, not {kind}: {call}")
    return list(value)


def object_at(objects: Sequence[Solid], first: Place) -> str:
    """Return the exact name of an object given by its name or by a point.

    Raises:
        NotFound: No object of that name, or none at that point.
    """
    if isinstance(first, str):
        return find(first, [each.name for each in objects])
    xy = point(first, "first")
    near = [each for each in objects if math.dist(each.xy, xy) < _PICK_RADIUS]
    if not near:
        raise NotFound(
            f"no object within {100 * _PICK_RADIUS:.0f} cm of ({xy[0]:.4g}, {xy[1]:.4g}); "
            "give its name or its exact position"
        )
    return max(near, key=lambda each: each.top).name


def named_points(objects: Iterable[Solid]) -> dict[str, XY]:
    """Return the xy of every place and object by name, metres."""
    return {**PLACES, **{each.name: each.xy for each in objects}}


def target(objects: Iterable[Solid], second: Place, moving: str | None = None) -> XY:
    """Return the point that a name or a point means, metres.

    Raises:
        NotFound: No object or place of that name.
        Collision: It is the object that is to be moved there.
    """
    if not isinstance(second, str):
        return point(second, "the target")
    known = named_points(objects)
    name = find(second, known, "object or place")
    if name == moving:
        raise Collision(f"{name!r} cannot be put on itself")
    return known[name]
