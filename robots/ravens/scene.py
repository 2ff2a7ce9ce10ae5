"""The tabletop as plain data: places, colours, objects, names, and where everything stands.

Frame: metres, origin at the robot's base on the table top, x right, y away from the front edge
(towards the robot), z up. Angles are radians, counter-clockwise seen from above.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Literal

import numpy as np

from cap.errors import NotFound, UsageError, did_you_mean

Kind = Literal["block", "bowl"]
Vec3 = tuple[float, float, float]
Quat = tuple[float, float, float, float]

TABLE_X = (-0.3, 0.3)
TABLE_Y = (-0.8, -0.2)
EDGE_INSET = 0.02
"""An object's centre must stay this far from the table's edge, or a block would tip over it."""

COLORS: Mapping[str, tuple[int, int, int]] = {
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
"""RGB, 0 to 255."""

KINDS: tuple[Kind, ...] = ("block", "bowl")
ALL_NAMES = tuple(f"{color} {kind}" for kind in KINDS for color in COLORS)
DEFAULT_NAMES = tuple(
    f"{color} {kind}" for kind in KINDS for color in ("red", "green", "blue", "yellow")
)

CORNERS: Mapping[str, tuple[float, float]] = {
    "top left corner": (-0.25, -0.25),
    "top right corner": (0.25, -0.25),
    "bottom left corner": (-0.25, -0.75),
    "bottom right corner": (0.25, -0.75),
}
SIDES: Mapping[str, tuple[float, float]] = {
    "top side": (0.0, -0.25),
    "right side": (0.25, -0.5),
    "bottom side": (0.0, -0.75),
    "left side": (-0.25, -0.5),
}
PLACES: Mapping[str, tuple[float, float]] = {**CORNERS, **SIDES, "middle": (0.0, -0.5)}
_ALIASES = {
    "center": "middle",
    "centre": "middle",
    "grey block": "gray block",
    "grey bowl": "gray bowl",
}


def color_of(name: str) -> tuple[int, int, int]:
    """Return the colour that an object's name begins with, or gray; RGB, 0 to 255."""
    return COLORS.get(name.split()[0], COLORS["gray"])


BLOCK_HALF = 0.02
BLOCK_SIZE: Vec3 = (2 * BLOCK_HALF,) * 3
"""Edges of a block, metres."""
BOWL_HEIGHT = 0.036
BOWL_FLOOR = 0.004
"""Thickness of a bowl's floor."""
BOWL_WALL = 0.004
"""Thickness of a bowl's wall."""
BOWL_RIM_R = 0.061
"""Outer radius at the rim."""
BOWL_BASE_R = 0.047
"""Outer radius at the foot."""


@dataclass(frozen=True)
class Body:
    """One object and its pose."""

    name: str
    """Such as `red block`."""
    position: Vec3
    """Centre, metres: of the cube, or of the bowl's axis at half its height."""
    quaternion: Quat = (0.0, 0.0, 0.0, 1.0)
    """Orientation, x y z w."""
    size: Vec3 = BLOCK_SIZE
    """Edges of a box, metres; a bowl has the one size bowls have."""

    @property
    def half(self) -> tuple[float, float]:
        """Half the edges of a box seen from above, metres."""
        return (self.size[0] / 2, self.size[1] / 2)

    @property
    def kind(self) -> Kind:
        """`block` or `bowl`."""
        return "bowl" if self.name.endswith("bowl") else "block"

    @property
    def xy(self) -> tuple[float, float]:
        """Centre seen from above, metres."""
        return self.position[:2]

    @property
    def half_height(self) -> float:
        """From the centre to the top or the bottom, metres, when it stands upright."""
        return BOWL_HEIGHT / 2 if self.kind == "bowl" else self.size[2] / 2

    @property
    def top(self) -> float:
        """Height of its highest part, metres."""
        return self.position[2] + self.half_height

    @property
    def bottom(self) -> float:
        """Height of its lowest part, metres."""
        return self.position[2] - self.half_height

    @property
    def radius(self) -> float:
        """Radius of the circle around it seen from above, metres."""
        return BOWL_RIM_R if self.kind == "bowl" else max(self.half) * math.sqrt(2)

    @property
    def yaw(self) -> float:
        """Rotation about the vertical of its most level side, radians, whichever face is up."""
        x, y, z, w = self.quaternion
        axis_x = (1 - 2 * (y * y + z * z), 2 * (x * y + z * w), 2 * (x * z - y * w))
        axis_y = (2 * (x * y - z * w), 1 - 2 * (x * x + z * z), 2 * (y * z + x * w))
        level = axis_x if abs(axis_x[2]) <= abs(axis_y[2]) else axis_y
        return math.atan2(level[1], level[0])

    @property
    def lean(self) -> float:
        """Angle between the vertical and its own: of a bowl's axis, of a cube's nearest one."""
        x, y, z, w = self.quaternion
        upright = 1 - 2 * (x * x + y * y)
        if self.kind == "block":
            sides = (2 * (x * z - y * w), 2 * (y * z + x * w), upright)
            upright = max(abs(side) for side in sides)
        return math.acos(max(-1.0, min(1.0, upright)))

    def bbox(self) -> tuple[float, float, float, float]:
        """Return min x, min y, max x, max y of its outline seen from above, metres."""
        x, y = self.xy
        if self.kind == "bowl":
            return (x - BOWL_RIM_R, y - BOWL_RIM_R, x + BOWL_RIM_R, y + BOWL_RIM_R)
        c, s = abs(math.cos(self.yaw)), abs(math.sin(self.yaw))
        length, width = self.half
        across, up = length * c + width * s, length * s + width * c
        return (x - across, y - up, x + across, y + up)


