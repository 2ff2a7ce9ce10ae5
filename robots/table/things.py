"""What may stand on a table besides coloured blocks and bowls: fruit and plates, as boxes.

Fruit is as broad as a gripper can take; a plate is flat, and only what stands on it is moved.
"""

from __future__ import annotations

import tomllib
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from robots.table.colors import COLORS, Color
from robots.table.geometry import Vec3

_THINGS: Mapping[str, Any] = tomllib.loads(
    Path(__file__).with_name("things.toml").read_text(encoding="utf-8")
)
SIZES: Mapping[str, Vec3] = {name: tuple(thing["size_m"]) for name, thing in _THINGS.items()}
"""Length, width and height, metres, by name."""
COLOR_OF: Mapping[str, Color] = {name: tuple(thing["color"]) for name, thing in _THINGS.items()}
"""Red, green and blue, 0 to 255."""


def color_of(name: str) -> Color:
    """Return the colour of an object, that its name begins with, or gray; RGB, 0 to 255."""
    return COLOR_OF.get(name) or COLORS.get(name.split()[0], COLORS["gray"])
