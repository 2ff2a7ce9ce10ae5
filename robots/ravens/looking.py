"""The tabletop's perception primitives."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from cap.errors import NotFound
from robots.base import perception
from robots.ravens import scene
from robots.ravens.part import Part
from robots.ravens.scene import CORNERS, SIDES
from robots.table.arguments import named_points, point

Array = NDArray[np.float64]


class Looking(Part):
    """What programs may ask about the scene."""

    @perception
    def get_obj_names(self) -> list[str]:
        """Return the names of all objects on the table, such as ['red block', 'blue bowl']."""
        return self._scene.names

    @perception
    def get_obj_pos(self, name: str) -> Array:
        """Return the centre of an object, or of a corner, a side or 'middle'.

        Args:
            name: An object's or a place's name, such as 'red block' or 'top left corner'.

        Returns:
            Array of shape (2,): x and y in metres in the table frame (x right, y up).

        Raises:
            NotFound: Nothing has that name.
        """
        known = named_points(self._scene)
        return np.array(known[scene.find(name, known, "object or place")])

    @perception
    def get_bbox(self, name: str) -> Array:
        """Return the box around an object seen from above.

        Args:
            name: An object's name.

        Returns:
            Array of shape (4,): min x, min y, max x, max y in metres.

        Raises:
            NotFound: No object has that name.
        """
        return np.array(self._scene[self._exact(name)].bbox())

    @perception
    def get_obj_height(self, name: str) -> float:
        """Return how high an object's centre is above the table, in metres.

        Stacked objects share their xy and differ in this: sort by it to take a stack apart from
        the top.

        Args:
            name: An object's name.

        Raises:
            NotFound: No object has that name.
        """
        return float(self._scene[self._exact(name)].position[2])

    @perception
    def get_color(self, name: str) -> tuple[float, float, float, float]:
        """Return an object's colour as (red, green, blue, alpha), each 0 to 1.

        Args:
            name: An object's name.

        Raises:
            NotFound: No object has that name.
        """
        known = self._exact(name)
        if (color := scene.COLORS.get(known.split()[0])) is None:
            raise NotFound(f"nothing is known of the colour of {known!r}; its name has none")
        red, green, blue = color
        return (red / 255, green / 255, blue / 255, 1.0)

    @perception
    def is_obj_visible(self, name: str) -> bool:
        """Return whether an object of that name is on the table; never fails for a name."""
        try:
            return bool(self._exact(name))
        except NotFound:
            return False

    @perception
    def denormalize_xy(self, pos_normalized: Sequence[float] | Array) -> Array:
        """Turn a position given as fractions of the table into metres.

        Args:
            pos_normalized: Two numbers, 0 to 1: (0, 0) is the bottom left corner, (1, 1) the top
                right corner, (0.5, 0.5) the middle.

        Returns:
            Array of shape (2,): x and y in metres.
        """
        x, y = point(pos_normalized, "pos_normalized")
        left, bottom = CORNERS["bottom left corner"]
        right, top = CORNERS["top right corner"]
        return np.array([left + x * (right - left), bottom + y * (top - bottom)])

    @perception
    def get_corner_name(self, pos: Sequence[float] | Array) -> str:
        """Return the name of the corner nearest to a point, such as 'top left corner'.

        Args:
            pos: x and y in metres.
        """
        return scene.nearest_place(point(pos, "pos"), CORNERS)

    @perception
    def get_side_name(self, pos: Sequence[float] | Array) -> str:
        """Return the name of the side nearest to a point, such as 'left side'.

        Args:
            pos: x and y in metres.
        """
        return scene.nearest_place(point(pos, "pos"), SIDES)

    @perception
    def get_corner_positions(self) -> Array:
        """Return the corners' xy in metres, shape (4, 2).

        Their order is top left, top right, bottom left, bottom right.
        """
        return np.array(list(CORNERS.values()))

    @perception
    def get_side_positions(self) -> Array:
        """Return the middles of the sides: shape (4, 2), metres, order top, right, bottom, left."""
        return np.array(list(SIDES.values()))
