"""Arm motions, computed ahead: lines of the fingertips, followed within the joint limits.

A motion leads through a few poses with rounded corners; its timing is the fastest that keeps every
joint within its speed and acceleration limits. The fingertips travel up, across, over everything in
between, and straight down; each robot's heights are here, and the arm clears what they say.
"""

from __future__ import annotations

import functools
import itertools
import math
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace

import numpy as np

from cap.errors import Unreachable
from robots.arm import ur5e
from robots.arm.ur5e import Array
from robots.table.geometry import Solid, Vec3

DT_S = 1 / 120
"""Simulation step, seconds: twice that of the original release, at half the cost."""
SPEED_LIMIT = np.full(6, 0.9 * ur5e.MAX_SPEED)
"""Planned joint speed, rad/s: below the arm's limit, so that following never passes it."""
ACCELERATION_LIMITS = np.array([22.0, 16.0, 26.0, 45.0, 45.0, 45.0])
"""Planned joint acceleration, rad/s^2: the torque limits then drive the arm at any reach."""
_FOR_BENDS = 0.6
"""Share of the acceleration that bends of the path may take."""
_SPACING_M = 0.008
_ROUNDING_M = 0.04
"""How far from a corner its rounding begins, metres."""


@dataclass(frozen=True)
class Pose:
    """Where the fingertips are and where the fingers close; the tool points straight down."""

    x: float
    """Metres."""
    y: float
    """Metres."""
    z: float
    """Metres."""
    yaw: float
    """Radians."""

    @property
    def array(self) -> Array:
        """x, y, z, yaw."""
        return np.array([self.x, self.y, self.z, self.yaw])

    def joints(self) -> tuple[float, ...]:
        """Return the joint angles that hold it, radians."""
        angles = ur5e.inverse(self.array[None, :3], self.array[None, 3])[0]
        return tuple(angles.tolist())

    @classmethod
    def of_joints(cls, joints: Sequence[float]) -> Pose:
        """Return the pose that joint angles hold; the yaw keeps its whole turns."""
        tip = ur5e.forward(joints)[:3, 3]
        yaw = float(joints[0] + math.pi / 2 - joints[5])
        return cls(float(tip[0]), float(tip[1]), float(tip[2]), yaw)

    def release_point(self, held: Vec3, goal: Vec3, turn: float) -> Vec3:
        """Return where the hand, turned by so much, has what it now holds at a goal, metres."""
        c, s = math.cos(turn), math.sin(turn)
        dx, dy, dz = held[0] - self.x, held[1] - self.y, held[2] - self.z
        x, y, z = goal
        return (x - (c * dx - s * dy), y - (s * dx + c * dy), z - dz)


@dataclass(frozen=True)
class Leg:
    """One motion, ready to be followed."""

    positions: Array
    """Joint angles at the beginning of each step, shape (n, j), radians."""
    velocities: Array
    """Joint speeds during each step, shape (n, j), rad/s."""


@dataclass(frozen=True)
class ArmModel:
    """What the motions of an arm are computed with."""

    inverse: Callable[[Array, Array], Array]
    """Joint angles (n, j) for fingertips (n, 3) and yaws (n,); rows of NaN beyond reach."""
    speed: Array
    """Planned joint speeds, shape (j,), rad/s."""
    acceleration: Array
    """Planned joint accelerations, shape (j,), rad/s^2."""


UR5E = ArmModel(ur5e.inverse, SPEED_LIMIT, ACCELERATION_LIMITS)


def through(
    points: Sequence[Pose], acceleration_mps2: float = math.inf, body: ArmModel = UR5E
) -> Leg:
    """Return the fastest motion through poses that keeps the joint limits, from rest to rest.

    Corners are rounded, so the arm does not stop at them.

    Args:
        points: At least two; the first is where the arm is.
        acceleration_mps2: Greatest acceleration of the fingertips, m/s^2, for a loose load.
        body: The arm.

    Raises:
        Unreachable: Part of the way is beyond the arm.
    """
    path = _rounded([point.array for point in points])
    return along(path, acceleration_mps2=acceleration_mps2, body=body)


