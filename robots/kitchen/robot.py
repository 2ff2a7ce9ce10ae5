"""The kitchen robot: what programs call and what the engine needs of it, in both modes alike."""

from __future__ import annotations

import contextlib
import threading
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any

import numpy as np
import shapely
from numpy.typing import NDArray

from cap.errors import Collision, LimitExceeded, NotFound, NotGrasped, RobotError, Unreachable
from cap.program.scope import Primitive
from cap.robot.view import Appearance, Shape
from robots.base import action, perception
from robots.kitchen import arguments, bodies, paths, planner, scene
from robots.kitchen.arguments import Points
from robots.kitchen.objects import CALLED, Thing, footprint
from robots.kitchen.room import Location
from robots.kitchen.state import KitchenState, TurnStart
from robots.kitchen.world import SLID_M, KitchenWorld
from robots.simulation.scene_file import PlacedObject
from robots.simulation.simulated_robot import SimulatedRobot, TurnTaker
from robots.simulation.world import WorldOwner
from robots.table.arguments import count
from robots.table.geometry import corners
from robots.table.object_names import find

Array = NDArray[np.float64]
Position = Sequence[float] | Array
MakeWorld = Callable[[WorldOwner, KitchenState], KitchenWorld]
UNDO_MPS = 0.5
"""Speed of the base on the way back."""
LOOK_S = 0.1
"""Simulated time each perception takes."""


