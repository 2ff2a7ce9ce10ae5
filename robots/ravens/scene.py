"""The tabletop's blocks and bowls as plain data: their sizes, where each is, and what is free."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace

import numpy as np
import shapely
from numpy.typing import NDArray

from cap.errors import NotFound, UsageError
from robots.table.geometry import (
    TABLE_X,
    TABLE_Y,
    XY,
    Rectangle,
    Solid,
    Vec3,
    carried_point,
    moved,
    polygon,
    yaw_quaternion,
)
from robots.table.object_names import SIZES, Kind

BLOCK_HALF = 0.02
BLOCK_SIZE: Vec3 = (2 * BLOCK_HALF,) * 3
"""Edges of a block, metres."""
BLOCK_MASS_KG = 0.04
BOWL_MASS_KG = 0.12
BOWL_HEIGHT = 0.036
BOWL_FLOOR = 0.004
"""Thickness of a bowl's floor."""
BOWL_WALL = 0.004
"""Thickness of a bowl's wall."""
BOWL_RIM_R = 0.061
"""Outer radius at the rim."""
BOWL_BASE_R = 0.047
"""Outer radius at the foot."""
CELL_M = 0.002
"""Edge of a cell of a segmentation mask."""


def size_of(name: str) -> Vec3:
    """Return the edges of an object's box, metres; of a bowl those of a block, which count not."""
    return SIZES.get(name, BLOCK_SIZE)


@dataclass(frozen=True)
class Body(Solid):
    """One block, bowl or the like."""

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
    def half_height(self) -> float:
        """From the centre to the top or the bottom, metres, when it stands upright."""
        return BOWL_HEIGHT / 2 if self.kind == "bowl" else self.size[2] / 2

    @property
    def radius(self) -> float:
        """Radius of the circle around it seen from above, metres."""
        return BOWL_RIM_R if self.kind == "bowl" else max(self.half) * math.sqrt(2)

    @property
    def rectangle(self) -> Rectangle:
        """What a box covers seen from above."""
        return (*self.xy, *self.half, self.yaw)

    @property
    def outline(self) -> Rectangle | None:
        """What a box covers seen from above; None of a bowl."""
        return None if self.kind == "bowl" else self.rectangle

    @property
    def outer_r(self) -> float:
        """Radius of a bowl seen from above, metres."""
        return BOWL_RIM_R

    def inner_r(self, z: float) -> float:
        """Return the radius of a bowl inside at a height, metres."""
        slope = (BOWL_RIM_R - BOWL_BASE_R) / BOWL_HEIGHT
        return BOWL_BASE_R - BOWL_WALL + slope * max(0.0, z - self.bottom)

    def holds(self, other: Body) -> bool:
        """Return whether another body is above this bowl's floor and within its rim."""
        return math.dist(self.xy, other.xy) < BOWL_RIM_R and other.bottom > self.bottom

    @property
    def yaw(self) -> float:
        """Rotation about the vertical of its most level side, radians, whichever face is up."""
        x, y, z = self.axes
        level = 0 if abs(z[0]) <= abs(z[1]) else 1
        return math.atan2(y[level], x[level])

    @property
    def lean(self) -> float:
        """Angle between the vertical and its own: of a bowl's axis, of a cube's nearest one."""
        z = self.axes[2]
        upright = max(map(abs, z)) if self.kind == "block" else z[2]
        return math.acos(max(-1.0, min(1.0, upright)))

    def carried(self, start: Vec3, end: Vec3, turn: float) -> Body:
        """Return it moved and turned (rad) rigidly with what goes from one point to another."""
        x, y, _ = carried_point(self.position, start, end, turn)
        z = end[2] + self.position[2] - start[2]
        return replace(self, position=(x, y, z), quaternion=yaw_quaternion(self.yaw + turn))

    def bbox(self) -> tuple[float, float, float, float]:
        """Return min x, min y, max x, max y of its outline seen from above, metres."""
        x, y = self.xy
        if self.kind == "bowl":
            return (x - BOWL_RIM_R, y - BOWL_RIM_R, x + BOWL_RIM_R, y + BOWL_RIM_R)
        c, s = abs(math.cos(self.yaw)), abs(math.sin(self.yaw))
        length, width = self.half
        across, up = length * c + width * s, length * s + width * c
        return (x - across, y - up, x + across, y + up)


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
        """Return one body by its exact name.

        Raises:
            NotFound: It is not seen.
        """
        for body in self.bodies:
            if body.name == name:
                return body
        raise NotFound(f"{name!r} is not seen now; look which objects are")

    def others(self, *names: str) -> list[Body]:
        """Return the bodies not named."""
        return [body for body in self.bodies if body.name not in names]

    def moved(self, changes: Iterable[Body]) -> Scene:
        """Return a copy in which these bodies stand elsewhere."""
        return Scene(moved(self.bodies, changes))

    def top(self) -> float:
        """Return the height of the highest object, metres; 0 for an empty table."""
        return max((body.top for body in self.bodies), default=0.0)