def along(
    path: Array,
    *,
    speed_mps: float = math.inf,
    acceleration_mps2: float = math.inf,
    body: ArmModel = UR5E,
) -> Leg:
    """Return the fastest motion along a path that keeps the joint limits, from rest to rest.

    Args:
        path: x, y, z (m) and yaw (rad) of the fingertips, closely spaced, shape (n, 4).
        speed_mps: Greatest speed of the fingertips, m/s.
        acceleration_mps2: Their greatest acceleration, m/s^2.
        body: The arm.

    Raises:
        Unreachable: Part of the way is beyond the arm.
    """
    if len(path) == 2:  # From rest to rest there must be a point to move at.
        path = np.stack([path[0], path.mean(axis=0), path[1]])
    joints = _joints(path, body)
    hurried, limited = joints / body.speed, joints / body.acceleration
    if speed_mps < math.inf:
        hurried = np.hstack([hurried, _along(path) / speed_mps])
    if acceleration_mps2 < math.inf:
        limited = np.hstack([limited, path[:, :3] / acceleration_mps2])
    rate = _fastest(hurried, limited)
    # Of each step, how far along the points it is, with steady acceleration between them.
    times = np.zeros(len(rate))
    np.cumsum(2 / (rate[:-1] + rate[1:]), out=times[1:])
    steps = max(2, math.ceil(times[-1] / DT_S))
    moments = np.arange(steps + 1) * (times[-1] / steps)
    moments[-1] = times[-1]
    node = np.minimum(np.searchsorted(times, moments, side="right") - 1, len(rate) - 2)
    since = moments - times[node]
    bend = (rate[node + 1] ** 2 - rate[node] ** 2) / 2
    nodes = node + rate[node] * since + bend * since**2 / 2
    points, timed = np.arange(len(path)), np.empty((len(nodes), path.shape[1]))
    for column in range(path.shape[1]):
        timed[:, column] = np.interp(nodes, points, path[:, column])
    followed = _joints(timed, body)
    return Leg(followed[:-1], np.diff(followed, axis=0) / DT_S)


def _along(path: Array) -> Array:
    """Return how far along a path each point is, shape (n, 1), metres."""
    steps = np.linalg.norm(np.diff(path[:, :3], axis=0), axis=1)
    return np.concatenate([[0.0], np.cumsum(steps)])[:, None]


def _rounded(corners: Sequence[Array]) -> Array:
    """Return closely spaced points, shape (n, 4), along a line with its corners rounded."""
    spans = [(a, b) for a, b in itertools.pairwise(corners) if _length(b - a) > 1e-6]
    if not spans:
        return np.stack([corners[0], corners[-1]])
    pieces: list[Array] = []
    start = spans[0][0]
    for (before, corner), (_, after) in itertools.pairwise(spans):
        coming, going = _length(corner - before), _length(after - corner)
        cut = min(_ROUNDING_M, coming / 2, going / 2)
        enter = corner + (before - corner) * (cut / coming)
        leave = corner + (after - corner) * (cut / going)
        t = _fractions(max(4, math.ceil(2 * cut / _SPACING_M)))
        pieces += [
            straight_points(start, enter),
            (1 - t) ** 2 * enter + 2 * t * (1 - t) * corner + t**2 * leave,
        ]
        start = leave
    return np.vstack([spans[0][0][None], *pieces, straight_points(start, spans[-1][1])])


def _length(step: Array) -> float:
    """Return a step's length in metres, a turn of the wrist counted at a finger's radius."""
    shift = step[:3]
    return math.hypot(math.sqrt(shift.dot(shift)), 0.05 * float(step[3]))


@functools.cache
def _fractions(count: int) -> Array:
    """Return 1/count, 2/count, ... 1, shape (count, 1)."""
    return np.linspace(0.0, 1.0, count + 1)[1:, None]


def straight_points(start: Array, end: Array) -> Array:
    """Return points after `start` up to and with `end`."""
    count = max(2, math.ceil(_length(end - start) / _SPACING_M))
    return start + _fractions(count) * (end - start)


