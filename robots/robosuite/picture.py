"""A picture of a simulation by rays, which needs no graphics card."""

from __future__ import annotations

from typing import Any

import mujoco
import numpy as np
from PIL import Image

from robots.arm.rotations import pose_of
from robots.perception.lens import Lens, Light
from robots.robosuite.world import Array, Simulation
from robots.simulation.rays import RayStudio

CAMERA = "frontview"
"""robosuite's camera that every environment has."""
_SKY = np.array([[[225, 232, 240]]], dtype=np.uint8)
_LIGHT = Light((0.5, 0.4, 1.0), ambient=0.45, diffuse=0.6, shadow=False)
_FAR_M = 10.0
_SHOWN = np.array([0, 1, 0, 0, 0, 0], dtype=np.uint8)
"""Which groups of shapes: those that robosuite draws, not those that collide."""


def picture(simulation: Simulation, width: int, height: int) -> Any:
    """Return what robosuite's front camera sees as a PIL image."""
    model, seen = simulation.model, simulation.seen
    mujoco.mj_camlight(model, seen)
    camera = seen.camera(CAMERA)
    pose = pose_of(camera.xpos, camera.xmat.reshape(3, 3) * (1, -1, -1))
    lens = Lens(width, height, float(model.camera(CAMERA).fovy[0]), far_m=_FAR_M)
    studio = RayStudio.of(model, seen, _colors(model), _SHOWN)
    return Image.fromarray(studio.picture(pose, lens, _LIGHT, _SKY))


def _colors(model: Any) -> Array:
    """Return the colour of each shape, 0 to 255, shape (n, 3): of a texture its mean.

    The model's materials are replaced by plain colours, because rays pass through a transparent
    shape, such as a mark that was wiped off, only if it has no material.
    """
    for geom in np.flatnonzero(model.geom_matid >= 0):
        material = model.mat(model.geom_matid[geom])
        color = model.geom_rgba[geom]
        color[:3] = material.rgba[:3]
        color[3] *= material.rgba[3]
        texture = material.texid[mujoco.mjtTextureRole.mjTEXROLE_RGB]
        if texture >= 0:
            color[:3] *= model.tex(texture).data.mean(axis=(0, 1)) / 255
    model.geom_matid[:] = -1
    colors: Array = 255 * model.geom_rgba[:, :3].astype(float)
    return colors
