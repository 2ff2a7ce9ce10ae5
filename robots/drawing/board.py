"""A whiteboard on the table: what stands on it, the ink on it, and how all that is drawn."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import numpy as np
from shapely.geometry import LineString, MultiLineString, Point

from cap.errors import Collision, LimitExceeded, Unreachable, UsageError
from cap.robot.view import ORIGIN, Appearance, Polyline, Rgb, Shape
from robots.arm.linkage import linkage
from robots.arm.strokes import Array, Stroke, length_m
from robots.ravens.scene import BLOCK_HALF, Body, Scene
from robots.ravens.world import object_shapes, table
from robots.simulation.simulated_robot import TurnHistory
from robots.simulation.top_view import TopView
from robots.table.geometry import PLACES, TABLE_X, TABLE_Y, XY, polygon
from robots.table.object_names import color_of

ARM_URDF = Path(__file__).with_name("ur5e_pen.urdf")
BOARD_X, BOARD_Y = TABLE_X, TABLE_Y
"""The board from left to right and from front to back, metres."""
ERASER_R = 0.01
"""What the eraser takes off on both sides of its path, metres."""
CLEAR_M = 0.012
"""Pen and hand keep so far from what stands on the board, metres."""
NEAREST_M = BLOCK_HALF * math.sqrt(2) + CLEAR_M
"""The pen comes no closer to the centre of a block, metres."""
MAX_STROKES = 2_000
MAX_LENGTH_M = 20.0
"""Of one path."""
PEN_M = 0.0002
"""A path may leave the board by so much: ink on its very edge is where the arm's pen really was."""
_CRUMB_M = 0.001
"""Shorter pieces of ink that an eraser leaves are gone too, metres."""


_FROM_EDGE_M = 0.09
_FROM_MIDDLE_M = 0.16
_APART_M = 0.18
"""Blocks leave room for a shape around each, and for one in the middle."""
_TRIES = 2000


@dataclass(frozen=True)
class BoardState:
    """Everything that decides what happens next: plain data, so a copy is a snapshot."""

    scene: Scene
    """What stands on the board."""
    joints: tuple[float, ...]
    """Arm joint angles, radians, at rest."""
    strokes: tuple[Stroke, ...] = ()
    """The ink: polylines of xy, metres, in the order they were drawn."""
    time_s: float = 0.0
    """Simulated time since the reset."""
    turns: TurnHistory[tuple[Stroke, ...]] = field(default_factory=TurnHistory)
    """The ink as it was before each of the last turns."""

    def drawn(self, stroke: Stroke) -> BoardState:
        """Return the board with one more stroke.

        Raises:
            LimitExceeded: The board is full of them.
        """
        if len(self.strokes) >= MAX_STROKES:
            raise LimitExceeded(f"there are {MAX_STROKES} strokes on the board; erase some first")
        return replace(self, strokes=(*self.strokes, stroke))

    def erased(self, path: Stroke) -> BoardState:
        """Return the board with the ink along a path taken off."""
        wiped = LineString(path).buffer(ERASER_R)
        left = [piece for stroke in self.strokes for piece in _left(stroke, wiped)]
        return replace(self, strokes=tuple(left))

    def ink(self) -> MultiLineString:
        """Return the ink as one geometry."""
        return MultiLineString(self.strokes)


def sample_blocks(names: Sequence[str], rng: np.random.Generator) -> Scene:
    """Set blocks on the board at random, the middle left free.

    Raises:
        UsageError: They do not fit.
    """
    low = np.array([BOARD_X[0], BOARD_Y[0]]) + _FROM_EDGE_M
    high = np.array([BOARD_X[1], BOARD_Y[1]]) - _FROM_EDGE_M
    placed: list[Body] = []
    for _ in range(_TRIES):
        if len(placed) == len(names):
            return Scene(tuple(placed))
        x, y = rng.uniform(low, high).tolist()
        clear = all(math.dist((x, y), body.xy) >= _APART_M for body in placed)
        if clear and math.dist((x, y), PLACES["middle"]) >= _FROM_MIDDLE_M:
            placed.append(Body(names[len(placed)], (x, y, BLOCK_HALF)))
    raise UsageError(f"{len(names)} blocks do not fit on the board; ask for fewer")


def _left(stroke: Stroke, wiped: Any) -> Iterable[Stroke]:
    """Yield what an eraser leaves of a stroke."""
    line = LineString(stroke)
    if not line.intersects(wiped):
        yield stroke
        return
    rest = line.difference(wiped)
    for piece in getattr(rest, "geoms", [rest]):
        if piece.length > _CRUMB_M:
            yield tuple((float(x), float(y)) for x, y in piece.coords)