def yaw_quaternion(yaw: float) -> Quat:
    """Return the rotation by `yaw` about the vertical."""
    return (0.0, 0.0, math.sin(yaw / 2), math.cos(yaw / 2))


@dataclass(frozen=True)
class Scene:
    """Every object's pose, in the order the objects were asked for."""

    bodies: tuple[Body, ...]
    """All of them, at rest."""

    @property
    def names(self) -> list[str]:
        """Object names in order."""
        return [body.name for body in self.bodies]

    def __getitem__(self, name: str) -> Body:
        """Return one body by its exact name."""
        return next(body for body in self.bodies if body.name == name)

    def others(self, *names: str) -> list[Body]:
        """Return the bodies not named."""
        return [body for body in self.bodies if body.name not in names]

    def moved(self, changes: Iterable[Body]) -> Scene:
        """Return a copy in which these bodies stand elsewhere."""
        new = {body.name: body for body in changes}
        return replace(self, bodies=tuple(new.get(body.name, body) for body in self.bodies))

    def top(self) -> float:
        """Return the height of the highest object, metres; 0 for an empty table."""
        return max((body.top for body in self.bodies), default=0.0)


def plain(name: str) -> str:
    """Return a name as this world writes it: lower case, no `the`, spaces for underscores."""
    words = name.replace("_", " ").lower().split()
    if words and words[0] == "the":
        words = words[1:]
    text = " ".join(words)
    return _ALIASES.get(text, text)


def find(name: str, known: Iterable[str], what: str = "object") -> str:
    """Return the known name that `name` means.

    Raises:
        NotFound: None of that name; the message lists the nearest and all of them.
    """
    if not isinstance(name, str):
        raise TypeError(f"expected the name of an {what} as text, got {type(name).__name__}")
    known = list(known)
    if (text := plain(name)) in known:
        return text
    hint = did_you_mean(text, known)
    raise NotFound(f"no {what} named {name!r}.{hint} Known: {', '.join(known)}")


def check_names(names: Sequence[str]) -> tuple[str, ...]:
    """Return the objects of a scene by their exact names.

    Raises:
        UsageError: A name is unknown or given twice.
    """
    found: list[str] = []
    for name in names:
        text = plain(name)
        if text not in ALL_NAMES:
            raise UsageError(
                f"no object named {name!r}.{did_you_mean(text, ALL_NAMES)} An object is a colour "
                f"and 'block' or 'bowl'; colours: {', '.join(COLORS)}"
            )
        if text in found:
            raise UsageError(f"object {text!r} is given twice; each colour exists once per kind")
        found.append(text)
    return tuple(found)


_SPAWN_X = (-0.24, 0.24)
_SPAWN_Y = (-0.74, -0.26)
_SPACING = {
    ("block", "block"): 0.1,
    ("block", "bowl"): 0.125,
    ("bowl", "block"): 0.125,
    ("bowl", "bowl"): 0.15,
}
"""Least distance between centres, metres: the gripper fits between any two."""
_LAYOUTS = 60
_TRIES = 120


def sample_scene(names: Sequence[str], rng: np.random.Generator) -> Scene:
    """Scatter objects over the table at random, each with room for the gripper around it.

    Bowls are laid out first, being larger; a layout that gets stuck is begun anew, a bounded
    number of times.

    Raises:
        UsageError: They do not fit.
    """
    order = sorted(names, key=lambda name: name.endswith("block"))
    most = 0
    for _ in range(_LAYOUTS):
        placed: list[Body] = []
        for name in order:
            body = _free_body(name, placed, rng)
            if body is None:
                break
            placed.append(body)
        most = max(most, len(placed))
        if len(placed) == len(order):
            by_name = {body.name: body for body in placed}
            return Scene(tuple(by_name[name] for name in names))
    raise UsageError(
        f"cannot place {len(order)} objects on the table: {most} found room in {_LAYOUTS} "
        "layouts; ask for fewer objects"
    )


def _free_body(name: str, placed: Sequence[Body], rng: np.random.Generator) -> Body | None:
    """Return the object somewhere clear of those already placed, or None."""
    for _ in range(_TRIES):
        x, y = float(rng.uniform(*_SPAWN_X)), float(rng.uniform(*_SPAWN_Y))
        body = Body(name, (x, y, 0.0))
        body = replace(body, position=(x, y, body.half_height))
        if all(math.dist(body.xy, o.xy) >= _SPACING[body.kind, o.kind] for o in placed):
            return body
    return None


def nearest_place(xy: Sequence[float], places: Mapping[str, tuple[float, float]]) -> str:
    """Return the name of the place closest to a point."""
    return min(places, key=lambda name: math.dist((xy[0], xy[1]), places[name]))
