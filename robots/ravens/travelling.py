"""The tabletop's primitives that lead the empty gripper along paths over the table."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from robots.arm import ur5e
from robots.arm.strokes import Points, path_of
from robots.base import action, perception
from robots.ravens import route
from robots.ravens.part import Part
from robots.simulation import shortest_path
from robots.table.arguments import Place, target

Array = NDArray[np.float64]


class Travelling(Part):
    """What programs may do with the gripper alone."""

    @perception
    def get_robot_pos(self) -> Array:
        """Return where the gripper is over the table.

        Returns:
            Array of shape (2,): x and y of the fingertips in metres in the table frame.
        """
        return np.array(ur5e.forward(self._world.state.joints)[:2, 3])

    @perception
    def plan_path(
        self, start_pos: Place, goal_pos: Place, avoid_regions: Sequence[Any] = ()
    ) -> Array:
        """Return the shortest path over the table around regions; nothing moves.

        It keeps 3 cm clear of every region, or less where the start or the goal is closer to one.

        Args:
            start_pos: x and y in metres, such as get_robot_pos(), or an object's or place's name.
            goal_pos: The same.
            avoid_regions: A list of what to keep out of: names of objects, shapely polygons, or
                arrays of a polygon's corners, shape (n, 2), metres.

        Returns:
            Array of shape (n, 2), n at least 2: the path's corners from start to goal, x and y in
            metres; hand it to follow_traj.

        Raises:
            NotFound: Nothing has that name.
            Unreachable: The start or the goal is off the table or in a region, or no way is free.
            LimitExceeded: Too many regions, or too many corners.
        """
        seen = self._scene
        start, goal = (np.array(target(seen, end)) for end in (start_pos, goal_pos))
        route.check_on_table(np.stack([start, goal]))
        return shortest_path.shortest(start, goal, shortest_path.regions_of(avoid_regions, seen))

    @action
    def follow_traj(self, traj: Points, speed: float = route.SPEED_MPS) -> Array:
        """Lead the gripper along a path, over everything on the table; it touches nothing.

        It first goes to the path's first point.

        Args:
            traj: 2 or more points of x and y in metres, shape (n, 2). To close a shape, end with
                its first point.
            speed: Greatest speed along the path in metres per second, 0.01 to 1.0.

        Returns:
            Array of shape (2,): where the gripper is then, x and y in metres.

        Raises:
            Unreachable: A point is off the table or beyond the arm; nothing moved.
            LimitExceeded: The speed is not within its limits, or the path is too long.
        """
        points, limit = path_of(traj, "traj"), route.checked_speed(speed)
        route.check_path(self._scene, points)
        with self._moving():
            self._world.follow(points, limit)
        return self.get_robot_pos()

    @action
    def goto_pos(self, pos: Place, speed: float = route.SPEED_MPS) -> Array:
        """Lead the gripper straight to a point, over everything on the table.

        Args:
            pos: x and y in metres, or the name of an object or place.
            speed: Greatest speed in metres per second, 0.01 to 1.0.

        Returns:
            Array of shape (2,): where the gripper is then, x and y in metres.

        Raises:
            NotFound: Nothing has that name.
            Unreachable: The point is off the table or beyond the arm; nothing moved.
            LimitExceeded: The speed is not within its limits.
        """
        goal, limit = np.array(target(self._scene, pos)), route.checked_speed(speed)
        route.check_path(self._scene, np.stack([goal, goal]))
        with self._moving():
            self._world.follow(np.stack([self.get_robot_pos(), goal]), limit)
        return self.get_robot_pos()
