"""The tabletop in MuJoCo: simulations of it, and pictures."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from typing import Any

import numpy as np
from PIL import Image

from cap.robot.view import Placement, Shape
from robots.arm import ur5e
from robots.arm.gripper import FINGER_FORCE_N, FINGER_SPEED_MPS, GRIP_FORCE_N
from robots.perception.camera import Array, Frame
from robots.perception.lens import Lens, Light
from robots.ravens import view
from robots.ravens.pictures import FINE_FROM_PX, VIEW, before_sky, sky, view_lens
from robots.ravens.scene import BLOCK_MASS_KG, BOWL_MASS_KG, Body, Scene, bowl_boxes
from robots.ravens.world import WorldState
from robots.simulation.mujoco_arm import (
    ARM,
    FIXED,
    PAD,
    THING,
    MujocoArm,
    MujocoModel,
    add_box,
    add_thing,
    add_weld,
    leaning,
    new_spec,
)
from robots.simulation.rays import RayStudio, Shot
from robots.simulation.world import WorldOwner
from robots.table.geometry import Vec3

_FLOOR_M = 2.0
"""Half the edges of the box whose top everything stands on, metres."""
_FRICTION = 0.35
_LIGHT = Light()


def _model(scene: Scene) -> MujocoModel:
    """Compile a table with such objects."""
    spec = new_spec(view.ARM_URDF)
    driven = len(spec.joints)
    add_box(
        spec.worldbody,
        (_FLOOR_M,) * 3,
        pos=[0, 0, -_FLOOR_M],
        contype=FIXED,
        conaffinity=ARM | THING | PAD,
        friction=[_FRICTION, 0.002, 1e-4],
    )
    touch: dict[str, Any] = {"contype": THING, "conaffinity": ARM | THING | PAD}
    touch["friction"] = [_FRICTION, 0.002, 1e-4]
    for each in scene.bodies:
        body = add_thing(spec, each.name, each.position, each.quaternion)
        if each.kind == "block":
            add_box(body, [edge / 2 for edge in each.size], mass=BLOCK_MASS_KG, **touch)
        else:
            boxes = bowl_boxes()
            whole = sum(math.prod(half) for half, _, _ in boxes)
            for half, place, turn in boxes:
                mass = BOWL_MASS_KG * math.prod(half) / whole
                add_box(body, half, pos=list(place), quat=leaning(*turn), mass=mass, **touch)
        add_weld(spec, "hand", each.name)
    return MujocoModel(spec, driven, scene.names)


class MujocoTabletop(MujocoArm):
    """A built simulation of the table in MuJoCo."""

    torques = ur5e.MAX_TORQUE
    finger_mps = closing_mps = FINGER_SPEED_MPS
    finger_force_n, grip_force_n = FINGER_FORCE_N, GRIP_FORCE_N

    def __init__(self, model: MujocoModel, state: WorldState, owner: WorldOwner) -> None:
        """Build the simulation of a state."""
        super().__init__(model, owner, state.joints, state.gap_m)
        self._sizes = {body.name: body.size for body in state.scene.bodies}
        for body in state.scene.bodies:
            self.place(body.name, body.position, body.quaternion)
        if state.held:
            self.fix(model.bodies[state.held])
            self.held = state.held

    def take(self, name: str) -> bool:
        """Close the fingers on an object, if it is there; return whether they hold it."""
        return self.grasp(self._world.bodies.get(name))

    def touches_another(self, name: str) -> bool:
        """Return whether an object touches anything but the gripper."""
        return not self._world.is_arm[self._touching(self._world.bodies[name])].all()

    def body(self, name: str) -> Body:
        """Return where an object is now."""
        position, turn = self.place_of(self._world.bodies[name])
        return Body(name, position, turn, self._sizes[name])

    def scene(self) -> Scene:
        """Return where every object is now."""
        return Scene(tuple(self.body(name) for name in self._sizes))


class MujocoTabletopEngine:
    """MuJoCo for the table: its model is compiled anew when other objects stand there."""

    def __init__(self) -> None:
        """Compile nothing yet."""
        self._model: MujocoModel | None = None
        self._objects: tuple[tuple[str, Vec3], ...] | None = None
        self._studio = RayStudio()

    def build(self, state: WorldState, owner: WorldOwner) -> MujocoTabletop:
        """Build the simulation of a state; it replaces the one before."""
        objects = tuple((body.name, body.size) for body in state.scene.bodies)
        if self._model is None or self._objects != objects:
            self._model, self._objects = _model(state.scene), objects
        return MujocoTabletop(self._model, state, owner)

    def draw(
        self, scene: Scene, joints: Sequence[float], gap_m: float, width: int, height: int
    ) -> Any:
        """Return a spectator's view as a PIL image."""
        lens, (shapes, placed) = view_lens(width, height), _shown(scene, joints, gap_m)
        if width >= FINE_FROM_PX:
            smooth = self._studio.smooth(shapes, placed, VIEW, lens, _LIGHT, sky(height))
            return Image.fromarray(smooth)
        shot = self._studio.shoot(shapes, placed, VIEW, lens, replace(_LIGHT, shadow=False))
        return before_sky(shot.rgb, shot.bodies < 0, (width, height))

    def camera(
        self,
        show: Callable[[], tuple[Scene, Sequence[float], float]],
        lens: Lens,
        pose: Callable[[], Array],
    ) -> RayCamera:
        """Return a depth camera of what `show` says, held where `pose` says."""
        return RayCamera(
            lambda at: self._studio.shoot(*_shown(*show()), at, lens, _LIGHT), lens, pose
        )

    def close(self) -> None:
        """Do nothing: no resource is held."""


def _shown(
    scene: Scene, joints: Sequence[float], gap_m: float
) -> tuple[Mapping[str, Sequence[Shape]], Mapping[str, Placement]]:
    state = WorldState(scene, tuple(joints), gap_m)
    return view.shapes(state), view.view(state).placements


class RayCamera:
    """Takes pictures of the table from wherever it is held."""

    def __init__(
        self, shoot: Callable[[Array], Shot], lens: Lens, pose: Callable[[], Array]
    ) -> None:
        """Take no picture yet.

        Args:
            shoot: Takes one from a pose.
            lens: Its size and field.
            pose: Says where the camera is, shape (4, 4), metres.
        """
        self._shoot, self._lens, self._pose = shoot, lens, pose

    def capture(self) -> Frame:
        """Take a picture of the table as it is."""
        pose = self._pose()
        shot = self._shoot(pose)
        arm = [number for number, name in enumerate(shot.names) if name.startswith("arm/")]
        robot = np.isin(shot.bodies, arm)
        return Frame(shot.rgb, shot.depth_m, self._lens.intrinsics, pose, robot)

    def close(self) -> None:
        """Do nothing: the table belongs to whoever built it."""
