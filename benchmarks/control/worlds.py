"""The control tasks' worlds except the arm: gymnasium's `CartPole-v1`, three robots on a plane.

Simulated time passes only in a program's calls, and nobody moves objects. On the cart one push is
one step of 0.02 s; its episode ends when the pole leans more than 12 degrees, when the cart is more
than 2.4 m from the middle, or after 500 steps. The planar robots are driven by velocities that they
follow with a lag: a program reads positions, sets a velocity and lets time pass, one control period
at a time. Each drives a little differently from its command, as the seed has it: a program that
does not look goes astray. Frame: metres and radians, x to the right, y up, angles counter-clockwise
from x.
"""

from __future__ import annotations

import importlib
import math
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from cap.errors import LimitExceeded, MissingExtra, install_extra
from cap.program.scope import Primitive
from robots.base import action, perception, primitives_of

Array = NDArray[np.float64]


def commanded(values: object, count: int, what: str) -> Array:
    """Return a command of so many numbers.

    Raises:
        ValueError: It is something else.
    """
    try:
        found = np.asarray(values, dtype=float)
    except (TypeError, ValueError, OverflowError):
        found = np.array([math.nan])
    if found.shape != (count,) or not np.isfinite(found).all():
        number = {2: "two", 6: "six"}[count]
        raise ValueError(f"{what} are {number} finite numbers, not {values!r}")
    return found


class Episode:
    """One simulation whose time passes only in a program's calls."""

    simulated = True
    STEP_S: float
    """Simulated time of one step."""
    track: list[list[float]]
    """What was measured at first and after each step."""

    @property
    def steps(self) -> int:
        """Steps so far."""
        return len(self.track) - 1

    @property
    def sim_time_s(self) -> float:
        """Simulated time since the start, seconds."""
        return self.steps * self.STEP_S

    def primitives(self) -> Mapping[str, Primitive]:
        """Return the functions programs may call, by name."""
        return primitives_of(self)

    def context(self) -> Mapping[str, Any]:
        """Return no facts: everything changes with every step."""
        return {}

    def positions(self) -> Mapping[str, tuple[float, float, float]]:
        """Return nothing: no object is moved about."""
        return {}

    def stop(self) -> None:
        """Do nothing: time passes only inside one call."""

    def close(self) -> None:
        """Release nothing."""


PUSHES = 500
"""Of an episode in which the pole never falls."""
PUSH_S = 0.02


class CartPole(Episode):
    """One episode, from a start that the seed decides."""

    name = "cartpole"
    STEP_S = PUSH_S

    def __init__(self, seed: int) -> None:
        """Put the cart near the middle with the pole almost upright.

        Raises:
            MissingExtra: gymnasium is not installed.
        """
        self.seed = seed
        self.pushes: list[int] = []
        """Every push so far: 1 to the right, 0 to the left."""
        self._env = _make()
        state, _ = self._env.reset(seed=seed)
        self.track = [_plain(state)]
        """Every state so far; one more than there were steps."""
        self.fell = False
        """Whether the pole fell or the cart ran off."""
        self._done = False

    @perception
    def get_state(self) -> NDArray[np.float64]:
        """Return x, x_dot, theta, theta_dot, shape (4,): m, m/s, rad, rad/s.

        x grows to the right; theta is 0 upright and grows as the pole leans to the right.
        """
        return np.array(self.track[-1])

    @perception
    def is_done(self) -> bool:
        """Return whether the episode is over."""
        return self._done

    @action
    def push(self, direction: int) -> NDArray[np.float64]:
        """Push the cart for one step of 0.02 s: 1 to the right, 0 to the left.

        Returns:
            The state after it, as `get_state` gives it.

        Raises:
            ValueError: The direction is neither 0 nor 1.
            LimitExceeded: The episode is over.
        """
        if self._done:
            raise LimitExceeded(f"the episode was over after {self.steps} steps; ask is_done()")
        try:
            whole = float(direction)
        except (TypeError, ValueError, OverflowError):
            whole = -1.0
        if whole not in (0.0, 1.0):
            raise ValueError(f"direction is 0 (left) or 1 (right), not {direction!r}")
        state, _, fell, timed_out, _ = self._env.step(int(whole))
        self.pushes.append(int(whole))
        self.track.append(_plain(state))
        self.fell = bool(fell)
        self._done = self.fell or bool(timed_out)
        return self.get_state()

    def close(self) -> None:
        """Release the environment."""
        self._env.close()


def _plain(state: Any) -> list[float]:
    return [float(value) for value in state]


def _make() -> Any:
    try:
        gymnasium = importlib.import_module("gymnasium")
    except ModuleNotFoundError:
        raise MissingExtra(f"the cartpole needs gymnasium; run: {install_extra('bench')}") from None
    return gymnasium.make("CartPole-v1", disable_env_checker=True)