class KitchenRobot(TurnTaker, SimulatedRobot[KitchenState]):
    """A mobile robot with a 7-joint arm and a gripper in a kitchen.

    Positions are xyz in metres in the world frame: x to the right of the room (left is -x; of you,
    your own left), y to the back (the front is -y), z up; the floor is
    x -5.7 to 3, y -7 to 2.5. Angles are radians, counter-clockwise, 0 along x. Velocities alone
    are in the robot frame; forward is where it faces.

    The base has a radius of 0.22 m and moves in any direction. The robot sees only what is at its
    present location: what it faces within 1 m, or else the furniture nearest to it. Go to a
    location before you look, pick or place there; a drawer must be open. A look takes 0.1 s. It
    holds one object at a time, and needs an empty gripper for a drawer. Locations: 'table',
    'countertop', 'cart', 'desk', 'wood chair', 'steel chair', 'office chair', 'stool', 'recycle
    bin', 'trash bin', 'compost bin', 'top drawer', 'middle drawer', 'bottom drawer'. Plates are
    25 cm wide, a bowl 31 cm. Failures have names: `except NotFound:`.
    """

    name = "kitchen"
    _stopped = "stopped: the motion was interrupted; look where the robot is"
    _world: KitchenWorld

    def __init__(
        self,
        entries: Sequence[scene.SceneEntry | PlacedObject],
        seed: int,
        mode: str,
        make_world: MakeWorld,
        *,
        scattered: bool = True,
    ) -> None:
        """Build the kitchen of a seed.

        Args:
            entries: Objects, with their places and times, or exactly where they are.
            seed: Decides where furniture and objects stand.
            mode: Which kind of world `make_world` makes.
            make_world: Builds the world for a state.
            scattered: Objects without a place stand about the kitchen; else at the table.

        Raises:
            UsageError: An unknown place, or no room.
        """
        self._entries = tuple(entries)
        self._scattered = scattered
        self._busy = threading.Lock()
        super().__init__(seed, mode, make_world)

    def _first_state(self, seed: int) -> KitchenState:
        return scene.sample(self._entries, seed, self._scattered)

    # What the engine needs of a robot.

    def primitives(self) -> Mapping[str, Primitive]:
        """Return the functions programs may call; `stop` is there what `stop_motion` is here."""
        found = dict(super().primitives())
        found.pop("stop_motion")
        return {**found, "stop": Primitive.of(self.stop_motion, "action", "stop")}

    def context(self) -> Mapping[str, Any]:
        """Return the objects seen at the present location, its name, and all locations.

        And what was seen elsewhere before, in words.
        """
        state = self.state
        here = [
            place.name if state.is_open(place) else f"{place.name} (closed)"
            for place in state.here()
        ]
        objects = state.in_view()
        elsewhere: dict[str, list[str]] = {}
        for name, place in state.seen_here().known:
            if name not in objects:
                elsewhere.setdefault(place, []).append(name)
        seen = [f"{place}: {', '.join(names)}" for place, names in elsewhere.items()]
        return {
            "objects": objects,
            "at": " or ".join(here) or "nowhere",
            "locations": list(state.room.locations),
            "elsewhere": "; ".join(seen),
        }

    def positions(self) -> Mapping[str, tuple[float, float, float]]:
        """Return where each object truly is, seen or not: xyz in metres."""
        return {thing.name: thing.position for thing in self.state.things}

    @property
    def landmarks(self) -> Mapping[str, tuple[float, float]]:
        """Where the middle of each location's furniture is, xy in metres."""
        locations = self.state.room.locations.values()
        return {place.name: (place.piece.x, place.piece.y) for place in locations}

    @property
    def base_track(self) -> Sequence[tuple[float, float, float]]:
        """The ends of the straight legs that the base drove in this turn: travel, x, y."""
        return self._world.track

    def whereabouts(self) -> Mapping[str, str]:
        """Return the dish, or else the location, that each object truly is in or on.

        That is "" of what the gripper holds, and of what lies on the floor.
        """
        return {thing.name: self.state.whereabouts(thing) for thing in self.state.things}

    def contents(self) -> Mapping[str, Sequence[str]]:
        """Return the names of what truly lies in or on each dish, drawer and bin."""
        return self.state.contents_by_name()

    def condition(self) -> Mapping[str, Any]:
        """Return where the base is (x, y in metres, angle), its way, the gripper, each drawer."""
        state = self.state
        base = state.base
        drawers = {
            name: f"{100 * pulled_m:.0f} cm open" if pulled_m > SLID_M else "closed"
            for name, pulled_m in state.drawers
        }
        held = {"held": state.held or "nothing"}
        driving = {"velocity": state.velocity}  # it goes on while time passes
        here = {"robot": (base.x, base.y, base.angle), "travel": state.travel}
        return {**here, **driving, **held, **drawers}

    def stop(self) -> None:
        """Stop all motion; safe from any thread.

        The primitive that was moving raises `RobotError`; a set velocity becomes zero.
        """
        self._stop.set()
        if self._busy.acquire(blocking=False):
            try:
                self._halt()
            finally:
                self._busy.release()

    def end_turn(self, words: str = "") -> tuple[str, ...]:
        """Begin another turn; return the instructions that were undone."""
        self._world.track = []
        return super().end_turn(words)

    def scene_text(self, about: str) -> str:
        """Return the objects as they truly are as a file that `create(scene=...)` reads."""
        return scene.text_of(self.state.things, about)

    def shapes(self) -> Mapping[str, Sequence[Shape]]:
        """Return what each body is made of, for who draws the kitchen."""
        return bodies.shapes(self._world.now())

    def view(self) -> Appearance:
        """Return where each body is at this moment, in the middle of a motion too."""
        return bodies.view(self._world.now())

    def render(self, width: int = 480, height: int = 480) -> Any:
        """Return the kitchen from above as a PIL image."""
        return bodies.draw(self._world.now(), width, height)

    def remove(self, name: str) -> None:
        """Take an object out of the kitchen, as a person might.

        Raises:
            NotFound: There is no such object.
        """
        self._world.remove(name)

    def add(self, name: str, place: str) -> None:
        """Put an object at a location, as a person might, as soon as there is room.

        Raises:
            UsageError: It exists already, or cannot be there.
        """
        self._world.add(name, self._location(place))

    # Perception: each look takes 0.1 s; with a velocity set the base moves on meanwhile.

    @perception
    def is_obj_visible(self, name: str, loc: str = "") -> bool:
        """Return whether an object is seen here; never fails for a name.

        Args:
            name: An object's name, such as 'apple'.
            loc: Look there instead, up to 1.2 m.
        """
        text = arguments.name_of(name)
        place = self._location(loc) if loc else None
        with self._looking() as state:
            seen = state.in_view() if place is None else state.visible_near(place)
            return bool({text, *CALLED.get(text, ())} & {*seen})

    @perception
    def get_obj_names(self) -> list[str]:
        """Return the names of the objects here, also in a bowl; not what is held."""
        with self._looking() as state:
            return state.visible()

    get_visible_obj_names = get_obj_names

    @perception
    def detect_object(self, name: str) -> bool:
        """Return whether the camera that looks ahead sees an object now.

        It sees 1.2 m ahead and 25 degrees to either side, not into a closed drawer.

        Args:
            name: An object's name, such as 'apple'.

        Raises:
            Collision: The base bumped into something on the way and stopped.
        """
        text = arguments.name_of(name)
        with self._looking() as state:
            return text in state.ahead()

    @perception
    def obj_in_gripper(self, name: str) -> bool:
        """Return whether the gripper holds an object.

        Args:
            name: An object's name, such as 'apple'.
        """
        text = arguments.name_of(name)
        with self._looking() as state:
            return text == state.held

    @perception
    def get_loc_names(self) -> list[str]:
        """Return the names of all locations, seen or not."""
        return list(self.state.room.locations)

    @perception
    def get_obj_pos(self, name: str) -> Array:
        """Return the middle of an object that is seen at the present location.

        Args:
            name: An object's name, such as 'apple'.

        Returns:
            Array of shape (3,): x, y and z in metres.

        Raises:
            NotFound: It is not seen from here: goto_loc where it is, or open the drawer.
        """
        return np.array(self._look_at(name).position)

    @perception
    def get_obj_size(self, name: str) -> Array:
        """Return the size of an object seen here.

        Args:
            name: An object's name, such as 'apple'.

        Returns:
            Array of shape (3,): length, width and height in metres; the length is the longer.

        Raises:
            NotFound: It is not seen from here: goto_loc where it is, or open the drawer.
        """
        shape = footprint(self._look_at(name))
        return np.array([shape.length, shape.width, shape.height])

    @perception
    def get_color(self, name: str) -> tuple[float, float, float, float]:
        """Return the colour of an object seen here: red, green, blue, alpha, 0 to 1.

        Args:
            name: An object's name, such as 'apple'.

        Raises:
            NotFound: It is not seen from here: goto_loc where it is, or open the drawer.
        """
        red, green, blue = self._look_at(name).kind.color
        return (red / 255, green / 255, blue / 255, 1.0)

    @perception
    def get_bbox(self, name: str) -> Array:
        """Return the box around a location, or an object seen here, from above.

        Args:
            name: A name, such as 'stool'.

        Returns:
            Array of shape (4,): min x, min y, max x, max y in metres.

        Raises:
            NotFound: Nothing here has that name.
        """
        text = arguments.name_of(name)
        if text in self.state.room.locations:
            outline = self.state.extent(self.state.room.locations[text])
        else:
            thing = self._look_at(name)
            outline = thing.rectangle
            if footprint(thing).round:
                outline = (*outline[:4], 0.0)
        return np.array(shapely.MultiPoint(list(corners(outline))).bounds)

    @perception
    def get_loc_pos(self, loc: str) -> Array:
        """Return the middle of a location, on the furniture: to drive there use goto_loc.

        Args:
            loc: A location's name.

        Returns:
            Array of shape (3,): x, y and z in metres.

        Raises:
            NotFound: No location has that name.
        """
        place = self._location(loc)
        return np.array(place.middle(self.state.opening_m(place.name)))

    @perception
    def get_robot_pos_and_angle(self) -> tuple[Array, float]:
        """Return where the base is and its heading.

        Returns:
            The position, shape (3,), metres; and the heading in radians, pi / 2 to the back.
        """
        with self._looking() as state:
            return _position(state), state.base.angle

    @perception
    def get_robot_pos(self) -> Array:
        """Return where the base is: x, y and z in metres, shape (3,); z is 0."""
        with self._looking() as state:
            return _position(state)

    # Actions of the base.

    @action
    def goto_pos(self, pos: Position, speed: float = 0.5, angle: float | None = None) -> Array:
        """Drive to a position on the floor, to 1 mm, around what stands there.

        Args:
            pos: x and y in metres, on free floor, 0.24 m from anything.
            speed: In m/s: 0.25 is slow, 0.75 fast, 1 as fast as it can.
            angle: Heading at the end in radians; by default as it was.

        Returns:
            Where the base is now: metres, shape (3,).

        Raises:
            Unreachable: It is too close to something, or no way leads there; nothing moved. The
                message has the nearest free position.
            LimitExceeded: A speed of 0 or above 1.
        """
        goal, mps = arguments.position(pos, "pos"), arguments.speed(speed)
        end = arguments.heading(angle)
        with self._moving():
            self._world.drive(goal, mps, end)
        return _position(self.state)

    @action
    def goto_loc(self, loc: str, speed: float = 0.5) -> Array:
        """Drive to a location and face it; then what is there can be seen.

        Args:
            loc: A location's name.
            speed: In m/s: 0.25 is slow, 0.75 fast, 1 as fast as it can.

        Returns:
            Where the base is now: metres, shape (3,).

        Raises:
            NotFound: No location has that name.
            Unreachable: No way leads there; nothing moved.
            LimitExceeded: A speed of 0 or above 1.
        """
        place, mps = self._location(loc), arguments.speed(speed)
        with self._moving():
            x, y, angle = place.stand
            self._world.drive((x, y), mps, angle)
        return _position(self.state)

    @action
    def follow_traj(self, traj: Points, speed: float = 0.5) -> Array:
        """Drive to a path's first point, then along it, straight from point to point.

        The heading stays.

        Args:
            traj: 2 or more points of x, y and z in metres, shape (n, 3); z is not needed.
            speed: In m/s: 0.25 is slow, 0.75 fast, 1 as fast as it can.

        Returns:
            Where the base is now: metres, shape (3,).

        Raises:
            Collision: It leads through something; nothing moved.
            Unreachable: A point is too close to something; nothing moved.
            LimitExceeded: A speed of 0 or above 1.
        """
        points, mps = arguments.trajectory(traj), arguments.speed(speed)
        ground = paths.ground(self.state)
        paths.check_free(ground, points, "the waypoint")
        if through := paths.blocker(ground, points):
            raise Collision(f"the path leads through {through}; nothing moved, lead it around")
        with self._moving():
            self._world.drive(points[0], mps, None)
            self._world.drive_along(points, mps, None)
        return _position(self.state)

    @action
    def wait(self, seconds: float) -> None:
        """Let time pass; with a velocity set the base moves on.

        Args:
            seconds: 0 to 600.

        Raises:
            Collision: The base bumped into something on the way and stopped.
            LimitExceeded: Beyond those limits.
        """
        left = arguments.seconds(seconds)
        with self._acting():
            while left > 1e-9:
                self._world.coast(min(LOOK_S, left))
                left -= LOOK_S
                self.check_stop()

    @action
    def set_velocity(
        self, x: float, y: float, turn: float = 0.0, *, z: float | None = None
    ) -> None:
        """Let the base move with a velocity from now on, in the robot frame.

        It moves on with each look and `wait`, until `stop` or another motion. It stops before it
        would run into something; that look or wait raises Collision.

        Args:
            x: To the robot's right, m/s; negative: left.
            y: Ahead, m/s; negative: backwards. At most 1 in all; 0.1 slow, 0.4 fast.
            turn: In rad/s, counter-clockwise (left), at most 1.5.
            z: Leave out.

        Raises:
            LimitExceeded: Beyond those limits.
        """
        # With z, which must be 0, x is ahead and y to the right, as in the paper's first programs:
        # `set_velocity(x=-0.1, y=0, z=0)` moves backwards.
        wanted = arguments.velocity(x, y, turn) if z is None else arguments.velocity(y, x, turn)
        if z is not None and arguments.number(z, "z"):
            raise LimitExceeded(f"z {z:g} m/s: the base cannot rise, z must be 0")
        with self._moving():
            self._world.fold()
            self._world.state = replace(self.state, velocity=wanted)

    @action
    def stop_motion(self) -> None:
        """Stop the base where it is."""
        with self._busy:
            self._halt()

    # Actions of the arm.

    @action
    def pick_obj(self, name: str) -> None:
        """Pick up an object seen at the present location; what is in or on a dish comes along.

        Args:
            name: An object's name, such as 'apple'.

        Raises:
            NotFound: It is not seen from here: goto_loc where it is, or open the drawer.
            NotGrasped: The gripper is full, or closed on nothing.
            Collision: Something leaves no room for the fingers, or was pushed.
            Unreachable: It is beyond the arm.
        """
        if arguments.name_of(name) == self.state.held:
            return
        with self._moving():
            if self.state.held is not None:
                raise NotGrasped(f"the gripper is full: it holds {self.state.held!r}; place it")
            found = arguments.seen(name, self.state.visible())
            self._world.take(planner.pick(self.state, found))

    @action
    def place_at_obj(self, name: str, relation: str = "") -> Array:
        """Put down what the gripper holds in, on or beside something.

        Args:
            name: An object seen here, or the present location, such as 'table'.
            relation: 'in' a bowl, bin or open drawer; 'on' a plate, flat top or furniture;
                'beside' an object. By default in or on what is made for it, such as a bowl.

        Returns:
            Where the object came to rest: metres, shape (3,).

        Raises:
            NotGrasped: The gripper holds nothing.
            NotFound: It is not seen from here: goto_loc where it is, or open the drawer.
            Collision: There is no room, something was pushed, or it did not stay there.
            Unreachable: It takes nothing that way, is beyond the arm, or closed.
        """
        text, wanted = arguments.name_of(name), arguments.relation(relation)
        with self._moving():
            self._check_full()
            place = self.state.room.locations.get(text)
            if text in self.state.load():
                raise Unreachable(f"{text!r} is in the gripper itself; name something else")
            if place is None:
                thing = self.state[arguments.seen(name, self.state.visible())]
                return self._world.put(planner.put_by(self.state, thing, wanted))
            if place not in self.state.here():
                raise NotFound(f"the robot is not at the {place.name}; goto_loc it first")
            return self._world.put(planner.put_at(self.state, place, wanted))

    @action
    def place_at_pos(self, pos: Position) -> Array:
        """Put down what the gripper holds at a position, on whatever surface is there.

        If the spot is taken, the nearest free one within 15 cm serves; over a dish it goes in.

        Args:
            pos: x, y and z in metres; z is not needed.

        Returns:
            Where the object came to rest: metres, shape (3,).

        Raises:
            NotGrasped: The gripper holds nothing.
            Collision: There is no room, something was pushed, or it did not stay there.
            Unreachable: It is beyond the arm, or a closed drawer.
        """
        point = arguments.position(pos, "pos")
        with self._moving():
            self._check_full()
            return self._world.put(planner.put(self.state, point))

    @action
    def put_first_on_second(self, first: str, second: str | Position) -> Array:
        """Pick up an object seen here and put it on, in or at something; side by side on plates.

        Args:
            first: The object; it may be in the gripper already.
            second: An object seen here, a location (it drives there), or a position in metres.

        Returns:
            Where the object came to rest: metres, shape (3,).

        Raises:
            NotFound: It is not seen from here: goto_loc where it is, or open the drawer.
            NotGrasped: The gripper is full, or closed on nothing.
            Collision: There is no room, something was pushed, or it did not stay there.
            Unreachable: It takes nothing that way, is beyond the arm, or closed.
        """
        text = arguments.name_of(second) if isinstance(second, str) else None
        goal = None if isinstance(second, str) else arguments.position(second, "second")
        place = self.state.room.locations.get(text or "")
        if text is not None and place is None:
            arguments.object_of(text, self.state.visible())
        elif place is not None:
            planner.check_open(self.state, place)
        if arguments.name_of(first) == text:
            raise Collision(f"{text!r} cannot be put on itself")
        if arguments.name_of(first) != self.state.held:
            self.pick_obj(first)
        if goal is not None:
            return self.place_at_pos(goal)
        if place is not None and place not in self.state.here():
            self.goto_loc(place.name)
        return self.place_at_obj(str(text))

    @action
    def open_drawer(self, name: str) -> None:
        """Pull a drawer open; the robot must be at it.

        Args:
            name: Such as 'top drawer'.

        Raises:
            NotFound: No drawer has that name.
            Unreachable: The robot is not there: goto_loc(name) first.
            Collision: An open drawer above is in the way.
            NotGrasped: The gripper is full, or missed the handle.
        """
        self._slide(name, opened=True)

    @action
    def close_drawer(self, name: str) -> None:
        """Push a drawer shut; the robot must be at it.

        Args:
            name: Such as 'top drawer'.

        Raises:
            NotFound: No drawer has that name.
            Unreachable: The robot is not there: goto_loc(name) first.
            Collision: An open drawer above is in the way.
            NotGrasped: The gripper is full, or missed the handle.
        """
        self._slide(name, opened=False)

    @action
    def undo_turns(self, turns: int = 1) -> bool:
        """Undo what the last turns did, failed ones too, and drive back; False if none.

        Args:
            turns: How many that did something.

        Raises:
            NotFound: There were fewer.
            Collision: A place is taken.
        """
        number = count(turns, "turns", 1)
        history = self.state.turns.lasting(self.state.start, TurnStart.same)
        if not history.earlier and number == 1:
            return False
        start = history.before(number, "did something")
        with self._moving(remembering=False):  # its own actions are no turn to undo
            self._world.undo(self.state.deeds_done - start.deeds_done)
            undone = history.taken_back(number)
            try:
                self._world.drive(start.base.xy, UNDO_MPS, start.base.angle)
            except Unreachable as error:  # no later undo gets there either
                self._world.state = replace(self.state, turns=undone)
                raise Unreachable(
                    f"all moves are undone, but the robot cannot drive back: {error}"
                ) from None
            self._world.state = replace(self.state, turns=undone)
        return True

    @action
    def say(self, text: str) -> None:
        """Say a text to the person."""
        self.spoken.append(str(text))

    # How they do it.

    def _slide(self, name: str, *, opened: bool) -> None:
        drawers = [place.name for place in self.state.room.locations.values() if place.drawer]
        place = self.state.room.locations[find(name, drawers, "drawer")]
        with self._moving():
            if self.state.held is not None:
                raise NotGrasped(f"the gripper is full: it holds {self.state.held!r}; place it")
            if place not in self.state.here():
                raise Unreachable(f"the robot is not at the {place.name}; goto_loc it first")
            if self.state.is_open(place) == opened:
                return
            self._world.pull(planner.slide(self.state, place, opened=opened))

    def _check_full(self) -> None:
        if self.state.held is None:
            raise NotGrasped("the gripper holds nothing to put down; pick_obj something first")

    def _look_at(self, name: str) -> Thing:
        """Return an object that is seen when the look at it is over."""
        arguments.object_of(name, self.state.in_view())
        with self._looking() as state:
            return state[arguments.seen(name, state.in_view())]

    def _location(self, loc: str) -> Location:
        places = self.state.room.locations
        return places[find(loc, places, "location")]

    def _halt(self) -> None:
        self._stop.clear()
        self._world.state = replace(self.state, velocity=(0.0, 0.0, 0.0))

    @contextlib.contextmanager
    def _acting(self, *, remembering: bool = True) -> Iterator[None]:
        """Do something that takes time, not stopped yet; a failure ends a velocity."""
        with self._busy:
            self._stop.clear()
            start = self.state.start
            try:
                yield
            except RobotError:
                self._halt()
                raise
            finally:
                self._stop.clear()
                if remembering:
                    self._world.state = self.state.since(start)

    @contextlib.contextmanager
    def _looking(self) -> Iterator[KitchenState]:
        """Let the time of a look pass; what follows is seen then."""
        with self._acting():  # with a velocity set the base moves on
            self._world.coast(LOOK_S)
            self._world.state = self.state.seen_here()
        yield self.state

    @contextlib.contextmanager
    def _moving(self, *, remembering: bool = True) -> Iterator[None]:
        """Begin a motion, with a velocity of zero."""
        with self._acting(remembering=remembering):
            self._halt()
            self._world.state = self.state.seen_here()
            try:
                yield
            finally:
                self._world.state = self.state.seen_here()


def _position(state: KitchenState) -> Array:
    """Return the base's position, metres."""
    return np.array([state.base.x, state.base.y, 0.0])
