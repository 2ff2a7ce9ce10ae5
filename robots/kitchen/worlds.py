"""The kitchen as the robot acts on it: what every world does, and the one without dynamics."""

from __future__ import annotations

import itertools
import math
from abc import ABC, abstractmethod
from collections.abc import Sequence
from dataclasses import replace

from cap.errors import Collision, NotGrasped
from robots.kitchen import arm, paths
from robots.kitchen.arrivals import arrived
from robots.kitchen.grasps import CLEARANCES_M, STROKE_M, Pick, Slide
from robots.kitchen.placement import Place
from robots.kitchen.room import Point
from robots.kitchen.state import Base, KitchenState, carried
from robots.simulation.world import WorldOwner

DRIVE_STEP_S = 0.1
"""Simulated time between two looks at whether a drive was stopped."""
TURN_RADPS = 1.5
"""Turning rate of the base while it drives."""
_STRAIGHT_M2 = 1e-6
"""A step that spans less area than this with the leg before it goes on with that leg."""
_GONE_M = 0.02
"""An object this far from where it was grasped is not there any more."""


class KitchenWorld(ABC):
    """Carries out planned motions of the arm, and drives the base in simulated time."""

    def __init__(self, host: WorldOwner, state: KitchenState) -> None:
        """Start from a state; the host hears of time that passes."""
        self.state = state
        """How everything is between motions; assign to put a snapshot back."""
        self.track: list[tuple[float, float, float]] = []
        """The ends of the straight legs that the base drove: travel so far, x, y in metres."""
        self._new_leg = True
        self._host = host

    @abstractmethod
    def pick(self, planned: Pick) -> None:
        """Take hold of an object and fold the arm.

        Raises:
            NotGrasped: The fingers closed on nothing.
            RobotError: The motion was stopped.
        """

    @abstractmethod
    def place(self, planned: Place) -> None:
        """Put down what is held and fold the arm.

        Raises:
            RobotError: The motion was stopped.
        """

    @abstractmethod
    def slide(self, planned: Slide) -> None:
        """Pull or push a drawer by its handle and fold the arm.

        Raises:
            NotGrasped: The fingers did not get hold of the handle.
            RobotError: The motion was stopped.
        """

    @abstractmethod
    def fold(self) -> None:
        """Fold the arm, if a motion that was stopped left it stretched out.

        Raises:
            RobotError: The motion was stopped.
        """

    def now(self) -> KitchenState:
        """Return how everything is at this moment, in the middle of a motion too."""
        return self.state

    def close(self) -> None:  # noqa: B027
        """Release what the world holds."""

    def drive(self, points: Sequence[Point], speed_mps: float, angle: float | None) -> None:
        """Drive along a polyline that is free, the heading turning on the way.

        Args:
            points: The first is where the base is, metres.
            speed_mps: Along the path.
            angle: Heading at the end, radians; without it the heading stays.

        Raises:
            RobotError: The drive was stopped; the base stands where it was then.
        """
        base = self.state.base
        turn = 0.0 if angle is None else math.remainder(angle - base.angle, 2 * math.pi)
        length = paths.length(points)
        total_s = max(length / speed_mps, abs(turn) / TURN_RADPS)
        if total_s < 1e-9:
            return
        self._new_leg = True
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
        state = self.state
        right, ahead, turning = state.velocity
        if state.velocity == (0.0, 0.0, 0.0):
            self.state = arrived(replace(state, time_s=state.time_s + seconds))
            return
        middle = replace(state.base, angle=state.base.angle + turning * seconds / 2)
        goal = middle.world(right * seconds, ahead * seconds)
        around = paths.ground(state)
        angle = math.remainder(state.base.angle + turning * seconds, 2 * math.pi)
        struck = paths.blocker(around, [state.base.xy, goal])
        if struck is None:
            self._arrive(Base(*goal, angle), seconds)
            return
        stopped = replace(state, velocity=(0.0, 0.0, 0.0), time_s=state.time_s + seconds)
        self.state = arrived(stopped)
        raise Collision(f"the base bumped into {struck} and stopped; set another velocity")

    def _arrive(self, base: Base, seconds: float) -> None:
        """Put the base, and what the gripper holds, where they are after so long."""
        state, before = self.state, self.state.time_s
        loads = [carried(state[name], state.base.pose, base.pose) for name in state.load()]
        turned = abs(math.remainder(base.angle - state.base.angle, 2 * math.pi))
        travel = state.travel + math.dist(base.xy, state.base.xy) + turned
        here = replace(state.moved(loads), base=base, time_s=before + seconds, travel=travel)
        self._track(state, here)
        self.state = arrived(here)
        every = self._host.frame_every_s
        if math.floor((before + seconds) / every) > math.floor(before / every):
            self._host.frame()
        self._host.check_stop()

    def _track(self, before: KitchenState, here: KitchenState) -> None:
        """Add one step to the track; drop what was driven after a snapshot that was restored."""
        track = [leg for leg in self.track if leg[0] < before.travel]
        track.append((before.travel, *before.base.xy))
        if len(track) > 1:
            (_, x, y), (_, now_x, now_y) = track[-2:]
            (dx, dy), (end_x, end_y) = (now_x - x, now_y - y), here.base.xy
            across = abs(dx * (end_y - now_y) - dy * (end_x - now_x))
            along = dx * (end_x - now_x) + dy * (end_y - now_y)
            if across <= _STRAIGHT_M2 and along >= 0 and not self._new_leg:
                track.pop()
        self._new_leg = False
        self.track = [*track, (here.travel, *here.base.xy)]


