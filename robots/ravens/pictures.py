"""Pictures of the tabletop by rays: a spectator's, and what a depth camera sees."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from importlib.util import find_spec
from typing import Any

import numpy as np
from numpy.typing import NDArray
from PIL import Image

from cap.errors import MissingSimulator, install_extra
from cap.robot.view import Placement, Shape
from robots.arm.rotations import looking
from robots.perception.camera import Array, Camera
from robots.perception.lens import Lens, Light
from robots.ravens import view
from robots.ravens.world import WorldState

VIEW = looking((0.26, -1.6, 1.0), (-0.04, -0.35, 0.165))
"""Where a spectator stands."""
_FIELD_OF_VIEW_DEG = 44.0
_NEAR_M, _FAR_M = 0.003, 10.0
CAMERA_POSE = looking((0.0, -1.2, 0.85), (0.0, -0.47, 0.0))
"""The depth camera looks from the front, below the waiting hand: the arm hides nothing."""
FRONT_LENS = Lens(320, 320, 40.0, 0.2, 3.0)
"""What its pictures measure."""
_FINE_FROM_PX = 257
"""Pictures at least this wide have smooth edges and shadows; smaller ones are frames of a film."""
_LIGHT = Light()
_SKY = ((244, 246, 248), (214, 220, 226))
"""Background colour at the top and at the bottom of a picture."""


class Studio:
    """Draws the table; the world that poses for it holds shapes and no physics."""

    def __init__(self) -> None:
        """Draw nothing yet."""
        self._opened: Any = None

    @property
    def _rays(self) -> Any:
        """The world that poses, which needs MuJoCo whatever engine moves the arm."""
        if self._opened is None:
            if not find_spec("mujoco"):
                raise MissingSimulator(
                    f"pictures need MuJoCo, which is not installed: {install_extra('sim')}"
                )
            from robots.simulation.rays import RayStudio

            self._opened = RayStudio()
        return self._opened

    def draw(self, state: WorldState, width: int, height: int) -> Any:
        """Return a spectator's view as a PIL image."""
        shapes, placed = view.shapes(state), view.view(state).placements
        lens, sky = Lens(width, height, _FIELD_OF_VIEW_DEG, _NEAR_M, _FAR_M), _sky(height)
        if width >= _FINE_FROM_PX:
            return Image.fromarray(self._rays.smooth(shapes, placed, VIEW, lens, _LIGHT, sky))
        shot = self._rays.shoot(shapes, placed, VIEW, lens, replace(_LIGHT, shadow=False))
        return Image.fromarray(np.where(shot.bodies[:, :, None] < 0, sky, shot.rgb))

    def camera(
        self, now: Callable[[], WorldState], lens: Lens, pose: Callable[[], Array]
    ) -> Camera:
        """Return a depth camera of what `now` says there is; see `RayCamera`."""
        studio = self._rays
        from robots.simulation.rays import RayCamera

        def show() -> tuple[Mapping[str, Sequence[Shape]], Mapping[str, Placement]]:
            state = now()
            return view.shapes(state), view.view(state).placements

        return RayCamera(studio, show, lens, pose, _LIGHT)


def _sky(height: int) -> NDArray[np.uint8]:
    """Return the background of a picture so many pixels high, shape (height, 1, 3)."""
    top, bottom = (np.array(color, dtype=np.float64) for color in _SKY)
    fall = np.linspace(0.0, 1.0, height)[:, None, None]
    return (top + fall * (bottom - top)).astype(np.uint8)
