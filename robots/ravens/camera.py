"""Pictures of the physics world, drawn from a second simulation that only ever poses for them.

The studio holds visual shapes and no physics: poses are copied into it, a picture is taken. So
pictures cannot change what happens, and the simulation itself carries no shapes to draw.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Any

from robots.perception.bullet_camera import PyBulletCamera, shoot
from robots.perception.camera import Array
from robots.perception.lens import Lens, Light
from robots.ravens.bodies import ARM_JOINTS, FINGERS
from robots.ravens.pictures import FINE_FROM_PX, VIEW, before_sky, view_lens
from robots.ravens.scene import (
    BLOCK_HALF,
    BOWL_BASE_R,
    BOWL_FLOOR,
    BOWL_HEIGHT,
    BOWL_RIM_R,
    BOWL_WALL,
    Body,
    Scene,
    size_of,
)
from robots.ravens.view import ARM_URDF
from robots.simulation.bullet import p
from robots.table.geometry import TABLE_X, TABLE_Y, Vec3
from robots.table.things import color_of

_SCALE = 10.0
"""The studio is built this much larger: the renderer leaves out shadows within a fixed distance of
what casts them, and so blocks would have none."""
_LIGHT = Light()
_DESK = (0.80, 0.70, 0.58)
_DESK_X, _DESK_Y = (-0.46, 0.46), (-0.86, 0.14)
_DESK_Z, _DESK_M = -0.002, 0.04
"""Height and thickness of its top, metres; the mat lies in it, so that nothing is drawn twice."""
_UP = (0.0, 0.0, 1.0)
_MAT = (0.90, 0.89, 0.87)
_SEGMENTS = 32
_AWAY = (0.0, 0.0, -5.0)


class Studio:
    """A fixed camera in front of the table, a little above it."""

    def __init__(self) -> None:
        """Connect a renderer and build the table and the arm."""
        self._client: int = p.connect(p.DIRECT)
        self._objects: dict[str, int] = {}
        self._faces([_level(TABLE_X, TABLE_Y, 0.0)], _UP, _MAT)
        (left, right), (front, back) = _DESK_X, _DESK_Y
        around = [
            _level(_DESK_X, (front, TABLE_Y[0]), _DESK_Z),
            _level(_DESK_X, (TABLE_Y[1], back), _DESK_Z),
            _level((left, TABLE_X[0]), TABLE_Y, _DESK_Z),
            _level((TABLE_X[1], right), TABLE_Y, _DESK_Z),
        ]
        self._faces(around, _UP, _DESK)
        low = _DESK_Z - _DESK_M
        edge = [(left, front, low), (right, front, low)]
        edge += [(right, front, _DESK_Z), (left, front, _DESK_Z)]
        self._faces([edge], (0.0, -1.0, 0.0), _DESK)
        self._arm: int = p.loadURDF(
            str(ARM_URDF), useFixedBase=True, globalScaling=_SCALE, physicsClientId=self._client
        )

    def draw(
        self, scene: Scene, joints: Sequence[float], gap_m: float, width: int, height: int
    ) -> Any:
        """Return a PIL image of a scene with the arm at these joint angles."""
        self._pose(scene, joints, gap_m)
        fine = width >= FINE_FROM_PX
        finer, light = (2, _LIGHT) if fine else (1, replace(_LIGHT, shadow=False))
        lens = view_lens(width * finer, height * finer)
        raw = shoot(self._client, VIEW, lens, light, _SCALE)
        return before_sky(raw.rgb, raw.bodies < 0, (width, height))

    def _pose(self, scene: Scene, joints: Sequence[float], gap_m: float) -> None:
        """Have everything stand as it does in the world."""
        for joint, angle in zip(ARM_JOINTS, joints, strict=True):
            p.resetJointState(self._arm, joint, angle, physicsClientId=self._client)
        for finger in FINGERS:
            p.resetJointState(self._arm, finger, gap_m / 2 * _SCALE, physicsClientId=self._client)
        for name in scene.names:
            if name not in self._objects:
                self._objects[name] = self._object(name)
        for name, number in self._objects.items():
            body = scene[name] if name in scene.names else Body(name, _AWAY, size=size_of(name))
            p.resetBasePositionAndOrientation(
                number, _large(body.position), body.quaternion, physicsClientId=self._client
            )

    def camera(
        self,
        show: Callable[[], tuple[Scene, Sequence[float], float]],
        lens: Lens,
        pose: Callable[[], Array],
    ) -> PyBulletCamera:
        """Return a depth camera.

        Args:
            show: Says what to take a picture of: a scene, joint angles, the fingers' gap (m).
            lens: Its size and field.
            pose: Says where the camera is, shape (4, 4), metres.
        """
        return PyBulletCamera(
            self._client,
            pose,
            lens,
            light=_LIGHT,
            scale=_SCALE,
            prepare=lambda: self._pose(*show()),
            robot=self._arm,
        )

    def close(self) -> None:
        """Disconnect the renderer."""
        p.disconnect(self._client)

    def _box(
        self,
        centre: Sequence[float],
        half: Sequence[float],
        color: Sequence[float],
    ) -> int:
        shape = p.createVisualShape(
            p.GEOM_BOX,
            halfExtents=_large(half),
            rgbaColor=[*color, 1],
            physicsClientId=self._client,
        )
        return self._body(shape, centre)

    def _faces(self, faces: Sequence[Sequence[Vec3]], normal: Vec3, color: Sequence[float]) -> None:
        """Add rectangles that look one way: what nobody sees of a box costs as much as the rest."""
        firsts = range(0, 4 * len(faces), 4)
        shape = p.createVisualShape(
            p.GEOM_MESH,
            vertices=[_large(corner) for face in faces for corner in face],
            normals=[normal] * (4 * len(faces)),
            indices=[first + corner for first in firsts for corner in (0, 1, 2, 0, 2, 3)],
            rgbaColor=[*color, 1],
            physicsClientId=self._client,
        )
        self._body(shape, (0.0, 0.0, 0.0))

    def _body(self, shape: int, centre: Sequence[float]) -> int:
        number: int = p.createMultiBody(
            baseVisualShapeIndex=shape, basePosition=_large(centre), physicsClientId=self._client
        )
        return number

    def _object(self, name: str) -> int:
        color = [part / 255 for part in color_of(name)]
        if name.endswith("block"):
            return self._box(_AWAY, (BLOCK_HALF,) * 3, color)
        vertices, normals, triangles = _bowl_mesh()
        shape = p.createVisualShape(
            p.GEOM_MESH,
            vertices=[_large(vertex) for vertex in vertices],
            normals=normals,
            indices=triangles,
            rgbaColor=[*color, 1],
            physicsClientId=self._client,
        )
        return self._body(shape, _AWAY)


def _level(x: tuple[float, float], y: tuple[float, float], z: float) -> list[Vec3]:
    """Return the corners of a level rectangle, counter-clockwise from above, metres."""
    return [(x[0], y[0], z), (x[1], y[0], z), (x[1], y[1], z), (x[0], y[1], z)]


def _large(lengths: Sequence[float]) -> list[float]:
    """Return lengths in metres at the studio's scale."""
    return [length * _SCALE for length in lengths]


