"""What may stand on a table besides coloured blocks and bowls: fruit and plates, as boxes.

Fruit is as broad as a gripper can take; a plate is flat, and only what stands on it is moved.
"""

from __future__ import annotations

from collections.abc import Mapping

from robots.table.colors import COLORS, Color
from robots.table.geometry import Vec3

_PLATE: Vec3 = (0.2, 0.2, 0.012)

SIZES: Mapping[str, Vec3] = {
    "apple": (0.066, 0.066, 0.064),
    "green apple": (0.064, 0.064, 0.062),
    "orange": (0.068, 0.068, 0.066),
    "peach": (0.062, 0.062, 0.06),
    "pear": (0.058, 0.058, 0.08),
    "lemon": (0.052, 0.048, 0.048),
    "lime": (0.046, 0.044, 0.044),
    "plum": (0.044, 0.044, 0.042),
    "strawberry": (0.034, 0.034, 0.034),
    "banana": (0.1, 0.034, 0.034),
    "avocado": (0.06, 0.056, 0.06),
    "grapefruit": (0.078, 0.078, 0.076),
    "egg": (0.05, 0.042, 0.042),
    "plate": _PLATE,
    **{f"{color} plate": _PLATE for color in ("red", "green", "blue", "yellow", "white")},
}
"""Length, width and height, metres, by name."""
COLOR_OF: Mapping[str, Color] = {
    "apple": (196, 49, 46),
    "green apple": (140, 190, 74),
    "orange": (243, 146, 45),
    "peach": (240, 160, 110),
    "pear": (202, 204, 88),
    "lemon": (222, 214, 60),
    "lime": (96, 164, 62),
    "plum": (104, 52, 116),
    "strawberry": (206, 40, 56),
    "banana": (243, 211, 70),
    "avocado": (62, 84, 44),
    "grapefruit": (240, 128, 92),
    "egg": (236, 220, 196),
    "plate": (238, 238, 234),
    "white plate": (238, 238, 234),
    **{f"{color} plate": COLORS[color] for color in ("red", "green", "blue", "yellow")},
}
"""Red, green and blue, 0 to 255."""


def color_of(name: str) -> Color:
    """Return the colour of an object, that its name begins with, or gray; RGB, 0 to 255."""
    return COLOR_OF.get(name) or COLORS.get(name.split()[0], COLORS["gray"])
