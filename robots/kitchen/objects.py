"""Household objects: what they are, how large, and where each one is.

Frame: metres, world frame, z up; angles in radians, counter-clockwise seen from above. An object's
position is the middle of its bounding box.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Literal

from cap.errors import UsageError, did_you_mean
from robots.table.geometry import Quat, Rectangle, Vec3
from robots.table.object_names import plain

Color = tuple[int, int, int]
Pose4 = tuple[float, float, float, float]
"""x, y, z in metres, and the turn about the vertical in radians."""

BOWL_WALL_M = 0.005
BOWL_FLOOR_M = 0.006
BOWL_FOOT_R = 0.13
"""Outer radius of a bowl's foot, metres."""


@dataclass(frozen=True)
class Kind:
    """What every object of a name is like."""

    category: str
    """`fruit`, `drink`, `snack`, `dish` or `cleaning`."""
    shape: Literal["cylinder", "box", "bowl"]
    """Its body: fruit is a short cylinder, so that it stays where it is put."""
    size: Vec3
    """Length, width and height as it stands, metres; of a round one the diameter twice."""
    mass_kg: float
    """Mass."""
    color: Color
    """RGB, 0 to 255."""


KINDS: Mapping[str, Kind] = {
    "apple": Kind("fruit", "cylinder", (0.07, 0.07, 0.065), 0.16, (196, 49, 46)),
    "banana": Kind("fruit", "box", (0.13, 0.036, 0.036), 0.12, (243, 211, 70)),
    "orange": Kind("fruit", "cylinder", (0.072, 0.072, 0.068), 0.16, (243, 146, 45)),
    "lemon": Kind("fruit", "cylinder", (0.056, 0.056, 0.052), 0.1, (222, 214, 60)),
    "coke can": Kind("drink", "cylinder", (0.066, 0.066, 0.12), 0.35, (168, 24, 34)),
    "water bottle": Kind("drink", "cylinder", (0.066, 0.066, 0.2), 0.4, (106, 170, 214)),
    "juice box": Kind("drink", "box", (0.06, 0.045, 0.11), 0.25, (122, 178, 92)),
    "chip bag": Kind("snack", "box", (0.13, 0.055, 0.15), 0.1, (226, 122, 52)),
    "cracker box": Kind("snack", "box", (0.12, 0.055, 0.16), 0.2, (160, 76, 60)),
    "candy bar": Kind("snack", "box", (0.1, 0.04, 0.028), 0.05, (112, 74, 52)),
    "bowl": Kind("dish", "bowl", (0.31, 0.31, 0.065), 0.35, (118, 140, 190)),
    "cup": Kind("dish", "cylinder", (0.076, 0.076, 0.09), 0.2, (208, 206, 200)),
    "sponge": Kind("cleaning", "box", (0.1, 0.065, 0.032), 0.03, (232, 196, 88)),
    "soap bottle": Kind("cleaning", "cylinder", (0.06, 0.06, 0.17), 0.3, (110, 176, 166)),
}
"""Every object there is, by name."""
DEFAULT_NAMES = tuple(name for name in KINDS if name not in ("lemon", "candy bar", "soap bottle"))
_ALIASES = {
    **dict.fromkeys(("coke", "cola", "can of coke"), "coke can"),
    **dict.fromkeys(("chips", "chips bag", "bag of chips"), "chip bag"),
    **dict.fromkeys(("water", "bottle of water"), "water bottle"),
}


@dataclass(frozen=True)
class Thing:
    """One object and its pose."""

    name: str
    """Such as `coke can`."""
    position: Vec3
    """Middle, metres."""
    quaternion: Quat = (0.0, 0.0, 0.0, 1.0)
    """Orientation, x y z w."""

    @property
    def kind(self) -> Kind:
        """What objects of its name are like."""
        return KINDS[self.name]

    @property
    def xy(self) -> tuple[float, float]:
        """Middle seen from above, metres."""
        return self.position[:2]

    @property
    def half_height(self) -> float:
        """From its middle to its top as it lies now, metres."""
        length, width, height = self.kind.size
        x, y, z, w = self.quaternion
        row = (abs(2 * (x * z - y * w)), abs(2 * (y * z + x * w)), abs(1 - 2 * (x * x + y * y)))
        if self.kind.shape == "cylinder":
            return row[2] * height / 2 + math.hypot(row[0], row[1]) * length / 2
        return (row[0] * length + row[1] * width + row[2] * height) / 2

    @property
    def top(self) -> float:
        """Height of its highest part, metres."""
        return self.position[2] + self.half_height

    @property
    def bottom(self) -> float:
        """Height of its lowest part, metres."""
        return self.position[2] - self.half_height

    @property
    def lean(self) -> float:
        """Angle between its own upright and the vertical, radians."""
        x, y, _, _ = self.quaternion
        return math.acos(max(-1.0, min(1.0, 1 - 2 * (x * x + y * y))))

    @property
    def yaw(self) -> float:
        """Direction of its length seen from above, radians."""
        x, y, z, w = self.quaternion
        return math.atan2(2 * (x * y + z * w), 1 - 2 * (y * y + z * z))

    @property
    def pose(self) -> Pose4:
        """Its middle and the direction of its length."""
        return (*self.position, self.yaw)

    @property
    def radius(self) -> float:
        """Radius of the circle around it seen from above, metres, as it stands upright."""
        length, width, _ = self.kind.size
        return math.hypot(length, width) / 2 if self.kind.shape == "box" else length / 2

    def outline(self, margin_m: float = 0.0) -> Rectangle:
        """Return the rectangle around it seen from above, as it stands upright."""
        length, width, _ = self.kind.size
        return (*self.xy, length / 2 + margin_m, width / 2 + margin_m, self.yaw)

    def at(self, position: Vec3) -> Thing:
        """Return it elsewhere, turned as it is."""
        return replace(self, position=position)


def known_name(name: str) -> str:
    """Return an object's name as this world writes it: lower case, no article, no underscore."""
    text = plain(name)
    text = text.split(" ", 1)[1] if text.split(" ")[0] in ("a", "an") and " " in text else text
    return _ALIASES.get(text, text)


def check_names(names: Sequence[str]) -> tuple[tuple[str, str], ...]:
    """Return objects and the places asked for them, from `apple` or `apple @ desk`.

    Raises:
        UsageError: A name is unknown or given twice.
    """
    found: dict[str, str] = {}
    for given in names:
        name, _, place = given.partition("@")
        text = known_name(name.strip())
        if text not in KINDS:
            raise UsageError(
                f"no object named {name.strip()!r}.{did_you_mean(text, KINDS)} "
                f"Known: {', '.join(KINDS)}"
            )
        if text in found:
            raise UsageError(f"object {text!r} is given twice; each exists once")
        found[text] = plain(place.strip())
    return tuple(found.items())
