"""What programs may know of the kitchen: what is seen where the robot is, and the map."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from robots.base import perception
from robots.kitchen import arguments
from robots.kitchen.body import KitchenBody
from robots.kitchen.objects import known_name
from robots.kitchen.room import Location
from robots.kitchen.state import KitchenState
from robots.table.object_names import find

Array = NDArray[np.float64]


class Looking(KitchenBody):
    """Perception; each look takes 0.1 s, and with a velocity set the base moves on meanwhile."""

    @perception
    def is_obj_visible(self, name: str) -> bool:
        """Return whether an object is seen at the present location; never fails for a name.

        Takes 0.1 s.

        Args:
            name: An object's name, such as 'apple'.
        """
        with self._looking() as state:
            return known_name(name) in state.visible()

    @perception
    def get_visible_obj_names(self) -> list[str]:
        """Return the names of the objects at the present location, such as ['apple', 'bowl'].

        What the gripper holds is not among them. Takes 0.1 s.
        """
        with self._looking() as state:
            return state.visible()

    @perception
    def detect_object(self, name: str) -> bool:
        """Return whether the camera that looks straight ahead sees an object now.

        It sees what is at most 1.2 m ahead of the robot and 25 degrees to either side of its
        heading; not what is in a closed drawer. Takes 0.1 s: with a velocity set the base moves on
        by that much, so `while not detect_object(...)` with `set_velocity` is a control loop.

        Args:
            name: An object's name, such as 'apple'. One that does not exist is never seen.

        Raises:
            Collision: The base bumped into something on the way and stopped.
        """
        with self._looking() as state:
            return known_name(name) in state.ahead()

    @perception
    def obj_in_gripper(self, name: str) -> bool:
        """Return whether the gripper holds an object.

        Takes 0.1 s.

        Args:
            name: An object's name, such as 'apple'.
        """
        with self._looking() as state:
            return state.held is not None and known_name(name) == state.held

    @perception
    def get_loc_names(self) -> list[str]:
        """Return the names of all locations, seen or not, such as ['table', 'top drawer']."""
        return list(self.state.room.locations)

    @perception
    def get_obj_pos(self, name: str) -> Array:
        """Return the middle of an object that is seen at the present location.

        Takes 0.1 s.

        Args:
            name: An object's name, such as 'apple'.

        Returns:
            Array of shape (3,): x, y and z in metres (x right, y to the back, z up).

        Raises:
            NotFound: It is not seen from here: go where it is, or open the drawer.
        """
        with self._looking() as state:
            return np.array(state[arguments.seen(name, state.visible())].position)

    @perception
    def get_loc_pos(self, loc: str) -> Array:
        """Return the middle of a location, at the height things stand there.

        For driving there use goto_loc: this point lies on the furniture.

        Args:
            loc: A location's name, such as 'table'.

        Returns:
            Array of shape (3,): x, y and z in metres (x right, y to the back, z up).

        Raises:
            NotFound: No location has that name.
        """
        place = self._location(loc)
        return np.array(place.middle(self.state.opening_m(place.name)))

    @perception
    def get_robot_pos_and_angle(self) -> tuple[Array, float]:
        """Return where the robot's base is and its heading.

        Takes 0.1 s.

        Returns:
            The position, shape (3,), metres, z 0; and the angle in radians, counter-clockwise, 0
            along x (to the right), pi / 2 to the back of the room.
        """
        with self._looking() as state:
            return where(state), state.base.angle

    @perception
    def get_robot_pos(self) -> Array:
        """Return where the robot's base is: x, y and z in metres, shape (3,); z is 0.

        Takes 0.1 s: with a velocity set the base moves on by that much.
        """
        with self._looking() as state:
            return where(state)

    def _location(self, loc: str) -> Location:
        places = self.state.room.locations
        return places[find(loc, places, "location")]


def where(state: KitchenState) -> Array:
    """Return the base's position, metres."""
    return np.array([state.base.x, state.base.y, 0.0])