STEP_S = 0.05
"""Simulated time between two commands."""
STEPS = 400
LAG_S = 0.15
"""Time in which a velocity comes two thirds of the way to what was commanded."""
_STREAM = 13
"""Of the random numbers that episodes are made of."""


class PlanarRobot(Episode):
    """A point on the plane that follows a velocity with a lag, for a fixed time."""

    STEP_S = STEP_S
    MAX_SPEED: float
    """Most that is driven, m/s."""

    def __init__(self, start: Array) -> None:
        """Stand still somewhere, xy in metres."""
        self.velocity = np.zeros(2)
        """What is driven now: of this robot's two commands."""
        self._command = np.zeros(2)
        self.track = [start.tolist()]
        """Where the robot was, xy in metres; one more than there were steps."""

    @property
    def at(self) -> Array:
        """Where the robot is, xy in metres."""
        return np.array(self.track[-1])

    @perception
    def is_done(self) -> bool:
        """Return whether the episode is over."""
        return self.steps >= STEPS

    @action
    def step(self) -> float:
        """Let one control period of 0.05 s pass; return the time since the start, seconds.

        Raises:
            LimitExceeded: The episode is over.
        """
        if self.is_done():
            raise LimitExceeded(f"the episode was over after {self.sim_time_s:g} s; ask is_done()")
        self.velocity += (1 - math.exp(-STEP_S / LAG_S)) * (self._command - self.velocity)
        self.track.append((self.at + self._moved()).tolist())
        return self.sim_time_s

    def _moved(self) -> Array:
        """Return by how much the robot moves in this period, xy in metres."""
        return self.velocity * STEP_S


class HolonomicRobot(PlanarRobot):
    """One that drives in any direction."""

    @perception
    def get_position(self) -> Array:
        """Return where the robot is, xy, shape (2,), metres."""
        return self.at

    @action
    def set_velocity(self, velocity: Sequence[float]) -> Array:
        """Set the velocity to be driven with from now on, xy, shape (2,), m/s.

        Returns:
            The velocity it tries to reach: in the same direction, no faster than it can.

        Raises:
            ValueError: There are not two finite numbers.
        """
        wanted = commanded(velocity, 2, "velocities")
        speed = float(np.linalg.norm(wanted))
        self._command = wanted * min(1.0, self.MAX_SPEED / speed) if speed else wanted
        return self._command.copy()


class Tracker(PlanarRobot):
    """A robot on two wheels that is to follow a figure of eight in time."""

    name = "tracking"
    MAX_SPEED = 0.8
    MAX_TURN = 3.0
    """Most that is turned, rad/s."""

    def __init__(self, seed: int) -> None:
        """Stand beside the figure's beginning, heading anywhere."""
        rng = np.random.default_rng([seed, _STREAM, 1])
        self._size = rng.uniform([0.7, 0.35], [1.0, 0.5])
        self._turn = rng.uniform(0, 2 * math.pi)
        self._way = rng.choice([-1.0, 1.0])
        self._slip = rng.uniform([0.9, -0.1], [1.0, 0.1])
        self._heading = rng.uniform(-math.pi, math.pi)
        super().__init__(self.goal(0) + rng.uniform(-0.3, 0.3, 2))

    @perception
    def get_pose(self) -> Array:
        """Return where the robot is and where it heads: x, y, angle, shape (3,), metres, rad."""
        return np.array([*self.track[-1], self._heading])

    @perception
    def get_reference_position(self) -> Array:
        """Return where the robot should be now, xy, shape (2,), metres."""
        return self.goal(self.steps)

    @perception
    def get_reference_velocity(self) -> Array:
        """Return how fast that place moves now, xy, shape (2,), m/s."""
        return np.asarray((self.goal(self.steps + 1) - self.goal(self.steps)) / STEP_S)

    @action
    def set_velocity(self, forward: float, turn: float) -> Array:
        """Set the speed ahead, m/s, and the turn to the left, rad/s, from now on.

        Returns:
            What it tries to reach: at most 0.8 m/s and 3 rad/s, either way.

        Raises:
            ValueError: One is no finite number.
        """
        most = np.array([self.MAX_SPEED, self.MAX_TURN])
        self._command = np.clip(commanded([forward, turn], 2, "speed and turn"), -most, most)
        return self._command.copy()

    def goal(self, step: int) -> Array:
        """Return where the robot should be after so many control periods."""
        angle = self._way * 2 * math.pi * step / STEPS
        x, y = self._size * [math.sin(angle), math.sin(2 * angle)]
        c, s = math.cos(self._turn), math.sin(self._turn)
        return np.array([c * x - s * y, s * x + c * y])

    def _moved(self) -> Array:
        speed, turn = self.velocity * [self._slip[0], 1.0] + [0.0, self._slip[1]]
        middle = self._heading + turn * STEP_S / 2
        self._heading = math.remainder(self._heading + turn * STEP_S, 2 * math.pi)
        way = np.array([math.cos(middle), math.sin(middle)])
        return np.asarray(way * speed * STEP_S)


