"""Whether a `view` event can be drawn: a file may hold one of another version, or a damaged one."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

_FARTHEST = 1e6
"""Nothing that is drawn is so far away, or so large."""
_SIZES = {"box": 3, "cylinder": 2}


def can_be_drawn(view: Mapping[str, Any]) -> bool:
    """Tell whether shapes, placements, lines and what is gone all have the form they should."""
    shapes, placements = view.get("shapes", {}), view.get("placements", {})
    gone, lines = view.get("gone", []), view.get("lines", [])
    return (
        isinstance(shapes, dict)
        and all(isinstance(own, list) and all(map(_is_solid, own)) for own in shapes.values())
        and isinstance(placements, dict)
        and all(_are_numbers(place, 7) for place in placements.values())
        and isinstance(gone, list)
        and all(isinstance(name, str) for name in gone)
        and isinstance(lines, list)
        and all(
            isinstance(line, dict)
            and _are_points(line.get("points"), 3)
            and _are_numbers(line.get("color"), 3)
            and _are_numbers([line.get("width_m")], 1)
            for line in lines
        )
    )


def _is_solid(shape: Any) -> bool:
    """Tell whether it is a box, a cylinder or a lathe in one colour."""
    if not isinstance(shape, dict) or not _are_numbers(shape.get("color"), 3):
        return False
    if "at" in shape and not _are_numbers(shape["at"], 7):
        return False
    if shape.get("kind") == "lathe":
        return bool(shape.get("profile")) and _are_points(shape["profile"], 2)
    size = _SIZES.get(str(shape.get("kind")))
    return size is not None and _are_numbers(shape.get("size"), size)


def _are_points(value: Any, count: int) -> bool:
    return isinstance(value, list) and all(_are_numbers(point, count) for point in value)


def _are_numbers(value: Any, count: int) -> bool:
    return (
        isinstance(value, list)
        and len(value) == count
        and all(type(one) in (int, float) and abs(one) < _FARTHEST for one in value)
    )
