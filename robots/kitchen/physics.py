"""The kitchen with a simulated arm, and with only what is near the robot in its simulation."""

from __future__ import annotations

import math
from contextlib import AbstractContextManager
from dataclasses import replace

import numpy as np

from cap.errors import NotGrasped
from robots.arm.motion import DT_S, KITCHEN, Pose, along, away, straight_points, through
from robots.kitchen import arm
from robots.kitchen.bodies import world_of
from robots.kitchen.planner import STROKE_M, Pick, Place, Slide, height_over
from robots.kitchen.state import KitchenState
from robots.kitchen.world import KitchenWorld, arrived
from robots.simulation.grasping_arm import GraspingArm
from robots.simulation.physics import MotorWorld, held_by_friction
from robots.simulation.world import WorldOwner
from robots.table.geometry import inside

_TOUCHDOWN_M = 0.001
"""Height above its support at which an object is let go."""
_SETTLE_STEPS = 960
_LOADED_MPS2 = 0.7
"""Acceleration of the fingertips with a bowl that has something in it."""
_SLIDE_MPS = 0.3
_SLIDE_MPS2 = 0.8
_STUCK_M, _STUCK_COS = 0.0015, math.cos(0.02)
"""What moved and turned by less in a motion stands where it stood."""
_FOLDED_RAD = 0.05
"""An arm no joint of which is further from the folded one is folded."""


class PhysicsKitchen(MotorWorld[KitchenState], KitchenWorld):
    """Carries plans out with a simulated arm."""

    def __init__(self, owner: WorldOwner, state: KitchenState, engine: str | None = None) -> None:
        """Start from a state, in an engine as `chosen_engine` takes it."""
        KitchenWorld.__init__(self, owner, state)
        MotorWorld.__init__(self, owner, state, engine)
        self._sliding: str | None = None

    def pick(self, planned: Pick) -> None:
        """Take hold of an object; see `KitchenWorld`."""
        grip = planned.grip
        with self._moving() as simulation:
            simulation.gap_goal_m = grip.gap_m
            goal = Pose(*grip.tip, grip.yaw)
            self._follow(simulation, self._over(simulation, goal, planned.travel_z))
            if not simulation.take(planned.name):
                self._give_up(simulation, grip.gap_m, planned.travel_z)
                raise NotGrasped(
                    f"the gripper closed on nothing: {planned.name!r} is not where it was seen"
                )
            held = self.state[planned.name]
            loose = _LOADED_MPS2 if self.state.contents(held) else math.inf
            self._fold(simulation, planned.lift_z, loose)

    def place(self, planned: Place) -> None:
        """Put down what is held; see `KitchenWorld`."""
        grip, loads = planned.grip, self.state.load()
        with self._moving() as simulation:
            # What slid in the hand lands as planned all the same.
            hand = Pose(*arm.to_world(self.state.base, arm.forward(simulation.joints())))
            position, _ = simulation.place_of(planned.name)
            x, y, z = hand.release_point(position, planned.result.position, grip.yaw - hand.yaw)
            yaw = arm.full_turn_yaw(planned.base, (x, y), grip.yaw)
            goal = Pose(x, y, z + _TOUCHDOWN_M, yaw)
            loose = _LOADED_MPS2 if len(loads) > 1 else math.inf
            self._follow(simulation, self._over(simulation, goal, planned.travel_z), loose)
            simulation.open(max(simulation.gap_m, grip.gap_m))
            self._fold(simulation, planned.travel_z)

    def slide(self, planned: Slide) -> None:
        """Pull or push a drawer; see `KitchenWorld`."""
        with self._moving(planned.name) as simulation:
            simulation.gap_goal_m = planned.grip.gap_m
            handle = Pose(*planned.grip.tip, planned.grip.yaw)
            self._follow(simulation, self._over(simulation, handle, planned.travel_z))
            if not simulation.take_handle():
                self._give_up(simulation, planned.grip.gap_m, planned.travel_z)
                raise NotGrasped(f"the gripper missed the handle of the {planned.name}")
            facing = self.state.room.locations[planned.name].piece.facing
            by = planned.opening_m - simulation.opening_m()
            start = self._pose(simulation)
            x, y = start.x - by * math.cos(facing), start.y - by * math.sin(facing)
            end = replace(start, x=x, y=y)
            path = np.vstack([start.array, straight_points(start.array, end.array)])
            body = arm.body(self.state.base)
            simulation.follow(
                along(path, speed_mps=_SLIDE_MPS, acceleration_mps2=_SLIDE_MPS2, body=body)
            )
            simulation.wait(6)
            simulation.open(planned.grip.gap_m)
            self._fold(simulation, planned.travel_z)

    def fold(self) -> None:
        """Fold the arm; see `KitchenWorld`."""
        off = np.abs(np.array(self.state.joints) - arm.PARK_JOINTS)
        if off.max() < _FOLDED_RAD:
            return
        x, y, tip_z, _ = arm.to_world(self.state.base, arm.forward(self.state.joints))
        below = [
            place
            for place in self.state.room.locations.values()
            if inside(self.state.extent(place), (x, y))
        ]
        height = max(height_over(self.state, (x, y), place) for place in [None, *below])
        if self.state.held is not None:
            height += max(0.0, tip_z - self.state[self.state.held].bottom)
        with self._moving() as simulation:
            self._fold(simulation, height, _LOADED_MPS2 if len(self.state.load()) > 1 else math.inf)

    def _fold(self, simulation: GraspingArm, height: float, loose: float = math.inf) -> None:
        """Rise and fold the arm."""
        park = Pose(*arm.to_world(self.state.base, arm.PARK_POSE))
        self._follow(simulation, away(self._pose(simulation), height, park, KITCHEN), loose)

    def _give_up(self, simulation: GraspingArm, gap_m: float, height: float) -> None:
        simulation.open(gap_m)
        self._fold(simulation, height)

    def _follow(self, simulation: GraspingArm, points: list[Pose], loose: float = math.inf) -> None:
        simulation.follow(through(points, loose, arm.body(self.state.base)))

    def _moving(self, sliding: str | None = None) -> AbstractContextManager[GraspingArm]:
        """Begin a motion, in which a drawer may slide."""
        self._sliding = sliding
        return self._motion(world_of(self.state, sliding), _SETTLE_STEPS)

    def _after(self, now: KitchenState) -> KitchenState:
        still = held_by_friction(self.state.things, now.things, _STUCK_M, _STUCK_COS)
        return arrived(now.moved(still))

    def _in_motion(self, simulation: GraspingArm) -> KitchenState:
        places = {name: simulation.place_of(name) for name in simulation.bodies}
        state = self.state.moved(
            replace(self.state[name], position=position, quaternion=turn)
            for name, (position, turn) in places.items()
        )
        if self._sliding is not None:
            state = state.with_drawer(self._sliding, simulation.opening_m())
        return replace(
            state,
            joints=simulation.joints(),
            gap_m=min(simulation.gap_m, STROKE_M),
            held=simulation.held,
            time_s=state.time_s + simulation.steps * DT_S,
        )

    def _pose(self, simulation: GraspingArm) -> Pose:
        """Return where the fingertips are driven to."""
        return Pose(*arm.to_world(self.state.base, arm.forward(simulation.targets)))

    def _over(self, simulation: GraspingArm, end: Pose, height: float) -> list[Pose]:
        """Return the way from here over everything in between and straight down to a pose."""
        start = self._pose(simulation)
        return [start, replace(end, z=max(height, end.z + KITCHEN.straight)), end]
