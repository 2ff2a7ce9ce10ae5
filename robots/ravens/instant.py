"""The world without dynamics: plans come true at once, and the view is drawn from above."""

from __future__ import annotations

import itertools
import math
from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray
from PIL import Image, ImageDraw
from shapely.geometry import MultiPoint

from robots.arm import ur5e
from robots.arm.gripper import ROBOTIQ_2F_85, Fingers, Grip
from robots.arm.motion import Pose
from robots.arm.travel import PARK, TABLE
from robots.ravens import route, transfer
from robots.ravens.scene import BLOCK_HALF, BOWL_BASE_R, BOWL_RIM_R, BOWL_WALL, Body
from robots.ravens.transfer import Transfer
from robots.ravens.world import Layout, WorldState, slipped
from robots.simulation.turn_history import TurnHistory
from robots.simulation.world import WorldOwner
from robots.table.colors import Color
from robots.table.geometry import TABLE_X, TABLE_Y, XY, corners
from robots.table.things import color_of

_PARKED = PARK.joints()


class InstantTabletop:
    """Puts every object exactly where its plan says, in no time."""

    def __init__(
        self, owner: WorldOwner, state: WorldState, fingers: Fingers = ROBOTIQ_2F_85
    ) -> None:
        """Start from a state; the owner's `frame` is called once per motion."""
        self.state = state
        self.fingers = fingers
        self._owner = owner

    def remember(self, turns: TurnHistory[Layout]) -> None:
        """Keep where everything was before the last turns."""
        self.state = replace(self.state, turns=turns)

    def begin(self) -> None:
        """Do nothing: the next action may begin at any time."""

    def transfer(self, planned: Transfer, *, slips: bool = False) -> None:
        """Pick an object up and put it down; or lose it, and nothing moves."""
        self.state = replace(self.state, actions=self.state.actions + 1, joints=_PARKED)
        if slips:
            raise slipped(planned.name)
        self.state = replace(self.state, scene=self.state.scene.moved(planned.result))
        self._owner.frame()

    def recover(self) -> None:
        """Put down what the state says is in the gripper; motions here leave nothing in it."""
        if (name := self.state.held) is None:
            return
        scene, hand = self.state.scene, Pose.of_joints(self.state.joints)
        held = (scene[name], *transfer.resting_on(scene, name))
        grip = Grip((hand.x, hand.y, hand.z), hand.yaw, self.fingers.opened(self.state.gap_m))
        planned = transfer.put_down(scene, held, grip)
        moved = scene.moved(planned.result)
        self.state = replace(self.state, scene=moved, joints=_PARKED, held=None)

    def point(self, xy: XY) -> None:
        """Hold the gripper over a point of the table, metres."""
        joints = Pose(*xy, TABLE.least, PARK.yaw).joints()
        self.state = replace(self.state, joints=joints)
        self._owner.frame()

    def follow(self, path: NDArray[np.float64], speed_mps: float) -> None:
        """Take the gripper along a path, exactly; see `TabletopWorld`."""
        end = route.pose_over(path[-1], route.height_m(self.state.scene))
        moved = replace(self.state, actions=self.state.actions + 1, joints=end.joints())
        self.state = moved.followed(path)
        self._owner.frame()

    def now(self) -> WorldState:
        """Return how everything is at this moment."""
        return self.state

    def render(self, width: int, height: int) -> Any:
        """Return a view from above as a PIL image; up is y, right is x."""
        return draw_top_view(self.state, width, height)

    def close(self) -> None:
        """Do nothing: no resource is held."""


_OVERSAMPLE = 3
_BORDER_M = 0.03
_DESK, _MAT, _SHADOW = (204, 179, 148), (230, 227, 222), (188, 184, 178)
_TRAIL, _TRAIL_M = (70, 72, 76), 0.002
"""Colour and width of the way the gripper went, straight below it, metres."""
_ARROW_PX, _BETWEEN_ARROWS_PX = 9.0, 30.0
"""Length of an arrow in a way, and how far they are from each other, pixels."""
_SHOWN_PATHS = 3
_EYE_HEIGHT_M = 0.9
"""The eye above the middle of the table: what stands higher is drawn larger and further out."""


def draw_top_view(state: WorldState, width: int, height: int) -> Any:
    """Draw the table from above as a PIL image; up is y, right is x."""
    big = (width * _OVERSAMPLE, height * _OVERSAMPLE)
    image = Image.new("RGB", big, _DESK)
    brush = _Brush(ImageDraw.Draw(image), big)
    brush.polygon([(x, y) for x, y in itertools.product(TABLE_X, TABLE_Y)], _MAT)
    for body in sorted(state.scene.bodies, key=lambda body: body.top):
        _draw_body(brush, body)
    for path in state.paths[-_SHOWN_PATHS:]:
        brush.line(path, _TRAIL)
    x, y, z = ur5e.forward(state.joints)[:3, 3]
    for radius, color in ((0.012, (70, 72, 76)), (0.008, (250, 250, 250))):
        brush.disc((x, y), z, radius, color)
    return image.resize((width, height), Image.Resampling.LANCZOS)


