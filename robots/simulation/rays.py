"""Pictures by rays: what a robot's world looks like, from its shapes, without a graphics card.

MuJoCo gives for each ray what it meets, how far off, and how that is turned. The world that is
drawn holds shapes and no physics: bodies are posed in it, so no picture changes what happens.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import mujoco
import numpy as np
from numpy.typing import NDArray

from cap.robot.view import Placement, Shape, lathe_mesh
from robots.perception.camera import Array, Frame
from robots.perception.lens import Lens, Light

_IN_SHADOW = 0.7
"""Share of the lamp's light that a shadow leaves."""
_APART_M = 1e-3
"""What hides the lamp is at least so far from what it shades."""
_EDGE = 12.0
"""Neighbours whose brightness differs by more, of 255, meet at an edge."""
_PARTS = np.array([(-1, 0), (0, 1), (1, -1)]) / 3
"""Where in a pixel at an edge its rays go: each in a row and a column of its own."""
_AWAY = (0.0, 0.0, -50.0)


@dataclass(frozen=True)
class Shot:
    """One picture."""

    rgb: NDArray[np.uint8]
    """Colours, shape (height, width, 3)."""
    depth_m: Array
    """Along the optical axis, shape (height, width), metres; 0 where nothing is."""
    bodies: NDArray[np.int64]
    """Which body each pixel shows, shape (height, width), by its place in `names`; -1 for none."""
    names: tuple[str, ...]


