"""The tabletop robot: everything programs may call, the same in both modes."""

from __future__ import annotations

import contextlib
import math
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from cap.errors import Collision, NotFound, RobotError, Unreachable
from cap.robot.view import Appearance, Shape
from robots.arm import ur5e
from robots.arm.motion import PARK
from robots.arm.strokes import Points, path_of
from robots.base import action, perception
from robots.ravens import arrangement, route, scene_file, transfer
from robots.ravens.disturbances import Disturbances
from robots.ravens.observation import MOTION_DRAWS, CameraEyes
from robots.ravens.scene import TABLE_SPAN, Scene, nearest_free_region, sample_scene, segmask
from robots.ravens.state import Layout, WorldState
from robots.ravens.world import TabletopWorld, shapes, view
from robots.simulation import shortest_path
from robots.simulation.simulated_robot import SimulatedRobot, TurnHistory, TurnTaker
from robots.simulation.world import WorldOwner
from robots.table.arguments import (
    Place,
    count,
    named_points,
    names_in_order,
    object_at,
    point,
    target,
)
from robots.table.colors import COLORS
from robots.table.geometry import CORNERS, PLACES, SIDES, XY, nearest_place
from robots.table.numbers import finite_numbers
from robots.table.object_names import COLOR_OF, find, plain

Array = NDArray[np.float64]
MakeWorld = Callable[[WorldOwner, WorldState], TabletopWorld]
NOTHING_WRONG = Disturbances()