def _along(points: Sequence[Point], distance_m: float) -> Point:
    """Return the point so far along a polyline."""
    for a, b in itertools.pairwise(points):
        span = math.dist(a, b)
        if distance_m <= span and span > 0:
            share = distance_m / span
            return (a[0] + share * (b[0] - a[0]), a[1] + share * (b[1] - a[1]))
        distance_m -= span
    return points[-1]


class InstantKitchen(KitchenWorld):
    """Puts everything where its plan says; the arm takes no time, driving does."""

    def fold(self) -> None:
        """Do nothing: the arm is always folded."""

    def pick(self, planned: Pick) -> None:
        """Take hold of an object; see `KitchenWorld`."""
        state = self.state
        thing = next((thing for thing in state.things if thing.name == planned.name), None)
        if thing is None or math.dist(thing.xy, planned.grip.tip[:2]) > thing.radius + _GONE_M:
            raise NotGrasped(f"the gripper closed on nothing: {planned.name!r} is not there")
        loads = [thing, *state.contents(thing)]
        grip, folded = planned.grip, arm.to_world(state.base, arm.PARK_POSE)
        moved = [carried(load, (*grip.tip, grip.yaw), folded) for load in loads]
        gap = grip.gap_m - 2 * CLEARANCES_M[0]
        self.state = replace(state.moved(moved), held=planned.name, gap_m=gap)
        self._host.frame()

    def place(self, planned: Place) -> None:
        """Put down what is held; see `KitchenWorld`."""
        state, result = self.state, planned.result
        before = state[result.name]
        loads = [carried(state[name], before.pose, result.pose) for name in state.load()]
        self.state = replace(state.moved(loads), held=None, gap_m=STROKE_M)
        self._host.frame()

    def slide(self, planned: Slide) -> None:
        """Pull or push a drawer, with what lies in it; see `KitchenWorld`."""
        state, drawer = self.state, planned.name
        piece = state.room.locations[drawer].piece
        by = planned.opening_m - state.opening_m(drawer)
        dx, dy = -by * math.cos(piece.facing), -by * math.sin(piece.facing)
        inside = [thing for thing in state.things if state.location_of(thing.name) == drawer]
        moved = [
            thing.at((thing.position[0] + dx, thing.position[1] + dy, thing.position[2]))
            for thing in inside
        ]
        self.state = state.moved(moved).with_drawer(drawer, planned.opening_m)
        self._host.frame()
