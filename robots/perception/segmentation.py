"""Blocks and bowls from colour and depth alone.

What rises above the table is split by colour, then into connected patches of a grid seen from
above; a patch's size distinguishes a block from a bowl, and its highest points show where it is:
the middle of a block's top face, the circle through a bowl's rim.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray
from shapely.geometry import MultiPoint

from robots.perception.camera import Array, Detection, Frame
from robots.table.colors import Color

_STEPS = 6
_CLOSE = 1e-6
"""A step so small (m, rad) is the last one."""
_TRUST_M = 0.006
"""Points further from the surface belong to something else."""
_GRAZING = 0.15
"""Sine of the least angle at which a side is seen well enough."""
_RIM_M = 0.0015
"""Points closer to the rim may be on its upper face, which says nothing of where the bowl is."""
_LEAST_POINTS = 6
_FARTHEST_M = 0.015
"""A fit that ends further from where it began has followed something else."""


@dataclass(frozen=True)
class Bowl:
    """A bowl's profile: straight walls that lean outwards."""

    rim_r_m: float
    """Outer radius at the rim."""
    base_r_m: float
    """Outer radius at the foot."""
    height_m: float
    """From foot to rim."""
    wall_m: float
    """Thickness of wall and floor."""


def fit_block(
    points: Array, place: tuple[float, float, float], top_z: float, edge_m: float, eye: Array
) -> tuple[float, float, float]:
    """Return a block's x, y (m) and yaw (rad), from points on its top and sides, shape (n, 3).

    Args:
        points: What was seen of it, metres.
        place: Where it is about: x, y, yaw.
        top_z: Height of its top, metres.
        edge_m: Its edge.
        eye: Where the camera is, shape (3,), metres.
    """
    x, y, yaw = place
    half = edge_m / 2
    below = points[:, 2] - top_z
    for _ in range(_STEPS):
        turn = np.array([[math.cos(yaw), -math.sin(yaw)], [math.sin(yaw), math.cos(yaw)]])
        local = (points[:, :2] - (x, y)) @ turn
        towards = (eye[:2] - (x, y)) @ turn
        # A side is seen if the camera is well beyond its plane; distances to others say nothing.
        seen = np.abs(towards) - half > _GRAZING * math.dist(eye, (x, y, top_z))
        away = np.where(seen, local * np.sign(towards) - half, -np.inf)
        side = away.argmax(axis=1)
        error = away.max(axis=1)
        use = (error > below) & (np.abs(error) < _TRUST_M)
        if use.sum() < _LEAST_POINTS:
            break
        sign = np.sign(towards)[side[use]]
        normal = turn.T[side[use]] * sign[:, None]
        # Turned by a small angle, a point of the block at (u, v) moves by (-v, u).
        lever = np.where(side[use] == 0, local[use, 1], -local[use, 0]) * sign
        slopes = np.column_stack([-normal, lever])
        step = np.linalg.lstsq(slopes, -error[use], rcond=1e-3)[0]
        x, y, yaw = x + step[0], y + step[1], yaw + step[2]
        if np.abs(step).max() < _CLOSE:
            break
    if math.dist((x, y), place[:2]) > _FARTHEST_M:
        return place
    return float(x), float(y), float(yaw)


def fit_bowl(
    points: Array, place: tuple[float, float], rim_z: float, bowl: Bowl, eye: Array
) -> tuple[float, float]:
    """Return the x and y (m) of a bowl's axis, from points on its wall, shape (n, 3).

    Args:
        points: What was seen of its wall, metres.
        place: Where it is about.
        rim_z: Height of its rim, metres.
        bowl: Its profile.
        eye: Where the camera is, shape (3,), metres.
    """
    x, y = place
    below = points[:, 2] - rim_z
    spread = bowl.rim_r_m - bowl.base_r_m
    outside = spread / bowl.height_m
    inside = spread / (bowl.height_m - bowl.wall_m)
    for _ in range(_STEPS):
        reach = points[:, :2] - (x, y)
        radius = np.maximum(np.linalg.norm(reach, axis=1), 1e-6)
        outwards = reach / radius[:, None]
        view = eye - points
        faces_out = np.einsum("ni,ni->n", outwards, view[:, :2]) > outside * view[:, 2]
        wall = np.where(
            faces_out, bowl.rim_r_m + outside * below, bowl.rim_r_m - bowl.wall_m + inside * below
        )
        error = radius - wall
        use = (np.abs(error) < _TRUST_M) & (below < -_RIM_M)
        if use.sum() < _LEAST_POINTS:
            break
        # A third unknown takes up how much wider than its profile the bowl seems to be.
        slopes = np.column_stack([-outwards[use], -np.ones(use.sum())])
        step = np.linalg.lstsq(slopes, -error[use], rcond=1e-2)[0]
        x, y = x + step[0], y + step[1]
        if np.abs(step[:2]).max() < _CLOSE:
            break
    return place if math.dist((x, y), place) > _FARTHEST_M else (float(x), float(y))


