"""The robosuite robot: everything programs may call."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import replace
from functools import partial
from typing import Any

import numpy as np

from cap.errors import Collision, LimitExceeded, NotFound, NotGrasped, Unreachable
from robots.arm.rotations import rotation_of
from robots.base import action, perception
from robots.robosuite.arms import SLOW_M, UP, ArmWorld, RobosuiteArm
from robots.robosuite.environments import Environment, NamedThing
from robots.robosuite.hand import downward
from robots.robosuite.picture import picture
from robots.robosuite.world import ArmWorldState, Array, azimuth
from robots.simulation.simulated_robot import SimulatedRobot
from robots.table.numbers import finite_numbers, real_numbers
from robots.table.object_names import find

Point = Sequence[float] | Array
MAX_WAY_M = 2.0
"""The furthest a point may be from the arm's base."""
PULL_STEP_M, TURN_STEP_RAD = 0.03, 0.1
"""A handle is led in steps of so much."""
LEVEL_STEP_M = 0.03
"""Two hands lift in steps of so much, so that they stay level."""
END_M = 0.02
"""What is handed over is held so far from its ends."""
MEET_M = 0.2
"""It is handed over so far above everything around."""
TAKE_FREE_M = 0.12
"""The hand that takes it comes from so far away."""
LEAN_RAD = 0.5
"""It leans back towards its own arm by so much, or the two wrists would meet over a short thing."""
LEAN_REACH_M = 0.05
"""A hand that leans reaches further, so they meet so much nearer to the giving arm."""
PRESS_M = 0.008
"""A wiper's goal is so far below the table: nearer, it would count as there before it presses."""


