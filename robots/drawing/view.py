"""The board as it is drawn by others: blocks, ink, and the arm with its pen."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from cap.robot.view import ORIGIN, Appearance, Polyline, Rgb, Shape
from robots.arm.linkage import linkage
from robots.drawing.board import ARM_URDF, BoardState
from robots.ravens.bodies import object_shapes, table

_WHITE: Rgb = (252, 252, 250)
_INK: Rgb = (30, 41, 59)
_PEN_M = 0.004
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
