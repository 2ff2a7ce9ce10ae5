"""A world from above, drawn with Pillow from its shapes: right is x, up is y."""

from __future__ import annotations

import itertools
import math
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from PIL import Image, ImageDraw
from shapely.geometry import MultiPoint

from cap.robot.view import Placement, Rgb, Shape
from robots.arm.linkage import turned, within
from robots.table.geometry import Vec3

Pixel = tuple[float, float]
_OVERSAMPLE = 3
"""Pictures are drawn so much larger, then reduced: smooth edges."""
_SIDE, _INSIDE = 0.72, 0.86
"""Brightness of what is seen from the side, and of a dish's floor."""
_LEVEL_M = 1e-3
_SEGMENTS = 48


class TopView:
    """A picture in the making."""

    def __init__(
        self,
        size: tuple[int, int],
        x: tuple[float, float],
        y: tuple[float, float],
        background: Rgb,
        eye_m: float = math.inf,
    ) -> None:
        """Begin with an empty picture.

        Args:
            size: Width and height, pixels.
            x: What it shows from left to right, metres.
            y: What it shows from front to back, metres.
            background: What is behind everything.
            eye_m: Height of the eye: what stands higher is drawn larger and further out.
        """
        self._size = size
        self.width, self.height = (edge * _OVERSAMPLE for edge in size)
        self.scale = min(self.width / (x[1] - x[0]), self.height / (y[1] - y[0]))
        """Pixels a metre on the ground."""
        self._middle = (sum(x) / 2, sum(y) / 2)
        self._eye_m = eye_m
        self._image = Image.new("RGB", (self.width, self.height), background)
        self.brush = ImageDraw.Draw(self._image)

    def image(self) -> Any:
        """Return the picture as a PIL image."""
        return self._image.resize(self._size, Image.Resampling.LANCZOS)

    def pixel(self, point: Sequence[float]) -> Pixel:
        """Return where a point is seen: x, y and z, metres, or x and y on the ground."""
        x, y, z = (*point, 0.0)[:3]
        scale = self.scale * self._closer(z)
        across, up = (x - self._middle[0]) * scale, (y - self._middle[1]) * scale
        return (self.width / 2 + across, self.height / 2 - up)

    def _closer(self, z: float) -> float:
        return 1.0 if math.isinf(self._eye_m) else self._eye_m / (self._eye_m - z)

    def disc(self, point: Sequence[float], radius_m: float, fill: Rgb) -> None:
        """Fill a level circle around a point of `pixel`."""
        (x, y), z = self.pixel(point), (*point, 0.0)[2]
        r = radius_m * self.scale * self._closer(z)
        self.brush.ellipse((x - r, y - r, x + r, y + r), fill)

    def line(self, points: Iterable[Sequence[float]], width_m: float, fill: Rgb) -> None:
        """Draw a line through points of `pixel`."""
        width = max(1, round(width_m * self.scale))
        self.brush.line([self.pixel(point) for point in points], fill, width, "curve")

    def solids(
        self,
        shapes: Mapping[str, Sequence[Shape]],
        placements: Mapping[str, Placement],
        larger: float = 1.0,
    ) -> None:
        """Draw bodies, from the lowest to the highest.

        Args:
            shapes: What each is made of.
            placements: Where each is; others are left out.
            larger: How much larger objects but dishes are drawn, so that they can be distinguished.
        """
        found: list[tuple[float, float, Rgb, bool, list[list[Vec3]]]] = []
        for name, place in placements.items():
            for shape in shapes[name]:
                dish = shape.kind == "lathe"
                wider = larger if name.startswith("objects/") and not dish else 1.0
                at = within(place, shape.at)
                levels = [[_placed(point, at, wider) for point in ring] for ring in _rings(shape)]
                heights = [point[2] for ring in levels for point in ring]
                found.append((min(heights), max(heights), shape.color, dish, levels))
        for _, top, color, dish, levels in sorted(found, key=lambda each: each[:2]):
            points = [point for ring in levels for point in ring]
            self._fill(points, _shade(color, _SIDE))
            if dish:
                for ring, part in zip(levels[1:], (1.0, _SIDE, _INSIDE), strict=False):
                    self._fill(ring, _shade(color, part))
            else:
                level = [point for point in points if point[2] > top - _LEVEL_M]
                self._fill(level if len(level) > 2 else points, color)

    def _fill(self, points: Sequence[Vec3], fill: Rgb) -> None:
        hull = MultiPoint([self.pixel(point) for point in points]).convex_hull
        if hull.geom_type == "Polygon":
            self.brush.polygon([*hull.exterior.coords], fill)


def _placed(point: Vec3, at: Placement, wider: float) -> Vec3:
    """Return where a point of a body is, metres, the body drawn wider around its middle."""
    x, y, z = turned((at[3], at[4], at[5], at[6]), point)
    return (at[0] + wider * x, at[1] + wider * y, at[2] + z)


def _rings(shape: Shape) -> list[list[Vec3]]:
    """Return the corners of a solid in its own frame, level by level."""
    if shape.kind == "box":
        x, y, z = (edge / 2 for edge in shape.size)
        square = [(sx * x, sy * y) for sx, sy in itertools.product((-1, 1), (-1, 1))]
        return [[(px, py, level) for px, py in square] for level in (-z, z)]
    profile = shape.profile
    if shape.kind == "cylinder":
        radius, height = shape.size
        profile = ((radius, -height / 2), (radius, height / 2))
    turns = [math.tau * step / _SEGMENTS for step in range(_SEGMENTS)]
    return [[(r * math.cos(turn), r * math.sin(turn), z) for turn in turns] for r, z in profile]


def _shade(color: Rgb, factor: float) -> Rgb:
    red, green, blue = (int(part * factor) for part in color)
    return red, green, blue
