"""The robosuite robot: everything programs may call."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from cap.errors import Collision, LimitExceeded, NotFound, NotGrasped, Unreachable
from robots.arm.rotations import rotation_of
from robots.base import action, perception
from robots.robosuite.environments import Environment, NamedThing
from robots.robosuite.hand import CLOSED, OPEN, ArmHand, Goal, downward
from robots.robosuite.motion import FAST_M, SLOW_M, ArmWorld
from robots.robosuite.scene import Surroundings
from robots.robosuite.world import ArmWorldState, Array
from robots.simulation.simulated_robot import SimulatedRobot
from robots.simulation.world import WorldOwner
from robots.table.numbers import real_numbers
from robots.table.object_names import find

Place = str | Sequence[float] | Array
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
MAX_WAY_M = 2.0
"""The furthest a point may be from the arm's base."""
BESIDE_M, BESIDE_PEG_M = 0.05, 0.03
"""What was put down, or over a peg, may lie so far from where it was to be."""
ON_TOP_M = 0.01
"""Its underside may be so far from the top of what it was put on."""
LIFT_TO_LOOK_M = 0.02
"""A thing is lifted so far to see whether it comes along."""
PULL_STEP_M, TURN_STEP_RAD = 0.03, 0.1
"""A handle is led in steps of so much."""
END_M = 0.02
"""What is handed over is held so far from its ends."""
PRESS_M = 0.008
"""A wiper's goal is so far below the table: nearer, it would count as there before it presses."""
MEET_M = 0.3
"""It is handed over so far above everything around."""
ROUNDS_RAD = (0.0, 2 * math.pi, -2 * math.pi)
HINGE = 3
"""MuJoCo's type of a joint that turns."""
_FINGER_STEPS, _GRIP_STEPS = 8, 14


