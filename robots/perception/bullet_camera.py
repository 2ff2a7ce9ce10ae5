"""A depth camera in a PyBullet simulation, anywhere: on a stand or in a hand."""

from __future__ import annotations

import importlib
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from robots.perception.camera import Array, Frame
from robots.perception.lens import Lens, Light

_AXES = np.diag([1.0, -1.0, -1.0, 1.0])
"""The renderer's cameras have y up and z backward."""


@dataclass(frozen=True)
class Raw:
    """One picture as the renderer gives it."""

    rgb: NDArray[np.uint8]
    """Colours, shape (height, width, 3)."""
    depth_m: Array
    """Along the optical axis, shape (height, width), metres; 0 where nothing is."""
    bodies: NDArray[np.int64]
    """Which body each pixel shows, shape (height, width); negative for none."""


def shoot(client: int, pose: Array, lens: Lens, light: Light, scale: float = 1.0) -> Raw:
    """Take a picture of a PyBullet simulation.

    Args:
        client: The physics client.
        pose: The camera in the robot's frame, shape (4, 4): x right, y down, z forward, metres.
        lens: Its size and field.
        light: How the scene is lit.
        scale: The simulation is built so many times larger than life.
    """
    p: Any = importlib.import_module("pybullet")
    at = pose @ _AXES
    at[:3, 3] *= scale
    near, far = lens.near_m, lens.far_m
    shape = (lens.height, lens.width)
    pixels, buffer, bodies = p.getCameraImage(
        lens.width,
        lens.height,
        np.linalg.inv(at).T.ravel().tolist(),
        p.computeProjectionMatrixFOV(
            lens.field_deg, lens.width / lens.height, near * scale, far * scale
        ),
        lightDirection=light.direction,
        lightColor=(1, 1, 1),
        lightDistance=light.distance_m * scale,
        lightAmbientCoeff=light.ambient,
        lightDiffuseCoeff=light.diffuse,
        lightSpecularCoeff=light.specular,
        shadow=int(light.shadow),
        renderer=p.ER_TINY_RENDERER,
        physicsClientId=client,
    )[2:5]
    colors = np.asarray(pixels, dtype=np.uint8).reshape(*shape, 4)
    depth = np.asarray(buffer, dtype=np.float64).reshape(shape)
    shown = np.asarray(bodies, dtype=np.int64).reshape(shape)
    return Raw(
        np.ascontiguousarray(colors[:, :, :3]),
        np.where(shown >= 0, far * near / (far - (far - near) * depth), 0.0),
        shown,
    )


class PyBulletCamera:
    """Takes pictures of a simulation from wherever it is held."""

    def __init__(
        self,
        client: int,
        pose: Callable[[], Array],
        lens: Lens,
        *,
        light: Light | None = None,
        scale: float = 1.0,
        prepare: Callable[[], None] | None = None,
        robot: int | None = None,
    ) -> None:
        """Take no picture yet.

        Args:
            client: A physics client; it stays the caller's to disconnect.
            pose: Says where the camera is, shape (4, 4), in the robot's frame, metres.
            lens: Its size and field.
            light: How the scene is lit.
            scale: The simulation is built so many times larger than life.
            prepare: Called before each picture, such as to pose what is to be seen.
            robot: The body that is the robot itself, posed by its joint angles.
        """
        self._client = client
        self._pose = pose
        self._lens = lens
        self._light = light or Light()
        self._scale = scale
        self._prepare = prepare
        self._robot = robot

    def capture(self) -> Frame:
        """Take a picture of the simulation as it is."""
        if self._prepare is not None:
            self._prepare()
        pose = self._pose()
        raw = shoot(self._client, pose, self._lens, self._light, self._scale)
        robot = None if self._robot is None else raw.bodies == self._robot
        return Frame(raw.rgb, raw.depth_m, self._lens.intrinsics, pose, robot)

    def close(self) -> None:
        """Do nothing: the simulation belongs to whoever built it."""