class RavensRobot(TurnTaker, SimulatedRobot[WorldState]):
    """A UR5e with a two-finger gripper at a table with coloured blocks and bowls.

    Positions are xy in metres in the table frame: x grows to the right, y grows away from the front
    edge (up, in the picture). Things stand at x -0.28 to 0.28, y -0.78 to -0.22.
    A '<colour> block' is a 4 cm cube, a '<colour> bowl' 12 cm wide; where two stand side by side
    their centres are 6 cm apart or more, block and bowl 10 cm. Places have names too: 'top
    left corner', 'top right corner', 'bottom left corner', 'bottom right corner', 'top side',
    'right side', 'bottom side', 'left side', 'middle'.
    """

    name = "ravens"
    _stopped = "stopped: the motion was interrupted; look at the scene and go on"
    _world: TabletopWorld

    def __init__(
        self,
        names: Sequence[str] | Scene,
        seed: int,
        mode: str,
        make_world: MakeWorld,
        *,
        make_eyes: Callable[[Any], CameraEyes] | None = None,
        disturbances: Disturbances = NOTHING_WRONG,
    ) -> None:
        """Build the scene of a seed.

        Args:
            names: The objects, by their exact names; or where they stand, whatever the seed.
            seed: Decides where they stand.
            mode: Which kind of world `make_world` makes.
            make_world: Builds the world for a state.
            make_eyes: Gives a world the camera that programs see it by; without it they know all.
            disturbances: What goes wrong in motions.

        Raises:
            UsageError: The objects do not fit on the table.
        """
        self._objects = names if isinstance(names, Scene) else tuple(names)
        super().__init__(seed, mode, make_world)
        self._eyes = None if make_eyes is None else make_eyes(self._world)
        self._disturbances = disturbances

    def _first_state(self, seed: int) -> WorldState:
        scene = self._objects
        if not isinstance(scene, Scene):
            scene = sample_scene(scene, np.random.default_rng(seed))
        return WorldState(scene, PARK.joints(), seed=seed)

    # What the engine needs of a robot, beyond what all simulated ones have.

    def context(self) -> Mapping[str, Any]:
        """Return the names of the objects seen."""
        return {"objects": self._scene.names}

    def positions(self) -> Mapping[str, tuple[float, float, float]]:
        """Return where each object's centre truly is, whatever is seen: xyz in metres."""
        return {body.name: body.position for body in self._world.state.scene.bodies}

    landmarks = PLACES

    def whereabouts(self) -> Mapping[str, str]:
        """Return the bowl or block that each object truly is in or on; "" on the table itself."""
        found = {}
        scene = self._world.state.scene
        for body in scene.bodies:
            below = [other for other in scene.others(body.name) if transfer.stands_on(body, other)]
            found[body.name] = max(below, key=lambda other: other.top).name if below else ""
        return found

    def condition(self) -> Mapping[str, Any]:
        """Return where the fingertips are, xyz in metres, what they hold, and paths followed."""
        state = self._world.state
        tip = tuple(ur5e.forward(state.joints)[:3, 3].tolist())
        return {"gripper": tip, "held": state.held or "nothing", "paths followed": len(state.paths)}

    def contents(self) -> Mapping[str, Sequence[str]]:
        """Return the names of what truly lies in each bowl, on other blocks or not."""
        state = self._world.state
        loose = [body for body in state.scene.bodies if body.name != state.held]
        return {
            bowl.name: [body.name for body in loose if body.name != bowl.name and bowl.holds(body)]
            for bowl in loose
            if bowl.kind == "bowl"
        }

    def scene_text(self, about: str) -> str:
        """Return the scene as it truly is as the text of a file that `create(scene=...)` reads."""
        return scene_file.text_of(self._world.state.scene, about)

    def shapes(self) -> Mapping[str, Sequence[Shape]]:
        """Return what each body is made of, for who draws the table."""
        return shapes(self._world.state)

    def view(self) -> Appearance:
        """Return where each body is at this moment, in the middle of a motion too."""
        return view(self._world.now())

    def render(self, width: int = 480, height: int = 480) -> Any:
        """Return a picture of the scene as a PIL image."""
        return self._world.render(width, height)

    # What the primitives share.

    @property
    def _scene(self) -> Scene:
        """The scene as programs and plans know it."""
        state = self._world.state
        return state.scene if self._eyes is None else self._eyes.see(state)

    def _exact(self, name: str) -> str:
        return self._find(name, self._scene.names, "object")

    def _find(self, name: str, known: Iterable[str], what: str) -> str:
        """Return the known name that a name means; say so where the arm may hide what it is of."""
        try:
            return find(name, known, what)
        except NotFound as error:
            if self._eyes is None or not self._eyes.hindered(self._world.state):
                raise
            raise NotFound(
                f"{str(error).rstrip('.')}. The arm hides part of the table from the camera: any "
                "action moves it out of the way first"
            ) from None

    def _keep_seen(self, before: Scene) -> None:
        """Know what was seen before a motion that touched nothing, now that the arm hides it."""
        if self._eyes is not None:
            self._world.state = replace(self._world.state, seen=before)

    @contextlib.contextmanager
    def _moving(self, *, remembering: bool = True) -> Iterator[None]:
        """Begin an action; it ends what a stop of the one before left behind.

        From here on a stop holds until the action has ended, whatever it is doing. The first action
        of a turn that changes anything leaves word of where everything was before.
        """
        self._stop.clear()
        self._world.begin()
        self.check_stop()
        if self._eyes is not None:
            self._eyes.clear_view(self._world.state)
        turns = self._world.state.turns
        before = self._layout() if remembering and not turns.acted else None
        state = self._world.state
        try:
            yield
        finally:
            if before is not None and self._is_changed(state):
                self._world.remember(turns.begun(before, _same))

    def _layout(self) -> Layout:
        """Return where everything is seen now."""
        bodies = sorted(self._scene.bodies, key=lambda body: round(body.bottom, 3))
        return tuple((body.name, body.position) for body in bodies)

    def _is_changed(self, state: WorldState) -> bool:
        """Tell whether the world may be in another state; what cannot be seen now may be."""
        try:
            return self._world.state is not state
        except RobotError:
            return True

    def _turns(self) -> TurnHistory[Layout]:
        """Return the turns that can be undone, without those that came to nothing."""
        return self._world.state.turns.lasting(self._layout(), _same)

    # Looking: what programs may ask about the scene.

    @perception
    def get_obj_names(self) -> list[str]:
        """Return the names of all objects on the table."""
        return self._scene.names

    @perception
    def get_obj_pos(self, name: str) -> Array:
        """Return the centre of an object, or of a corner, a side or 'middle'.

        Args:
            name: An object's or a place's name, such as 'red block' or 'top left corner'.

        Returns:
            Array of shape (2,): x and y in metres in the table frame.

        Raises:
            NotFound: Nothing has that name.
        """
        known = named_points(self._scene.bodies)
        return np.array(known[self._find(name, known, "object or place")])

    @perception
    def get_bbox(self, name: str) -> Array:
        """Return the box around an object seen from above.

        Args:
            name: An object's name.

        Returns:
            Array of shape (4,): min x, min y, max x, max y in metres.

        Raises:
            NotFound: Nothing has that name.
        """
        return np.array(self._scene[self._exact(name)].bbox())

    @perception
    def get_segmask(self, name: str) -> NDArray[np.bool_]:
        """Return which cells of the table an object covers, seen from above.

        Args:
            name: An object's name.

        Returns:
            Truth values, shape (300, 300): cells of 2 mm, the first row at the top of the table,
            the first column at its left.

        Raises:
            NotFound: Nothing has that name.
        """
        return segmask(self._scene[self._exact(name)])

    @perception
    def get_obj_height(self, name: str) -> float:
        """Return how high an object's centre is above the table, in metres.

        Stacked objects share their xy and differ in this: sort by it to take a stack apart from
        the top.

        Args:
            name: An object's name.

        Raises:
            NotFound: Nothing has that name.
        """
        return round(float(self._scene[self._exact(name)].position[2]), 3)

    @perception
    def get_layout(self, turns_ago: int | str = 0) -> dict[str, Array]:
        """Return where all objects are, {name: xy in metres}: arrange_objects takes them back.

        Args:
            turns_ago: 1: before the last turn that moved something; or 'start'.

        Raises:
            NotFound: There were fewer.
        """
        layout = self._layout()
        if isinstance(turns_ago, str) and turns_ago == "start":
            layout = next((turn.before for turn in self._turns().earlier), layout)
        elif turns := count(turns_ago, "turns_ago", 0):
            layout = self._turns().before(turns, "moved something")
        return {name: np.array(position[:2]) for name, position in layout}

    @perception
    def find_free_region(
        self,
        size: Sequence[float] | Array,
        near: Place = "middle",
        moving: Sequence[str] = (),
        within: Sequence[float] | Array = TABLE_SPAN,
    ) -> Array:
        """Return the centre of the free rectangle of the table nearest to a point, shape (2,).

        Args:
            size: Its width along x and its depth along y in metres; [0.1, 0.1] fits a block, with
                room for the fingers.
            near: xy in metres, or the name of an object or place.
            moving: Names of objects that do not count: they are going to be moved.
            within: The part of the table it must lie in, such as the left half: (left, bottom,
                right, top) in metres.

        Raises:
            NotFound: Nothing has that name, or no such rectangle is free.
        """
        width, depth = point(size, "size")
        example = "find_free_region([0.1, 0.1], moving=['red block'])"
        gone = [self._exact(name) for name in names_in_order(moving, "moving", example)]
        around = target(self._scene.bodies, near)
        corners = "left, bottom, right and top, four finite numbers"
        part = finite_numbers(within, "within", corners, (4,))
        low, high = np.array(TABLE_SPAN).reshape(2, 2)
        part = np.array([*np.maximum(part[:2], low), *np.minimum(part[2:], high)])
        others = self._scene.others(*gone)
        return np.array(nearest_free_region(others, (width, depth), around, part.tolist()))

    @perception
    def get_color(self, name: str) -> tuple[float, float, float, float]:
        """Return an object's colour as (red, green, blue, alpha), each 0 to 1.

        Args:
            name: An object's name.

        Raises:
            NotFound: Nothing has that name.
        """
        known = self._exact(name)
        if (color := COLOR_OF.get(known) or COLORS.get(known.split()[0])) is None:
            raise NotFound(f"nothing is known of the colour of {known!r}; its name has none")
        red, green, blue = color
        return (red / 255, green / 255, blue / 255, 1.0)

    @perception
    def is_obj_visible(self, name: str) -> bool:
        """Return whether an object of that name is on the table."""
        try:
            return bool(self._exact(name))
        except NotFound:
            return False

    @perception
    def denormalize_xy(self, pos_normalized: Sequence[float] | Array) -> Array:
        """Turn a position given as fractions of the way from corner to corner into metres.

        Args:
            pos_normalized: Two numbers, 0 to 1: (0, 0) is 'bottom left corner', (1, 1) 'top right
                corner', (0.5, 0.5) 'middle'. The corners lie inside the table's edge.

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
        return nearest_place(point(pos, "pos"), CORNERS)

    @perception
    def get_side_name(self, pos: Sequence[float] | Array) -> str:
        """Return the name of the side nearest to a point, such as 'left side'.

        Args:
            pos: x and y in metres.
        """
        return nearest_place(point(pos, "pos"), SIDES)

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

    # Handling: what they may do with objects.

    @action
    def put_first_on_second(self, first: Place, second: Place) -> Array:
        """Pick up an object and put it on an object, in a bowl, or at a place or point.

        It lands on top of what already stands there; on a plate, beside it. A bowl carries the
        blocks in it; a block with something on it, or a bowl with a bowl in it, must be cleared
        first.

        Args:
            first: An object's name, or the xy of one (metres; the topmost there is taken).
            second: An object's name, a place's name such as 'top side', or xy in metres. At a named
                place something may be in the way: then the nearest free spot within 5 cm serves.

        Returns:
            Where the object's centre came to rest: x and y in metres, shape (2,).

        Raises:
            NotFound: No object or place of that name, or no object at that point.
            Unreachable: The target is off the table or out of reach; nothing moved.
            Collision: Something stands on the object, or leaves no room for it or the fingers.
            NotGrasped: The fingers closed without holding the object.
        """
        with self._moving():
            self._world.recover()
            name = object_at(self._scene.bodies, first)
            xy = target(self._scene.bodies, second, name)
            self._check_not_below(name, second)
            named = second if isinstance(second, str) else None
            base = next((body for body in self._scene.bodies if body.name == named), None)
            if base is not None and transfer.has_room_beside(self._scene, name, base):
                return self._carry_out(transfer.on_free_spot(self._scene, name, base, self._hand))
            area = isinstance(second, str) and plain(second) in PLACES
            plan = transfer.on_or_near if area else transfer.transfer
            try:
                planned = plan(self._scene, name, xy, self._hand)
            except Collision:
                filled = self._scene[name].kind == "bowl" and transfer.resting_on(self._scene, name)
                if not filled:
                    raise
                self._arrange(*self._plan_filled(name, xy, area))
                return np.array(self._scene[name].xy)
            return self._carry_out(planned)

    def _plan_filled(self, name: str, xy: XY, area: bool) -> Any:
        """Plan how a filled bowl gets to a place; to a named one, or the nearest free spot.

        Raises:
            Unreachable: The place is out of reach.
            Collision: There is no room.
        """
        failure: Collision | Unreachable | None = None
        for spot in (xy, *(transfer.around(xy, transfer.PLACE_RINGS) if area else ())):
            try:
                return arrangement.plan(self._scene, {name: spot}, self._hand)
            except (Collision, Unreachable) as error:
                failure = failure or error
        assert failure is not None
        raise failure

    def _check_not_below(self, name: str, second: Place) -> None:
        """Refuse to put an object on what stands on it, or in it.

        Raises:
            Collision: That is so.
        """
        carried = [body.name for body in transfer.resting_on(self._scene, name)]
        if isinstance(second, str) and second in carried:
            raise Collision(
                f"{second!r} is in or on {name!r}, which cannot be put on it; move it away"
            )

    @action
    def stack_objects_in_order(self, object_names: Sequence[str]) -> None:
        """Stack objects on top of one another.

        Args:
            object_names: Names from bottom to top. The first stays, unless it stands on another of
                them; it may be a place, such as 'middle'. A wrong stack is taken apart first.

        Raises:
            NotFound: Nothing has that name.
            Unreachable: The stack would be too high to reach.
            Collision: Something else is on them or in the way, or the stack fell.
            NotGrasped: The fingers closed without holding the object.
        """
        with self._moving():
            example = "stack_objects_in_order(['red block', 'green block'])"
            given = names_in_order(object_names, "object_names", example)
            known = [*self._scene.names, *PLACES]
            names = [find(name, known, "object or place") for name in given]
            if len(set(names)) < len(names):
                raise Collision(f"an object cannot stand on itself; {names} names one twice")
            place = PLACES[names.pop(0)] if names and names[0] in PLACES else None
            for name in names:
                self._exact(name)
            self._world.recover()
            if names:
                self._arrange(*arrangement.plan_stack(self._scene, names, place, self._hand))

    @action
    def arrange_objects(self, places: Mapping[str, Place]) -> list[str]:
        """Move several objects, each to its place; those listed make way for each other.

        Args:
            places: {name: xy in metres, or a name}, such as dict(zip(names, points)). Those with
                the same or overlapping places are stacked as listed, the lowest first; a block may
                lie across two that are 4.5 to 7 cm apart. What is there stays. Bowls stay filled.
                Names mean the places of before.

        Returns:
            Names of those that were moved.

        Raises:
            NotFound: Nothing has that name.
            Unreachable: A place is off the table or out of reach; nothing moved.
            Collision: Something else is in the way, or there is no room; or one fell.
            NotGrasped: The fingers closed without holding the object.
        """
        with self._moving():
            if not isinstance(places, Mapping):
                raise TypeError(
                    f"places must be a dict of names and places; got a {type(places).__name__}"
                )
            known = self._scene.bodies
            goals: dict[str, XY] = {}
            for given, place in places.items():
                if (name := self._exact(given)) in goals:
                    raise Collision(f"{name!r} cannot be in two places; it is named twice")
                goals[name] = target(known, place)
            named = [plain(place) if isinstance(place, str) else "" for place in places.values()]
            if all(place in goals for place in named):  # they change places, maybe in one stack
                heights = {body.name: body.position[2] for body in known}
                order = sorted(zip(named, goals, strict=True), key=lambda pair: heights[pair[0]])
                goals = {name: goals[name] for _, name in order}
            self._world.recover()
            return self._arrange(*arrangement.plan(self._scene, goals, self._hand))

    @action
    def undo_turns(self, turns: int = 1) -> list[str]:
        """Move all objects back to where they were before the last turns, failed ones too.

        Args:
            turns: How many; only those that moved something count.

        Returns:
            Names of those that were moved.

        Raises:
            NotFound: There were fewer, or an object is gone.
            Collision: There is no room, or one fell.
            NotGrasped: The fingers closed without holding the object.
        """
        number = count(turns, "turns", 1)
        with self._moving(remembering=False):  # its own actions are no turn to undo
            self._world.recover()
            known = self._turns()
            if not known.earlier and number == 1:
                return []
            layout = known.before(number, "moved something")
            goals = {name: position[:2] for name, position in layout}
            for name in goals:
                self._exact(name)
            moved = self._arrange(*arrangement.plan(self._scene, goals, self._hand))
            self._world.remember(known.taken_back(number))
            return moved

    @action
    def point_gripper_to(self, pos: Place) -> Array:
        """Hold the gripper above a point, without touching anything.

        Args:
            pos: x and y in metres, or the name of an object or place.

        Returns:
            Where the gripper is then: x and y in metres, shape (2,).

        Raises:
            NotFound: Nothing has that name.
            Unreachable: The point is off the table or beyond the arm; nothing moved.
        """
        with self._moving():
            xy = target(self._scene.bodies, pos)
            transfer.check_target(xy)
            self._world.recover()
            seen = self._scene
            self._world.point(xy)
            self._keep_seen(seen)
        return np.array(xy)

    @property
    def _hand(self) -> transfer.Hand:
        """The gripper as it is, for plans."""
        x, y, z = ur5e.forward(self._world.state.joints)[:3, 3].tolist()
        return transfer.Hand((x, y, z), self._world.fingers, self.check_stop)

    def _carry_out(self, planned: transfer.Transfer) -> Array:
        """Move one object and return where it came to rest, as far as can be seen."""
        moved, slips = planned, False
        if self._disturbances.moves:
            state = self._world.state
            moved, slips = self._disturbances.of_transfer(planned, state.generator(MOTION_DRAWS))
        self._world.transfer(moved, slips=slips)
        seen = self._scene
        if planned.name not in seen.names:
            raise NotFound(f"{planned.name!r} was moved and is not seen any more")
        return np.array(transfer.check_result(planned, seen[planned.name]))

    def _arrange(self, goals: arrangement.Goals, steps: Sequence[arrangement.Carry]) -> list[str]:
        """Take the steps to an arrangement, make sure of it, and return what was moved."""
        for step in steps:
            scene = self._scene
            xy = step.xy if step.onto is None else scene[step.onto].xy
            self._carry_out(transfer.transfer(scene, step.name, xy, self._hand, step.yaw))
        arrangement.check(self._scene, goals)
        return list(dict.fromkeys(step.name for step in steps))

    # Travelling: what they may do with the gripper alone.

    @perception
    def get_robot_pos(self) -> Array:
        """Return where the gripper is over the table.

        Returns:
            Array of shape (2,): x and y of the fingertips in metres.
        """
        return np.array(ur5e.forward(self._world.state.joints)[:2, 3])

    @perception
    def plan_path(
        self, start_pos: Place, goal_pos: Place, avoid_regions: Sequence[Any] = ()
    ) -> Array:
        """Return the shortest path over the table around regions; nothing moves.

        It keeps 3 cm clear of every region, less where an end is closer.

        Args:
            start_pos: x and y in metres, such as get_robot_pos(), or an object's or place's name.
            goal_pos: The same.
            avoid_regions: What to keep out of: a list of names, shapely polygons, or
                arrays of a polygon's corners, shape (n, 2), metres.

        Returns:
            Array of shape (n, 2): the path's corners from start to goal, for follow_traj.

        Raises:
            NotFound: Nothing has that name.
            Unreachable: The start or the goal is off the table or in a region, or no way is free.
            LimitExceeded: Too many regions or corners.
        """
        seen = self._scene.bodies
        start, goal = (np.array(target(seen, end)) for end in (start_pos, goal_pos))
        route.check_on_table(np.stack([start, goal]))
        return shortest_path.shortest(start, goal, shortest_path.regions_of(avoid_regions, seen))

    @action
    def follow_traj(self, traj: Points, speed: float = route.SPEED_MPS) -> Array:
        """Lead the gripper along a path, over everything on the table; it touches nothing.

        It goes to its first point first.

        Args:
            traj: 2 or more points of x and y in metres, shape (n, 2).
            speed: Greatest speed in metres per second, 0.01 to 1.0.

        Returns:
            Where the gripper is then: x and y in metres, shape (2,).

        Raises:
            Unreachable: The point is off the table or beyond the arm; nothing moved.
            LimitExceeded: The speed is not within its limits.
        """
        with self._moving():
            return self._lead(path_of(traj, "traj"), speed)

    @action
    def goto_pos(self, pos: Place, speed: float = route.SPEED_MPS) -> Array:
        """Lead the gripper straight to a point, over everything on the table.

        Args:
            pos: x and y in metres, or the name of an object or place.
            speed: Greatest speed in metres per second, 0.01 to 1.0.

        Returns:
            Where the gripper is then: x and y in metres, shape (2,).

        Raises:
            NotFound: Nothing has that name.
            Unreachable: The point is off the table or beyond the arm; nothing moved.
            LimitExceeded: The speed is not within its limits.
        """
        with self._moving():
            goal = np.array(target(self._scene.bodies, pos))
            return self._lead(goal[None], speed)

    def _lead(self, points: Array, speed: float) -> Array:
        """Lead the gripper along a path, or straight to a point; return where it is then."""
        limit = route.checked_speed(speed)
        route.check_path(self._scene, points)
        self._world.recover()
        seen = self._scene
        if len(points) == 1:
            points = np.stack([self.get_robot_pos(), points[0]])
        self._world.follow(points, limit)
        self._keep_seen(seen)
        return self.get_robot_pos()

    # Speaking.

    @action
    def say(self, text: str) -> None:
        """Tell the person something.

        Args:
            text: What to say.
        """
        self.spoken.append(str(text))


def _same(one: Layout, other: Layout) -> bool:
    """Tell whether everything is in the same place in two layouts."""
    places = dict(other)
    return dict(one).keys() == places.keys() and all(
        math.dist(position, places[name]) <= arrangement.THERE_M for name, position in one
    )