def _fastest(speed: Array, acceleration: Array) -> Array:
    """Return the rate at each point of a path, points per second, as fast as the limits allow.

    One pass forwards and one backwards bound the squared rate, the usual numeric solution of
    time-optimal path following; it is done twice, because what a bend takes of the acceleration
    depends on the rate.

    Args:
        speed: Coordinates along the path in units of their speed limits, shape (n, k).
        acceleration: Coordinates in units of their acceleration limits, shape (n, m).
    """
    slope = np.gradient(acceleration, axis=0)
    first = np.abs(slope) + 1e-9
    second = np.abs(np.gradient(slope, axis=0))
    slowest = np.abs(np.gradient(speed, axis=0)).max(axis=1) + 1e-9
    most = np.minimum(1 / slowest**2, _FOR_BENDS / (second.max(axis=1) + 1e-9))
    most[0] = most[-1] = 0.0
    squared = most
    for _ in range(2):
        gain = 2 * ((1 - second * squared[:, None]) / first).min(axis=1)
        steps = np.minimum(gain[1:], gain[:-1]).tolist()
        forwards = _bounded(most.tolist(), steps)
        backwards = _bounded(forwards[::-1], steps[::-1])
        squared = np.array(backwards[::-1])
    fastest: Array = np.sqrt(squared)
    return fastest


def _bounded(values: Sequence[float], gains: Sequence[float]) -> list[float]:
    """Return values, each lowered to what the one before it can grow to by the gain between."""
    reached = values[0]
    bounded = [reached]
    for value, gain in zip(values[1:], gains, strict=True):
        reached += gain
        if value < reached:
            reached = value
        bounded.append(reached)
    return bounded


def _joints(path: Array, body: ArmModel) -> Array:
    joints = body.inverse(path[:, :3], path[:, 3])
    lost = np.isnan(joints[:, 0])
    if lost.any():
        x, y, z = path[int(lost.argmax()), :3]
        raise Unreachable(f"the way leads through ({x:.2f}, {y:.2f}, {z:.2f}) m, beyond the arm")
    return joints


@dataclass(frozen=True)
class Heights:
    """How high an arm travels, metres."""

    lift: float
    """Free height between what travels and what it passes over."""
    straight: float
    """The fingers come and go at least this far straight up and down."""
    least: float = 0.0
    """What travels is at least this high."""


TABLE = Heights(lift=0.03, straight=0.07, least=0.10)
"""Of an arm at the table; `least` is the height at which it points and follows paths."""
KITCHEN = Heights(lift=0.04, straight=0.06)
"""Of the arm in the kitchen."""
PEN_UP_M = 0.09
"""Height of a pen between strokes: over blocks of 4 cm."""
PARK = Pose(0.0, -0.38, 0.32, math.pi / 2)
"""Where an arm at the table waits between motions, clear of the view."""
CORRIDOR_M = 0.10
"""Half the width of the strip that must be free below the travelling gripper at the table."""


def highest_between(obstacles: Iterable[Solid], start: Vec3, end: Vec3) -> float:
    """Return the height of the highest thing near the straight way between two points, metres."""
    dx, dy = end[0] - start[0], end[1] - start[1]
    length = dx * dx + dy * dy
    highest = 0.0
    for each in obstacles:
        along = (each.xy[0] - start[0]) * dx + (each.xy[1] - start[1]) * dy
        t = min(1.0, max(0.0, along / length)) if length else 0.0
        nearest = (start[0] + t * dx, start[1] + t * dy)
        if math.dist(nearest, each.xy) < CORRIDOR_M + each.radius:
            highest = max(highest, each.top)
    return highest


def over(start: Pose, end: Pose, height: float) -> list[Pose]:
    """Return the way to a pose: up to a height (m), across at it, and straight down."""
    up = replace(start, z=max(start.z, height))
    return [start, up, replace(end, z=height), end]


def away(start: Pose, height: float, rest: Pose, heights: Heights) -> list[Pose]:
    """Return the way to where an arm waits: straight up, to a height (m) at least, and there."""
    up = replace(start, z=max(height, start.z + heights.straight))
    return [start, up, rest]
