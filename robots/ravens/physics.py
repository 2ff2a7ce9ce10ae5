"""The world with dynamics: the arm is moved by its joint motors, the objects by contact."""

from __future__ import annotations

import math
from collections.abc import Callable
from contextlib import AbstractContextManager
from dataclasses import replace
from typing import Any

import numpy as np

from cap.errors import NotGrasped
from robots.arm import ur5e
from robots.arm.gripper import ROBOTIQ_2F_85, Fingers
from robots.arm.motion import DT_S, Pose, along, through
from robots.arm.strokes import resampled
from robots.arm.travel import PARK, TABLE, away, over
from robots.perception.camera import Array, Camera
from robots.perception.lens import Lens
from robots.ravens import route
from robots.ravens.bodies import world_of
from robots.ravens.pictures import CAMERA_POSE, FRONT_LENS, Studio
from robots.ravens.transfer import Transfer
from robots.ravens.world import TabletopWorld, WorldState, slipped
from robots.simulation.arm_world import ArmWorld, held_by_friction
from robots.simulation.gripping_arm import GrippingArm
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
_LOWEST_Z = 0.008
_SETTLE_STEPS = 240
_SLIP_HEIGHT = 0.03
"""How far an object is lifted before it slips, metres."""
_STUCK_M, _STUCK_COS = 5e-5, 1 - 1e-6
"""What moved and turned (cosine of half the angle) less in a motion is held by friction."""


class PhysicsTabletop(ArmWorld[WorldState], TabletopWorld):
    """Carries plans out with a simulated arm."""

    def __init__(
        self,
        owner: WorldOwner,
        state: WorldState,
        fingers: Fingers = ROBOTIQ_2F_85,
        engine: str | None = None,
    ) -> None:
        """Start from a state, in an engine as `engines.choose` takes it."""
        TabletopWorld.__init__(self, owner, state, fingers)
        ArmWorld.__init__(self, owner, state, engine)
        self._studio = Studio()

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
        """Put down what a stopped motion left in the gripper, straight below it."""
        if self.state.held is None:
            return
        with self._moving() as simulation:
            held, start = simulation.held, Pose.of_joints(simulation.targets)
            down = through([start, replace(start, z=_LOWEST_Z)])
            simulation.follow(down, until=lambda: held is None or simulation.touches_another(held))
            simulation.open(self.fingers.opened(simulation.gap_m))
            self._retreat(simulation, self._clear_z())

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

    def render(self, width: int, height: int) -> Any:
        """Return a spectator's view as a PIL image."""
        return self._studio.draw(self.now(), width, height)

    def camera(
        self, lens: Lens = FRONT_LENS, pose: Callable[[], Array] = lambda: CAMERA_POSE
    ) -> Camera:
        """Return a depth camera.

        Args:
            lens: Its size and field; those of the camera before the table by default.
            pose: Says where it is, shape (4, 4), metres, such as in the hand; before the table,
                where the arm hides nothing, by default.
        """
        return self._studio.camera(self.now, lens, pose)

    def _clear_z(self) -> float:
        """Return a height above everything, metres."""
        return self.now().scene.top() + TABLE.lift

    def _over(self, simulation: GrippingArm, end: Pose, height: float) -> list[Pose]:
        """Return the way from here over everything in between and down to a pose."""
        return over(Pose.of_joints(simulation.targets), end, height)

    def _retreat(self, simulation: GrippingArm, height: float) -> None:
        """Rise to a height (m) and wait where the arm hides nothing from the camera."""
        rest = replace(PARK, z=max(PARK.z, self._clear_z()))
        start = Pose.of_joints(simulation.targets)
        simulation.follow(through(away(start, height, rest, TABLE)))

    def _moving(self) -> AbstractContextManager[GrippingArm]:
        return self._motion(world_of(self.state), _SETTLE_STEPS)

    def _in_motion(self, simulation: GrippingArm) -> WorldState:
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
