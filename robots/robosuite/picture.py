"""A picture of a simulation by rays, which needs no graphics card."""

from __future__ import annotations

import math
from typing import Any

import mujoco
import numpy as np
from PIL import Image

from robots.robosuite.world import Array, Simulation

CAMERA = "frontview"
"""robosuite's camera that every environment has."""
_SKY = (225, 232, 240)
_TO_LAMP = np.array([0.5, 0.4, 1.0]) / math.sqrt(1.41)
_AMBIENT, _DIFFUSE = 0.45, 0.6
_FAR_M = 10.0
_SHOWN = np.array([0, 1, 0, 0, 0, 0], dtype=np.uint8)
"""Which groups of shapes: those that robosuite draws, not those that collide."""


def picture(simulation: Simulation, width: int, height: int) -> Any:
    """Return what robosuite's front camera sees, one ray a pixel, as a PIL image."""
    model, seen = simulation.model, simulation.seen
    mujoco.mj_camlight(model, seen)
    camera, count = model.camera(CAMERA).id, width * height
    focal = height / 2 / math.tan(math.radians(model.cam_fovy[camera]) / 2)
    rows, columns = np.indices((height, width)).reshape(2, -1) + 0.5
    ahead = np.stack([columns - width / 2, height / 2 - rows, np.full(count, -focal)], axis=1)
    rays = ahead @ seen.cam_xmat[camera].reshape(3, 3).T
    rays /= np.linalg.norm(rays, axis=1, keepdims=True)
    geoms, normals = np.full(count, -1, dtype=np.int32), np.zeros(3 * count)
    eye, far = seen.cam_xpos[camera], np.zeros(count)
    mujoco.mj_multiRay(
        model, seen, eye, rays.ravel(), _SHOWN, True, -1, geoms, far, normals, count, _FAR_M
    )
    facing = np.abs(normals.reshape(-1, 3) @ _TO_LAMP)
    rgb = 255 * _colors(model)[geoms] * (_AMBIENT + _DIFFUSE * facing)[:, None]
    rgb[geoms < 0] = _SKY
    return Image.fromarray(np.clip(rgb, 0, 255).astype(np.uint8).reshape(height, width, 3))


def _colors(model: Any) -> Array:
    """Return the colour of each shape, 0 to 1, shape (n, 3): of a texture its mean."""
    colors: Array = model.geom_rgba[:, :3].astype(float)
    for geom in np.flatnonzero(model.geom_matid >= 0):
        material = model.mat(model.geom_matid[geom])
        colors[geom] = material.rgba[:3]
        texture = material.texid[mujoco.mjtTextureRole.mjTEXROLE_RGB]
        if texture >= 0:
            colors[geom] *= model.tex(texture).data.mean(axis=(0, 1)) / 255
    return colors
