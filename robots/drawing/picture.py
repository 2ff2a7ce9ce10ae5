"""The board as it is drawn: as shapes in space, a picture (PNG, by Pillow) and a drawing (SVG)."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from cap.robot.view import ORIGIN, Appearance, Polyline, Rgb, Shape
from robots.arm.linkage import linkage
from robots.drawing.board import ARM_URDF, BOARD_X, BOARD_Y, BoardState
from robots.ravens.bodies import object_shapes, table
from robots.simulation.top_view import TopView
from robots.table.geometry import XY, polygon
from robots.table.things import color_of

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