class RayStudio:
    """A world of shapes that only ever poses for pictures."""

    def __init__(self) -> None:
        """Hold nothing yet."""
        self._names: tuple[str, ...] = ()
        self._model: Any = None
        self._groups: NDArray[np.uint8] | None = None

    @classmethod
    def of(cls, model: Any, data: Any, colors: Array, groups: NDArray[np.uint8]) -> RayStudio:
        """Return one that shows a MuJoCo model as its data have it.

        Args:
            model: Its shapes.
            data: Where they are.
            colors: Of each shape, 0 to 255, shape (n, 3).
            groups: Which of MuJoCo's six groups of shapes are seen: six times 0 or 1.
        """
        studio = cls()
        studio._model, studio._data, studio._groups = model, data, groups
        studio._colors = colors
        return studio

    def show(
        self, shapes: Mapping[str, Sequence[Shape]], placements: Mapping[str, Placement]
    ) -> None:
        """Show bodies from now on.

        Args:
            shapes: What each is made of, by name.
            placements: Where each one is; others are not seen.
        """
        self._build(shapes)
        for number, name in enumerate(self._names):
            px, py, pz, x, y, z, w = placements.get(name, (*_AWAY, 0.0, 0.0, 0.0, 1.0))
            self._data.mocap_pos[number] = (px, py, pz)
            self._data.mocap_quat[number] = (w, x, y, z)
        mujoco.mj_kinematics(self._model, self._data)

    def shoot(self, pose: Array, lens: Lens, light: Light) -> Shot:
        """Take a picture of one ray a pixel.

        Args:
            pose: The camera, shape (4, 4): x right, y down, z forward, metres.
            lens: Its size and field.
            light: How the scene is lit.
        """
        geoms, depth, rgb = self._look(_pixels(lens), pose, lens, light)
        shape = (lens.height, lens.width)
        return Shot(
            rgb.astype(np.uint8).reshape(*shape, 3),
            depth.reshape(shape),
            self._body_of[geoms].reshape(shape),
            self._names,
        )

    def picture(
        self, pose: Array, lens: Lens, light: Light, sky: NDArray[np.uint8]
    ) -> NDArray[np.uint8]:
        """Return a picture with smooth edges: of three rays a pixel where colours meet.

        Args:
            pose: As `shoot` takes it, and what follows.
            lens: Likewise.
            light: Likewise.
            sky: What is seen where nothing is, shape (height, 1, 3).
        """
        shape, pixels = (lens.height, lens.width), _pixels(lens)
        geoms, _, rgb = self._look(pixels, pose, lens, light)
        behind = np.broadcast_to(sky, (*shape, 3)).reshape(-1, 3)
        rgb = np.where(geoms[:, None] >= 0, rgb, behind)
        edges = np.flatnonzero(_edges(geoms.reshape(shape), rgb.reshape(*shape, 3)))
        parts = (pixels[edges, None] + _PARTS).reshape(-1, 2)
        hit, _, color = self._look(parts, pose, lens, light)
        color = np.where(hit[:, None] >= 0, color, behind[edges].repeat(len(_PARTS), axis=0))
        rgb[edges] = color.reshape(-1, len(_PARTS), 3).mean(axis=1)
        return rgb.astype(np.uint8).reshape(*shape, 3)

    def _look(
        self, pixels: Array, pose: Array, lens: Lens, light: Light
    ) -> tuple[NDArray[np.int32], Array, Array]:
        """Return what points of the picture show, shape (n, 2): geoms (-1: none), depth, colour."""
        # Not by `@`: its threads would wait busily for each other over so little work.
        back = np.linalg.inv(lens.intrinsics)
        ahead = np.einsum("ij,kj->ik", np.column_stack([pixels, np.ones(len(pixels))]), back)
        length = np.sqrt(np.einsum("ij,ij->i", ahead, ahead))
        rays = np.einsum("ij,kj->ik", ahead / length[:, None], pose[:3, :3])
        geoms, far, normals = self._cast(pose[:3, 3], rays, lens.far_m * float(length.max()))
        depth = far / length
        geoms[(depth < lens.near_m) | (depth > lens.far_m)] = -1
        seen = np.flatnonzero(geoms >= 0)
        normals, rays = normals[seen], rays[seen]
        to_lamp = np.array(light.direction) / np.linalg.norm(light.direction)
        facing = np.einsum("ij,j->i", normals, to_lamp)
        facing[np.einsum("ij,ij->i", normals, rays) > 0] *= -1  # seen from within
        np.maximum(facing, 0.0, out=facing)
        if light.shadow:
            lamp = to_lamp * light.distance_m
            lit = np.flatnonzero(facing)
            there = pose[:3, 3] + rays[lit] * far[seen[lit], None] - lamp
            way = np.sqrt(np.einsum("ij,ij->i", there, there))
            _, first, _ = self._cast(lamp, there / way[:, None], 2 * light.distance_m)
            facing[lit] *= np.where(first > way - _APART_M, 1.0, _IN_SHADOW)
        rgb = np.zeros((len(pixels), 3))
        shade = (light.ambient + light.diffuse * facing)[:, None]
        rgb[seen] = np.minimum(self._colors[geoms[seen]] * shade, 255.0)
        return geoms, np.where(geoms >= 0, depth, 0.0), rgb

    def _cast(
        self, origin: NDArray[np.float64], rays: Array, most_m: float
    ) -> tuple[NDArray[np.int32], Array, Array]:
        """Return which geom each ray meets first (-1 for none), how far off, and its normal."""
        count = len(rays)
        geoms, far = np.full(count, -1, dtype=np.int32), np.zeros(count)
        normals = np.zeros((count, 3))
        mujoco.mj_multiRay(
            self._model,
            self._data,
            np.asarray(origin, dtype=np.float64),
            rays.ravel(),
            self._groups,
            True,
            -1,
            geoms,
            far,
            normals.reshape(-1),
            count,
            most_m,
        )
        return geoms, np.where(geoms >= 0, far, np.inf), normals

    def _build(self, shapes: Mapping[str, Sequence[Shape]]) -> None:
        """Compile the shapes, if they are others than before."""
        if self._names == tuple(shapes):
            return
        self._names = tuple(shapes)
        spec = mujoco.MjSpec()
        meshes: dict[Any, str] = {}
        colors, body_of = [], []
        for number, name in enumerate(self._names):
            body = spec.worldbody.add_body(name=name, mocap=True)
            for shape in shapes[name]:
                _add(spec, body, shape, meshes)
                colors.append(shape.color)
                body_of.append(number)
        self._model = spec.compile()
        self._data = mujoco.MjData(self._model)
        self._colors = np.array([*colors, (0, 0, 0)], dtype=np.float64)
        self._body_of = np.array([*body_of, -1])


