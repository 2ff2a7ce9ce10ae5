"""A depth camera in a PyBullet simulation, anywhere: on a stand or in a hand."""

from __future__ import annotations

import importlib
import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from robots.perception.camera import Array, Frame

_AXES = np.diag([1.0, -1.0, -1.0, 1.0])
"""The renderer's cameras have y up and z backward."""


@dataclass(frozen=True)
class Lens:
    """What a camera's pictures measure."""

    width: int
    """Pixels."""
    height: int
    """Pixels."""
    field_deg: float
    """Vertical field of view, as the renderer takes it."""
    near_m: float = 0.1
    """Closest distance it sees."""
    far_m: float = 3.0
    """What is further has no depth."""

    @property
    def intrinsics(self) -> Array:
        """Pinhole matrix, shape (3, 3), pixels."""
        focal = self.height / 2 / math.tan(math.radians(self.field_deg) / 2)
        # The renderer's axis meets column width / 2 and row height / 2 - 1, as planes show.
        across, down = self.width / 2 + 0.5, self.height / 2 - 0.5
        return np.array([[focal, 0.0, across], [0.0, focal, down], [0.0, 0.0, 1.0]])


@dataclass(frozen=True)
class Light:
    """One lamp, and what it does."""

    direction: tuple[float, float, float] = (-0.5, -0.5, 1.3)
    """Towards the lamp."""
    distance_m: float = 2.4
    """How far off it is."""
    ambient: float = 0.6
    """Share of light that comes from everywhere."""
    diffuse: float = 0.45
    """Share that depends on how a surface is turned."""
    specular: float = 0.05
    """Share that is mirrored."""
    shadow: bool = True
    """Whether things cast shadows, which is as much work as the picture itself."""


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
