"""The world with dynamics: the arm is moved by its joint motors, the objects by contact."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from contextlib import AbstractContextManager
from dataclasses import replace
from functools import cached_property
from importlib.util import find_spec
from typing import Any

import numpy as np
from numpy.typing import NDArray
from PIL import Image

from cap.errors import MissingSimulator, NotGrasped, install_extra
from cap.robot.view import Placement, Shape
from robots.arm import ur5e
from robots.arm.gripper import ROBOTIQ_2F_85, Fingers
from robots.arm.motion import DT_S, PARK, TABLE, Pose, along, away, over, through
from robots.arm.rotations import looking
from robots.arm.strokes import resampled
from robots.perception.camera import Array, Camera
from robots.perception.lens import Lens, Light
from robots.ravens import route
from robots.ravens.state import WorldState, slipped
from robots.ravens.transfer import Transfer
from robots.ravens.world import TabletopWorld, shapes, view, world_of
from robots.simulation.grasping_arm import GraspingArm
from robots.simulation.physics import MotorWorld, held_by_friction
from robots.simulation.world import WorldOwner
from robots.table.geometry import XY

_TOUCHDOWN = 0.0005
"""Height above its support at which an object is let go, metres."""
_LOADED_MPS2 = 2.5
"""Acceleration while a bowl carries something loose: below what friction holds."""
_PATH_MPS2 = 1.5
"""Acceleration of the fingertips along a path."""
_PATH_SPACING_M = 0.0015
_REST_STEPS = 12
"""So long the arm waits at both ends of a path, to be exactly there."""
_SETTLE_STEPS = 240
_SLIP_HEIGHT = 0.03
"""How far an object is lifted before it slips, metres."""
_STUCK_M, _STUCK_COS = 5e-5, 1 - 1e-6
"""What moved and turned (cosine of half the angle) less in a motion is held by friction."""
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


class PhysicsTabletop(MotorWorld[WorldState], TabletopWorld):
    """Carries plans out with a simulated arm."""

    def __init__(
        self,
        owner: WorldOwner,
        state: WorldState,
        fingers: Fingers = ROBOTIQ_2F_85,
        engine: str | None = None,
    ) -> None:
        """Start from a state, in an engine as `chosen_engine` takes it."""
        TabletopWorld.__init__(self, owner, state, fingers)
        MotorWorld.__init__(self, owner, state, engine)

    def transfer(self, planned: Transfer, *, slips: bool = False) -> None:
        """Pick an object up, carry it, and put it down where it was planned; or lose it."""
        name, pick = planned.name, Pose(*planned.pick.tip, planned.pick.yaw)
        loose = _LOADED_MPS2 if len(planned.result) > 1 else math.inf
        with self._moving() as simulation:
            simulation.gap_goal_m = planned.pick.gap_m
            simulation.follow(through(self._over(simulation, pick, planned.travel_z)))
            taken = simulation.take(name)
            if taken and slips:
                lifted = replace(pick, z=pick.z + _SLIP_HEIGHT)
                simulation.follow(through([pick, lifted]))
            if slips or not taken:
                simulation.open(planned.pick.gap_m)
                self._retreat(simulation, planned.travel_z)
                if taken:
                    raise slipped(name)
                raise NotGrasped(
                    f"the fingers closed without holding {name!r}; look where it is now"
                )
            # What slid in the hand lands as planned all the same.
            x, y, z = Pose.of_joints(simulation.joints()).release_point(
                simulation.place_of(name)[0],
                planned.result[0].position,
                planned.place.yaw - planned.pick.yaw,
            )
            goal = Pose(x, y, z + _TOUCHDOWN, planned.place.yaw)
            simulation.follow(through(self._over(simulation, goal, planned.travel_z), loose))
            simulation.open(planned.place.gap_m)
            self._retreat(simulation, planned.travel_z)

    def recover(self) -> None:
        """Put down what a stopped motion left in the gripper; see `transfer.put_down`."""
        if self.state.held is None:
            return
        planned = self.state.put_down(self.fingers)
        x, y, z = planned.place.tip
        with self._moving() as simulation:
            goal = Pose(x, y, z + _TOUCHDOWN, planned.place.yaw)
            simulation.follow(through(self._over(simulation, goal, planned.travel_z)))
            simulation.open(planned.place.gap_m)
            self._retreat(simulation, planned.travel_z)

    def park(self) -> None:
        """Take the gripper to where it hides nothing from the camera."""
        with self._moving() as simulation:
            self._retreat(simulation, self._clear_z())

    def point(self, xy: XY) -> None:
        """Hold the gripper over a point of the table, metres."""
        with self._moving() as simulation:
            height = route.height_m(self.now().scene)
            simulation.follow(through(self._over(simulation, route.pose_over(xy, height), height)))

    def follow(self, path: Array, speed_mps: float) -> None:
        """Take the gripper along a path; see `TabletopWorld`. The path kept is where it was."""
        trail: list[tuple[float, ...]] = []
        try:
            with self._moving() as simulation:
                height = route.height_m(self.now().scene)
                dense = resampled(path, _PATH_SPACING_M)
                level = np.column_stack([dense, np.full(len(dense), height)])
                turned = np.column_stack([level, np.full(len(dense), PARK.yaw)])
                way = along(turned, speed_mps=speed_mps, acceleration_mps2=_PATH_MPS2)
                first = route.pose_over(path[0], height)
                simulation.follow(through(self._over(simulation, first, height)))
                simulation.wait(_REST_STEPS)
                trail.append(simulation.joints())
                simulation.on_step = lambda: trail.append(simulation.joints())
                simulation.follow(way)
                simulation.on_step = None
                simulation.wait(_REST_STEPS)
                trail.append(simulation.joints())
        finally:
            if trail:
                self.state = self.state.followed(ur5e.tips(np.array(trail))[:, :2])

    @cached_property
    def _studio(self) -> Any:
        """The scene that pictures are taken of: in MuJoCo, whichever engine moves the arm."""
        if not find_spec("mujoco"):
            raise MissingSimulator(
                f"pictures need MuJoCo, which is not installed: {install_extra('sim')}"
            )
        from robots.simulation.rays import RayStudio

        return RayStudio()

    def _shown(self) -> tuple[Mapping[str, Sequence[Shape]], Mapping[str, Placement]]:
        """Return what each body is made of, and where it is at this moment."""
        state = self.now()
        return shapes(state), view(state).placements

    def render(self, width: int, height: int) -> Any:
        """Return a spectator's view as a PIL image."""
        lens, sky = Lens(width, height, _FIELD_OF_VIEW_DEG, _NEAR_M, _FAR_M), _sky(height)
        self._studio.show(*self._shown())
        if width >= _FINE_FROM_PX:
            return Image.fromarray(self._studio.picture(VIEW, lens, _LIGHT, sky))
        shot = self._studio.shoot(VIEW, lens, replace(_LIGHT, shadow=False))
        return Image.fromarray(np.where(shot.bodies[:, :, None] < 0, sky, shot.rgb))

    def camera(
        self, lens: Lens = FRONT_LENS, pose: Callable[[], Array] = lambda: CAMERA_POSE
    ) -> Camera:
        """Return a depth camera.

        Args:
            lens: Its size and field; those of the camera before the table by default.
            pose: Says where it is, shape (4, 4), metres, such as in the hand; before the table,
                where the arm hides nothing, by default.
        """
        studio = self._studio
        from robots.simulation.rays import RayCamera

        return RayCamera(studio, self._shown, lens, pose, _LIGHT)

    def _clear_z(self) -> float:
        """Return a height above everything, metres."""
        return self.now().scene.top() + TABLE.lift

    def _over(self, simulation: GraspingArm, end: Pose, height: float) -> list[Pose]:
        """Return the way from here over everything in between and down to a pose."""
        return over(Pose.of_joints(simulation.targets), end, height)

    def _retreat(self, simulation: GraspingArm, height: float) -> None:
        """Rise to a height (m) and wait where the arm hides nothing from the camera."""
        rest = replace(PARK, z=max(PARK.z, self._clear_z()))
        start = Pose.of_joints(simulation.targets)
        simulation.follow(through(away(start, height, rest, TABLE)))

    def _moving(self) -> AbstractContextManager[GraspingArm]:
        return self._motion(world_of(self.state), _SETTLE_STEPS)

    def _in_motion(self, simulation: GraspingArm) -> WorldState:
        state = self.state
        places = ((body, *simulation.place_of(body.name)) for body in state.scene.bodies)
        return replace(
            state,
            scene=state.scene.moved(
                replace(body, position=position, quaternion=turn) for body, position, turn in places
            ),
            joints=simulation.joints(),
            gap_m=simulation.gap_m,
            held=simulation.held,
            time_s=state.time_s + simulation.steps * DT_S,
        )

    def _after(self, now: WorldState) -> WorldState:
        before, bodies = self.state.scene.bodies, now.scene.bodies
        still = held_by_friction(before, bodies, _STUCK_M, _STUCK_COS)
        return replace(now, actions=now.actions + 1, scene=now.scene.moved(still), seen=None)


def _sky(height: int) -> NDArray[np.uint8]:
    """Return the background of a picture so many pixels high, shape (height, 1, 3)."""
    top, bottom = (np.array(color, dtype=np.float64) for color in _SKY)
    fall = np.linspace(0.0, 1.0, height)[:, None, None]
    return (top + fall * (bottom - top)).astype(np.uint8)
