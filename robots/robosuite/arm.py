"""What an arm does with things: grasps, carries, puts down, takes hold of a handle."""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np

from cap.errors import Collision, NotGrasped
from robots.arm.rotations import rotation_of
from robots.robosuite.environments import NamedThing
from robots.robosuite.hand import CLOSED, OPEN, downward
from robots.robosuite.motion import FAST_M, SLOW_M, ArmWorld
from robots.robosuite.world import Array

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


class Arm:
    """One arm of a world."""

    def __init__(self, world: ArmWorld, number: int) -> None:
        """Take the arm of that number."""
        self.hand = world.hands[number]
        self._world, self._scene = world, world.scene

    def go(
        self,
        point: Sequence[float] | Array,
        furthest_m: float = FAST_M,
        rotation: Array | None = None,
        *,
        touching: bool = False,
    ) -> None:
        """Move the hand straight to a point, turned as it was to be if `rotation` is None.

        Raises:
            Unreachable: The hand does not get there.
        """
        self.hand.aim = np.array(point)
        if rotation is not None:
            self.hand.turned = rotation
        self._world.move([self.hand], furthest_m, touching=touching)

    def rise(self, by_m: float = 0.1) -> None:
        """Lift the hand."""
        self.go(self.hand.position + by_m * UP)

    def held_geoms(self) -> set[int]:
        """Return the shapes of what the hand holds."""
        held = self.hand.held
        return self._scene.whole(self._scene.things[held]) if held else set()

    def travel(self, point: Array, yaw: float) -> None:
        """Bring the hand to a point from above, over everything that stands around."""
        hand, held = self.hand, self.held_geoms()
        here = hand.position
        hang = here[2] - self._scene.bounds(held)[0][2] if held else hand.tip_m
        height = max(self._scene.top(held) + hang + CLEARANCE_M, point[2])
        if math.dist(here[:2], point[:2]) > 0.01 and here[2] < height - 0.01:
            self.go([*here[:2], height])
        turn = yaw - hand.yaw
        if abs(turn) > MAX_TURN_RAD:
            self.go(hand.position, rotation=downward(hand.yaw + turn / 2))
        self.go([*point[:2], height], rotation=downward(yaw))
        if point[2] < height - 0.08:
            self.go([*point[:2], point[2] + 0.06])
        self.go(point, SLOW_M)

    def close(self, steps: int = GRIP_STEPS) -> None:
        """Close the fingers on whatever is between them."""
        self._world.set_fingers(self.hand, CLOSED, steps)

    def open(self) -> None:
        """Open the fingers.

        Raises:
            NotGrasped: There are none.
        """
        self.check_fingers()
        self.hand.held = ""
        self._world.set_fingers(self.hand, OPEN, FINGER_STEPS)

    def check_fingers(self) -> None:
        """Raise `NotGrasped` if the arm has no fingers."""
        if not self.hand.has_fingers:
            raise NotGrasped("the arm has a wiper and no fingers; it can wipe")

    def check_empty(self) -> None:
        """Raise `Collision` if the hand holds something."""
        if held := self.hand.held:
            raise Collision(f"the hand holds {held!r}; put it down first")

    def check_kept(self, thing: NamedThing) -> None:
        """Make sure that the hand still holds a thing; else it opens.

        Raises:
            NotGrasped: It does not.
        """
        if not self.hand.touches(self._scene.geoms(thing)):
            self.open()
            raise NotGrasped(f"{thing.name!r} slipped out of the hand")

    def pick(self, thing: NamedThing, *, lift: bool = True) -> None:
        """Grasp a thing from above.

        Raises:
            NotGrasped: The fingers closed without holding it.
            Collision: The hand holds something already.
            Unreachable: The hand does not get there.
        """
        self.check_fingers()
        self.check_empty()
        if thing.is_place:
            raise NotGrasped(f"{thing.name!r} is a place; it stays where it is")
        point, yaw = self._grasp(thing)
        self.open()
        self.travel(point, yaw)
        self.close()
        if lift:
            self.go(self.hand.position + LIFT_TO_LOOK_M * UP, SLOW_M)
        if not self.hand.touches(self._scene.geoms(thing)):
            self.open()
            self.rise()
            raise NotGrasped(f"the fingers closed without holding {thing.name!r}")
        self.hand.held = thing.name
        if lift:
            self.rise(CLEARANCE_M)

    def _grasp(self, thing: NamedThing) -> tuple[Array, float]:
        """Return where the fingertips go to grasp a thing from above, and the hand's yaw.

        Of the directions in which it fits between the fingers it is the one in which the hand
        meets least, then the one for which it turns least.

        Raises:
            NotGrasped: It is too wide.
        """
        hand, scene = self.hand, self._scene
        box, whole = scene.box(thing), scene.whole(thing)
        level = [axis for axis in range(3) if abs(box.rotation[2, axis]) < LEVEL]
        fitting = [axis for axis in level if 2 * box.half[axis] <= MAX_WIDTH_M]
        if not fitting:
            raise NotGrasped(f"{thing.name!r} is wider than {100 * MAX_WIDTH_M:.1f} cm")
        reach = float(np.abs(box.rotation[2]) @ box.half)
        low, high = box.center[2] - reach, box.center[2] + reach
        longest = box.rotation[:, max(level, key=lambda axis: box.half[axis])]
        inwards = (box.center - scene.origin(thing)) @ longest < -1e-6
        middle = box.center + (-thing.outer_m if inwards else thing.outer_m) * longest
        deepest = max(box.center[2], high - PALM_M, low + hand.tip_m + 0.003)
        ways: list[tuple[tuple[float, ...], Array, float]] = []
        for across in fitting:
            toward = math.atan2(box.rotation[1, across], box.rotation[0, across])
            yaw = hand.nearest_yaw(toward, middle)
            turn = abs(yaw - hand.straight_yaw(middle))
            wide = box.half[across] > 1.5 * min(box.half[fitting])
            for height in np.arange(deepest, max(deepest, high - LEAST_GRIP_M) + 1e-6, 0.005):
                point = np.array([*middle[:2], height])
                met = scene.in_the_way(hand.spots(point, yaw), whole)
                ways.append(((met, wide, turn, height), point, yaw))
        _, point, yaw = min(ways, key=lambda way: way[0])
        return point, yaw

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
        hand, scene = self.hand, self._scene
        if not hand.held:
            raise NotGrasped("the hand holds nothing; pick something up first")
        thing, geoms, release = scene.things[hand.held], self.held_geoms(), RELEASE_M
        onto = goal if isinstance(goal, NamedThing) else scene.peg_at(goal, BESIDE_PEG_M)
        xy = (scene.position(goal) if isinstance(goal, NamedThing) else goal)[:2]
        kind = onto.kind if onto else ""
        if kind == "bin":
            near = hand.base[:2] - xy
            away = float(np.linalg.norm(near))
            near *= max(0.0, away - EASY_REACH_M) / away
            xy = xy + np.clip(near, -IN_BIN_M, IN_BIN_M)
            if math.dist(xy, hand.base[:2]) > EASY_REACH_M:
                release = FAR_RELEASE_M
        if onto and kind == "peg":
            surface = scene.position(onto)[2] - ON_PEG_M
        elif onto and kind == "object":
            surface = scene.bounds(scene.whole(onto))[1][2]
        else:
            surface = float(scene.floor(xy[None], geoms)[0])
        turn = self._turn(thing, xy, aligned=kind == "peg")
        self.travel(self._above(thing, xy, surface + 0.05, turn), hand.yaw + turn)
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
        hand, scene, geoms = self.hand, self._scene, self.held_geoms()
        offset = rotation_of([0, 0, turn]) @ (hand.position - scene.position(thing))
        lowest = height + hand.position[2] - scene.bounds(geoms)[0][2]
        point = np.array([*(xy + offset[:2]), lowest])
        yaw = hand.yaw + turn
        while scene.in_the_way(hand.spots(point, yaw), geoms) and point[2] < lowest + DROP_M:
            point[2] += 0.005
        return point

    def _turn(self, thing: NamedThing, xy: Array, *, aligned: bool) -> float:
        """Return by how much what the hand holds is turned on its way to a point, radians.

        It is the least turn with which the arm stays well within reach and the wrist within its
        ends; `aligned`, the thing's sides are in line with x and y then.
        """
        hand, scene = self.hand, self._scene
        step, begun = (math.pi / 2, -scene.yaw(thing)) if aligned else (math.pi, 0.0)
        held = hand.position - scene.position(thing)

        def cost(turn: float) -> float:
            end = xy + (rotation_of([0, 0, turn]) @ held)[:2]
            far = max(0.0, math.dist(end, hand.base[:2]) - EASY_REACH_M)
            return abs(turn) + 100 * (far + hand.beyond_wrist(hand.yaw + turn, end))

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
        self.check_fingers()
        self.check_empty()
        hand, scene = self.hand, self._scene
        outwards = scene.outwards(handle)
        point, _ = self._grasp(handle)
        point[2] = scene.box(handle).center[2]
        front = point + HANDLE_FREE_M * outwards
        above = UP - (UP @ outwards) * outwards
        ways = [np.column_stack([up, np.cross(-outwards, up), -outwards]) for up in (above, -above)]
        ways.sort(key=lambda way: float(np.linalg.norm(way - hand.rotation)))
        self.open()
        self.go(front, rotation=ways[0])
        if not hand.can_turn(turn):  # so the other finger is above
            back = rotation_of(-math.pi / 2 * turn / np.linalg.norm(turn))
            self.go(front, rotation=back @ ways[0])
            self.go(front, rotation=ways[1])
        self.go(point, SLOW_M)
        self.close()
        if not hand.touches(scene.geoms(handle)):
            self.open()
            self.go(front, SLOW_M)
            raise NotGrasped(f"the fingers closed without holding {handle.name!r}")
        hand.held = handle.name
