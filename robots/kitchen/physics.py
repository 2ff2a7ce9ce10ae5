"""The kitchen with a simulated arm.

Every motion starts from a simulation built anew from plain data, with only what is near the robot
in it: what happens depends on the state and the command alone.
"""

from __future__ import annotations

import contextlib
import math
from collections.abc import Iterator
from dataclasses import replace

import numpy as np

from cap.errors import NotGrasped
from robots.arm.motion import Leg, Pose, along, straight_points, through
from robots.kitchen import arm
from robots.kitchen.placement import Place
from robots.kitchen.plan import Pick, Slide
from robots.kitchen.simulation import Simulation
from robots.kitchen.state import KitchenState
from robots.simulation.bullet import p
from robots.simulation.world import WorldOwner

_TOUCHDOWN_M = 0.001
"""Height above its support at which an object is let go."""
_BRAKE_STEPS = 18
_SETTLE_STEPS = 240
_LOADED_MPS2 = 1.5
"""Acceleration of the fingertips with a bowl that has something in it."""
_SLIDE_MPS = 0.3
_SLIDE_MPS2 = 0.8
_STRAIGHT_UP_M = 0.06


class PhysicsWorld:
    """Carries plans out with a simulated arm."""

    def __init__(self, host: WorldOwner, state: KitchenState) -> None:
        """Connect a physics server."""
        self.state = state
        self._host = host
        self._client: int = p.connect(p.DIRECT)
        self._running: Simulation | None = None

    def close(self) -> None:
        """Disconnect the physics server; doing so twice does no harm."""
        if p.isConnected(self._client):
            p.disconnect(self._client)

    def pick(self, planned: Pick) -> None:
        """Take hold of an object; see `World`."""
        grip = planned.grip
        with self._simulation() as simulation:
            simulation.gap_goal_m = grip.gap_m
            goal = Pose(*grip.tip, grip.yaw)
            self._follow(simulation, _over(simulation, goal, planned.travel_z))
            number = simulation.ids.things.get(planned.name)
            if number is None or not simulation.grasp(number):
                self._give_up(simulation, grip.gap_m, planned.travel_z)
                raise NotGrasped(
                    f"the gripper closed on nothing: {planned.name!r} is not where it was seen"
                )
            simulation.held = planned.name
            held = self.state[planned.name]
            loose = _LOADED_MPS2 if self.state.contents(held) else math.inf
            self._fold(simulation, planned.lift_z, loose)

    def place(self, planned: Place) -> None:
        """Put down what is held; see `World`."""
        grip, loads = planned.grip, self.state.load()
        with self._simulation() as simulation:
            goal = self._letting_go(simulation, planned)
            loose = _LOADED_MPS2 if len(loads) > 1 else math.inf
            self._follow(simulation, _over(simulation, goal, planned.travel_z), loose)
            simulation.open(max(simulation.gap_m, grip.gap_m))
            self._fold(simulation, planned.travel_z)

    def slide(self, planned: Slide) -> None:
        """Pull or push a drawer; see `World`."""
        with self._simulation(planned.drawer) as simulation:
            simulation.gap_goal_m = planned.grip.gap_m
            handle = Pose(*planned.grip.tip, planned.grip.yaw)
            self._follow(simulation, _over(simulation, handle, planned.travel_z))
            drawer = simulation.ids.drawer
            if drawer is None or not simulation.grasp(drawer, 0):
                self._give_up(simulation, planned.grip.gap_m, planned.travel_z)
                raise NotGrasped(f"the gripper missed the handle of the {planned.drawer}")
            simulation.follow(self._pull(simulation, planned))
            simulation.wait(6)
            simulation.open(planned.grip.gap_m)
            self._fold(simulation, planned.travel_z)

    def _pull(self, simulation: Simulation, planned: Slide) -> Leg:
        """Return the straight way of the handle."""
        facing = self.state.room.locations[planned.drawer].piece.facing
        by = planned.opening_m - simulation.opening_m()
        start = simulation.pose()
        end = replace(start, x=start.x - by * math.cos(facing), y=start.y - by * math.sin(facing))
        path = np.vstack([start.array, straight_points(start.array, end.array)])
        body = arm.body(self.state.base)
        return along(path, speed_mps=_SLIDE_MPS, acceleration_mps2=_SLIDE_MPS2, body=body)

    def _letting_go(self, simulation: Simulation, planned: Place) -> Pose:
        """Return where to let go so that the object, as it sits in the hand, lands as planned."""
        tip, thing = simulation.true_pose(), simulation.thing(planned.result.name)
        turn = planned.grip.yaw - tip.yaw
        c, s = math.cos(turn), math.sin(turn)
        dx, dy, dz = (thing.position[i] - (tip.x, tip.y, tip.z)[i] for i in range(3))
        x, y, z = planned.result.position
        goal = (x - (c * dx - s * dy), y - (s * dx + c * dy), z - dz + _TOUCHDOWN_M)
        return Pose(*goal, arm.full_turn_yaw(planned.base, goal[:2], planned.grip.yaw))

    def _fold(self, simulation: Simulation, height: float, loose: float = math.inf) -> None:
        """Rise and fold the arm."""
        start = simulation.pose()
        park = Pose(*arm.to_world(self.state.base, arm.PARK_POSE))
        up = replace(start, z=max(height, start.z + _STRAIGHT_UP_M))
        self._follow(simulation, [start, up, park], loose)

    def _give_up(self, simulation: Simulation, gap_m: float, height: float) -> None:
        simulation.open(gap_m)
        self._fold(simulation, height)

    def _follow(self, simulation: Simulation, points: list[Pose], loose: float = math.inf) -> None:
        simulation.follow(through(points, loose, arm.body(self.state.base)))

    @contextlib.contextmanager
    def _simulation(self, sliding: str | None = None) -> Iterator[Simulation]:
        """Build the simulation for one motion; keep what it ends in, however it ends."""
        simulation = Simulation(self._client, self.state, self._host, sliding)
        self._running = simulation
        try:
            yield simulation
        except BaseException:
            if simulation.steps:
                simulation.brake(_BRAKE_STEPS)
            raise
        finally:
            if simulation.steps:
                simulation.settle(_SETTLE_STEPS)
                self.state = self.now()
            self._running = None

    def now(self) -> KitchenState:
        """Return how everything is at this moment of a motion; see `World`."""
        return self.state if self._running is None else self._running.state()


def _over(simulation: Simulation, end: Pose, height: float) -> list[Pose]:
    """Return the way from here over everything in between and straight down to a pose."""
    start = simulation.pose()
    return [start, replace(end, z=max(height, end.z + _STRAIGHT_UP_M)), end]
