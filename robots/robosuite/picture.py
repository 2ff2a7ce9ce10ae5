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
_SKY = np.array([225.0, 232.0, 240.0])
_TO_LAMP = np.array([0.5, 0.4, 1.0]) / math.sqrt(1.41)
_AMBIENT, _DIFFUSE = 0.45, 0.6
_FAR_M = 10.0
_SHOWN = np.array([0, 1, 0, 0, 0, 0], dtype=np.uint8)
"""Which groups of shapes: those that robosuite draws, not those that collide."""


def picture(simulation: Simulation, width: int, height: int) -> Any:
    """Return what robosuite's front camera sees, one ray a pixel, as a PIL image."""
    model, seen = simulation.model, simulation.seen
    mujoco.mj_camlight(model, seen)
    camera = model.camera(CAMERA).id
    focal = height / 2 / math.tan(math.radians(model.cam_fovy[camera]) / 2)
    columns, rows = np.meshgrid(np.arange(width) + 0.5, np.arange(height) + 0.5)
    rays = np.stack([columns - width / 2, height / 2 - rows, np.full_like(rows, -focal)], axis=-1)
    rays = rays.reshape(-1, 3) @ seen.cam_xmat[camera].reshape(3, 3).T
    rays /= np.linalg.norm(rays, axis=1, keepdims=True)
    count = len(rays)
    geoms, far, normals = np.full(count, -1, dtype=np.int32), np.zeros(count), np.zeros((count, 3))
    mujoco.mj_multiRay(
        model,
        seen,
        seen.cam_xpos[camera],
        rays.ravel(),
        _SHOWN,
        True,
        -1,
        geoms,
        far,
        normals.reshape(-1),
        count,
        _FAR_M,
    )
    colors = _colors(model)
    facing = np.abs(normals @ _TO_LAMP)[:, None]
    lit = 255 * colors[geoms] * (_AMBIENT + _DIFFUSE * facing)
    rgb = np.where((geoms >= 0)[:, None], lit, _SKY)
    return Image.fromarray(np.clip(rgb, 0, 255).astype(np.uint8).reshape(height, width, 3))


def _colors(model: Any) -> Array:
    """Return the colour of each shape, 0 to 1, shape (n, 3): of a texture its mean."""
    colors: Array = model.geom_rgba[:, :3].astype(float)
    for geom, material in enumerate(model.geom_matid):
        if material >= 0:
            colors[geom] = model.mat_rgba[material, :3]
            texture = model.mat_texid[material, mujoco.mjtTextureRole.mjTEXROLE_RGB]
            if texture >= 0:
                channels = int(model.tex_nchannel[texture])
                size = int(model.tex_height[texture] * model.tex_width[texture]) * channels
                first = int(model.tex_adr[texture])
                pixels = model.tex_data[first : first + size].reshape(-1, channels)
                colors[geom] *= pixels[:, :3].mean(axis=0) / 255
    return colors