_CELL_M = 0.008
"""Side of a grid cell seen from above: neighbours join, so it is wider than a slanted pixel."""
_LEAST_SHARE = 0.3
"""A patch must show so much of what one face of a block would cover at its distance."""
_LEAST_SOLID = 0.3
"""Share of a patch's pixels that must lie among their like. Where depth and colours come from two
lenses, the table beside an object seems as high as the object, in a fringe of a few pixels."""
_FACE_M = 0.006
"""Points this far below an object's highest still belong to its top."""
_HIGH = 0.98
"""Quantile of heights that counts as the highest: single pixels may be wrong."""
_STACKED = 0.75
"""Share of a block's edge: what is less far from a block, seen from above, may stand on it."""
_DARKNESS = 0.15
"""How much less brightness counts than hue when colours are compared: light falls unevenly."""


@dataclass(frozen=True)
class Shapes:
    """What objects there are and where to look for them; metres."""

    colors: Mapping[str, Color]
    """Names of colours with their RGB, 0 to 255."""
    block_m: float
    """Edge of a block."""
    bowl: Bowl
    """A bowl's profile."""
    x_m: tuple[float, float]
    """The table from left to right."""
    y_m: tuple[float, float]
    """The table from front to back."""
    clear_m: float = 0.008
    """What rises less above the table is the table."""
    highest_m: float = 0.28
    """What rises more is no object."""


