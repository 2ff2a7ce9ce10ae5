"""What arm and base do together to objects and drawers: verified, remembered, and taken back."""

from __future__ import annotations

import contextlib
import math
from collections.abc import Collection, Iterator
from dataclasses import replace

import numpy as np

from cap.errors import Collision, NotGrasped, RobotError, Unreachable
from robots.kitchen import grasps, paths, placement
from robots.kitchen.arm import Array
from robots.kitchen.room import OPEN_M, Point
from robots.kitchen.state import MOST_DEEDS, Base, Deed, KitchenState, carried
from robots.kitchen.worlds import KitchenWorld

SLID_M = 0.02
"""A drawer that slid no further was not moved."""
ASTRAY_M = 0.03
"""An object further than this, seen from above, from where it was put did not stay there."""
DISTURBED_M = 0.01
"""An object that nobody meant to move may move so far."""
_HANGS_M = 0.012
"""An object may be so much higher or lower than it was meant to be."""
_LEANS_M = 0.02
"""In a dish, where it may lean against the wall, so much higher."""
_FELL_RAD = 0.5
"""What leans by so much more than it was meant to has fallen over."""
_SPEED_MPS = 0.5
"""Of the base on the way to what the arm is to do."""


class Manipulation:
    """Follows what was planned for the arm, and checks the result on the world."""

    def __init__(self, world: KitchenWorld) -> None:
        """Act in a world."""
        self._world = world

    @property
    def _state(self) -> KitchenState:
        return self._world.state

    def drive(self, goal: Point, speed_mps: float, angle: float | None) -> None:
        """Drive to a point (metres), around what stands there, the arm folded.

        Raises:
            Unreachable: It is too close to something, or no way leads there; nothing moved.
            RobotError: The motion was stopped.
        """
        points = paths.route(paths.ground(self._state), self._state.base.xy, goal)
        self._world.fold()
        self._world.drive(points, speed_mps, angle)

    def put(self, planned: placement.Place) -> Array:
        """Put down what is held; return where it came to rest, metres, shape (3,).

        Raises:
            Collision: It did not stay there, or something was pushed.
            RobotError: The motion was stopped.
        """
        self._drive_to(planned.base)
        try:
            before = self._state
            with self._leaving_alone(before.load()):
                self._world.place(planned)
                _check_rest(self._state, planned)
                _check_riders(before, self._state, planned.name)
        finally:
            if self._state.held is None:
                self._world.state = self._state.having_done(Deed(planned.name))
        return np.array(self._state[planned.name].position)

    def take(self, planned: grasps.Pick) -> None:
        """Take hold of an object, with what is in or on it.

        Raises:
            NotGrasped: The fingers closed on nothing.
            Collision: Something fell off, or was pushed.
            RobotError: The motion was stopped.
        """
        was = self._state[planned.name]
        load = [thing.name for thing in (was, *self._state.contents(was))]
        self._drive_to(planned.base)
        before = self._state
        try:
            with self._leaving_alone(load):
                self._world.pick(planned)
                _check_riders(before, self._state, planned.name)
        finally:
            if self._state.held is not None:
                self._world.state = self._state.having_done(Deed(planned.name, was))

    def pull(self, planned: grasps.Slide) -> None:
        """Pull a drawer open, or push it shut.

        Raises:
            NotGrasped: The fingers missed the handle.
            Collision: Something was pushed.
            RobotError: The motion was stopped.
        """
        self._drive_to(planned.base)
        drawer, was_m = planned.name, self._state.opening_m(planned.name)
        names = [thing.name for thing in self._state.things]
        try:
            with self._leaving_alone([n for n in names if self._state.location_of(n) == drawer]):
                self._world.slide(planned)
        finally:
            if abs(self._state.opening_m(drawer) - was_m) > SLID_M:
                self._world.state = self._state.having_done(Deed(drawer, opening_m=was_m))

    def undo(self, count: int) -> list[RobotError]:
        """Undo the last so many deeds, the last first; return which of them are lost for good.

        After a failure the deeds that are left can be undone later.

        Raises:
            Unreachable: It is too long ago, or out of reach.
            Collision: A place is taken.
            NotGrasped: The fingers closed on nothing.
            RobotError: The motion was stopped.
        """
        if count > len(self._state.deeds):
            raise Unreachable(
                f"that is too long ago: the last {MOST_DEEDS} picks, placings and drawers are "
                "remembered"
            )
        lost: dict[str, RobotError] = {}
        for undone in range(count):
            before = self._state
            deed = before.deeds[-1]
            gone = self._gone(deed)
            try:
                if gone:
                    lost[gone] = NotGrasped(gone)
                else:
                    self._reverse(deed)
            except (Collision, NotGrasped, Unreachable) as error:
                raise type(error)(
                    f"{error}; {undone} of {count} moves are taken back, undo again for the rest"
                ) from None
            finally:  # neither the deed nor what reversed it is left to undo
                if gone or self._state.deeds_done > before.deeds_done:
                    left = replace(self._state, deeds=before.deeds[:-1])
                    self._world.state = replace(left, deeds_done=before.deeds_done - 1)
        return list(lost.values())

    def _gone(self, deed: Deed) -> str:
        """Return why a deed can never be undone, in words; "" if it can."""
        if deed.opening_m is not None:
            return ""
        if deed.name not in (thing.name for thing in self._state.things):
            return f"{deed.name!r} is not in the kitchen any more"
        if deed.was is not None and self._state.held != deed.name:
            return f"the gripper does not hold {deed.name!r} any more"
        return ""

    def _reverse(self, deed: Deed) -> None:
        """Do the opposite of one deed."""
        if deed.opening_m is not None:
            place = self._state.room.locations[deed.name]
            self.pull(grasps.slide(self._state, place, opened=deed.opening_m > OPEN_M))
        elif deed.was is None:
            self.take(grasps.pick(self._state, deed.name))
        else:
            self.put(placement.put_back(self._state, deed.was))

    def _drive_to(self, base: Base) -> None:
        if base != self._state.base:
            self.drive(base.xy, _SPEED_MPS, base.angle)

    @contextlib.contextmanager
    def _leaving_alone(self, own: Collection[str]) -> Iterator[None]:
        """Move these objects and see that no other one moved.

        Raises:
            Collision: One did.
        """
        before = self._state
        try:
            yield
        except (NotGrasped, Collision) as error:
            if pushed := _disturbed(before, self._state, own):
                raise type(error)(f"{error}; {pushed}") from None
            raise
        if pushed := _disturbed(before, self._state, own):
            raise Collision(f"it was done, but the arm pushed something: {pushed}")