class RobosuiteRobot(SimulatedRobot[ArmWorldState]):
    """An arm of robosuite's, or two, in one of its environments.

    Positions are xyz in metres in its world frame: z grows upwards, the table's top is at 0.8 to
    0.9; x grows away from a single arm's base, y to its left. Two arms have the numbers 0 and 1
    and face each other: arm 0 stands at negative y.
    """

    name = "robosuite"
    _stopped = "stopped: the motion was interrupted and the arms stand still; look and go on"
    _world: ArmWorld

    def __init__(self, environment: Environment, arm: str, seed: int) -> None:
        """Build the environment of a seed, with robosuite's arm of a name."""
        super().__init__(seed, "physics", partial(ArmWorld, environment=environment, arm=arm))

    def _first_state(self, seed: int) -> ArmWorldState:
        return ArmWorldState(seed)

    # What the engine needs of a robot, beyond what all simulated ones have.

    @property
    def env(self) -> Any:
        """Robosuite's environment, for judges."""
        return self._world.env

    def context(self) -> Mapping[str, Any]:
        """Return the names of the objects and places."""
        return {"objects": self.get_obj_names()}

    def positions(self) -> Mapping[str, tuple[float, ...]]:
        """Return where each thing is that can move: xyz in metres."""
        return {
            name: tuple(self._world.position(thing).tolist())
            for name, thing in self._world.things.items()
            if not thing.is_place
        }

    def condition(self) -> Mapping[str, Any]:
        """Return where the hands are, what they hold, and how many marks are not wiped off."""
        arms = self._world.arms
        found: dict[str, Any] = {
            name: arm.position.tolist()
            for name, arm in zip(("gripper", "second gripper"), arms, strict=False)
        }
        found["held"] = ", ".join(arm.held for arm in arms if arm.held) or "nothing"
        if self._world.environment.name == "Wipe":
            found["spill"] = f"{len(self._world.marks())} marks"
        return found

    def render(self, width: int = 480, height: int = 480) -> Any:
        """Return what the front camera sees as a PIL image."""
        return picture(self._world, width, height)

    def _thing(self, name: str) -> NamedThing:
        things = self._world.things
        return things[find(name, things, "object or place")]

    # Perception.

    @perception
    def get_obj_names(self) -> list[str]:
        """Return the names of the objects, parts and places, such as ['red cube', 'green cube']."""
        return list(self._world.things)

    @perception
    def is_obj_visible(self, name: str) -> bool:
        """Return whether there is an object of that name; never fails for a name."""
        try:
            return bool(self._thing(name))
        except NotFound:
            return False

    @perception
    def get_obj_pos(self, name: str) -> Array:
        """Return the middle of an object, a peg's top, or a point over the middle of a bin's floor.

        Args:
            name: Its name.

        Returns:
            Array of shape (3,): x, y, z in metres.

        Raises:
            NotFound: Nothing has that name.
        """
        return self._world.position(self._thing(name))

    @perception
    def get_obj_yaw(self, name: str) -> float:
        """Return how an object is turned about z: the direction of its own x axis, radians.

        Args:
            name: Its name.

        Raises:
            NotFound: Nothing has that name.
        """
        return self._world.yaw(self._thing(name))

    @perception
    def get_bbox(self, name: str) -> Array:
        """Return the upright box around an object.

        Args:
            name: Its name.

        Returns:
            Array of shape (2, 3): least and greatest x, y, z in metres.

        Raises:
            NotFound: Nothing has that name, or it is only a place.
        """
        geoms = self._world.whole(self._thing(name))
        if not geoms:
            raise NotFound(f"{name!r} is a place, which fills no room; see get_obj_pos")
        return np.stack(self._world.bounds(geoms))

    @perception
    def get_spill_points(self) -> Array:
        """Return where the table is still dirty: shape (n, 3), metres; n is 0 where it is clean."""
        return self._world.marks()

    @perception
    def get_robot_pos(self, arm: int = 0) -> Array:
        """Return where a hand's fingertips are: x, y, z in metres, shape (3,).

        Args:
            arm: 0, or 1 for the second arm.
        """
        return self._arm(arm).position

    @perception
    def obj_in_gripper(self, name: str) -> bool:
        """Return whether an object is in a hand, whichever arm's.

        Args:
            name: Its name.

        Raises:
            NotFound: Nothing has that name.
        """
        geoms = self._world.whole(self._thing(name))
        return any(arm.touches(geoms) for arm in self._world.arms)

    # Handling objects.

    @action
    def pick_obj(self, name: str, arm: int = 0) -> None:
        """Grasp an object from above and lift it 8 cm.

        Args:
            name: Its name.
            arm: Which arm: 0, or 1 for the second.

        Raises:
            NotFound: Nothing has that name.
            NotGrasped: The fingers closed without holding it, or it is too wide for them.
            Collision: The hand holds something already.
            Unreachable: The hand does not get there.
        """
        self._arm(arm).pick(self._thing(name))

    @action
    def place_at_pos(self, pos: Point, arm: int = 0) -> Array:
        """Put down what a hand holds, upon whatever is there, or over the peg that is there.

        Args:
            pos: x and y in metres, for the object's middle; z may be given, and is not used.
            arm: Which arm: 0 or 1.

        Returns:
            Where its middle came to rest: x, y, z in metres.

        Raises:
            NotGrasped: The hand holds nothing.
            Unreachable: The hand does not get there.
            Collision: It did not stay there.
        """
        return self._arm(arm).put(_numbers(pos, "pos", least=2))

    @action
    def put_first_on_second(self, first: str, second: str | Point, arm: int = 0) -> Array:
        """Pick up an object and put it on another one, over a peg, in a bin, or at a point.

        Args:
            first: The object's name; it may be in the hand already.
            second: A name, or x and y in metres; z may be given, and is not used.
            arm: Which arm: 0 or 1.

        Returns:
            Where its middle came to rest: x, y, z in metres.

        Raises:
            NotFound: Nothing has that name.
            NotGrasped: The fingers closed without holding it.
            Unreachable: The hand does not get there.
            Collision: It was put on itself, or did not stay there.
        """
        carrier, thing = self._arm(arm), self._thing(first)
        goal = (
            self._thing(second) if isinstance(second, str) else _numbers(second, "second", least=2)
        )
        if goal is thing:
            raise Collision(f"{thing.name!r} cannot be put on itself")
        if carrier.held != thing.name:
            carrier.pick(thing)
        return carrier.put(goal)

    @action
    def push(self, start: Point, end: Point, arm: int = 0) -> Array:
        """Lower the closed hand at a point, move it straight to another, and lift it.

        Args:
            start: x, y, z of the fingertips in metres, beside what is to be pushed.
            end: The same.
            arm: Which arm: 0 or 1.

        Returns:
            Where the fingertips were in the end: x, y, z in metres.

        Raises:
            Unreachable: The hand does not get there.
            Collision: The hand holds something.
        """
        pusher = self._arm(arm)
        begin = self._point(start, "start", pusher)
        stop = self._point(end, "end", pusher)
        pusher.check_empty()
        pusher.close()
        pusher.travel(begin, pusher.straight_yaw(begin))
        pusher.go(stop, SLOW_M)
        reached = pusher.position
        pusher.rise()
        return reached

    @action
    def wipe(self, points: Sequence[Point] | Array) -> None:
        """Wipe along points in their order, pressing lightly.

        Args:
            points: x, y, z in metres on the table's top, shape (n, 3).

        Raises:
            Unreachable: The hand does not get there.
        """
        wiper = self._arm()
        way = [self._point(point, "points", wiper) for point in points]
        if not way:
            return
        wiper.travel(way[0] + 0.02 * UP, wiper.straight_yaw(way[0]))
        for point in way:
            wiper.go(point - PRESS_M * UP, touching=True)
        wiper.rise()

    @action
    def turn_handle(self, name: str, angle: float = 1.4) -> None:
        """Grasp a handle from the front and turn it down; the hand keeps hold of it.

        Args:
            name: The handle's name.
            angle: How far, radians, 0.1 to 1.5.

        Raises:
            NotFound: Nothing has that name, or it does not turn.
            LimitExceeded: The angle is not within its limits.
            NotGrasped: The fingers closed without holding it, or it slipped out of them.
            Collision: The hand holds something else.
            Unreachable: The hand does not get there.
        """
        handle, turn = self._thing(name), _within(angle, "angle", 0.1, 1.5, "radians")
        if handle.kind != "handle":
            raise NotFound(f"{handle.name!r} is no handle that turns")
        arm, scene = self._arm(), self._world
        axis, pivot = scene.axis(handle), scene.origin(handle)
        if arm.held != handle.name:
            arm.take_handle(handle, turn * axis)
        lever, begun = arm.position - pivot, arm.turned
        for step in np.linspace(0, turn, 1 + math.ceil(turn / TURN_STEP_RAD))[1:]:
            turned = rotation_of(step * axis)
            arm.turned = turned @ begun
            arm.go(pivot + turned @ lever, SLOW_M, touching=True)
        arm.check_kept(handle)

    @action
    def pull(self, distance: float) -> Array:
        """Pull the handle that the hand holds out from what it is fixed to.

        Args:
            distance: How far, metres, 0.01 to 0.5.

        Returns:
            Where the fingertips are then: x, y, z in metres.

        Raises:
            NotGrasped: The hand holds no handle, as after turn_handle, or it slipped out of it.
            LimitExceeded: The distance is not within its limits.
            Unreachable: The handle came less than half as far.
        """
        far = _within(distance, "distance", 0.01, 0.5, "metres")
        arm, scene = self._arm(), self._world
        handle = scene.things.get(arm.held)
        if handle is None or handle.kind != "handle":
            raise NotGrasped("the hand holds no handle; grasp one first, as turn_handle does")
        begun = scene.position(handle)
        for _ in range(math.ceil(far / PULL_STEP_M)):
            end = arm.position - 1.5 * PULL_STEP_M * scene.axis(handle)
            arm.turned = arm.rotation
            arm.go(end, SLOW_M, touching=True)
        arm.check_kept(handle)
        if (came := math.dist(begun, scene.position(handle))) < far / 2:
            raise Unreachable(f"{handle.name!r} came {100 * came:.1f} cm and no further")
        return arm.position

    @action
    def lift_with_both_arms(self, name: str, height: float = 0.15) -> None:
        """Grasp an object by its two handles, one hand each, and lift it level.

        Args:
            name: Its name.
            height: How far, metres, 0.01 to 0.4.

        Raises:
            NotFound: Nothing has that name, it has no two handles, or there is one arm.
            LimitExceeded: The height is not within its limits.
            NotGrasped: A hand closed without holding its handle, or lost it.
            Unreachable: A hand does not get there.
        """
        thing, far = self._thing(name), _within(height, "height", 0.01, 0.4, "metres")
        scene, arms = self._world, self._world.arms
        part = ("part", thing.body)
        handles = [each for each in scene.things.values() if (each.kind, each.body) == part]
        if len(handles) != 2:
            raise NotFound(f"there are no two handles on {thing.name!r} for two hands")
        handles.sort(key=lambda handle: scene.position(handle)[1])  # as the arms stand
        for number, handle in enumerate(handles):
            self._arm(number).pick(handle, lift=False)
        begun = [arm.position for arm in arms]
        for risen in np.linspace(0, far, 1 + math.ceil(far / LEVEL_STEP_M))[1:]:
            for arm, place in zip(arms, begun, strict=True):
                arm.aim = place + risen * UP
            scene.move(arms, SLOW_M, touching=risen < far)
        for arm, handle in zip(arms, handles, strict=True):
            arm.check_kept(handle)

    @action
    def hand_over(self, name: str, from_arm: int = 0) -> None:
        """Give something long from one hand to the other, between the arms.

        Args:
            name: Its name; it is picked up first if need be.
            from_arm: The arm that gives: 0 or 1; the other one takes.

        Raises:
            NotFound: Nothing has that name, or there is no such arm, or one only.
            NotGrasped: A hand closed without holding it, or lost it.
            Collision: A hand holds something else.
            Unreachable: A hand does not get there.
        """
        thing, giver, taker = self._thing(name), self._arm(from_arm), self._arm(1 - from_arm)
        taker.check_empty()
        scene = self._world
        end = float(scene.box(thing).half.max()) - END_M
        if giver.held != thing.name:
            giver.pick(replace(thing, outer_m=end))
        apart = (taker.base - giver.base)[:2]
        way = apart / np.linalg.norm(apart)

        def free_end() -> Array:
            box = scene.box(thing)
            axis = box.rotation[:, int(box.half.argmax())]
            side = np.sign(axis @ (giver.position - box.center))
            return box.center - side * end * axis

        free = free_end() - giver.position
        middle = (giver.base + taker.base)[:2] / 2
        middle -= way * (np.linalg.norm(free[:2]) / 2 + LEAN_REACH_M)
        turn = giver.least_turn(azimuth(way) - azimuth(free), 2 * math.pi, lambda _: middle)
        height = scene.top(giver.held_geoms()) + MEET_M
        giver.travel(np.array([*middle, height]), giver.yaw + turn)
        taker.open()
        point = free_end()
        yaw = taker.nearest_yaw(azimuth(point - giver.position) + math.pi / 2, point)
        taker.turned = rotation_of(LEAN_RAD * np.cross(UP, [*way, 0.0])) @ downward(yaw)
        front = point - TAKE_FREE_M * taker.turned[:, 2]
        taker.go(front)
        taker.take(thing, point, front)
        giver.open()
        giver.go(giver.position + 0.1 * UP, SLOW_M)
        giver.go(giver.position - 0.15 * np.array([*way, 0.0]))
        taker.check_kept(thing)

    # Moving a hand.

    @action
    def goto_pos(self, pos: Point, yaw: float | None = None, arm: int = 0) -> Array:
        """Move a hand straight to a point, pointing down.

        Args:
            pos: x, y, z of the fingertips in metres.
            yaw: In which direction the fingers close, radians from x; as it is if None.
            arm: Which arm: 0 or 1.

        Returns:
            Where the fingertips are then: x, y, z in metres.

        Raises:
            Unreachable: The hand does not get there.
        """
        mover = self._arm(arm)
        point = self._point(pos, "pos", mover)
        turned = mover.yaw if yaw is None else _within(yaw, "yaw", -100, 100, "radians")
        mover.turned = downward(mover.nearest_yaw(turned, point))
        mover.go(point)
        return mover.position

    @action
    def move_by(self, offset: Point, arm: int = 0) -> Array:
        """Move a hand straight by an offset, turned as it is.

        Args:
            offset: x, y, z in metres.
            arm: Which arm: 0 or 1.

        Returns:
            Where the fingertips are then: x, y, z in metres.

        Raises:
            Unreachable: The hand does not get there.
        """
        mover = self._arm(arm)
        mover.go(self._point(mover.position + _numbers(offset, "offset"), "the end", mover))
        return mover.position

    @action
    def open_gripper(self, arm: int = 0) -> None:
        """Open a hand; what it holds drops.

        Args:
            arm: Which arm: 0 or 1.
        """
        self._arm(arm).open()

    @action
    def close_gripper(self, arm: int = 0) -> None:
        """Close a hand on whatever is between its fingers.

        Args:
            arm: Which arm: 0 or 1.
        """
        closing = self._arm(arm)
        closing.close()
        for thing in self._world.things.values():
            if not thing.is_place and closing.touches(self._world.grip_geoms(thing)):
                closing.held = thing.name
                break

    @action
    def say(self, text: str) -> None:
        """Tell the person something.

        Args:
            text: What to say.
        """
        self.spoken.append(str(text))

    # What the primitives share.

    def _arm(self, number: int = 0) -> RobosuiteArm:
        """Return an arm, free to move: a stop of what it did before is over.

        Raises:
            NotFound: There is no such arm.
        """
        arms = self._world.arms
        if number not in range(len(arms)):
            raise NotFound(f"no arm {number!r}; there are {len(arms)}")
        self._stop.clear()
        return arms[number]

    def _point(self, value: Any, what: str, arm: RobosuiteArm) -> Array:
        """Return a point that may be in an arm's reach.

        Raises:
            Unreachable: It is not.
        """
        point = _numbers(value, what)
        away = float(np.linalg.norm(point - arm.base))
        if away > MAX_WAY_M:
            raise Unreachable(f"{what} is {away:.1f} m from the arm's base, beyond its reach")
        return point


def _numbers(value: Any, what: str, least: int = 3) -> Array:
    """Return x, y, z; where `least` is 2, x and y will do.

    Raises:
        TypeError: It is something else.
    """
    return finite_numbers(
        value, what, f"x, y{', z' * (least > 2)} in metres, finite", (3,), (least,)
    )


def _within(value: Any, what: str, least: float, most: float, unit: str) -> float:
    """Return a number between two limits.

    Raises:
        TypeError: It is no number.
        LimitExceeded: It is not between them.
    """
    number = float(real_numbers(value, what, f"a number of {unit}"))
    if not least <= number <= most:
        raise LimitExceeded(f"{what} is {number:g}; use {least:g} to {most:g} {unit}")
    return number