def _bowl_mesh() -> tuple[list[list[float]], list[list[float]], list[int]]:
    """Return vertices, normals and triangles of a bowl: a profile turned about the vertical."""
    half = BOWL_HEIGHT / 2
    profile = [
        (0.0, BOWL_FLOOR - half),
        (BOWL_BASE_R - BOWL_WALL, BOWL_FLOOR - half),
        (BOWL_RIM_R - BOWL_WALL, half),
        (BOWL_RIM_R, half),
        (BOWL_BASE_R, -half),
    ]
    vertices: list[list[float]] = []
    normals: list[list[float]] = []
    triangles: list[int] = []
    for (r0, z0), (r1, z1) in itertools.pairwise(profile):
        slant = math.hypot(r1 - r0, z1 - z0)
        # Left of the way along the profile is the outside of the wall.
        out_r, out_z = (z0 - z1) / slant, (r1 - r0) / slant
        for segment in range(_SEGMENTS):
            first = len(vertices)
            for step in (segment, segment + 1):
                angle = 2 * math.pi * step / _SEGMENTS
                c, s = math.cos(angle), math.sin(angle)
                vertices += [[r0 * c, r0 * s, z0], [r1 * c, r1 * s, z1]]
                normals += [[out_r * c, out_r * s, out_z]] * 2
            triangles += [first, first + 1, first + 3, first, first + 3, first + 2]
    return vertices, normals, triangles