class Chaser(HolonomicRobot):
    """A robot that is to catch a target on the move, and to stay with it."""

    name = "moving-target"
    MAX_SPEED = 1.0

    def __init__(self, seed: int) -> None:
        """Stand a metre or two from the target."""
        rng = np.random.default_rng([seed, _STREAM, 2])
        self._radius = rng.uniform(0.5, 0.8)
        self._phase = rng.uniform(0, 2 * math.pi, 3)
        self._pace = rng.choice([-1.0, 1.0]) * rng.uniform(0.4, 0.6)
        self._drift = rng.uniform(-0.05, 0.05, 2)
        angle = rng.uniform(0, 2 * math.pi)
        away = rng.uniform(1.0, 2.0) * np.array([math.cos(angle), math.sin(angle)])
        super().__init__(self.goal(0) + away)

    @perception
    def get_target_position(self) -> Array:
        """Return where the target is now, xy, shape (2,), metres."""
        return self.goal(self.steps)

    def goal(self, step: int) -> Array:
        """Return where the target is after so many control periods."""
        angle = self._pace * step * STEP_S
        first, second, third = self._phase
        circle = np.array([math.cos(angle + first), math.sin(angle + first)])
        sway = np.array([math.sin(1.7 * angle + second), math.sin(1.3 * angle + third)])
        return self._radius * circle + 0.2 * sway

    def _moved(self) -> Array:
        return (self.velocity + self._drift) * STEP_S


class Avoider(HolonomicRobot):
    """A round robot that is to reach a goal among round obstacles, touching none."""

    name = "avoidance"
    MAX_SPEED = 0.6
    RADIUS_M = 0.1
    """Of the robot."""
    OBSTACLES = 6

    def __init__(self, seed: int) -> None:
        """Stand at rest, an obstacle between the robot and its goal."""
        rng = np.random.default_rng([seed, _STREAM, 3])
        angle = rng.uniform(0, 2 * math.pi)
        way = np.array([math.cos(angle), math.sin(angle)])
        start = -1.5 * way
        self.goal_m = 1.5 * way
        """Where it is to go, xy in metres."""
        self.obstacles = self._obstacles(rng, start)
        """Circles: x, y, radius in metres."""
        self.touched = False
        """Whether it ran into one; then the episode is over."""
        super().__init__(start)

    def _obstacles(self, rng: np.random.Generator, start: Array) -> list[list[float]]:
        """Return circles with room for the robot between them, the first one in its way."""
        placed: list[list[float]] = []
        while len(placed) < self.OBSTACLES:
            radius = float(rng.uniform(0.15, 0.35))
            spot = rng.uniform(-1.5, 1.5, 2)
            if not placed:
                along = (self.goal_m - start) / np.linalg.norm(self.goal_m - start)
                across = np.array([-along[1], along[0]])
                spot = rng.uniform(-0.5, 0.5) * along + rng.uniform(-0.1, 0.1) * across
            ends = min(math.dist(spot, start), math.dist(spot, self.goal_m))
            free = all(math.dist(spot, (x, y)) > radius + r + 0.45 for x, y, r in placed)
            if free and ends > radius + 0.35:
                placed.append([*map(float, spot), radius])
        return placed

    @perception
    def get_goal_position(self) -> Array:
        """Return where the robot is to go, xy, shape (2,), metres."""
        return self.goal_m.copy()

    @perception
    def get_obstacles(self) -> Array:
        """Return the obstacles, shape (n, 3): x and y of the middle, and radius, metres."""
        return np.array(self.obstacles)

    @perception
    def get_robot_radius(self) -> float:
        """Return the robot's radius, metres: it must keep so far from every obstacle."""
        return self.RADIUS_M

    @perception
    def is_done(self) -> bool:
        """Return whether the episode is over: its time, or because an obstacle was touched."""
        return self.touched or self.steps >= STEPS

    def clearance_m(self, at: Sequence[float]) -> float:
        """Return how far the robot would be from the nearest obstacle; negative if inside."""
        return min(math.dist(at, (x, y)) - r for x, y, r in self.obstacles) - self.RADIUS_M

    def _moved(self) -> Array:
        moved = self.velocity * STEP_S
        self.touched = self.clearance_m((self.at + moved).tolist()) < 0
        return moved