def check_path(scene: Scene, points: Array) -> None:
    """Make sure that a path can be followed with the pen down.

    Raises:
        Unreachable: It leaves the board.
        LimitExceeded: It is too long.
        Collision: It runs into something that stands there.
    """
    low, high = np.array([BOARD_X[0], BOARD_Y[0]]), np.array([BOARD_X[1], BOARD_Y[1]])
    outside = ((points < low - PEN_M) | (points > high + PEN_M)).any(axis=1)
    if outside.any():
        number = int(outside.argmax())
        x, y = points[number]
        wide, tall = np.ptp(points, axis=0)
        if wide > high[0] - low[0] or tall > high[1] - low[1]:
            remedy = f"the shape is {wide:.3g} by {tall:.3g} m, too large: make it smaller"
        else:
            inwards = np.ceil(1e3 * np.maximum(low - points.min(axis=0), 0.0)) / 1e3
            back = np.ceil(1e3 * np.maximum(points.max(axis=0) - high, 0.0)) / 1e3
            right, up = inwards - back
            remedy = f"moved by ({right:+.4g}, {up:+.4g}) m it is on it"
        raise Unreachable(
            f"point {number} at ({x:.4g}, {y:.4g}) m is off the board, which spans "
            f"x {BOARD_X[0]} to {BOARD_X[1]} and y {BOARD_Y[0]} to {BOARD_Y[1]}; {remedy}"
        )
    if (length := length_m(points)) > MAX_LENGTH_M:
        raise LimitExceeded(f"the line is {length:.0f} m long; use at most {MAX_LENGTH_M:g} m")
    line, least = LineString(points), NEAREST_M
    for body in scene.bodies:
        if (away := line.distance(Point(body.xy))) < least:
            x, y = body.xy
            raise Collision(
                f"the pen would run into {body.name!r}, a {200 * BLOCK_HALF:.0f} cm cube at "
                f"({x:.3f}, {y:.3f}) m: the line comes within {100 * away:.1f} cm of its centre; "
                f"keep {100 * least + 0.05:.1f} cm away"
            )


_BORDER_M = 0.02
_INK: Rgb = (30, 41, 59)
_WHITE: Rgb = (252, 252, 250)
_FRAME: Rgb = (148, 152, 158)
_PEN_M = 0.004
"""Width of a line."""
_MM = 1000


def draw(state: BoardState, tip: XY | None, width: int, height: int) -> Any:
    """Return the board from above as a PIL image; right is x, up is y.

    Args:
        state: What is on it.
        tip: Where the pen is, xy in metres, if it is to be shown.
        width: Pixels.
        height: Pixels.
    """
    x, y = ((low - _BORDER_M, high + _BORDER_M) for low, high in (BOARD_X, BOARD_Y))
    picture = TopView((width, height), x, y, _FRAME)
    seen, bodies = view(state), shapes(state)
    picture.solids(bodies, {"board": seen.placements["board"]})
    for line in seen.lines:
        picture.line(line.points, line.width_m, line.color)
    blocks = {name: at for name, at in seen.placements.items() if name.startswith("objects/")}
    picture.solids(bodies, blocks)
    if tip is not None:
        (x0, y0), r = picture.pixel(tip), 0.008 * picture.scale
        picture.brush.ellipse((x0 - r, y0 - r, x0 + r, y0 + r), outline=(220, 38, 38), width=6)
    return picture.image()


def svg(state: BoardState) -> str:
    """Return the board as SVG in millimetres; right is x, up is y."""
    wide, high = (BOARD_X[1] - BOARD_X[0]) * _MM, (BOARD_Y[1] - BOARD_Y[0]) * _MM
    ink = [
        f'<polyline points="{_points(stroke)}" fill="none" stroke="{_hex(_INK)}" '
        f'stroke-width="{_PEN_M * _MM:g}" stroke-linecap="round" stroke-linejoin="round"/>'
        for stroke in state.strokes
    ]
    blocks = [
        f'<polygon points="{_points(polygon(body.rectangle).exterior.coords)}" '
        f'fill="{_hex(color_of(body.name))}"><title>{body.name}</title></polygon>'
        for body in state.scene.bodies
    ]
    lines = [
        f'<svg xmlns="http://www.w3.org/2000/svg" width="{wide:g}mm" height="{high:g}mm" '
        f'viewBox="0 0 {wide:g} {high:g}">',
        f'<rect width="{wide:g}" height="{high:g}" fill="{_hex(_WHITE)}"/>',
        *ink,
        *blocks,
        "</svg>",
    ]
    return "\n".join(lines) + "\n"


def _points(points: Iterable[Sequence[float]]) -> str:
    return " ".join(f"{(x - BOARD_X[0]) * _MM:.2f},{(BOARD_Y[1] - y) * _MM:.2f}" for x, y in points)


def _hex(color: Rgb) -> str:
    return "#{:02x}{:02x}{:02x}".format(*color)


_ABOVE_M = 0.001
"""Ink lies so far above the board, or they would be drawn through each other."""


def shapes(state: BoardState) -> Mapping[str, Sequence[Shape]]:
    """Return what each body is made of."""
    return {"board": table(_WHITE), **linkage(ARM_URDF).shapes, **object_shapes(state.scene)}


def view(state: BoardState) -> Appearance:
    """Return where each body is in a state, and the ink."""
    objects = {
        f"objects/{body.name}": (*body.position, *body.quaternion) for body in state.scene.bodies
    }
    ink = tuple(
        Polyline(tuple((x, y, _ABOVE_M) for x, y in stroke), _INK, _PEN_M)
        for stroke in state.strokes
    )
    return Appearance(
        {"board": ORIGIN, **linkage(ARM_URDF).placements(state.joints), **objects}, ink
    )
