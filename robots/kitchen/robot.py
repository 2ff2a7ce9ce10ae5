"""The kitchen robot's primitives: what programs call, the same in both modes."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from cap.errors import NotFound, NotGrasped, Unreachable
from cap.scope import Primitive
from robots.base import action
from robots.kitchen import arguments, placement, plan
from robots.kitchen.driving import Array, Driving, Position
from robots.table.object_names import find, plain


class KitchenRobot(Driving):
    """A mobile robot with a 7-joint arm and a gripper in a kitchen.

    Positions are xyz in metres, in the world frame: x grows to the right (left is -x), y to the
    back of the room (the front is -y), z up; the floor is x -3 to 3, y -2.5 to 2.5. Angles are
    radians, counter-clockwise, 0 along x. Speeds are m/s, at most 1.

    The base moves in any direction, whatever its heading. The robot sees only what is at its
    present location: what it faces within 1 m, or else the furniture nearest to it. So go to a
    location before you look, pick or place there; a drawer must be open. The robot holds one object
    at a time, and needs an empty gripper to open or close a drawer. Locations have names, such as
    'table', 'countertop', 'recycle bin', 'top drawer'; objects too, such as 'apple', 'coke can'.
    """

    name = "kitchen"

    def primitives(self) -> Mapping[str, Primitive]:
        """Return the functions programs may call; `stop` is there what `stop_motion` is here."""
        found = dict(super().primitives())
        found.pop("stop_motion")
        return {**found, "stop": Primitive.of(self.stop_motion, "action", "stop")}

    # Actions of the arm.

    @action
    def pick_obj(self, name: str) -> None:
        """Pick up an object that is seen at the present location.

        The base moves up to it if it must. What is in a bowl comes along with it.

        Args:
            name: An object's name, such as 'apple'.

        Raises:
            NotFound: It is not seen from here: goto_loc where it is, or open the drawer.
            NotGrasped: The gripper already holds something, or closed on nothing.
            Collision: Something leaves no room for the fingers.
            Unreachable: The arm does not reach it from anywhere the base can stand.
        """
        with self._moving():
            if self.state.held is not None:
                raise NotGrasped(f"the gripper is full: it holds {self.state.held!r}; place it")
            found = arguments.seen(name, self.state.visible())
            planned = plan.pick(self.state, found)
            self._drive_to(planned.base)
            self._world.pick(planned)

    @action
    def place_at_obj(self, name: str) -> Array:
        """Put down what the gripper holds: in a bowl, next to another object, or at a location.

        Args:
            name: An object seen here: 'bowl' puts it in the bowl, any other beside that object. Or
                the name of the present location, such as 'table' or 'recycle bin': anywhere there
                is room on or in it. A drawer must be open.

        Returns:
            Where the object came to rest, shape (3,), metres.

        Raises:
            NotGrasped: The gripper holds nothing.
            NotFound: It is not seen from here, or is another location: goto_loc there first.
            Collision: There is no room.
            Unreachable: A closed drawer, or beyond the arm.
        """
        with self._moving():
            self._check_full()
            return self._put(self._target(name))

    @action
    def place_at_pos(self, pos: Position) -> Array:
        """Put down what the gripper holds at a position, on whatever surface is there.

        If the spot is taken, the nearest free one within 15 cm serves; over a bowl it goes in.

        Args:
            pos: x, y and z in metres; the height is that of the surface or floor, z is not needed.

        Returns:
            Where the object came to rest, shape (3,), metres.

        Raises:
            NotGrasped: The gripper holds nothing.
            Collision: There is no room.
            Unreachable: A closed drawer, the very edge of furniture, or beyond the arm.
        """
        point = arguments.position(pos, "pos")
        with self._moving():
            self._check_full()
            return self._put(placement.put(self.state, point))

    @action
    def open_drawer(self, name: str) -> None:
        """Pull a drawer open; if it is open nothing happens. The robot must be at it.

        Args:
            name: Such as 'top drawer'.

        Raises:
            NotFound: No drawer has that name.
            Unreachable: The robot is not there: goto_loc(name) first.
            Collision: An open drawer above is in the way.
            NotGrasped: The gripper is full, or missed the handle.
        """
        self._slide(name, opened=True)

    @action
    def close_drawer(self, name: str) -> None:
        """Push a drawer shut; if it is shut nothing happens. The robot must be at it.

        Args:
            name: Such as 'top drawer'.

        Raises:
            NotFound: No drawer has that name.
            Unreachable: The robot is not there: goto_loc(name) first.
            Collision: An open drawer above is in the way.
            NotGrasped: The gripper is full, or missed the handle.
        """
        self._slide(name, opened=False)

    @action
    def say(self, text: str) -> None:
        """Tell the person something, in words.

        Args:
            text: What to say.
        """
        self.spoken.append(str(text))

    # How they do it.

    def _put(self, planned: placement.Place) -> Array:
        name = planned.result.name
        self._drive_to(planned.base)
        self._world.place(planned)
        return np.array(self.state[name].position)

    def _target(self, name: str) -> placement.Place:
        """Return how what is held is put at an object or at the present location."""
        places = self.state.room.locations
        if plain(name) in places:
            place = places[plain(name)]
            if place not in self.state.here():
                raise NotFound(f"the robot is not at the {place.name}; goto_loc it first")
            return placement.put_on(self.state, place)
        thing = self.state[arguments.seen(name, self.state.visible())]
        if thing.kind.shape == "bowl":
            return placement.put_in(self.state, thing)
        return placement.put_beside(self.state, thing)

    def _slide(self, name: str, *, opened: bool) -> None:
        drawers = [place.name for place in self.state.room.locations.values() if place.drawer]
        place = self.state.room.locations[find(name, drawers, "drawer")]
        with self._moving():
            if self.state.held is not None:
                raise NotGrasped(f"the gripper is full: it holds {self.state.held!r}; place it")
            if place not in self.state.here():
                raise Unreachable(f"the robot is not at the {place.name}; goto_loc it first")
            if self.state.is_open(place) == opened:
                return
            planned = plan.slide(self.state, place, opened=opened)
            self._drive_to(planned.base)
            self._world.slide(planned)

    def _check_full(self) -> None:
        if self.state.held is None:
            raise NotGrasped("the gripper holds nothing to put down; pick_obj something first")