def draw_way(draw: ImageDraw.ImageDraw, points: Sequence[XY], fill: Color) -> None:
    """Draw a way through points of a picture: an arrow in each long piece, numbered in order."""
    draw.line(points, fill=fill, width=2)
    number, travelled, last = 0, 0.0, 0.0
    for start, end in itertools.pairwise(points):
        length = math.dist(start, end)
        travelled += length
        if length < _ARROW_PX or travelled - last < _BETWEEN_ARROWS_PX:
            continue
        number, last = number + 1, travelled
        ahead = ((end[0] - start[0]) / length, (end[1] - start[1]) / length)
        tip = ((start[0] + end[0]) / 2, (start[1] + end[1]) / 2)
        back = (tip[0] - _ARROW_PX * ahead[0], tip[1] - _ARROW_PX * ahead[1])
        wing = (-_ARROW_PX / 2 * ahead[1], _ARROW_PX / 2 * ahead[0])
        sides = [(back[0] + sign * wing[0], back[1] + sign * wing[1]) for sign in (-1, 1)]
        draw.polygon([tip, *sides], fill=fill)
        draw.text((tip[0] + 2 * wing[0], tip[1] + 2 * wing[1]), str(number), fill, anchor="mm")


class _Brush:
    """Draws shapes given in metres."""

    def __init__(self, draw: ImageDraw.ImageDraw, size: tuple[int, int]) -> None:
        self._draw = draw
        self._size = size
        self._scale = min(size) / (TABLE_X[1] - TABLE_X[0] + 2 * _BORDER_M)
        self._middle = (sum(TABLE_X) / 2, sum(TABLE_Y) / 2)

    def _pixel(self, x: float, y: float, z: float) -> tuple[float, float]:
        scale = self._scale * self._closer(z)
        return (
            self._size[0] / 2 + (x - self._middle[0]) * scale,
            self._size[1] / 2 - (y - self._middle[1]) * scale,
        )

    def _closer(self, z: float) -> float:
        return _EYE_HEIGHT_M / (_EYE_HEIGHT_M - z)

    def disc(self, centre: XY, z: float, radius: float, fill: Color) -> None:
        """Fill a circle at a height."""
        x, y = self._pixel(*centre, z)
        r = radius * self._scale * self._closer(z)
        self._draw.ellipse((x - r, y - r, x + r, y + r), fill=fill)

    def line(self, points: Sequence[XY], fill: Color) -> None:
        """Draw a line through points on the table."""
        width = max(1, round(_TRAIL_M * self._scale))
        self._draw.line([self._pixel(x, y, 0.0) for x, y in points], fill, width, "curve")

    def polygon(self, points: Sequence[XY], fill: Color, z: float = 0.0) -> None:
        """Fill the convex shape of some points at a height."""
        hull = MultiPoint(points).convex_hull.exterior.coords
        self._draw.polygon([self._pixel(x, y, z) for x, y in hull], fill=fill)

    def prism(self, corners: Sequence[XY], low: float, high: float, fill: Color) -> None:
        """Fill an upright block: its sides in shade, its top in full colour."""
        sides = [self._pixel(x, y, z) for (x, y), z in itertools.product(corners, (low, high))]
        hull = MultiPoint(sides).convex_hull.exterior.coords
        self._draw.polygon(list(hull), fill=_shade(fill, 0.72))
        self.polygon(corners, fill, high)


def _draw_body(brush: _Brush, body: Body) -> None:
    color = color_of(body.name)
    drop = (body.xy[0] + 0.006, body.xy[1] - 0.006)
    if body.kind == "bowl":
        brush.disc(drop, body.bottom, BOWL_RIM_R, _SHADOW)
        brush.disc(body.xy, body.top, BOWL_RIM_R, color)
        brush.disc(body.xy, body.top, BOWL_RIM_R - BOWL_WALL, _shade(color, 0.72))
        brush.disc(body.xy, body.bottom, BOWL_BASE_R - BOWL_WALL, _shade(color, 0.86))
        return
    shape = (*body.half, body.yaw)
    if body.bottom < BLOCK_HALF:
        brush.polygon(list(corners((*drop, *shape))), _SHADOW, body.bottom)
    brush.prism(list(corners((*body.xy, *shape))), body.bottom, body.top, color)


def _shade(color: Color, factor: float) -> Color:
    red, green, blue = (int(part * factor) for part in color)
    return red, green, blue
