"""The tabletop robot: its primitives, the same in both modes, and what the engine needs of it."""

from __future__ import annotations

import threading
from collections.abc import Callable, Mapping, Sequence
from typing import Any, Literal

import numpy as np

from cap.scope import Primitive
from robots.base import action, primitives_of
from robots.ravens import scene, transfer
from robots.ravens.disturbances import Disturbances
from robots.ravens.handling import Handling
from robots.ravens.looking import Looking
from robots.ravens.observation import Eyes, Truth
from robots.ravens.travelling import Travelling
from robots.ravens.world import Host, World, WorldState

Mode = Literal["physics", "instant"]
MakeEyes = Callable[[Any], Eyes]
NOTHING_WRONG = Disturbances()
MakeWorld = Callable[[Host, WorldState], World]


class RavensRobot(Travelling, Handling, Looking):
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
        joints = transfer.PARK.joints()
        return WorldState(objects, joints, seed=seed)

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

    @property
    def state(self) -> WorldState:
        """The world as it truly is: objects, arm, and the paths the gripper followed."""
        return self._world.state

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

    def frame(self) -> None:
        """Call `on_frame`, if anyone listens."""
        if self.on_frame is not None:
            self.on_frame()

    @action
    def say(self, text: str) -> None:
        """Tell the person something, in words.

        Args:
            text: What to say.
        """
        self.spoken.append(str(text))