def _check_rest(state: KitchenState, planned: placement.Place) -> None:
    """See that what was put down rests where it was put.

    Raises:
        Collision: It lies elsewhere, hangs in the air, or fell over.
    """
    meant, thing = planned.result, state[planned.name]
    high = thing.bottom - meant.bottom
    strayed, hangs = math.dist(thing.xy, meant.xy) > ASTRAY_M, high > _HANGS_M
    if planned.dish is not None:
        inside = state.contents(state[planned.dish])
        near = [t for t in inside if math.dist(thing.xy, t.xy) < thing.radius + t.radius]
        on_others = any(t != thing and thing.bottom < t.top + _HANGS_M for t in near)
        strayed, hangs = thing not in inside, high > _LEANS_M and not on_others
    if hangs:
        fault = "it hangs, caught on something"
    elif strayed or high < -_HANGS_M:
        fault = "it slid or fell off"
    elif thing.lean > meant.lean + _FELL_RAD:
        fault = "it fell over"
    else:
        return
    x, y, z = thing.position
    raise Collision(
        f"{thing.name!r} did not stay where it was put, {planned.where}: {fault}, and is at "
        f"({x:.2f}, {y:.2f}) m, {z:.2f} m high; look, and pick it up again"
    )


def _check_riders(before: KitchenState, state: KitchenState, dish: str) -> None:
    """See that what was in or on a dish came along with it, as it was in or on it.

    Raises:
        Collision: Something fell off or over, or slid.
    """
    was, carrier = before[dish], state[dish]
    inside = state.contents(carrier)
    faults = []
    for rider in before.contents(was):
        thing, meant = state[rider.name], carried(rider, was.pose, carrier.pose)
        if thing not in inside:
            fault = f"fell off the {dish}"
        elif thing.lean > meant.lean + _FELL_RAD:
            fault = f"fell over {'in' if carrier.kind.bowl else 'on'} the {dish}"
        elif math.dist(thing.xy, meant.xy) > ASTRAY_M and not carrier.kind.bowl:
            fault = f"slid on the {dish}"
        else:
            continue
        faults.append(f"{grasps.place_named(thing)} {fault}")
    if faults:
        raise Collision(f"{', '.join(faults)} on the way; look, and pick it up")


def _disturbed(before: KitchenState, after: KitchenState, own: Collection[str]) -> str:
    """Return what a motion moved that it should have left alone, in words; "" if nothing."""
    now = {thing.name: thing for thing in after.things}
    faults = []
    for was in before.things:
        thing = now.get(was.name, was)
        moved_m = math.dist(was.position, thing.position)
        if was.name not in own and moved_m > DISTURBED_M:
            fell = " and fell over" if thing.lean > was.lean + _FELL_RAD else ""
            faults.append(f"{grasps.place_named(was)} moved by {100 * moved_m:.0f} cm{fell}")
    return ", ".join(faults)
