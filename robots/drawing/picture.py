"""The board as a picture (PNG, by Pillow) and as a drawing (SVG)."""

from __future__ import annotations

from typing import Any

from shapely.geometry import MultiPoint

from robots.drawing import view
from robots.drawing.board import BOARD_X, BOARD_Y, BoardState
from robots.ravens.scene import BLOCK_HALF, Body
from robots.simulation.top_view import TopView
from robots.table.colors import Color
from robots.table.geometry import XY, corners
from robots.table.things import color_of

_BORDER_M = 0.02
_INK, _WHITE, _FRAME = (30, 41, 59), (252, 252, 250), (148, 152, 158)
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
    seen, shapes = view.view(state), view.shapes(state)
    picture.solids(shapes, {"board": seen.placements["board"]})
    for line in seen.lines:
        picture.line(line.points, line.width_m, line.color)
    blocks = {name: at for name, at in seen.placements.items() if name.startswith("objects/")}
    picture.solids(shapes, blocks)
    if tip is not None:
        (x0, y0), r = picture.pixel(tip), 0.008 * picture.scale
        picture.brush.ellipse((x0 - r, y0 - r, x0 + r, y0 + r), outline=(220, 38, 38), width=6)
    return picture.image()


def svg(state: BoardState) -> str:
    """Return the board as SVG in millimetres; right is x, up is y."""
    wide, high = (BOARD_X[1] - BOARD_X[0]) * _MM, (BOARD_Y[1] - BOARD_Y[0]) * _MM
    shapes = [_path(stroke, _INK) for stroke in state.strokes]
    blocks = [
        f'<polygon points="{_points(_outline(body))}" fill="{_hex(color_of(body.name))}">'
        f"<title>{body.name}</title></polygon>"
        for body in state.scene.bodies
    ]
    lines = [
        f'<svg xmlns="http://www.w3.org/2000/svg" width="{wide:g}mm" height="{high:g}mm" '
        f'viewBox="0 0 {wide:g} {high:g}">',
        f'<rect width="{wide:g}" height="{high:g}" fill="{_hex(_WHITE)}"/>',
        *shapes,
        *blocks,
        "</svg>",
    ]
    return "\n".join(lines) + "\n"


def _path(stroke: tuple[XY, ...], color: Color) -> str:
    return (
        f'<polyline points="{_points(list(stroke))}" fill="none" stroke="{_hex(color)}" '
        f'stroke-width="{_PEN_M * _MM:g}" stroke-linecap="round" stroke-linejoin="round"/>'
    )


def _points(points: list[XY]) -> str:
    return " ".join(f"{(x - BOARD_X[0]) * _MM:.2f},{(BOARD_Y[1] - y) * _MM:.2f}" for x, y in points)


def _outline(body: Body) -> list[XY]:
    square = MultiPoint(list(corners((*body.xy, BLOCK_HALF, BLOCK_HALF, body.yaw))))
    return [(x, y) for x, y in square.convex_hull.exterior.coords]


def _hex(color: Color) -> str:
    return "#{:02x}{:02x}{:02x}".format(*color)
