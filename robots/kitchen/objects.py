"""Household objects: what they are, how large, and where each one is.

Frame: metres, world frame, z up; angles in radians, counter-clockwise seen from above. An object's
position is the middle of its bounding box.
"""

from __future__ import annotations

import math
import tomllib
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

import msgspec

from robots.table.geometry import Rectangle, Solid, Vec3
from robots.table.object_names import plain

Color = tuple[int, int, int]
Pose4 = tuple[float, float, float, float]
"""x, y, z in metres, and the turn about the vertical in radians."""

DISH_WALL_M = 0.005
DISH_FLOOR_M = 0.006
_BOWL_M = 0.05
"""A dish higher than this is a bowl, a lower one a plate."""
_CORNERS = 1.04
"""A dish is built of flat pieces, whose corners reach so much further than its radius."""
UPRIGHT_RAD = 0.1
"""What leans less than this stands."""


@dataclass(frozen=True)
class Kind:
    """What every object of a name is like."""

    category: str
    """`fruit`, `egg`, `drink`, `snack`, `dish`, `cleaning` or `toy`."""
    shape: Literal["cylinder", "box", "dish"]
    """Its body: fruit is a short cylinder, so that it stays where it is put; a dish is hollow."""
    size: Vec3
    """Length, width and height as it stands, metres; of a round one the diameter twice."""
    mass_kg: float
    """Mass."""
    color: Color
    """RGB, 0 to 255."""
    foot_r: float = 0.0
    """Of a dish, a bowl or a plate: outer radius of its foot, metres."""

    @property
    def bowl(self) -> bool:
        """Whether things go into it; onto any other dish."""
        return self.foot_r > 0 and self.size[2] > _BOWL_M

    @property
    def flat_top(self) -> bool:
        """Whether a thing stays on top of it."""
        return self.shape != "dish" and self.category not in ("fruit", "egg")


_DATA: Mapping[str, Any] = tomllib.loads(
    Path(__file__).with_name("things.toml").read_text(encoding="utf-8")
)
KINDS = msgspec.convert(_DATA["kinds"], dict[str, Kind])
"""Every object there is, by name."""
_ALIASES: Mapping[str, str] = {
    alias: name for name, aliases in _DATA["aliases"].items() for alias in aliases
}
_SODAS = (
    *("coke can", "diet coke", "cherry coke", "pepsi", "7up"),
    *("lime soda", "grapefruit soda"),
)
CALLED = {
    **dict.fromkeys(("soda", "soda can", "can of soda", "can"), _SODAS),
    "bottle": tuple(name for name in KINDS if name.endswith(" bottle")),
    "plate": tuple(name for name in KINDS if name.endswith(" plate")),
    "chips": tuple(name for name in KINDS if "chip" in name),
    "fruit": tuple(name for name, kind in KINDS.items() if kind.category == "fruit"),
}
"""What a kind of thing is called: it means the one of them that is seen, if there is one alone."""


@dataclass(frozen=True)
class Thing(Solid):
    """One object, such as a `coke can`."""

    @property
    def kind(self) -> Kind:
        """What objects of its name are like."""
        return KINDS[self.name]

    @property
    def half_height(self) -> float:
        """From its middle to its top as it lies now, metres."""
        length, width, height = self.kind.size
        x, y, z = map(abs, self.axes[2])
        if self.kind.shape == "cylinder":
            return z * height / 2 + math.hypot(x, y) * length / 2
        return (x * length + y * width + z * height) / 2

    @property
    def lean(self) -> float:
        """Angle between its own upright and the vertical, radians."""
        return math.acos(max(-1.0, min(1.0, self.axes[2][2])))

    @property
    def yaw(self) -> float:
        """Direction of its length seen from above, radians."""
        x, y, _ = self.axes
        return math.atan2(y[0], x[0])

    @property
    def pose(self) -> Pose4:
        """Its middle and the direction of its length."""
        return (*self.position, self.yaw)

    @property
    def radius(self) -> float:
        """Radius of the circle around it seen from above, metres, as it stands upright."""
        length, width, _ = self.kind.size
        return math.hypot(length, width) / 2 if self.kind.shape == "box" else length / 2

    @property
    def girth_m(self) -> float:
        """Diameter of a circle around it seen from above as it stands or lies now, metres."""
        return 2 * self.radius if self.lean < UPRIGHT_RAD else math.hypot(*self.kind.size)

    @property
    def rectangle(self) -> Rectangle:
        """The rectangle around it seen from above as it lies now."""
        shape = footprint(self)
        return (*self.xy, shape.length / 2, shape.width / 2, shape.yaw)

    @property
    def outline(self) -> Rectangle | None:
        """What it covers seen from above as it lies now; None of what is round."""
        return None if self.kind.shape == "dish" or footprint(self).round else self.rectangle

    @property
    def outer_r(self) -> float:
        """Radius of what is round, metres."""
        return self.radius * (_CORNERS if self.kind.shape == "dish" else 1.0)

    def inner_r(self, z: float) -> float:
        """Return the radius of a bowl or plate inside at a height, metres; 0 of other things."""
        if self.kind.shape != "dish":
            return 0.0
        share = min(max((z - self.bottom) / self.kind.size[2], 0.0), 1.0)
        foot_r = self.kind.foot_r
        return foot_r + share * (self.radius - foot_r) - 1.5 * DISH_WALL_M


@dataclass(frozen=True)
class Footprint:
    """An object as the gripper meets it: a box, or an upright cylinder."""

    length: float
    """Metres."""
    width: float
    """Metres."""
    height: float
    """Metres."""
    yaw: float
    """Direction of the length, radians."""
    round: bool
    """An upright cylinder."""


def footprint(thing: Thing) -> Footprint:
    """Return how an object lies: the axis nearest the vertical is its height now."""
    x, y, z = thing.axes
    size = thing.kind.size
    up = max(range(3), key=lambda axis: abs(z[axis]))
    level = [axis for axis in range(3) if axis != up]
    first, second = sorted(level, key=lambda axis: -size[axis])
    yaw = math.atan2(y[first], x[first])
    upright = thing.kind.shape != "box" and up == 2
    return Footprint(size[first], size[second], size[up], yaw, upright)


def known_name(name: str) -> str:
    """Return an object's name as this world writes it: lower case, no article, no underscore."""
    text = plain(name)
    text = text.split(" ", 1)[1] if text.split(" ")[0] in ("a", "an") and " " in text else text
    return _ALIASES.get(text, text)