class RayCamera:
    """A depth camera in a world of shapes, on a stand or in a hand."""

    def __init__(
        self,
        studio: RayStudio,
        show: Callable[[], tuple[Mapping[str, Sequence[Shape]], Mapping[str, Placement]]],
        lens: Lens,
        pose: Callable[[], Array],
        light: Light,
    ) -> None:
        """Take no picture yet.

        Args:
            studio: What poses for the pictures.
            show: Returns what there is now: what each body is made of, and where it is. Bodies
                whose name begins with `arm/` are the robot itself.
            lens: The camera's size and field.
            pose: Returns where it is, shape (4, 4), metres.
            light: How the scene is lit.
        """
        self._studio, self._show, self._lens, self._pose = studio, show, lens, pose
        self._light = light

    def capture(self) -> Frame:
        """Take a picture of the world as it is."""
        pose = self._pose()
        self._studio.show(*self._show())
        shot = self._studio.shoot(pose, self._lens, self._light)
        arm = [number for number, name in enumerate(shot.names) if name.startswith("arm/")]
        robot = np.isin(shot.bodies, arm)
        return Frame(shot.rgb, shot.depth_m, self._lens.intrinsics, pose, robot)

    def close(self) -> None:
        """Do nothing: the world belongs to the code that built it."""


def _pixels(lens: Lens) -> Array:
    """Return the middles of all pixels, row after row: column and row, shape (n, 2)."""
    columns, rows = np.meshgrid(np.arange(lens.width) + 0.5, np.arange(lens.height) + 0.5)
    return np.column_stack([columns.ravel(), rows.ravel()])


def _edges(geoms: NDArray[np.int32], rgb: Array) -> NDArray[np.bool_]:
    """Return which pixels show something else than a neighbour, or brighter or darker."""
    edges = np.zeros(geoms.shape, dtype=bool)
    bright = np.maximum(np.maximum(rgb[..., 0], rgb[..., 1]), rgb[..., 2])
    for axis in (0, 1):
        here = np.diff(geoms, axis=axis) != 0
        here |= np.abs(np.diff(bright, axis=axis)) > _EDGE
        for side in (slice(None, -1), slice(1, None)):
            edges[(side, slice(None)) if axis == 0 else (slice(None), side)] |= here
    return edges


def _add(spec: Any, body: Any, shape: Shape, meshes: dict[Any, str]) -> None:
    px, py, pz, x, y, z, w = shape.at
    given: dict[str, Any] = {"pos": [px, py, pz], "quat": [w, x, y, z]}
    given |= {"contype": 0, "conaffinity": 0}
    if shape.kind == "box":
        half = [edge / 2 for edge in shape.size]
        body.add_geom(type=mujoco.mjtGeom.mjGEOM_BOX, size=half, **given)
    elif shape.kind == "cylinder":
        radius, height = shape.size
        size = [radius, height / 2, 0.0]
        body.add_geom(type=mujoco.mjtGeom.mjGEOM_CYLINDER, size=size, **given)
    else:
        if shape.profile not in meshes:
            name = meshes[shape.profile] = f"lathe {len(meshes)}"
            vertices, faces = lathe_mesh(shape.profile)
            faces = [face for face in faces if _has_area([vertices[at] for at in face])]
            spec.add_mesh(
                name=name,
                uservert=np.array(vertices, dtype=np.float32).ravel(),
                userface=np.array(faces, dtype=np.int32).ravel(),
                inertia=mujoco.mjtMeshInertia.mjMESH_INERTIA_SHELL,
            )
        body.add_geom(type=mujoco.mjtGeom.mjGEOM_MESH, meshname=meshes[shape.profile], **given)


def _has_area(corners: Sequence[Sequence[float]]) -> bool:
    a, b, c = (np.array(corner) for corner in corners)
    return bool(np.linalg.norm(np.cross(b - a, c - a)) > 1e-12)
