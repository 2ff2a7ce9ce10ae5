"""The kitchen as the robot acts on it: what every world does, and the one without dynamics.

What arm and base do to objects and drawers is checked afterwards, remembered, and can be undone.
"""

from __future__ import annotations

import contextlib
import itertools
import math
from collections.abc import Collection, Iterator, Sequence
from dataclasses import replace

import numpy as np

from cap.errors import Collision, NotGrasped, Unreachable, UsageError
from robots.kitchen import arm, paths, planner
from robots.kitchen.arm import Array
from robots.kitchen.objects import KINDS, Thing
from robots.kitchen.planner import CLEARANCES_M, STROKE_M, Pick, Place, Slide
from robots.kitchen.room import OPEN_M, Location, Point
from robots.kitchen.scene import arrival_of, scene_entries
from robots.kitchen.state import MOST_DEEDS, Base, Deed, KitchenState, carried
from robots.kitchen.verification import check_rest, check_riders, disturbed
from robots.simulation.world import WorldOwner
from robots.table.object_names import find

SLID_M = 0.02
"""A drawer that slid no further was not moved."""
DRIVE_STEP_S = 0.1
"""Simulated time between two looks at whether a drive was stopped."""
TURN_RADPS = 1.5
"""Turning rate of the base while it drives."""
_SPEED_MPS = 0.5
"""Of the base on the way to what the arm is to do."""
_ROUNDING_S = 1e-6
_STRAIGHT_M2 = 1e-6
"""A step that spans less area than this with the leg before it goes on with that leg."""


