"""The seam between the kitchen's primitives and what carries them out; and driving, for both."""

from __future__ import annotations

import itertools
import math
from collections.abc import Sequence
from dataclasses import replace
from typing import Protocol

from shapely.geometry import LineString

from cap.errors import Collision
from robots.kitchen import paths
from robots.kitchen.placement import Place
from robots.kitchen.plan import Pick, Slide
from robots.kitchen.room import Point
from robots.kitchen.state import Base, KitchenState
from robots.simulation.world import WorldOwner

DRIVE_STEP_S = 0.1
"""Simulated time between two looks at whether a drive was stopped."""
TURN_RADPS = 1.5
"""Turning rate of the base while it drives."""


class World(Protocol):
    """Carries out planned motions of the arm; the base is driven by `drive`."""

    state: KitchenState
    """How everything is between motions; assign to put a snapshot back."""

    def pick(self, planned: Pick) -> None:
        """Take hold of an object and fold the arm.

        Raises:
            NotGrasped: The fingers closed on nothing.
            RobotError: The motion was stopped.
        """

    def place(self, planned: Place) -> None:
        """Put down what is held and fold the arm.

        Raises:
            RobotError: The motion was stopped.
        """

    def slide(self, planned: Slide) -> None:
        """Pull or push a drawer by its handle and fold the arm.

        Raises:
            NotGrasped: The fingers did not get hold of the handle.
            RobotError: The motion was stopped.
        """

    def now(self) -> KitchenState:
        """Return how everything is at this moment, in the middle of a motion too."""

    def close(self) -> None:
        """Release what the world holds."""


class Clock:
    """Lets simulated time pass for the base: frames on the way, and stopping."""

    def __init__(self, world: World, host: WorldOwner) -> None:
        """Move the base of a world; the host is told of time that passes."""
        self._world = world
        self._host = host

    def drive(self, points: Sequence[Point], speed_mps: float, angle: float | None) -> None:
        """Drive along a polyline that is free, the heading turning on the way.

        Args:
            points: The first is where the base is, metres.
            speed_mps: Along the path.
            angle: Heading at the end, radians; without it the heading stays.

        Raises:
            RobotError: The drive was stopped; the base stands where it was then.
        """
        base = self._world.state.base
        turn = 0.0 if angle is None else math.remainder(angle - base.angle, 2 * math.pi)
        length = paths.length(points)
        total_s = max(length / speed_mps, abs(turn) / TURN_RADPS)
        if total_s < 1e-9:
            return
        steps = math.ceil(total_s / DRIVE_STEP_S - 1e-9)
        for step in range(1, steps + 1):
            share = min(1.0, step * DRIVE_STEP_S / total_s)
            xy = _along(points, share * length)
            heading = math.remainder(base.angle + share * turn, 2 * math.pi)
            elapsed = min(DRIVE_STEP_S, total_s - (step - 1) * DRIVE_STEP_S)
            self._arrive(Base(*xy, heading), elapsed)

    def coast(self, seconds: float) -> None:
        """Let time pass; with a velocity set the base moves on.

        Raises:
            Collision: It would run into something: it stops before that, its velocity zero.
        """
        state = self._world.state
        right, ahead, turning = state.velocity
        if state.velocity == (0.0, 0.0, 0.0):
            self._world.state = replace(state, time_s=state.time_s + seconds)
            return
        middle = replace(state.base, angle=state.base.angle + turning * seconds / 2)
        goal = middle.world(right * seconds, ahead * seconds)
        around = paths.ground(state.room, state.drawers)
        angle = math.remainder(state.base.angle + turning * seconds, 2 * math.pi)
        struck = _struck(around, state.base.xy, goal)
        if struck is None:
            self._arrive(Base(*goal, angle), seconds)
            return
        self._world.state = replace(state, velocity=(0.0, 0.0, 0.0), time_s=state.time_s + seconds)
        raise Collision(f"the base bumped into {struck} and stopped; set another velocity")

    def _arrive(self, base: Base, seconds: float) -> None:
        state = self._world.state.driven(base)
        before = state.time_s
        self._world.state = replace(state, time_s=before + seconds)
        every = self._host.frame_every_s
        if math.floor((before + seconds) / every) > math.floor(before / every):
            self._host.frame()
        self._host.check_stop()


def _struck(around: paths.Ground, start: Point, goal: Point) -> str | None:
    """Return what is in the way of a short straight motion, or None."""
    if paths.is_free(around, [start, goal]):
        return None
    line = LineString([start, goal])
    names = [name for name, shape in around.grown if shape.distance(line) < 1e-5]
    return f"'{names[0]}'" if names else "a wall"


def _along(points: Sequence[Point], distance_m: float) -> Point:
    """Return the point so far along a polyline."""
    for a, b in itertools.pairwise(points):
        span = math.dist(a, b)
        if distance_m <= span and span > 0:
            share = distance_m / span
            return (a[0] + share * (b[0] - a[0]), a[1] + share * (b[1] - a[1]))
        distance_m -= span
    return points[-1]
