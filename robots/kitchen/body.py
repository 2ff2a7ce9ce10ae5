"""What the engine needs of the kitchen robot: its world, its time, being stopped and put back."""

from __future__ import annotations

import contextlib
import threading
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any, Literal

from cap.errors import RobotError
from cap.scope import Primitive
from robots.base import primitives_of
from robots.kitchen import paths, picture
from robots.kitchen.room import Point
from robots.kitchen.scene_sampler import sample
from robots.kitchen.state import Base, KitchenState
from robots.kitchen.world import Clock, World
from robots.simulation.world import WorldOwner

MakeWorld = Callable[[WorldOwner, KitchenState], World]
LOOK_S = 0.1
"""Simulated time each perception takes."""


class KitchenBody:
    """A robot in a kitchen, without the functions that programs call."""

    simulated = True

    def __init__(
        self,
        named: Sequence[tuple[str, str]],
        seed: int,
        mode: Literal["physics", "instant"],
        make_world: MakeWorld,
        *,
        scattered: bool = True,
    ) -> None:
        """Build the kitchen of a seed.

        Args:
            named: Objects and their places; "" for no place given.
            seed: Decides where furniture and objects stand.
            mode: Which kind of world `make_world` makes.
            make_world: Builds the world for a state.
            scattered: Objects without a place stand about the kitchen; else at the table.

        Raises:
            UsageError: An unknown place, or no room.
        """
        self.mode: str = mode
        self.spoken: list[str] = []
        """What `say` was given, in order."""
        self.on_frame: Callable[[], None] | None = None
        """Called every `frame_every_s` simulated seconds, and once per arm motion when instant."""
        self.frame_every_s = 0.25
        """Simulated seconds between two calls of `on_frame`."""
        self._named = tuple(named)
        self._scattered = scattered
        self._stop = threading.Event()
        self._busy = threading.Lock()
        self._world = make_world(self, sample(self._named, seed, scattered))
        self._clock = Clock(self._world, self)
        self._primitives = primitives_of(self)

    # What the engine needs of a robot.

    def primitives(self) -> Mapping[str, Primitive]:
        """Return the functions programs may call, by name."""
        return self._primitives

    def context(self) -> Mapping[str, Any]:
        """Return the objects seen at the present location, and all locations."""
        return {"objects": self.state.visible(), "locations": list(self.state.room.locations)}

    def positions(self) -> Mapping[str, tuple[float, float, float]]:
        """Return where each object truly is, seen or not: xyz in metres."""
        return {thing.name: thing.position for thing in self.state.things}

    @property
    def state(self) -> KitchenState:
        """The whole kitchen as it is, seen or not: plain, immutable data."""
        return self._world.state

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

    def close(self) -> None:
        """Release the simulation."""
        self._world.close()

    def reset(self, seed: int) -> None:
        """Set the kitchen up anew; the same seed gives the same bits ever after."""
        self._world.state = sample(self._named, seed, self._scattered)
        self.spoken.clear()

    def snapshot(self) -> tuple[KitchenState, tuple[str, ...]]:
        """Return the whole state of the kitchen and what was said: plain, immutable data."""
        return self._world.state, tuple(self.spoken)

    def restore(self, snapshot: tuple[KitchenState, tuple[str, ...]]) -> None:
        """Go back to a snapshot; what follows has the same bits as if nothing came between."""
        self._world.state = snapshot[0]
        self.spoken[:] = snapshot[1]

    @property
    def sim_time_s(self) -> float:
        """Simulated seconds since the reset; in instant mode the arm takes none of them."""
        return self.state.time_s

    def render(self, width: int = 480, height: int = 480) -> Any:
        """Return the kitchen from above as a PIL image."""
        return picture.draw(self._world.now(), width, height)

    def remove(self, name: str) -> None:
        """Take an object out of the kitchen, as a person might."""
        left = tuple(thing for thing in self.state.things if thing.name != name)
        held = None if self.state.held == name else self.state.held
        self._world.state = replace(self.state, things=left, held=held)

    def check_stop(self) -> None:
        """Raise if `stop` was called since this primitive began."""
        if self._stop.is_set():
            raise RobotError("stopped: the motion was interrupted; look where the robot is")

    def frame(self) -> None:
        """Call `on_frame`, if anyone listens."""
        if self.on_frame is not None:
            self.on_frame()

    def _drive(self, goal: Point, speed_mps: float, angle: float | None) -> None:
        ground = paths.ground(self.state.room, self.state.drawers)
        points = paths.route(ground, self.state.base.xy, goal)
        self._clock.drive(points, speed_mps, angle)

    def _drive_to(self, base: Base) -> None:
        if base != self.state.base:
            self._drive(base.xy, 0.5, base.angle)

    def _halt(self) -> None:
        self._stop.clear()
        self._world.state = replace(self.state, velocity=(0.0, 0.0, 0.0))

    @contextlib.contextmanager
    def _looking(self) -> Iterator[KitchenState]:
        """Let the time of a look pass; what follows is seen then."""
        with self._busy:
            try:
                self._clock.coast(LOOK_S)
            except RobotError:
                self._halt()
                raise
            yield self.state

    @contextlib.contextmanager
    def _moving(self) -> Iterator[None]:
        """Begin a motion: with a velocity of zero, and not stopped yet."""
        with self._busy:
            self._halt()
            try:
                yield
            finally:
                self._stop.clear()
