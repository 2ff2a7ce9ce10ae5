"""Household objects: what they are, how large, and where each one is.

Frame: metres, world frame, z up; angles in radians, counter-clockwise seen from above. An object's
position is the middle of its bounding box.
"""

from __future__ import annotations

import math
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Literal

from cap.errors import UsageError, did_you_mean
from robots.table.colors import COLORS
from robots.table.geometry import Quat, Vec3
from robots.table.object_names import plain

Color = tuple[int, int, int]
Pose4 = tuple[float, float, float, float]
"""x, y, z in metres, and the turn about the vertical in radians."""

DISH_WALL_M = 0.005
DISH_FLOOR_M = 0.006
_BOWL_M = 0.05
"""A dish higher than this is a bowl, a lower one a plate."""
_LATER = re.compile(r"(.+) after (\d{1,5}(?:\.\d+)?) ?s(?:econds)?")
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


def _plate(color: Color) -> Kind:
    return Kind("dish", "dish", (0.25, 0.25, 0.03), 0.3, color, 0.11)


def _block(color: Color) -> Kind:
    return Kind("toy", "box", (0.04, 0.04, 0.04), 0.04, color)


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
    "bowl": Kind("dish", "dish", (0.31, 0.31, 0.065), 0.35, (118, 140, 190), 0.13),
    "cup": Kind("dish", "cylinder", (0.076, 0.076, 0.09), 0.2, (208, 206, 200)),
    "sponge": Kind("cleaning", "box", (0.1, 0.065, 0.032), 0.03, (232, 196, 88)),
    "soap bottle": Kind("cleaning", "cylinder", (0.06, 0.06, 0.17), 0.3, (110, 176, 166)),
    "strawberry": Kind("fruit", "cylinder", (0.036, 0.036, 0.034), 0.02, (206, 40, 56)),
    "plum": Kind("fruit", "cylinder", (0.048, 0.048, 0.044), 0.06, (104, 52, 116)),
    "lime": Kind("fruit", "cylinder", (0.05, 0.05, 0.046), 0.07, (96, 164, 62)),
    "green apple": Kind("fruit", "cylinder", (0.068, 0.068, 0.062), 0.15, (140, 190, 74)),
    "pear": Kind("fruit", "cylinder", (0.062, 0.062, 0.088), 0.17, (202, 204, 88)),
    "peach": Kind("fruit", "cylinder", (0.07, 0.07, 0.064), 0.15, (240, 160, 110)),
    "grapefruit": Kind("fruit", "cylinder", (0.088, 0.088, 0.082), 0.3, (240, 128, 92)),
    **{f"{name} block": _block(COLORS[name]) for name in ("red", "green", "blue")},
    "avocado": Kind("fruit", "cylinder", (0.06, 0.06, 0.07), 0.15, (62, 84, 44)),
    **{
        f"{name} bottle": Kind("drink", "cylinder", (0.064, 0.064, 0.19), 0.35, COLORS[name])
        for name in ("red", "green", "blue", "yellow")
    },
    "egg": Kind("egg", "cylinder", (0.044, 0.044, 0.056), 0.06, (236, 220, 196)),
    "red plate": _plate((196, 52, 52)),
    "green plate": _plate((86, 160, 78)),
    "blue plate": _plate((66, 110, 190)),
    "yellow plate": _plate((230, 206, 74)),
    "white plate": _plate((238, 238, 234)),
    "diet coke": Kind("drink", "cylinder", (0.066, 0.066, 0.12), 0.35, (196, 198, 202)),
    "cherry coke": Kind("drink", "cylinder", (0.066, 0.066, 0.12), 0.35, (128, 20, 62)),
    "pepsi": Kind("drink", "cylinder", (0.066, 0.066, 0.12), 0.35, (26, 64, 150)),
    "7up": Kind("drink", "cylinder", (0.066, 0.066, 0.12), 0.35, (24, 130, 70)),
    "red bull": Kind("drink", "cylinder", (0.054, 0.054, 0.135), 0.27, (62, 84, 150)),
    "lime soda": Kind("drink", "cylinder", (0.066, 0.066, 0.12), 0.35, (168, 206, 92)),
    "grapefruit soda": Kind("drink", "cylinder", (0.066, 0.066, 0.12), 0.35, (236, 140, 120)),
    "tea": Kind("drink", "cylinder", (0.066, 0.066, 0.19), 0.4, (152, 92, 44)),
    "energy bar": Kind("snack", "box", (0.1, 0.04, 0.028), 0.05, (196, 158, 62)),
    "kettle chips": Kind("snack", "box", (0.13, 0.055, 0.15), 0.1, (150, 60, 60)),
    "rice chips": Kind("snack", "box", (0.13, 0.055, 0.15), 0.1, (226, 214, 176)),
    "multigrain chips": Kind("snack", "box", (0.13, 0.055, 0.15), 0.1, (140, 112, 72)),
    "jalapeno chips": Kind("snack", "box", (0.13, 0.055, 0.15), 0.1, (70, 138, 58)),
}
"""Every object there is, by name."""
DEFAULT_NAMES = (
    *("apple", "banana", "orange", "coke can", "water bottle", "juice box"),
    *("chip bag", "cracker box", "bowl", "cup", "sponge"),
)
_ALIASES = {
    **dict.fromkeys(("coke", "cola", "can of coke", "coca cola", "coca cola can"), "coke can"),
    **dict.fromkeys(("7 up", "seven up", "7up can"), "7up"),
    "pepsi can": "pepsi",
    "lime soda can": "lime soda",
    **dict.fromkeys(("chips", "chips bag", "bag of chips"), "chip bag"),
    **dict.fromkeys(("water", "bottle of water"), "water bottle"),
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

    @property
    def girth_m(self) -> float:
        """Diameter of a circle around it seen from above as it stands or lies now, metres."""
        return 2 * self.radius if self.lean < UPRIGHT_RAD else math.hypot(*self.kind.size)

    def at(self, position: Vec3) -> Thing:
        """Return it elsewhere, turned as it is."""
        return replace(self, position=position)


def known_name(name: str) -> str:
    """Return an object's name as this world writes it: lower case, no article, no underscore."""
    text = plain(name)
    text = text.split(" ", 1)[1] if text.split(" ")[0] in ("a", "an") and " " in text else text
    return _ALIASES.get(text, text)


@dataclass(frozen=True)
class SceneEntry:
    """An object that a scene is to have."""

    name: str
    """Such as `coke can`."""
    place: str = ""
    """Location, if one was asked for."""
    after_s: float = 0.0
    """Simulated time after which it appears; 0 for what is there from the start."""


def scene_entries(names: Sequence[str]) -> tuple[SceneEntry, ...]:
    """Return the objects asked for, from `apple`, `apple @ desk` or `apple @ desk after 20 s`.

    Raises:
        UsageError: A name is unknown or given twice.
    """
    found: dict[str, SceneEntry] = {}
    for given in names:
        later = _LATER.fullmatch(given)
        what, after_s = (later[1], float(later[2])) if later else (given, 0.0)
        name, _, place = what.partition("@")
        text = known_name(name.strip())
        if text not in KINDS:
            raise UsageError(
                f"no object named {name.strip()!r:.80}.{did_you_mean(text, KINDS)} "
                f"Known: {', '.join(KINDS)}"
            )
        if text in found:
            raise UsageError(f"object {text!r} is given twice; each exists once")
        found[text] = SceneEntry(text, plain(place.strip()), after_s)
    return tuple(found.values())
