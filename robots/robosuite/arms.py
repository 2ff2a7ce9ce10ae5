"""The arms: how they move, filmed and stopped on the way, and what they do with things."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence

import numpy as np

from cap.errors import Collision, NotGrasped, RobotError, Unreachable
from robots.arm.rotations import rotation_of
from robots.robosuite.environments import NamedThing
from robots.robosuite.hand import CLOSED, OPEN, ArmHand, downward, shortened
from robots.robosuite.world import CONTROL_HZ, SETTLE_STEPS, Array, Simulation, azimuth

FAST_M, SLOW_M = 0.05, 0.015
"""How far ahead a step's goal may be: 0.3 and 0.1 m/s."""
THERE = np.array([0.003, 0.03])
"""A hand this close to its goal is there: metres and radians."""
NEAR = np.array([0.015, 0.15])
"""A hand that comes no closer has arrived all the same, if it is this close."""
_ARRIVAL_STEPS = 100
"""So long a hand may take for the rest of its way, which its speed does not account for."""
_PUSH_SHARE = 0.06
_MOST_PUSH = np.repeat([0.03, 0.3], 3)
"""What remains of the way is added to the goal, so that neither load nor friction holds a hand
back; at most so much, metres and radians."""
_STILL = 0.02
"""Where nothing moves faster, all stands still: rad/s, m/s."""
_HALT_STEPS = 200
"""It is waited for so long; the elbow of an arm with seven joints swings on for up to 8 s."""
UP = np.array([0.0, 0.0, 1.0])
CLEARANCE_M = 0.06
"""What is carried passes so far above everything, and so high a hand comes and goes."""
RELEASE_M = 0.004
"""Above what it is put on a thing is let go, metres."""
DROP_M = 0.05
"""It is let go so much higher at most, where the hand has no room further down."""
ON_PEG_M = 0.04
"""A nut is let go when the peg's end is so far above its underside."""
PALM_M = 0.035
"""A thing may reach so far up between the fingers."""
MAX_WIDTH_M = 0.075
"""What is wider is not grasped."""
LEAST_GRIP_M = 0.012
"""The fingertips reach at least so far below the top of what they grasp."""
ASIDE_M = 0.012
"""The fingers may close so far beside its middle, where the hand would meet something."""
LEVEL = 0.5
"""An axis whose upward part is smaller lies level."""
MAX_TURN_RAD = 2.5
"""What turns further does so in two halves, or it would take the other, shorter way round."""
IN_BIN_M = np.array([0.06, 0.085])
"""What goes in a bin is put so far from its middle, along x and y, where that is far away."""
FAR_RELEASE_M = 0.04
"""Where an arm is nearly stretched, a thing is let go so far above the floor of a bin."""
EASY_REACH_M = 0.7
"""So far from its base an arm reaches in any turn, seen from above."""
BESIDE_M, BESIDE_PEG_M = 0.05, 0.03
"""What was put down, or over a peg, may lie so far from where it was to be."""
ON_TOP_M = 0.01
"""Its underside may be so far from the top of what it was put on."""
LIFT_TO_LOOK_M = 0.02
"""A thing is lifted so far to see whether it comes along."""
HANDLE_FREE_M = 0.15
"""So far in front of a handle a hand turns towards it."""
FINGER_STEPS, GRIP_STEPS = 8, 14
"""So long fingers take to open, and to close tightly."""


