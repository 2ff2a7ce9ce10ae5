"""The colours that blocks and bowls have, by name."""

from __future__ import annotations

from collections.abc import Mapping

Color = tuple[int, int, int]
"""Red, green and blue, 0 to 255."""

COLORS: Mapping[str, Color] = {
    "blue": (78, 121, 167),
    "red": (255, 87, 89),
    "green": (89, 169, 79),
    "orange": (242, 142, 43),
    "yellow": (237, 201, 72),
    "purple": (176, 122, 161),
    "pink": (255, 157, 167),
    "cyan": (118, 183, 178),
    "brown": (156, 117, 95),
    "gray": (186, 176, 172),
}
