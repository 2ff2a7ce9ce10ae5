"""What programs hand to primitives, read leniently: names, points, objects at points."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from cap.errors import Collision, NotFound
from robots.ravens.scene import PLACES, Scene, find

Place = str | Sequence[float] | NDArray[np.float64]
Point = tuple[float, float]

_PICK_RADIUS = 0.03
"""An object given by a point may be this far from it, metres."""


def point(value: Any, what: str) -> Point:
    """Return x and y as floats.

    Raises:
        TypeError: It is not two finite numbers.
    """
    try:
        array = np.asarray(value, dtype=np.float64)
    except (TypeError, ValueError):
        raise TypeError(f"{what} must be x and y, two numbers; got {value!r}") from None
    if array.shape != (2,) or not np.isfinite(array).all():
        raise TypeError(
            f"{what} must be x and y, two finite numbers; got shape {array.shape}: {value!r}"
        )
    return float(array[0]), float(array[1])


def object_at(scene: Scene, first: Place) -> str:
    """Return the exact name of an object given by its name or by a point.

    Raises:
        NotFound: No object of that name, or none at that point.
    """
    if isinstance(first, str):
        return find(first, scene.names)
    xy = point(first, "first")
    near = [body for body in scene.bodies if math.dist(body.xy, xy) < _PICK_RADIUS]
    if not near:
        raise NotFound(
            f"no object within {100 * _PICK_RADIUS:.0f} cm of ({xy[0]:.2f}, {xy[1]:.2f}); "
            "give its name or its exact position"
        )
    return max(near, key=lambda body: body.top).name


def named_points(scene: Scene) -> dict[str, Point]:
    """Return the xy of every place and object by name, metres."""
    return {**PLACES, **{body.name: body.xy for body in scene.bodies}}


def target(scene: Scene, second: Place, moving: str | None = None) -> Point:
    """Return the point that a name or a point means, metres.

    Raises:
        NotFound: No object or place of that name.
        Collision: It is the object that is to be moved there.
    """
    if not isinstance(second, str):
        return point(second, "the target")
    known = named_points(scene)
    name = find(second, known, "object or place")
    if name == moving:
        raise Collision(f"{name!r} cannot be put on itself")
    return known[name]