class ArmWorld(Simulation):
    """A simulation whose arms follow their commands."""

    def build(self, seed: int) -> None:
        """Build it as a seed lays it out, its things at rest."""
        super().build(seed)
        self.arms = [RobosuiteArm(self, number) for number in range(self.environment.arms)]
        self.remembering += map(vars, self.arms)
        for _ in range(SETTLE_STEPS):
            self._act(FAST_M)

    def close(self) -> None:
        """Release the simulation."""

    def _act(self, furthest_m: float) -> None:
        """Take one step: each hand towards its goal, and further by its push."""
        self.env.step(np.concatenate([arm.action(furthest_m) for arm in self.arms]))

    def step(self, furthest_m: float) -> None:
        """Take one step that is filmed and may be stopped.

        Raises:
            RobotError: It was stopped; the arms stand still.
        """
        self._act(furthest_m)
        if self.env.timestep % max(1, round(self._owner.frame_every_s * CONTROL_HZ)) == 0:
            self._owner.frame()
        try:
            self._owner.check_stop()
        except RobotError:
            self.halt()
            raise

    def halt(self) -> None:
        """Have every hand stay where it is, and wait until nothing moves."""
        for _ in range(_HALT_STEPS):
            for arm in self.arms:
                arm.stay()
            self._act(SLOW_M)
            if np.abs(self._data.qvel).max() < _STILL:
                break

    def move(
        self, arms: Sequence[RobosuiteArm], furthest_m: float, *, touching: bool = False
    ) -> None:
        """Bring arms' hands to where they are to be, each on a straight way.

        Args:
            arms: Which; the others stay.
            furthest_m: How far ahead a step's goal may be: the speed.
            touching: The hand presses on something, and need not arrive.

        Raises:
            Unreachable: A hand stopped before its goal; it stays there.
            RobotError: It was stopped; the arms stand still.
        """
        longest, turned = _off(arms)
        steps = round(longest / furthest_m * 5 + turned * 15)
        for _ in range(steps + (5 if touching else _ARRIVAL_STEPS)):
            if (_off(arms) <= THERE).all():
                break
            self.step(furthest_m)
            for arm in arms:
                way, turn = arm.off()
                if not touching and np.linalg.norm(way) < 2 * NEAR[0]:
                    push = arm.push + _PUSH_SHARE * np.concatenate([way, turn])
                    arm.push = np.clip(push, -_MOST_PUSH, _MOST_PUSH)
        for arm in arms:
            arm.push = np.zeros(6)
        if touching or (_off(arms) <= NEAR).all():
            return
        x, y, z = arms[0].aim
        self.halt()
        away = np.linalg.norm(arms[0].position - (x, y, z))
        raise Unreachable(
            f"the hand stopped {100 * away:.1f} cm before ({x:.3f}, {y:.3f}, {z:.3f}): "
            "something is in its way, or the arm does not reach there, turned so"
        )


def _off(arms: Sequence[RobosuiteArm]) -> Array:
    """Return how far the arms' hands are from their goals at most: metres and radians."""
    off = [[np.linalg.norm(part) for part in arm.off()] for arm in arms]
    furthest: Array = np.max(off, axis=0)
    return furthest