class RobosuiteRobot(SimulatedRobot[ArmWorldState]):
    """An arm of robosuite's, or two, in one of its environments.

    Positions are xyz in metres in its world frame: z grows upwards, the table's top is at about
    0.8; x grows away from a single arm's base, y to its left. Two arms have the numbers 0 and 1
    and face each other: arm 0 stands at negative y.
    """

    name = "robosuite"
    _stopped = "stopped: the motion was interrupted and the arms stand still; look and go on"
    _world: ArmWorld

    def __init__(
        self,
        environment: Environment,
        seed: int,
        make_world: Callable[[WorldOwner, ArmWorldState], ArmWorld],
    ) -> None:
        """Build the environment of a seed."""
        self.environment = environment
        super().__init__(seed, "physics", make_world)

    def _first_state(self, seed: int) -> ArmWorldState:
        return ArmWorldState(seed)

    # What the engine needs of a robot, beyond what all simulated ones have.

    @property
    def env(self) -> Any:
        """Robosuite's environment, for judges."""
        return self._world.simulation.env

    @property
    def sim_time_s(self) -> float:
        """Simulated seconds since the reset."""
        return self._world.simulation.time_s

    def context(self) -> Mapping[str, Any]:
        """Return the names of the objects and places."""
        return {"objects": self.get_obj_names()}

    def positions(self) -> Mapping[str, tuple[float, float, float]]:
        """Return where each thing is that can move: xyz in metres."""
        scene, found = self._scene, {}
        for name, thing in scene.things.items():
            if thing.kind in ("object", "part"):
                x, y, z = scene.position(thing).tolist()
                found[name] = (x, y, z)
        return found

    def condition(self) -> Mapping[str, Any]:
        """Return where the hands are, what they hold, and how many marks are not wiped off."""
        hands = [hand.position.tolist() for hand in self._world.hands]
        held = [goal.held for goal in self._world.goals if goal.held]
        found: dict[str, Any] = {"gripper": hands[0], "held": ", ".join(held) or "nothing"}
        if len(hands) > 1:
            found["second gripper"] = hands[1]
        if self.environment.name == "Wipe":
            found["spill"] = f"{len(self._world.simulation.marks())} marks"
        return found

    def render(self, width: int = 480, height: int = 480) -> Any:
        """Return what the front camera sees as a PIL image."""
        return self._world.picture(width, height)

    @property
    def _scene(self) -> Surroundings:
        return Surroundings(self._world.simulation)

    def _thing(self, name: str) -> NamedThing:
        things = self._scene.things
        return things[find(name, things, "object or place")]

    # Perception.

    @perception
    def get_obj_names(self) -> list[str]:
        """Return the names of the objects, parts and places, such as ['red cube', 'green cube']."""
        return list(self._scene.things)

    @perception
    def is_obj_visible(self, name: str) -> bool:
        """Return whether there is an object of that name; never fails for a name."""
        try:
            return bool(self._thing(name))
        except NotFound:
            return False

    @perception
    def get_obj_pos(self, name: str) -> Array:
        """Return the middle of an object, a peg's top, or the middle of a bin's floor.

        Args:
            name: Its name.

        Returns:
            Array of shape (3,): x, y, z in metres.

        Raises:
            NotFound: Nothing has that name.
        """
        return self._scene.position(self._thing(name))

    @perception
    def get_obj_yaw(self, name: str) -> float:
        """Return how an object is turned about z: the direction of its own x axis, radians.

        Args:
            name: Its name.

        Raises:
            NotFound: Nothing has that name.
        """
        x, y, _ = self._scene.rotation(self._thing(name))[:, 0]
        return math.atan2(y, x)

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
        geoms = self._scene.whole(self._thing(name))
        if not geoms:
            raise NotFound(f"{name!r} is a place, which fills no room; see get_obj_pos")
        return np.stack(self._scene.bounds(geoms))

    @perception
    def get_spill_points(self) -> Array:
        """Return where the table is still dirty: shape (n, 3), metres; n is 0 where it is clean."""
        return self._world.simulation.marks()

    @perception
    def get_robot_pos(self, arm: int = 0) -> Array:
        """Return where a hand's fingertips are: x, y, z in metres, shape (3,).

        Args:
            arm: 0, or 1 for the second arm.
        """
        return self._hand(arm).position

    @perception
    def obj_in_gripper(self, name: str) -> bool:
        """Return whether a hand holds an object.

        Args:
            name: Its name.

        Raises:
            NotFound: Nothing has that name.
        """
        thing = self._thing(name)
        geoms = self._scene.whole(thing)
        return any(hand.has_fingers and hand.touches(geoms) for hand in self._world.hands)

    # Handling objects.

    @action
    def pick_obj(self, name: str, arm: int = 0) -> None:
        """Grasp an object from above and lift it.

        Args:
            name: Its name.
            arm: Which arm: 0, or 1 for the second.

        Raises:
            NotFound: Nothing has that name.
            NotGrasped: The fingers closed without holding it, or it is too wide for them.
            Collision: The hand holds something already.
            Unreachable: The hand does not get there.
        """
        with_arm, thing = self._number(arm), self._thing(name)
        self._begin()
        self._pick(with_arm, thing)

    @action
    def place_at_pos(self, pos: Sequence[float] | Array, arm: int = 0) -> Array:
        """Put down what a hand holds, upon whatever is there, or over the peg that is there.

        Args:
            pos: x and y in metres, for the object's middle.
            arm: Which arm: 0 or 1.

        Returns:
            Where its middle came to rest: x, y, z in metres.

        Raises:
            NotGrasped: The hand holds nothing.
            Unreachable: The hand does not get there.
            Collision: It did not stay there.
        """
        number, xy = self._number(arm), _numbers(pos, "pos", (2, 3))[:2]
        self._begin()
        return self._put(number, xy, self._peg_at(xy))

    @action
    def put_first_on_second(self, first: str, second: Place, arm: int = 0) -> Array:
        """Pick up an object and put it on another one, over a peg, in a bin, or at a point.

        Args:
            first: The object's name; it may be in the hand already.
            second: A name, or x and y in metres.
            arm: Which arm: 0 or 1.

        Returns:
            Where its middle came to rest: x, y, z in metres.

        Raises:
            NotFound: Nothing has that name.
            NotGrasped: The fingers closed without holding it.
            Unreachable: The hand does not get there.
            Collision: It was put on itself, or did not stay there.
        """
        number, thing = self._number(arm), self._thing(first)
        onto = self._thing(second) if isinstance(second, str) else None
        if onto is thing:
            raise Collision(f"{thing.name!r} cannot be put on itself")
        self._begin()
        if self._world.goals[number].held != thing.name:
            self._pick(number, thing)
        if onto is None:
            xy = _numbers(second, "second", (2, 3))[:2]
            return self._put(number, xy, self._peg_at(xy))
        xy = self._scene.position(onto)[:2]
        if onto.kind == "bin":
            near = self._hand(number).base[:2] - xy
            away = float(np.linalg.norm(near))
            near *= max(0.0, away - EASY_REACH_M) / away
            xy = xy + np.clip(near, -IN_BIN_M, IN_BIN_M)
        return self._put(number, xy, onto)

    @action
    def push(
        self, start: Sequence[float] | Array, end: Sequence[float] | Array, arm: int = 0
    ) -> Array:
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
        number = self._number(arm)
        ends = [self._point(each, what, number) for each, what in ((start, "start"), (end, "end"))]
        self._begin()
        self._check_empty(number)
        self._world.set_fingers((number,), CLOSED, _FINGER_STEPS)
        self._travel(number, ends[0], self._hand(number).straight_yaw(ends[0]))
        self._go(number, ends[1], SLOW_M)
        reached = self._hand(number).position
        self._rise(number)
        return reached

    @action
    def wipe(self, points: Sequence[Sequence[float]] | Array) -> None:
        """Wipe along points in their order, pressing lightly.

        Args:
            points: x, y, z in metres on the table's top, shape (n, 3).

        Raises:
            Unreachable: The hand does not get there.
        """
        path = real_numbers(points, "points", "an array of points x, y, z")
        if path.ndim != 2 or path.shape[1] != 3 or not np.isfinite(path).all():
            raise TypeError(f"points must be x, y, z in metres, shape (n, 3); got {path.shape}")
        way = [self._point(point, "points", 0) for point in path]
        self._begin()
        hand = self._hand(0)
        if not way:
            return
        self._travel(0, way[0] + 0.02 * UP, hand.straight_yaw(way[0]))
        for point in way:
            self._go(0, point - PRESS_M * UP, FAST_M, touching=True)
        self._rise(0)

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
        thing, turn = self._thing(name), _within(angle, "angle", 0.1, 1.5, "radians")
        outwards, scene = self._outwards(thing), self._scene
        pivot = scene.position(replace(thing, geoms=()))
        lever = scene.position(thing) - pivot
        downwards = outwards if np.cross(outwards, lever)[2] < 0 else -outwards
        self._begin()
        if self._world.goals[0].held != thing.name:
            self._grasp_from_front(thing, outwards, turn * downwards)
        lever, begun = self._hand(0).position - pivot, self._world.goals[0].matrix
        for step in np.linspace(0, turn, 1 + math.ceil(turn / TURN_STEP_RAD))[1:]:
            turned = rotation_of(step * downwards)
            self._go(0, pivot + turned @ lever, SLOW_M, rotation=turned @ begun, touching=True)
        self._check_kept(0, thing)

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
        far, held = _within(distance, "distance", 0.01, 0.5, "metres"), self._world.goals[0].held
        if not held or self._thing(held).kind != "part":
            raise NotGrasped("the hand holds no handle; grasp one first, as turn_handle does")
        self._begin()
        thing, hand = self._thing(held), self._hand(0)
        begun = self._scene.position(thing)
        for _ in range(math.ceil(far / PULL_STEP_M)):
            end = hand.position + 1.5 * PULL_STEP_M * self._outwards(thing)
            self._go(0, end, SLOW_M, rotation=hand.rotation, touching=True)
        self._check_kept(0, thing)
        if (came := math.dist(begun, self._scene.position(thing))) < far / 2:
            raise Unreachable(f"{thing.name!r} came {100 * came:.1f} cm and no further")
        return hand.position

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
        scene = self._scene
        handles = [
            each
            for each in scene.things.values()
            if each.kind == "part" and each.body == thing.body
        ]
        if len(handles) != 2 or len(self._world.hands) != 2:
            raise NotFound(f"there are no two handles on {thing.name!r} for two hands")
        self._begin()
        bases = [hand.base for hand in self._world.hands]
        ways = [
            [float(np.linalg.norm(base - scene.position(each))) for each in handles]
            for base in bases
        ]
        if ways[0][0] + ways[1][1] > ways[0][1] + ways[1][0]:
            handles.reverse()
        for number, handle in enumerate(handles):
            self._pick(number, handle, lift=False)
        self._together({0: [0.0, 0.0, far], 1: [0.0, 0.0, far]})
        for number, handle in enumerate(handles):
            self._check_kept(number, handle)

    @action
    def hand_over(self, name: str, from_arm: int = 0, to_arm: int = 1) -> None:
        """Give something long from one hand to the other, between the arms.

        Args:
            name: Its name; it is picked up first if need be.
            from_arm: The arm that gives: 0 or 1.
            to_arm: The arm that takes: the other one.

        Raises:
            NotFound: Nothing has that name, or there is no such other arm.
            NotGrasped: A hand closed without holding it, or lost it.
            Collision: A hand holds something else.
            Unreachable: A hand does not get there.
        """
        thing, giver, taker = self._thing(name), self._number(from_arm), self._number(to_arm)
        if giver == taker:
            raise NotFound(f"arm {giver} cannot hand over to itself; say from_arm and to_arm")
        self._begin()
        self._check_empty(taker)
        box = self._scene.box(thing)
        end = float(box.half.max()) - END_M
        if self._world.goals[giver].held != thing.name:
            self._pick(giver, replace(thing, outer_m=end))
        hand, other = self._hand(giver), self._hand(taker)
        way = (other.base - hand.base)[:2] / math.dist(other.base[:2], hand.base[:2])
        box = self._scene.box(thing)
        free = box.center - end * box.rotation[:, int(box.half.argmax())] - hand.position
        turn = math.atan2(way[1], way[0]) - math.atan2(free[1], free[0])
        middle = (hand.base + other.base)[:2] / 2 - way * np.linalg.norm(free[:2]) / 2
        yaws = [hand.yaw + math.remainder(turn, 2 * math.pi) + round_ for round_ in ROUNDS_RAD]
        yaw = min(yaws, key=lambda yaw: (hand.beyond_wrist(yaw, middle), abs(yaw - hand.yaw)))
        self._travel(
            giver, np.array([*middle, self._scene.top(self._held_geoms(giver)) + MEET_M]), yaw
        )
        self._pick(taker, replace(thing, outer_m=-end), lift=False)
        self._open(giver)
        self._go(giver, hand.position + 0.1 * UP, SLOW_M)
        self._go(giver, hand.position - 0.15 * np.array([*way, 0.0]), FAST_M)
        self._check_kept(taker, thing)

    # Moving a hand.

    @action
    def goto_pos(
        self, pos: Sequence[float] | Array, yaw: float | None = None, arm: int = 0
    ) -> Array:
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
        number = self._number(arm)
        point, hand = self._point(pos, "pos", number), self._hand(number)
        turned = hand.yaw if yaw is None else float(_numbers([yaw], "yaw", (1,))[0])
        self._begin()
        self._go(number, point, FAST_M, yaw=hand.nearest_yaw(turned, point))
        return hand.position

    @action
    def move_by(self, offset: Sequence[float] | Array, arm: int = 0) -> Array:
        """Move a hand straight by an offset, turned as it is.

        Args:
            offset: x, y, z in metres.
            arm: Which arm: 0 or 1.

        Returns:
            Where the fingertips are then: x, y, z in metres.

        Raises:
            Unreachable: The hand does not get there.
        """
        number = self._number(arm)
        hand = self._hand(number)
        end = hand.position + _numbers(offset, "offset", (3,))
        point = self._point(end, "the end", number)
        self._begin()
        self._go(number, point, FAST_M)
        return hand.position

    @action
    def open_gripper(self, arm: int = 0) -> None:
        """Open a hand; what it holds drops.

        Args:
            arm: Which arm: 0 or 1.
        """
        number = self._number(arm)
        self._begin()
        self._open(number)

    @action
    def close_gripper(self, arm: int = 0) -> None:
        """Close a hand on whatever is between its fingers.

        Args:
            arm: Which arm: 0 or 1.
        """
        number = self._number(arm)
        self._begin()
        self._check_fingers(number)
        self._world.set_fingers((number,), CLOSED, _GRIP_STEPS)
        scene, hand = self._scene, self._hand(number)
        for thing in scene.things.values():
            if thing.kind in ("object", "part") and hand.touches(scene.geoms(thing)):
                self._world.hold(number, thing.name)
                break

    @action
    def say(self, text: str) -> None:
        """Tell the person something.

        Args:
            text: What to say.
        """
        self.spoken.append(str(text))

    # What the primitives share.

    def _begin(self) -> None:
        """Begin an action: what a stop of the one before left behind is over."""
        self._stop.clear()

    def _number(self, arm: int) -> int:
        count = len(self._world.hands)
        if isinstance(arm, bool) or not isinstance(arm, int | np.integer):
            raise TypeError(f"arm must be a number; got a {type(arm).__name__}")
        if not 0 <= arm < count:
            known = "there is one arm, 0" if count == 1 else "there are 0 and 1"
            raise NotFound(f"no arm {arm}: {known}")
        return int(arm)

    def _hand(self, arm: int) -> ArmHand:
        return self._world.hands[self._number(arm)]

    def _point(self, value: Any, what: str, number: int) -> Array:
        """Return a point that may be in reach.

        Raises:
            Unreachable: It is not.
        """
        point = _numbers(value, what, (3,))
        away = float(np.linalg.norm(point - self._world.hands[number].base))
        if away > MAX_WAY_M:
            raise Unreachable(f"{what} is {away:.1f} m from the arm's base, beyond its reach")
        return point

    def _check_fingers(self, number: int) -> None:
        if not self._hand(number).has_fingers:
            raise NotGrasped("the arm has a wiper and no fingers; it can wipe")

    def _check_empty(self, number: int) -> None:
        if held := self._world.goals[number].held:
            raise Collision(f"the hand holds {held!r}; put it down first")

    def _check_kept(self, number: int, thing: NamedThing) -> None:
        """Make sure that a hand still holds a thing; else it opens.

        Raises:
            NotGrasped: It does not.
        """
        if not self._hand(number).touches(self._scene.geoms(thing)):
            self._open(number)
            raise NotGrasped(f"{thing.name!r} slipped out of the hand")

    def _peg_at(self, xy: Array) -> NamedThing | None:
        """Return the peg at a point, if there is one."""
        for thing in self._scene.things.values():
            if (
                thing.kind == "peg"
                and math.dist(self._scene.position(thing)[:2], xy) < BESIDE_PEG_M
            ):
                return thing
        return None

    def _go(
        self,
        number: int,
        point: Array,
        furthest_m: float,
        *,
        yaw: float | None = None,
        rotation: Array | None = None,
        touching: bool = False,
    ) -> None:
        goal = self._world.goals[number]
        if rotation is None:
            rotation = goal.matrix if yaw is None else downward(yaw)
        goal = replace(
            goal, position=tuple(point.tolist()), rotation=tuple(rotation.ravel().tolist())
        )
        self._world.move({number: goal}, furthest_m, touching=touching)

    def _held_geoms(self, number: int) -> set[int]:
        held = self._world.goals[number].held
        return self._scene.whole(self._thing(held)) if held else set()

    def _travel(self, number: int, point: Array, yaw: float) -> None:
        """Bring a hand to a point from above, over everything that stands around."""
        scene, hand = self._scene, self._hand(number)
        held = self._held_geoms(number)
        hang = hand.position[2] - scene.bounds(held)[0][2] if held else hand.tip_m
        height = max(scene.top(held) + hang + CLEARANCE_M, point[2])
        here = hand.position
        if math.dist(here[:2], point[:2]) > 0.01 and here[2] < height - 0.01:
            self._go(number, np.array([*here[:2], height]), FAST_M)
        turn = yaw - hand.yaw
        if abs(turn) > MAX_TURN_RAD:
            self._go(number, hand.position, FAST_M, yaw=hand.yaw + turn / 2)
        self._go(number, np.array([*point[:2], max(height, point[2])]), FAST_M, yaw=yaw)
        if point[2] < height - 0.08:
            self._go(number, np.array([*point[:2], point[2] + 0.06]), FAST_M)
        self._go(number, point, SLOW_M)

    def _rise(self, number: int, by_m: float = 0.1) -> None:
        self._go(number, self._hand(number).position + by_m * UP, FAST_M)

    def _open(self, number: int) -> None:
        self._check_fingers(number)
        self._world.hold(number, "")
        self._world.set_fingers((number,), OPEN, _FINGER_STEPS)

    def _grasp(self, thing: NamedThing, hand: ArmHand) -> tuple[Array, float]:
        """Return where the fingertips go to grasp a thing from above, and the hand's yaw.

        Of the directions in which it fits between the fingers it is the one in which the hand
        meets least, then the one for which it turns least.

        Raises:
            NotGrasped: It is too wide.
        """
        scene = self._scene
        box = scene.box(thing)
        level = [axis for axis in range(3) if abs(box.rotation[2, axis]) < LEVEL]
        fitting = [axis for axis in level if 2 * box.half[axis] <= MAX_WIDTH_M]
        if not fitting:
            raise NotGrasped(f"{thing.name!r} is wider than {100 * MAX_WIDTH_M:.1f} cm")
        reach = float(np.abs(box.rotation[2]) @ box.half)
        low, high = box.center[2] - reach, box.center[2] + reach
        outwards = box.center - scene.position(replace(thing, geoms=()))
        longest = box.rotation[:, max(level, key=lambda axis: box.half[axis])]
        outer_m = -thing.outer_m if outwards @ longest < -1e-6 else thing.outer_m
        middle = box.center + outer_m * longest
        deepest = max(box.center[2], high - PALM_M, low + hand.tip_m + 0.003)
        ways: list[tuple[tuple[float, ...], Array, float]] = []
        for across in fitting:
            toward = math.atan2(box.rotation[1, across], box.rotation[0, across])
            yaw = hand.nearest_yaw(toward, middle)
            wide = box.half[across] > 1.5 * min(box.half[axis] for axis in fitting)
            for height in np.arange(deepest, max(deepest, high - LEAST_GRIP_M) + 1e-6, 0.005):
                point = np.array([*middle[:2], height])
                met = scene.in_the_way(point, downward(yaw), hand, scene.whole(thing))
                turn = abs(yaw - hand.straight_yaw(middle))
                ways.append(((met, wide, turn, height), point, yaw))
        _, point, yaw = min(ways, key=lambda way: way[0])
        return point, yaw

    def _pick(self, number: int, thing: NamedThing, *, lift: bool = True) -> None:
        """Grasp a thing from above.

        Raises:
            NotGrasped: The fingers closed without holding it.
        """
        self._check_fingers(number)
        self._check_empty(number)
        if thing.kind in ("peg", "bin"):
            raise NotGrasped(f"{thing.name!r} is a place; it stays where it is")
        hand = self._hand(number)
        point, yaw = self._grasp(thing, hand)
        self._world.set_fingers((number,), OPEN, _FINGER_STEPS)
        self._travel(number, point, yaw)
        self._world.set_fingers((number,), CLOSED, _GRIP_STEPS)
        if lift:
            self._go(number, hand.position + LIFT_TO_LOOK_M * UP, SLOW_M)
        if not hand.touches(self._scene.geoms(thing)):
            self._open(number)
            self._rise(number)
            raise NotGrasped(f"the fingers closed without holding {thing.name!r}")
        self._world.hold(number, thing.name)
        if lift:
            self._rise(number, CLEARANCE_M)

    def _put(self, number: int, xy: Array, onto: NamedThing | None) -> Array:
        """Put what a hand holds at a point, and return where it came to rest."""
        held = self._world.goals[number].held
        if not held:
            raise NotGrasped("the hand holds nothing; pick something up first")
        thing, hand = self._thing(held), self._hand(number)
        turn = self._turn(thing, hand, xy, aligned=onto is not None and onto.kind == "peg")
        geoms = self._scene.whole(thing)
        if onto is not None and onto.kind == "peg":
            surface = self._scene.position(onto)[2] - ON_PEG_M
        elif onto is not None and onto.kind == "object":
            surface = self._scene.bounds(self._scene.whole(onto))[1][2]
        else:
            surface = float(self._scene.floor(xy[None], geoms)[0])
        release = RELEASE_M
        if onto is not None and onto.kind == "bin" and math.dist(xy, hand.base[:2]) > EASY_REACH_M:
            release = FAR_RELEASE_M
        for height in (0.05, release):
            scene = self._scene
            low, _ = scene.bounds(geoms)
            offset = rotation_of([0, 0, turn]) @ (hand.position - scene.position(thing))
            z = surface + height + hand.position[2] - low[2]
            point = np.array([*(xy + offset[:2]), z])
            yaw = hand.yaw + turn
            while scene.in_the_way(point, downward(yaw), hand, geoms) and point[2] < z + DROP_M:
                point[2] += 0.005
            if height != release:
                self._travel(number, point, yaw)
                turn = 0.0
            else:
                self._go(number, point, SLOW_M)
        self._open(number)
        self._rise(number)
        rest, above_m = self._scene.position(thing), self._scene.bounds(geoms)[0][2] - surface
        away_m, kind = math.dist(rest[:2], xy), "" if onto is None else onto.kind
        if (
            away_m > (BESIDE_PEG_M if kind == "peg" else BESIDE_M)
            or (kind == "peg" and above_m > 0)  # it is let go at this height, and slides down
            or (kind == "object" and abs(above_m) > ON_TOP_M)
        ):
            x, y, z = rest
            raise Collision(f"{held!r} did not stay there: it lies at ({x:.3f}, {y:.3f}, {z:.3f})")
        return rest

    def _turn(self, thing: NamedThing, hand: ArmHand, xy: Array, *, aligned: bool) -> float:
        """Return by how much what a hand holds is turned on its way to a point, radians.

        It is the least turn with which the arm stays well within reach and the wrist within its
        ends; `aligned`, the thing's sides are in line with x and y then.
        """
        step, begun = (math.pi / 2, -self.get_obj_yaw(thing.name)) if aligned else (math.pi, 0.0)
        held = hand.position - self._scene.position(thing)

        def cost(turn: float) -> float:
            end = xy + (rotation_of([0, 0, turn]) @ held)[:2]
            far = max(0.0, math.dist(end, hand.base[:2]) - EASY_REACH_M)
            return abs(turn) + 100 * (far + hand.beyond_wrist(hand.yaw + turn, end))

        return min((begun + count * step for count in range(-6, 7)), key=cost)

    def _outwards(self, thing: NamedThing) -> Array:
        """Return the axis about which a handle turns, away from what it is fixed to, xyz.

        Raises:
            NotFound: It is no handle that turns.
        """
        model = self._world.simulation.model
        body = model.body(thing.body)
        if thing.kind != "part" or not thing.geoms or model.jnt_type[body.jntadr[0]] != HINGE:
            raise NotFound(f"{thing.name!r} is no handle that turns")
        axis: Array = self._scene.rotation(thing) @ model.jnt_axis[body.jntadr[0]]
        lever = self._scene.position(thing) - self._scene.position(replace(thing, geoms=()))
        return axis if axis @ lever > 0 else -axis

    def _grasp_from_front(self, thing: NamedThing, outwards: Array, turn: Array) -> None:
        """Grasp a handle with a hand that points at what it is fixed to, one finger above it.

        Args:
            thing: The handle.
            outwards: Away from what it is fixed to.
            turn: The rotation vector for which the wrist is to have room then.
        """
        self._check_fingers(0)
        self._check_empty(0)
        hand, scene = self._hand(0), self._scene
        point, _ = self._grasp(thing, hand)
        point[2] = scene.box(thing).center[2]
        above = UP - (UP @ outwards) * outwards
        ways = [np.column_stack([up, np.cross(-outwards, up), -outwards]) for up in (above, -above)]
        ways.sort(key=lambda way: float(np.linalg.norm(way - hand.rotation)))
        self._world.set_fingers((0,), OPEN, _FINGER_STEPS)
        self._go(0, point + 0.15 * outwards, FAST_M, rotation=ways[0])
        if not hand.can_turn(turn):  # so the other finger is above
            back = rotation_of(-math.pi / 2 * turn / np.linalg.norm(turn))
            self._go(0, point + 0.15 * outwards, FAST_M, rotation=back @ ways[0])
            self._go(0, point + 0.15 * outwards, FAST_M, rotation=ways[1])
        self._go(0, point, SLOW_M)
        self._world.set_fingers((0,), CLOSED, _GRIP_STEPS)
        if not hand.touches(scene.geoms(thing)):
            self._open(0)
            self._go(0, point + 0.15 * outwards, SLOW_M)
            raise NotGrasped(f"the fingers closed without holding {thing.name!r}")
        self._world.hold(0, thing.name)

    def _together(self, offsets: Mapping[int, Sequence[float]]) -> None:
        """Move hands by offsets at the same time, in small stages, so that they stay level."""
        begun = {number: self._hand(number).position for number in offsets}
        stages = max(1, math.ceil(max(np.abs(list(offsets.values())).max() / 0.03, 1)))
        for stage in range(1, stages + 1):
            goals: dict[int, Goal] = {}
            for number, offset in offsets.items():
                end = begun[number] + np.array(offset) * stage / stages
                goals[number] = replace(self._world.goals[number], position=tuple(end.tolist()))
            self._world.move(goals, SLOW_M, touching=stage < stages)


def _numbers(value: Any, what: str, sizes: tuple[int, ...]) -> Array:
    """Return finite numbers, as many as one of `sizes`.

    Raises:
        TypeError: It is something else.
    """
    wanted = {1: "a number", 3: "x, y, z", 2: "x and y, or x, y, z"}[sizes[0]]
    array = real_numbers(value, what, f"{wanted} in metres")
    if array.shape not in [(size,) for size in sizes] or not np.isfinite(array).all():
        raise TypeError(f"{what} must be {wanted}, finite; got {array.tolist()!r:.80}")
    return array


def _within(value: Any, what: str, least: float, most: float, unit: str) -> float:
    """Return a number between two limits.

    Raises:
        TypeError: It is no number.
        LimitExceeded: It is not between them.
    """
    number = float(_numbers([value], what, (1,))[0])
    if not least <= number <= most:
        raise LimitExceeded(f"{what} is {number:g}; use {least:g} to {most:g} {unit}")
    return number
