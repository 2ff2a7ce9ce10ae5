"""The tabletop's primitives: what programs call, the same in both modes."""

from __future__ import annotations

import contextlib
import itertools
import threading
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from cap.errors import Collision, NotFound, RobotError
from cap.scope import Primitive
from robots.base import action, perception, primitives_of
from robots.ravens import plan, scene
from robots.ravens.arguments import Place, named_points, object_at, point, target
from robots.ravens.disturbances import Disturbances
from robots.ravens.eyes import MOTION_DRAWS, Eyes, Truth
from robots.ravens.scene import CORNERS, PLACES, SIDES, Scene
from robots.ravens.world import Host, World, WorldState

Array = NDArray[np.float64]
Mode = Literal["physics", "instant"]
MakeEyes = Callable[[Any], Eyes]
NOTHING_WRONG = Disturbances()
MakeWorld = Callable[[Host, WorldState], World]


class RavensRobot:
    """A UR5e with a two-finger gripper at a table with coloured blocks and bowls.

    Positions are xy in metres: x grows to the right, y grows away from the front edge (up, in the
    picture). The table is x -0.3 to 0.3, y -0.8 to -0.2. Objects are named '<colour> block' and
    '<colour> bowl'. Places have names too: 'top left corner', 'top right corner', 'bottom left
    corner', 'bottom right corner', 'top side', 'right side', 'bottom side', 'left side', 'middle'.
    """

    name = "ravens"
    simulated = True

    def __init__(
        self,
        names: Sequence[str],
        seed: int,
        mode: Mode,
        make_world: MakeWorld,
        *,
        make_eyes: MakeEyes = lambda world: Truth(),
        disturbances: Disturbances = NOTHING_WRONG,
    ) -> None:
        """Build the scene of a seed.

        Args:
            names: The objects, by their exact names.
            seed: Decides where they stand.
            mode: Which kind of world `make_world` makes.
            make_world: Builds the world for a state.
            make_eyes: Gives a world what programs see it by.
            disturbances: What goes wrong in motions.

        Raises:
            UsageError: The objects do not fit on the table.
        """
        self.mode: str = mode
        self.spoken: list[str] = []
        """What `say` was given, in order."""
        self.on_frame: Callable[[], None] | None = None
        """Called every `frame_every_s` simulated seconds, or once per action when instant."""
        self.frame_every_s = 0.25
        """Simulated seconds between two calls of `on_frame`."""
        self._names = tuple(names)
        self._stop = threading.Event()
        self._depth = 0
        self._world = make_world(self, self._first_state(seed))
        self._eyes = make_eyes(self._world)
        self._disturbances = disturbances
        self._primitives = primitives_of(self)

    def _first_state(self, seed: int) -> WorldState:
        objects = scene.sample_scene(self._names, np.random.default_rng(seed))
        joints = plan.PARK.joints()
        return WorldState(objects, joints, seed=seed)

    @property
    def _scene(self) -> Scene:
        """The scene as programs and plans know it."""
        return self._eyes.see(self._world.state)

    # What the engine needs of a robot.

    def primitives(self) -> Mapping[str, Primitive]:
        """Return the functions programs may call, by name."""
        return self._primitives

    def context(self) -> Mapping[str, Any]:
        """Return the names of the objects seen."""
        return {"objects": self._scene.names}

    def positions(self) -> Mapping[str, tuple[float, float, float]]:
        """Return where each object's centre truly is, whatever is seen: xyz in metres."""
        return {body.name: body.position for body in self._world.state.scene.bodies}

    def stop(self) -> None:
        """Stop the running motion at its next simulation step; safe from any thread.

        The primitive that was moving raises `RobotError`. The gripper stays closed on what it
        holds; the next motion first puts that down below where it is. When nothing moves this
        does nothing: the flag is cleared when the next action begins.
        """
        self._stop.set()

    def close(self) -> None:
        """Release the simulation."""
        self._world.close()

    def reset(self, seed: int) -> None:
        """Scatter the same objects anew; the same seed gives the same bits ever after."""
        self._world.state = self._first_state(seed)
        self.spoken.clear()

    def snapshot(self) -> tuple[WorldState, tuple[str, ...]]:
        """Return the whole state of the world and what was said: plain, immutable data."""
        return self._world.state, tuple(self.spoken)

    def restore(self, snapshot: tuple[WorldState, tuple[str, ...]]) -> None:
        """Go back to a snapshot; what follows has the same bits as if nothing came between."""
        self._world.state = snapshot[0]
        self.spoken[:] = snapshot[1]

    def render(self, width: int = 480, height: int = 480) -> Any:
        """Return a picture of the scene as a PIL image."""
        return self._world.render(width, height)

    @property
    def sim_time_s(self) -> float:
        """Simulated seconds since the reset; 0 in instant mode, where motion takes no time."""
        return self._world.state.time_s

    def check_stop(self) -> None:
        """Raise if `stop` was called since this action began."""
        if self._stop.is_set():
            raise RobotError("stopped: the motion was interrupted; look at the scene and go on")

    def frame(self) -> None:
        """Call `on_frame`, if anyone listens."""
        if self.on_frame is not None:
            self.on_frame()

    # Perception.

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
        red, green, blue = scene.COLORS[self._exact(name).split()[0]]
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

    # Actions.

    @action
    def put_first_on_second(self, first: Place, second: Place) -> Array:
        """Pick up an object and put it on an object, in a bowl, or at a place or point.

        It lands on top of whatever already stands there. A bowl carries the blocks in it; a
        block with something on it, or a bowl with a bowl in it, must be cleared first.

        Args:
            first: An object's name, or the xy of one (metres; the topmost there is taken).
            second: An object's name, a place's name such as 'top side', or xy in metres. At a named
                place something may be in the way: then the nearest free spot within 5 cm serves.

        Returns:
            Array of shape (2,): where the object's centre came to rest, x and y in metres.

        Raises:
            NotFound: No object or place of that name, or no object at that point.
            Unreachable: The target is off the table or out of reach; nothing moved.
            Collision: Something stands on the object, or leaves no room for it or the fingers.
            NotGrasped: The fingers closed without holding the object.
        """
        with self._moving():
            name = object_at(self._scene, first)
            xy = target(self._scene, second, name)
            area = isinstance(second, str) and scene.plain(second) in PLACES
            planned = (plan.on_or_near if area else plan.transfer)(self._scene, name, xy)
            return self._carry_out(planned)

    @action
    def stack_objects_in_order(self, object_names: Sequence[str]) -> None:
        """Stack objects on top of one another.

        Args:
            object_names: Names from bottom to top. The first stays where it is; it may also be a
                place, such as 'middle', on which the others are stacked. Those that stand on one
                another in a wrong order are first set aside.

        Raises:
            NotFound: A name is unknown.
            Unreachable: The stack would be too high to reach.
            Collision: Something in the way, as for put_first_on_second.
            NotGrasped: The fingers closed without holding an object.
        """
        if isinstance(object_names, str):
            raise TypeError("object_names must be a list of names, not one name")
        known = [*self._scene.names, *PLACES]
        names = [scene.find(name, known, "object or place") for name in object_names]
        if len(set(names)) < len(names):
            raise Collision(f"an object cannot stand on itself; {names} names one twice")
        for name in names[1:]:
            self._exact(name)
        with self._moving():
            for below, name in itertools.pairwise(names):
                self._stack(below, name, names)

    @action
    def point_gripper_to(self, pos: Place) -> Array:
        """Move the gripper above a point and keep it there, without touching anything.

        Args:
            pos: x and y in metres, or the name of an object or place.

        Returns:
            Array of shape (2,): where the gripper points, x and y in metres.

        Raises:
            NotFound: Nothing has that name.
            Unreachable: The point is off the table.
        """
        with self._moving():
            xy = target(self._scene, pos)
            plan.check_target(xy)
            self._world.point(xy)
        return np.array(xy)

    @action
    def say(self, text: str) -> None:
        """Tell the person something, in words.

        Args:
            text: What to say.
        """
        self.spoken.append(str(text))

    def _carry_out(self, planned: plan.Transfer) -> Array:
        """Move one object and return where it came to rest, as far as can be seen."""
        moved, slips = planned, False
        if self._disturbances.moves:
            state = self._world.state
            moved, slips = self._disturbances.of_transfer(planned, state.generator(MOTION_DRAWS))
        self._world.transfer(moved, slips=slips)
        seen = self._scene
        if planned.name not in seen.names:
            raise NotFound(f"{planned.name!r} was moved and is not seen any more")
        return np.array(plan.check_result(planned, seen[planned.name]))

    def _stack(self, below: str, name: str, names: Sequence[str]) -> None:
        """Put an object straight on another; other members of the stack are set aside first."""
        for base in (below, name):
            above = plan.resting_on(self._scene, base) if base not in PLACES else []
            if base == below and above and above[0].name == name:
                return
            for body in reversed(above):
                if body.name in names:
                    self._carry_out(plan.aside(self._scene, body.name))
        self.put_first_on_second(name, below)

    def _exact(self, name: str) -> str:
        return scene.find(name, self._scene.names)

    @contextlib.contextmanager
    def _moving(self) -> Iterator[None]:
        """Begin an action: clear the stop flag if it is the outermost, and have the hand empty."""
        if self._depth == 0:
            self._stop.clear()
        self._depth += 1
        try:
            self.check_stop()
            self._world.recover()
            yield
        finally:
            self._depth -= 1
