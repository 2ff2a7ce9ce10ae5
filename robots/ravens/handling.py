"""The tabletop's primitives that pick objects up, put them down and point at them."""

from __future__ import annotations

import itertools
from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from cap.errors import Collision, NotFound
from robots.base import action
from robots.ravens import scene, transfer
from robots.ravens.disturbances import Disturbances
from robots.ravens.observation import MOTION_DRAWS
from robots.ravens.part import Part
from robots.ravens.scene import PLACES
from robots.table.arguments import Place, object_at, target

Array = NDArray[np.float64]


class Handling(Part):
    """What programs may do with objects."""

    _disturbances: Disturbances

    @action
    def put_first_on_second(self, first: Place, second: Place) -> Array:
        """Pick up an object and put it on an object, in a bowl, or at a place or point.

        It lands on top of whatever already stands there. A bowl carries the blocks in it; a
        block with something on it, or a bowl with a bowl in it, must be cleared first.

        Args:
            first: An object's name, or the xy of one (metres; the topmost there is taken).
            second: An object's name, a place's name such as 'top side', or xy in metres. At a named
                place something may be in the way: then the nearest free spot within 5 cm serves.

        Returns:
            Array of shape (2,): where the object's centre came to rest, x and y in metres.

        Raises:
            NotFound: No object or place of that name, or no object at that point.
            Unreachable: The target is off the table or out of reach; nothing moved.
            Collision: Something stands on the object, or leaves no room for it or the fingers.
            NotGrasped: The fingers closed without holding the object.
        """
        with self._moving():
            name = object_at(self._scene, first)
            xy = target(self._scene, second, name)
            area = isinstance(second, str) and scene.plain(second) in PLACES
            planned = (transfer.on_or_near if area else transfer.transfer)(self._scene, name, xy)
            return self._carry_out(planned)

    @action
    def stack_objects_in_order(self, object_names: Sequence[str]) -> None:
        """Stack objects on top of one another.

        Args:
            object_names: Names from bottom to top. The first stays where it is; it may also be a
                place, such as 'middle', on which the others are stacked. Those that stand on one
                another in a wrong order are first set aside.

        Raises:
            NotFound: A name is unknown.
            Unreachable: The stack would be too high to reach.
            Collision: Something in the way, as for put_first_on_second.
            NotGrasped: The fingers closed without holding an object.
        """
        if isinstance(object_names, str):
            raise TypeError("object_names must be a list of names, not one name")
        known = [*self._scene.names, *PLACES]
        names = [scene.find(name, known, "object or place") for name in object_names]
        if len(set(names)) < len(names):
            raise Collision(f"an object cannot stand on itself; {names} names one twice")
        for name in names[1:]:
            self._exact(name)
        with self._moving():
            for below, name in itertools.pairwise(names):
                self._stack(below, name, names)

    @action
    def point_gripper_to(self, pos: Place) -> Array:
        """Move the gripper above a point and keep it there, without touching anything.

        Args:
            pos: x and y in metres, or the name of an object or place.

        Returns:
            Array of shape (2,): where the gripper points, x and y in metres.

        Raises:
            NotFound: Nothing has that name.
            Unreachable: The point is off the table.
        """
        with self._moving():
            xy = target(self._scene, pos)
            transfer.check_target(xy)
            self._world.point(xy)
        return np.array(xy)

    def _carry_out(self, planned: transfer.Transfer) -> Array:
        """Move one object and return where it came to rest, as far as can be seen."""
        moved, slips = planned, False
        if self._disturbances.moves:
            state = self._world.state
            moved, slips = self._disturbances.of_transfer(planned, state.generator(MOTION_DRAWS))
        self._world.transfer(moved, slips=slips)
        seen = self._scene
        if planned.name not in seen.names:
            raise NotFound(f"{planned.name!r} was moved and is not seen any more")
        return np.array(transfer.check_result(planned, seen[planned.name]))

    def _stack(self, below: str, name: str, names: Sequence[str]) -> None:
        """Put an object straight on another; other members of the stack are set aside first."""
        for base in (below, name):
            above = transfer.resting_on(self._scene, base) if base not in PLACES else []
            if base == below and above and above[0].name == name:
                return
            for body in reversed(above):
                if body.name in names:
                    self._carry_out(transfer.aside(self._scene, body.name))
        self.put_first_on_second(name, below)