class ColorDepthDetector:
    """Finds blocks and bowls of known sizes and colours on a table at height 0."""

    def __init__(self, shapes: Shapes) -> None:
        """Prepare to look for these."""
        self._shapes = shapes
        self._names = list(shapes.colors)
        self._tones = tones(np.array([shapes.colors[name] for name in self._names], dtype=float))

    def detect(self, frame: Frame) -> tuple[Detection, ...]:
        """Return the blocks and bowls seen, each name once, those shown by most pixels first."""
        if not (frame.depth_m > 0).any():
            return ()
        points = frame.points()
        x, y, z = np.moveaxis(points, -1, 0)
        margin = self._shapes.bowl.rim_r_m
        (left, right), (front, back) = self._shapes.x_m, self._shapes.y_m
        with np.errstate(invalid="ignore"):  # unknown depth compares as false
            above = (z > self._shapes.clear_m) & (z < self._shapes.highest_m)
            above &= (x > left - margin) & (x < right + margin)
            above &= (y > front - margin) & (y < back + margin)
        cut = np.zeros_like(above)
        if frame.robot is not None:
            above &= ~frame.robot
            cut = ~_inner(~frame.robot)  # what touches the robot may be a part of an object
        eye = frame.pose[:3, 3]
        found: dict[str, Detection] = {}
        # How many pixels make an object, at the middle of the picture's distance.
        distance = float(np.nanmedian(np.where(frame.depth_m > 0, frame.depth_m, np.nan)))
        edge = self._shapes.block_m * float(frame.intrinsics[0, 0]) / distance
        least = _LEAST_SHARE * edge * edge
        for color, patch in self._patches(points, above, cut, frame.rgb):
            for seen in self._objects(color, patch, eye) if len(patch) >= least else ():
                known = found.get(seen.name)
                if seen.pixels >= least and (known is None or known.pixels < seen.pixels):
                    found[seen.name] = seen
        seen_all = self._stacked(sorted(found.values(), key=lambda seen: -seen.position[2]))
        return tuple(sorted(seen_all, key=lambda seen: (-seen.pixels, seen.name)))

    def _stacked(self, highest_first: Sequence[Detection]) -> list[Detection]:
        """Put blocks whose top is hidden straight below what hides it: only a side shows them.

        Two at one height that something lies across stand where they are seen.
        """
        edge = self._shapes.block_m
        placed: list[Detection] = []
        for seen in highest_first:
            level = [other for other in highest_first if self._level(seen, other)]
            for above in placed if seen.name.endswith("block") else ():
                near = [
                    math.dist(above.position[:2], one.position[:2]) < _STACKED * edge
                    for one in (seen, *level)
                ]
                drop = above.position[2] - seen.position[2]
                if drop > edge / 2 and near[0] and not any(near[1:]):
                    drop = round(drop / edge) * edge
                    position = (*above.position[:2], above.position[2] - drop)
                    seen = replace(seen, position=position, yaw=above.yaw)
            placed.append(seen)
        return placed

    def _level(self, one: Detection, other: Detection) -> bool:
        """Tell whether two different blocks stand at one height."""
        apart = abs(one.position[2] - other.position[2])
        return (
            one is not other and other.name.endswith("block") and apart < self._shapes.block_m / 2
        )

    def _patches(
        self,
        points: Array,
        above: NDArray[np.bool_],
        cut: NDArray[np.bool_],
        rgb: NDArray[np.uint8],
    ) -> Iterator[tuple[str, Array]]:
        """Yield connected points of one colour, but for the fringes of other things."""
        seen = tones(rgb[above].astype(float))
        distances = np.linalg.norm(seen[:, None, :] - self._tones[None], axis=-1)
        nearest = np.where(distances.min(axis=1) < _FARTHEST_TONE, distances.argmin(axis=1), -1)
        for number, color in enumerate(self._names):
            own = np.zeros_like(above)
            own[above] = nearest == number
            places, solid, hidden = points[own], _inner(own)[own], cut[own]
            for members in _connected(places):
                if solid[members].mean() >= _LEAST_SOLID and not hidden[members].any():
                    yield color, places[members]

    def _objects(self, color: str, patch: Array, eye: Array) -> Iterator[Detection]:
        """Yield what a patch shows: a block, a bowl, or a bowl with a block of its colour in it."""
        width = float(np.ptp(patch[:, :2], axis=0).max())
        if width < 1.6 * self._shapes.block_m:
            yield self._block(color, patch, eye)
            return
        middle = (patch[:, :2].min(axis=0) + patch[:, :2].max(axis=0)) / 2
        inner = np.linalg.norm(patch[:, :2] - middle, axis=1) < 0.7 * self._shapes.bowl.rim_r_m
        if inner.all():
            return
        wall = patch[~inner]
        rim_z = float(np.quantile(wall[:, 2], _HIGH))
        proud = patch[inner & (patch[:, 2] > rim_z + _FACE_M / 2)]
        rim = wall[wall[:, 2] > rim_z - _FACE_M]
        height = float(np.quantile(rim[:, 2], 0.8))
        bowl = self._shapes.bowl
        x, y = fit_bowl(wall, (float(middle[0]), float(middle[1])), height, bowl, eye)
        place = (x, y, height - bowl.height_m / 2)
        yield Detection(f"{color} bowl", place, 0.0, len(wall))
        if len(proud):
            yield self._block(color, proud, eye)

    def _block(self, color: str, patch: Array, eye: Array) -> Detection:
        edge = self._shapes.block_m
        top = float(np.quantile(patch[:, 2], _HIGH))
        face = patch[patch[:, 2] > top - _FACE_M]
        height = float(np.median(face[:, 2]))
        box = MultiPoint(face[:, :2]).minimum_rotated_rectangle
        turn = 0.0
        if box.geom_type == "Polygon":
            (x0, y0), (x1, y1), *_ = box.exterior.coords
            turn = float(np.arctan2(y1 - y0, x1 - x0) % (np.pi / 2))
        start = (box.centroid.x, box.centroid.y, turn)
        x, y, yaw = fit_block(patch, start, height, edge, eye)
        position = (x, y, height - edge / 2)
        return Detection(f"{color} block", position, yaw % (math.pi / 2), len(patch))


_FARTHEST_TONE = 0.12
"""Colours further from all known ones are something else: the arm, a hand."""


def tones(colors: Array) -> Array:
    """Return shares of red, green and blue, and a little of the brightness: (..., 4)."""
    total = colors.sum(axis=-1, keepdims=True)
    shares = colors / np.maximum(total, 1.0)
    return np.concatenate([shares, _DARKNESS * total / 765], axis=-1)


def _inner(mask: NDArray[np.bool_]) -> NDArray[np.bool_]:
    """Return the pixels of a mask whose four neighbours are in it too."""
    inner = mask.copy()
    inner[1:] &= mask[:-1]
    inner[:-1] &= mask[1:]
    inner[:, 1:] &= mask[:, :-1]
    inner[:, :-1] &= mask[:, 1:]
    return inner


def _connected(places: Array) -> Iterator[list[int]]:
    """Yield which points make up each connected patch of grid cells, seen from above."""
    if not len(places):
        return
    cells = np.floor(places[:, :2] / _CELL_M).astype(int)
    members: dict[tuple[int, int], list[int]] = {}
    for number, cell in enumerate(map(tuple, cells.tolist())):
        members.setdefault(cell, []).append(number)
    left = set(members)
    while left:
        patch, edge = [], [left.pop()]
        while edge:
            cell = edge.pop()
            patch += members[cell]
            near = {(cell[0] + dx, cell[1] + dy) for dx in (-1, 0, 1) for dy in (-1, 0, 1)} & left
            left -= near
            edge += near
        yield sorted(patch)