class KitchenWorld:
    """Follows plans of the arm, drives the base in simulated time, and checks the result.

    Here the arm puts everything where its plan says, in no time; `PhysicsKitchen` moves it.
    """

    def __init__(self, owner: WorldOwner, state: KitchenState) -> None:
        """Start from a state; the owner hears of time that passes."""
        self.state = state
        """How everything is between motions; assign to put a snapshot back."""
        self.track: list[tuple[float, float, float]] = []
        """The ends of the straight legs that the base drove: travel so far, x, y in metres."""
        self._new_leg = True
        self._owner = owner

    def pick(self, planned: Pick) -> None:
        """Take hold of an object and fold the arm.

        Raises:
            NotGrasped: The fingers closed on nothing.
            RobotError: The motion was stopped.
        """
        state, thing = self.state, self.state[planned.name]
        loads = [thing, *state.contents(thing)]
        grip, folded = planned.grip, arm.to_world(state.base, arm.PARK_POSE)
        moved = [carried(load, (*grip.tip, grip.yaw), folded) for load in loads]
        gap = grip.gap_m - 2 * CLEARANCES_M[0]
        self.state = replace(state.moved(moved), held=planned.name, gap_m=gap)
        self._owner.frame()

    def place(self, planned: Place) -> None:
        """Put down what is held and fold the arm.

        Raises:
            RobotError: The motion was stopped.
        """
        state, result = self.state, planned.result
        before = state[result.name]
        loads = [carried(state[name], before.pose, result.pose) for name in state.load()]
        self.state = replace(state.moved(loads), held=None, gap_m=STROKE_M)
        self._owner.frame()

    def slide(self, planned: Slide) -> None:
        """Pull or push a drawer by its handle and fold the arm.

        Raises:
            NotGrasped: The fingers did not get hold of the handle.
            RobotError: The motion was stopped.
        """
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
        self._owner.frame()

    def fold(self) -> None:
        """Fold the arm, if a motion that was stopped left it stretched out.

        Raises:
            RobotError: The motion was stopped.
        """

    def now(self) -> KitchenState:
        """Return how everything is at this moment, in the middle of a motion too."""
        return self.state

    def close(self) -> None:
        """Release what the world holds."""

    # What the arm does, and how it turned out.

    def put(self, planned: Place) -> Array:
        """Put down what is held; return where it came to rest, metres, shape (3,).

        Raises:
            Collision: It did not stay there, or something was pushed.
            RobotError: The motion was stopped.
        """
        self._drive_to(planned.base)
        try:
            before = self.state
            with self._leaving_alone(before.load()):
                self.place(planned)
                check_rest(self.state, planned)
                check_riders(before, self.state, planned.name)
        finally:
            if self.state.held is None:
                self.state = self.state.having_done(Deed(planned.name))
        return np.array(self.state[planned.name].position)

    def take(self, planned: Pick) -> None:
        """Take hold of an object, with what is in or on it.

        Raises:
            NotGrasped: The fingers closed on nothing.
            Collision: Something fell off, or was pushed.
            RobotError: The motion was stopped.
        """
        was = self.state[planned.name]
        load = [thing.name for thing in (was, *self.state.contents(was))]
        self._drive_to(planned.base)
        before = self.state
        try:
            with self._leaving_alone(load):
                self.pick(planned)
                check_riders(before, self.state, planned.name)
        finally:
            if self.state.held is not None:
                self.state = self.state.having_done(Deed(planned.name, was))

    def pull(self, planned: Slide) -> None:
        """Pull a drawer open, or push it shut.

        Raises:
            NotGrasped: The fingers missed the handle.
            Collision: Something was pushed.
            RobotError: The motion was stopped.
        """
        self._drive_to(planned.base)
        drawer, was_m = planned.name, self.state.opening_m(planned.name)
        names = [thing.name for thing in self.state.things]
        try:
            with self._leaving_alone([n for n in names if self.state.location_of(n) == drawer]):
                self.slide(planned)
        finally:
            if abs(self.state.opening_m(drawer) - was_m) > SLID_M:
                self.state = self.state.having_done(Deed(drawer, opening_m=was_m))

    def undo(self, count: int) -> None:
        """Undo the last so many deeds, the last first; after a failure the rest can follow later.

        Raises:
            Unreachable: It is too long ago, or out of reach.
            Collision: A place is taken.
            NotGrasped: The fingers closed on nothing.
            RobotError: The motion was stopped.
        """
        if count > len(self.state.deeds):
            raise Unreachable(
                f"that is too long ago: the last {MOST_DEEDS} picks, placings and drawers are "
                "remembered"
            )
        for undone in range(count):
            before = self.state
            try:
                self._reverse(before.deeds[-1])
            except (Collision, NotGrasped, Unreachable) as error:
                raise type(error)(
                    f"{error}; {undone} of {count} moves are undone; undo again for the rest"
                ) from None
            finally:  # neither the deed nor what reversed it is left to undo
                if self.state.deeds_done > before.deeds_done:
                    left = replace(self.state, deeds=before.deeds[:-1])
                    self.state = replace(left, deeds_done=before.deeds_done - 1)

    def _reverse(self, deed: Deed) -> None:
        """Do the opposite of one deed."""
        if deed.opening_m is not None:
            place = self.state.room.locations[deed.name]
            self.pull(planner.slide(self.state, place, opened=deed.opening_m > OPEN_M))
        elif deed.was is None:
            self.take(planner.pick(self.state, deed.name))
        else:
            self.put(planner.put_back(self.state, deed.was))

    @contextlib.contextmanager
    def _leaving_alone(self, own: Collection[str]) -> Iterator[None]:
        """Move these objects and see that no other one moved.

        Raises:
            Collision: One did.
        """
        before = self.state
        try:
            yield
        except (NotGrasped, Collision) as error:
            if pushed := disturbed(before, self.state, own):
                raise type(error)(f"{error}; {pushed}") from None
            raise
        if pushed := disturbed(before, self.state, own):
            raise Collision(f"it was done, but the arm pushed something: {pushed}")

    # Where the base goes.

    def _drive_to(self, base: Base) -> None:
        if base != self.state.base:
            self.drive(base.xy, _SPEED_MPS, base.angle)

    def drive(self, goal: Point, speed_mps: float, angle: float | None) -> None:
        """Drive to a point (metres), around what stands there, the arm folded.

        Raises:
            Unreachable: It is too close to something, or no way leads there; nothing moved.
            RobotError: The motion was stopped.
        """
        points = paths.route(paths.ground(self.state), self.state.base.xy, goal)
        self.fold()
        self.drive_along(points, speed_mps, angle)

    def drive_along(self, points: Sequence[Point], speed_mps: float, angle: float | None) -> None:
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
        if struck := paths.blocker(around, [state.base.xy, goal]):
            stopped = replace(state, velocity=(0.0, 0.0, 0.0), time_s=state.time_s + seconds)
            self.state = arrived(stopped)
            raise Collision(f"the base bumped into {struck} and stopped; set another velocity")
        self._arrive(Base(*goal, angle), seconds)

    def _arrive(self, base: Base, seconds: float) -> None:
        """Put the base, and what the gripper holds, where they are after so long."""
        state, before = self.state, self.state.time_s
        loads = [carried(state[name], state.base.pose, base.pose) for name in state.load()]
        turned = abs(math.remainder(base.angle - state.base.angle, 2 * math.pi))
        travel = state.travel + math.dist(base.xy, state.base.xy) + turned
        here = replace(state.moved(loads), base=base, time_s=before + seconds, travel=travel)
        self._track(state, here)
        self.state = arrived(here)
        every = self._owner.frame_every_s
        if math.floor((before + seconds) / every) > math.floor(before / every):
            self._owner.frame()
        self._owner.check_stop()

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

    # What the user changes.

    def remove(self, name: str) -> None:
        """Take an object out of the kitchen.

        Raises:
            NotFound: There is no such object.
        """
        state = self.state
        gone = find(name, [thing.name for thing in state.things])
        left = tuple(thing for thing in state.things if thing.name != gone)
        held = None if state.held == gone else state.held
        self.state = replace(state, things=left, held=held)

    def add(self, name: str, location: Location) -> None:
        """Put an object at a location, as soon as there is room.

        Raises:
            UsageError: It exists already, or cannot be there.
        """
        known, state = scene_entries([name])[0].name, self.state
        things = [*state.things, *(arrival.thing for arrival in state.arriving)]
        if known in (thing.name for thing in things):
            raise UsageError(f"object {known!r} exists already; each exists once")
        x, y, z = location.middle()
        thing = Thing(known, (x, y, z + KINDS[known].size[2] / 2))
        arriving = (*state.arriving, arrival_of(state.room, thing, state.time_s))
        self.state = arrived(replace(state, arriving=arriving))


def arrived(state: KitchenState) -> KitchenState:
    """Return a state with those objects in the kitchen whose time has come.

    Each stands where it was to appear, or at the nearest free spot; where there is none it waits.
    """
    waiting = []
    for arrival in state.arriving:
        place, thing = state.room.locations[arrival.place], arrival.thing
        spots = planner.clear_spots(state, thing, thing.xy, place, planner.ANYWHERE_M)
        if arrival.at_s <= state.time_s + _ROUNDING_S and (spot := next(spots, None)):
            state = replace(state, things=(*state.things, spot))
        else:
            waiting.append(arrival)
    return replace(state, arriving=tuple(waiting)) if state.arriving else state


def _along(points: Sequence[Point], distance_m: float) -> Point:
    """Return the point so far along a polyline."""
    for a, b in itertools.pairwise(points):
        span = math.dist(a, b)
        if distance_m <= span and span > 0:
            share = distance_m / span
            return (a[0] + share * (b[0] - a[0]), a[1] + share * (b[1] - a[1]))
        distance_m -= span
    return points[-1]
