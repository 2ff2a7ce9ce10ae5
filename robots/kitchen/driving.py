"""What programs may do with the kitchen robot's base."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from robots.base import action
from robots.kitchen import arguments, paths
from robots.kitchen.arguments import Points
from robots.kitchen.looking import Looking, where

Array = NDArray[np.float64]
Position = Sequence[float] | Array


class Driving(Looking):
    """Driving to places, along trajectories, and by velocity."""

    @action
    def goto_pos(self, pos: Position, speed: float = 0.5, angle: float | None = None) -> Array:
        """Drive to a position on the floor, around the furniture.

        Args:
            pos: x, y and z in metres; z is not needed. It must be free floor, 0.32 m from anything.
            speed: In m/s, above 0 and at most 1: 0.25 is slow, 0.75 fast, 1 as fast as it can.
            angle: Heading at the end in radians; without it the heading stays as it is.

        Returns:
            Where the base is now, shape (3,), metres.

        Raises:
            Unreachable: The position is in or too close to furniture or a wall, or no way leads
                there; nothing moved. The message has the nearest free position.
            LimitExceeded: A speed of 0 or above 1, or a number that is not finite.
        """
        goal, mps = arguments.position(pos, "pos"), arguments.speed(speed)
        end = arguments.heading(angle)
        with self._moving():
            self._drive(goal, mps, end)
        return where(self.state)

    @action
    def goto_loc(self, loc: str, speed: float = 0.5) -> Array:
        """Drive to a location and face it, around the furniture. Then what is there can be seen.

        Args:
            loc: A location's name, such as 'table' or 'top drawer'.
            speed: In m/s, above 0 and at most 1: 0.25 is slow, 0.75 fast, 1 as fast as it can.

        Returns:
            Where the base is now, shape (3,), metres.

        Raises:
            NotFound: No location has that name.
            Unreachable: No way leads there; nothing moved.
            LimitExceeded: A speed of 0 or above 1.
        """
        place, mps = self._location(loc), arguments.speed(speed)
        with self._moving():
            x, y, angle = place.stand
            self._drive((x, y), mps, angle)
        return where(self.state)

    @action
    def follow_traj(self, traj: Points, speed: float = 0.5) -> Array:
        """Drive along a trajectory, straight from each waypoint to the next.

        The base first drives to the first waypoint, around the furniture. Its heading stays.

        Args:
            traj: 2 or more waypoints of x, y and z in metres, shape (n, 3); z is not needed.
            speed: In m/s, above 0 and at most 1: 0.25 is slow, 0.75 fast, 1 as fast as it can.

        Returns:
            Where the base is now, shape (3,), metres.

        Raises:
            Collision: It leads through furniture; nothing moved.
            Unreachable: A waypoint is in or too close to furniture or a wall; nothing moved.
            LimitExceeded: One waypoint only, a number that is not finite, a speed of 0 or above 1.
        """
        points, mps = arguments.trajectory(traj), arguments.speed(speed)
        ground = paths.ground(self.state.room, self.state.drawers)
        paths.check_free(ground, points, "the waypoint")
        paths.check_straight(ground, points)
        with self._moving():
            self._drive(points[0], mps, None)
            self._clock.drive(points, mps, None)
        return where(self.state)

    @action
    def set_velocity(self, x: float, y: float, turn: float = 0.0) -> None:
        """Let the base move with a velocity from now on, in the robot's own frame.

        Time passes with perception: each such call takes 0.1 s, and the base moves on by that much.
        It moves until `stop` or another motion. If it would run into furniture or a wall it stops
        before that, and the perception during which it did raises Collision.

        Args:
            x: To the robot's right, m/s; negative is left.
            y: Ahead, m/s; negative is backwards. At most 1 m/s in all; 0.1 slow, 0.4 fast.
            turn: Turning rate in rad/s, counter-clockwise (left), at most 1.5.

        Raises:
            LimitExceeded: Beyond those limits, or not finite.
        """
        wanted = arguments.velocity(x, y, turn)
        with self._busy:
            self._stop.clear()
            self._world.state = replace(self.state, velocity=wanted)

    @action
    def stop_motion(self) -> None:
        """Stop the base where it is: its velocity becomes zero."""
        with self._busy:
            self._halt()
