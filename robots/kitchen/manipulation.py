"""What arm and base do together to objects and drawers: verified, remembered, and taken back."""

from __future__ import annotations

import contextlib
from collections.abc import Collection, Iterator
from dataclasses import replace

import numpy as np

from cap.errors import Collision, NotGrasped, RobotError, Unreachable
from robots.kitchen import grasps, paths, placement, verification
from robots.kitchen.arm import Array
from robots.kitchen.room import OPEN_M, Point
from robots.kitchen.state import MOST_DEEDS, Base, Deed, KitchenState
from robots.kitchen.worlds import KitchenWorld

SLID_M = 0.02
"""A drawer that slid no further was not moved."""
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
            before, riders = self._state, self._state.load()
            with self._leaving_alone(riders):
                self._world.place(planned)
                verification.check_rest(self._state, planned)
                verification.check_riders(before, self._state, planned.result.name, riders)
        finally:
            if self._state.held is None:
                self._world.state = self._state.having_done(Deed(planned.result.name))
        return np.array(self._state[planned.result.name].position)

    def take(self, planned: grasps.Pick) -> None:
        """Take hold of an object, with what is in or on it.

        Raises:
            NotGrasped: The fingers closed on nothing.
            Collision: Something fell off, or was pushed.
            RobotError: The motion was stopped.
        """
        was = self._state[planned.name]
        riders = tuple(self._state.contents(was))
        contents = [thing.name for thing in riders]
        self._drive_to(planned.base)
        before = self._state
        try:
            with self._leaving_alone([planned.name, *contents]):
                self._world.pick(planned)
                verification.check_riders(before, self._state, planned.name, contents)
        finally:
            if self._state.held is not None:
                self._world.state = self._state.having_done(Deed(planned.name, was, riders))

    def pull(self, planned: grasps.Slide) -> None:
        """Pull a drawer open, or push it shut.

        Raises:
            NotGrasped: The fingers missed the handle.
            Collision: Something was pushed.
            RobotError: The motion was stopped.
        """
        self._drive_to(planned.base)
        was_m = self._state.opening_m(planned.drawer)
        things = [thing.name for thing in self._state.things]
        inside = [name for name in things if self._state.location_of(name) == planned.drawer]
        try:
            with self._leaving_alone(inside):
                self._world.slide(planned)
        finally:
            if abs(self._state.opening_m(planned.drawer) - was_m) > SLID_M:
                deed = Deed(planned.drawer, opening_m=was_m)
                self._world.state = self._state.having_done(deed)

    def undo(self, count: int) -> list[RobotError]:
        """Undo the last so many deeds, the last first; return what could not be undone.

        What is gone, and what fell on the way, does not keep the rest from being taken back. After
        any other failure the deeds that are left can be taken back later.

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
        lost: list[RobotError] = []
        for taken_back in range(count):
            before = self._state
            deed = before.deeds[-1]
            gone = self._gone(deed)
            try:
                if gone:
                    lost += [NotGrasped(gone)] if gone not in map(str, lost) else []
                else:
                    self._take_back(deed)
            except (Collision, NotGrasped, Unreachable) as error:
                if self._state.deeds_done == before.deeds_done:
                    raise type(error)(
                        f"{error}; {taken_back} of {count} moves are taken back, undo again for the"
                        " rest"
                    ) from None
                lost.append(error)
            finally:
                if gone or self._state.deeds_done > before.deeds_done:  # and none is added
                    left = replace(self._state, deeds=before.deeds[:-1])
                    self._world.state = replace(left, deeds_done=before.deeds_done - 1)
        return lost

    def _gone(self, deed: Deed) -> str:
        """Return why a deed can never be taken back, in words; "" if it can."""
        if deed.opening_m is not None:
            return ""
        if deed.name not in (thing.name for thing in self._state.things):
            return f"{deed.name!r} is not in the kitchen any more"
        if deed.was is not None and self._state.held != deed.name:
            return f"the gripper does not hold {deed.name!r} any more"
        return ""

    def _take_back(self, deed: Deed) -> None:
        """Do the opposite of one deed."""
        if deed.opening_m is not None:
            place = self._state.room.locations[deed.name]
            self.pull(grasps.slide(self._state, place, opened=deed.opening_m > OPEN_M))
        elif deed.was is None:
            self.take(grasps.pick(self._state, deed.name))
        else:
            self.put(placement.put_back(self._state, deed.was))
            for rider in verification.strayed(self._state, deed.riders):  # it slid on the way
                self.take(grasps.pick(self._state, rider.name))
                self.put(placement.put_back(self._state, rider))

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
            if pushed := verification.disturbed(before, self._state, own):
                raise type(error)(f"{error}; {pushed}") from None
            raise
        if pushed := verification.disturbed(before, self._state, own):
            raise Collision(f"it was done, but the arm pushed something: {pushed}")