class RobosuiteArm(ArmHand):
    """One arm of a world."""

    _world: ArmWorld

    def go(
        self, point: Sequence[float] | Array, furthest_m: float = FAST_M, *, touching: bool = False
    ) -> None:
        """Move the hand straight to a point, turned as `turned` says.

        Raises:
            Unreachable: The hand does not get there.
        """
        self.aim = np.array(point)
        self._world.move([self], furthest_m, touching=touching)

    def rise(self, by_m: float = 0.1) -> None:
        """Lift the hand."""
        self.go(self.position + by_m * UP)

    def held_geoms(self) -> set[int]:
        """Return the shapes of what the hand holds."""
        return self._world.whole(self._world.things[self.held]) if self.held else set()

    def travel(self, point: Array, yaw: float) -> None:
        """Bring the hand to a point from above, over everything that stands around."""
        held = self.held_geoms()
        here = self.position
        hang = here[2] - self._world.bounds(held)[0][2] if held else self.tip_m
        height = self._world.top(held) + hang + CLEARANCE_M
        if math.dist(here[:2], point[:2]) > 0.01 and here[2] < height - 0.01:
            self.go([*self._drawn_in(here[:2]), height])
        if abs(yaw - self.yaw) > MAX_TURN_RAD:
            self.turned = downward((yaw + self.yaw) / 2)
            self.go(self.position)
        self.turned = downward(yaw)
        height = max(height, point[2])
        self.go([*point[:2], height])
        if point[2] < height - 0.08:
            self.go([*point[:2], point[2] + 0.06])
        self.go(point, SLOW_M)

    def _drawn_in(self, xy: Array) -> Array:
        """Return the nearest point (xy) that the arm reaches easily: stretched, it gets stuck."""
        base = self.base[:2]
        return base + shortened(xy - base, EASY_REACH_M)

    def close(self) -> None:
        """Close the fingers on whatever is between them.

        Raises:
            NotGrasped: There are none.
        """
        self._set_fingers(CLOSED, GRIP_STEPS)

    def open(self) -> None:
        """Open the fingers.

        Raises:
            NotGrasped: There are none.
        """
        self.held = ""
        self._set_fingers(OPEN, FINGER_STEPS)

    def _set_fingers(self, action: float, steps: int) -> None:
        if not self.has_fingers:
            raise NotGrasped("the arm has a wiper and no fingers; it can wipe")
        self.fingers = action
        for _ in range(steps):
            self._world.step(SLOW_M)

    def check_empty(self) -> None:
        """Raise `Collision` if the hand holds something."""
        if self.held:
            raise Collision(f"the hand holds {self.held!r}; put it down first")

    def check_kept(self, thing: NamedThing) -> None:
        """Make sure that the hand still holds a thing; else it opens.

        Raises:
            NotGrasped: It does not.
        """
        if not self.touches(self._world.grip_geoms(thing)):
            self.open()
            raise NotGrasped(f"{thing.name!r} slipped out of the hand")

    def pick(self, thing: NamedThing, *, lift: bool = True) -> None:
        """Grasp a thing from above.

        Raises:
            NotGrasped: The fingers closed without holding it.
            Collision: The hand holds something already.
            Unreachable: The hand does not get there.
        """
        self.check_empty()
        if thing.is_place:
            raise NotGrasped(f"{thing.name!r} is a place; it stays where it is")
        point, yaw = self._grasp(thing)
        self.open()
        self.travel(point, yaw)
        self.close()
        if lift:
            self.go(self.position + LIFT_TO_LOOK_M * UP, SLOW_M)
        self._check_grasp(thing, self.position + 0.1 * UP)
        if lift:
            self.rise(CLEARANCE_M)

    def take(self, thing: NamedThing, point: Array, front: Array) -> None:
        """Move the open hand from in front of a thing to a point of it, and close it there.

        Raises:
            NotGrasped: The fingers closed without holding it; the hand is in front of it again.
            Unreachable: The hand does not get there.
        """
        self.go(point, SLOW_M)
        self.close()
        self._check_grasp(thing, front)

    def _check_grasp(self, thing: NamedThing, back: Array) -> None:
        if not self.touches(self._world.grip_geoms(thing)):
            self.open()
            self.go(back, SLOW_M)
            raise NotGrasped(f"the fingers closed without holding {thing.name!r}")
        self.held = thing.name

    def _grasp(self, thing: NamedThing) -> tuple[Array, float]:
        """Return where the fingertips go to grasp a thing from above, and the hand's yaw.

        Of the directions in which it fits between the fingers it is the one in which the hand
        meets least, then the one nearest its middle, then the one for which it turns least.

        Raises:
            NotGrasped: It is too wide.
        """
        scene = self._world
        box, whole = scene.box(thing), scene.whole(thing)
        level = [axis for axis in range(3) if abs(box.rotation[2, axis]) < LEVEL]
        fitting = [axis for axis in level if 2 * box.half[axis] <= MAX_WIDTH_M]
        if not fitting:
            raise NotGrasped(f"{thing.name!r} is wider than {100 * MAX_WIDTH_M:.1f} cm")
        reach = float(np.abs(box.rotation[2]) @ box.half)
        low, high = box.center[2] - reach, box.center[2] + reach
        longest = box.rotation[:, max(level, key=lambda axis: box.half[axis])]
        middle = box.center + thing.outer_m * longest
        deepest = max(box.center[2], high - PALM_M, low + self.tip_m + 0.003)
        ways = []
        for across in fitting:
            yaw = self.nearest_yaw(azimuth(box.rotation[:, across]), middle)
            turn = abs(yaw - self.straight_yaw(middle))
            wide = box.half[across] > 1.5 * min(box.half[fitting])
            spare = min(ASIDE_M, MAX_WIDTH_M / 2 - box.half[across])
            for height in np.arange(deepest, max(deepest, high - LEAST_GRIP_M) + 1e-6, 0.005):
                for aside in (0.0, -spare, spare):
                    point = np.array([*middle[:2], height]) + aside * downward(yaw)[:, 0]
                    met = self.met(point, yaw, whole)
                    ways.append(((met, wide, abs(aside), turn, height), point, yaw))
        return min(ways, key=lambda way: way[0])[1:]

    def put(self, goal: NamedThing | Array) -> Array:
        """Put what the hand holds on a thing, over a peg, in a bin, or at a point.

        Args:
            goal: The thing, or x and y in metres: upon whatever is there, or over the peg.

        Returns:
            Where its middle came to rest, xyz in metres.

        Raises:
            NotGrasped: The hand holds nothing.
            Unreachable: The hand does not get there.
            Collision: It did not stay there.
        """
        scene = self._world
        if not self.held:
            raise NotGrasped("the hand holds nothing; pick something up first")
        thing, geoms, release = scene.things[self.held], self.held_geoms(), RELEASE_M
        onto = goal if isinstance(goal, NamedThing) else scene.peg_at(goal)
        xy = goal[:2] if isinstance(goal, np.ndarray) else scene.position(goal)[:2]
        kind = onto.kind if onto else ""
        if kind == "bin":
            xy = xy + np.clip(self._drawn_in(xy) - xy, -IN_BIN_M, IN_BIN_M)
            if math.dist(xy, self.base[:2]) > EASY_REACH_M:
                release = FAR_RELEASE_M
        if onto and kind == "peg":
            surface = scene.position(onto)[2] - ON_PEG_M
        elif onto and kind == "object":
            surface = scene.bounds(scene.whole(onto))[1][2]
        else:
            surface = float(scene.floor(xy[None], geoms)[0])
        held = self.position - scene.position(thing)
        # Over a peg, its sides are in line with x and y.
        begun, step = (-scene.yaw(thing), math.pi / 2) if kind == "peg" else (0.0, math.pi)
        turn = self.least_turn(
            begun, step, lambda turn: xy + (rotation_of([0, 0, turn]) @ held)[:2]
        )
        self.travel(self._above(thing, xy, surface + 0.05, turn), self.yaw + turn)
        self.go(self._above(thing, xy, surface + release, 0.0), SLOW_M)
        self.open()
        self.rise()
        rest, above_m = scene.position(thing), scene.bounds(geoms)[0][2] - surface
        if (
            math.dist(rest[:2], xy) > (BESIDE_PEG_M if kind == "peg" else BESIDE_M)
            or (kind == "peg" and above_m > 0)  # it is let go at this height, and slides down
            or (kind == "object" and abs(above_m) > ON_TOP_M)
        ):
            x, y, z = rest
            raise Collision(
                f"{thing.name!r} did not stay there: it lies at ({x:.3f}, {y:.3f}, {z:.3f})"
            )
        return rest

    def _above(self, thing: NamedThing, xy: Array, height: float, turn: float) -> Array:
        """Return where the hand has what it holds at a point, its underside at a height.

        It is higher, by `DROP_M` at most, where the hand has no room.
        """
        scene, geoms = self._world, self.held_geoms()
        offset = rotation_of([0, 0, turn]) @ (self.position - scene.position(thing))
        lowest = height + self.position[2] - scene.bounds(geoms)[0][2]
        point = np.array([*(xy + offset[:2]), lowest])
        yaw = self.yaw + turn
        while self.met(point, yaw, geoms) and point[2] < lowest + DROP_M:
            point[2] += 0.005
        return point

    def least_turn(self, begun: float, step: float, end: Callable[[float], Array]) -> float:
        """Return the least turn with which the arm stays well within reach, and its wrist too.

        Args:
            begun: One of the turns that will do, radians.
            step: How far they are apart, radians.
            end: Returns where the hand is after a turn, x and y in metres.
        """

        def cost(turn: float) -> float:
            place = end(turn)
            far = max(0.0, math.dist(place, self.base[:2]) - EASY_REACH_M)
            return abs(turn) + 100 * (far + self.beyond_wrist(self.yaw + turn, place))

        return min((begun + count * step for count in range(-6, 7)), key=cost)

    def take_handle(self, handle: NamedThing, turn: Array) -> None:
        """Grasp a handle with a hand that points at what it is fixed to, one finger above it.

        Args:
            handle: Which.
            turn: The rotation vector for which the wrist is to have room then.

        Raises:
            NotGrasped: The fingers closed without holding it.
            Collision: The hand holds something.
            Unreachable: The hand does not get there.
        """
        self.check_empty()
        scene = self._world
        inwards = scene.axis(handle)
        point, _ = self._grasp(handle)
        point[2] = scene.box(handle).center[2]
        front = point - HANDLE_FREE_M * inwards
        ways = [np.column_stack([up, np.cross(inwards, up), inwards]) for up in (UP, -UP)]
        ways.sort(key=lambda way: float(np.linalg.norm(way - self.rotation)))
        self.open()
        self.turned = ways[0]
        self.go(front)
        if not self.can_turn(turn):  # so the other finger is above
            for way in (rotation_of(-math.pi / 2 * turn / np.linalg.norm(turn)) @ ways[0], ways[1]):
                self.turned = way
                self.go(front)
        self.take(handle, point, front)