def segmask(body: Body) -> NDArray[np.bool_]:
    """Return which cells of the table a body covers seen from above, the first row at the top."""
    xs = np.arange(TABLE_X[0] + CELL_M / 2, TABLE_X[1], CELL_M)
    ys = np.arange(TABLE_Y[1] - CELL_M / 2, TABLE_Y[0], -CELL_M)[:, None]
    if body.kind == "bowl":
        return np.asarray(np.hypot(xs - body.xy[0], ys - body.xy[1]) <= BOWL_RIM_R)
    return np.asarray(shapely.contains_xy(polygon(body.rectangle), xs, ys))


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


def _apart_m(one: Body, other: Body) -> float:
    """Return the least distance between two centres: the gripper fits between."""
    wider = (max(body.half) - BLOCK_HALF for body in (one, other) if body.kind == "block")
    return _SPACING[one.kind, other.kind] + sum(max(0.0, more) for more in wider)


def sample_scene(names: Sequence[str], rng: np.random.Generator) -> Scene:
    """Scatter objects over the table at random, each with room for the gripper around it.

    Bowls are laid out first, being larger; a layout that gets stuck is begun again, a bounded
    number of times.

    Raises:
        UsageError: They do not fit.
    """
    order = sorted(names, key=lambda name: not name.endswith(("bowl", "plate")))
    most = 0
    for _ in range(_LAYOUTS):
        placed: list[Body] = []
        for name in order:
            for _ in range(_TRIES):
                x, y = float(rng.uniform(*_SPAWN_X)), float(rng.uniform(*_SPAWN_Y))
                body = Body(name, (x, y, 0.0), size=size_of(name))
                body = body.at((x, y, body.half_height))
                if all(math.dist(body.xy, o.xy) >= _apart_m(body, o) for o in placed):
                    placed.append(body)
                    break
            else:  # The layout is stuck.
                break
        most = max(most, len(placed))
        if len(placed) == len(order):
            by_name = {body.name: body for body in placed}
            return Scene(tuple(by_name[name] for name in names))
    raise UsageError(
        f"cannot place {len(order)} objects on the table: {most} found room in {_LAYOUTS} "
        "layouts; ask for fewer objects"
    )


TABLE_SPAN = (TABLE_X[0], TABLE_Y[0], TABLE_X[1], TABLE_Y[1])
"""Left, bottom, right, top, metres."""


def nearest_free_region(
    bodies: Iterable[Body], size: tuple[float, float], to: XY, within: Sequence[float] = TABLE_SPAN
) -> XY:
    """Return the centre of the free rectangle that is nearest to a point, metres.

    Args:
        bodies: What stands on the table.
        size: The rectangle's width along x and depth along y, metres.
        to: The point.
        within: The part of the table that it lies in: left, bottom, right, top, metres.

    Raises:
        TypeError: The size is not above 0.
        NotFound: No rectangle of that size is free.
    """
    if min(size) <= 0:
        raise TypeError(f"size must be a width and a depth above 0 metres; got {size}")
    half = np.array(size) / 2
    boxes = [body.bbox() for body in bodies]
    # The nearest centre is the point itself, or one where the rectangle touches something.
    left, bottom, right, top = within
    columns = _candidates(to[0], (left, right), half[0], [(box[0], box[2]) for box in boxes])
    rows = _candidates(to[1], (bottom, top), half[1], [(box[1], box[3]) for box in boxes])
    centres = np.array([(x, y) for x in columns for y in rows]).reshape(-1, 2)
    free = np.ones(len(centres), dtype=bool)
    for box in boxes:
        low, high = np.array(box[:2]) - half, np.array(box[2:]) + half
        free &= ((centres <= low + 1e-9) | (centres >= high - 1e-9)).any(axis=1)
    if not free.any():
        raise NotFound(
            f"no free region of {size[0]:.3g} by {size[1]:.3g} m {_part(within)}; "
            "ask for a smaller one, or clear some room"
        )
    best = min(centres[free].tolist(), key=lambda centre: math.dist(centre, to))
    return float(best[0]), float(best[1])


def _part(within: Sequence[float]) -> str:
    if tuple(within) == TABLE_SPAN:
        return "on the table"
    left, bottom, right, top = within
    return f"with x {left:.3g} to {right:.3g} and y {bottom:.3g} to {top:.3g}"


def _candidates(
    wanted: float, limits: tuple[float, float], half: float, taken: Iterable[tuple[float, float]]
) -> list[float]:
    """Return where along one axis a centre may be the nearest, within the table, metres."""
    low, high = limits[0] + half, limits[1] - half
    touching = [edge for box in taken for edge in (box[0] - half, box[1] + half)]
    return [
        each for each in sorted({wanted, low, high, *touching}) if low - 1e-9 <= each <= high + 1e-9
    ]
