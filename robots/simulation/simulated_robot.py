"""What the simulated robots share: a world that can be seen, stopped, reset, saved and restored.

What the last turns began with is kept, so that programs can undo them.
"""

from __future__ import annotations

import operator
import threading
from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from typing import Any, Generic, TypeVar

from cap.errors import NotFound, RobotError, UsageError
from cap.program.scope import Primitive
from robots.base import primitives_of
from robots.simulation.world import SimulatedWorld, State, WorldOwner

MAX_TURNS = 50
"""So many of the last turns can be undone."""
Before = TypeVar("Before")


@dataclass(frozen=True)
class EarlierTurn(Generic[Before]):
    """A turn that did something."""

    before: Before
    """What it began with."""
    words: str = ""
    """Its instruction; "" while it goes on."""


@dataclass(frozen=True)
class TurnHistory(Generic[Before]):
    """The turns that did something: plain data, so that it is a part of a robot's state."""

    earlier: tuple[EarlierTurn[Before], ...] = ()
    """The oldest first."""
    acted: bool = False
    """Whether this turn has done anything: the last of those is then its own."""
    undone: tuple[str, ...] = ()
    """The instructions of the turns that this one undid, the last of them first."""

    def begun(
        self, before: Before, same: Callable[[Before, Before], bool] = operator.eq
    ) -> TurnHistory[Before]:
        """Return the history now that this turn does something.

        Args:
            before: What it began with.
            same: Whether two of these are the same: then the last turn came to nothing.
        """
        if self.acted:
            return self
        kept = self.lasting(before, same).earlier
        return replace(self, earlier=(*kept, EarlierTurn(before))[-MAX_TURNS:], acted=True)

    def lasting(
        self, now: Before, same: Callable[[Before, Before], bool] = operator.eq
    ) -> TurnHistory[Before]:
        """Return the history without its last turns, if they began with what there is now."""
        left = self.earlier
        while left and same(left[-1].before, now):
            left = left[:-1]
        return replace(self, earlier=left)

    def before(self, count: int, did: str) -> Before:
        """Return what the oldest of so many of the last turns began with.

        Args:
            count: How many.
            did: What turns that count did, for the message.

        Raises:
            NotFound: There were fewer.
        """
        if count > (known := len(self.earlier)):
            raise NotFound(f"turns that {did}: {known} remembered; ask for no more than that")
        return self.earlier[-count].before

    def taken_back(self, count: int) -> TurnHistory[Before]:
        """Return the history now that so many of the last turns are undone."""
        words = [turn.words for turn in reversed(self.earlier[-count:]) if turn.words]
        return TurnHistory(self.earlier[:-count], undone=(*self.undone, *words))

    def ended(self, words: str) -> TurnHistory[Before]:
        """Return the history now that this turn is over.

        Args:
            words: Its instruction.
        """
        if not self.acted:
            return TurnHistory(self.earlier)
        return TurnHistory((*self.earlier[:-1], replace(self.earlier[-1], words=words)))


def check_choices(mode: str, objects: object, scene: str | None) -> None:
    """Refuse an unknown mode, and objects given together with a scene.

    Args:
        mode: `physics` (bodies, contacts and motion in time), or `instant`.
        objects: Names of the objects, or None.
        scene: A scene file's path, or None.

    Raises:
        UsageError: The mode is unknown, or both are given.
    """
    if scene is not None and objects is not None:
        raise UsageError("a scene has its own objects: give a scene or objects, not both")
    if mode not in ("physics", "instant"):
        raise UsageError(f"no mode {mode!r}; use 'physics' or 'instant'")


class SimulatedRobot(ABC, Generic[State]):
    """A robot in a world of its own."""

    simulated = True
    _stopped: str
    """What programs read when a motion was stopped."""

    def __init__(
        self,
        seed: int,
        mode: str,
        make_world: Callable[[WorldOwner, State], SimulatedWorld[State]],
    ) -> None:
        """Build the world of a seed.

        Args:
            seed: Decides what the world is like.
            mode: `physics` or `instant`: which kind of world `make_world` makes.
            make_world: Builds the world for a state.

        Raises:
            UsageError: The objects do not fit.
        """
        self.mode = mode
        self.spoken: list[str] = []
        """What `say` was given, in order."""
        self.on_frame: Callable[[], None] | None = None
        """Called every `frame_every_s` simulated seconds; when instant, once a motion or more."""
        self.frame_every_s = 0.25
        """Simulated seconds between two calls of `on_frame`."""
        self._stop = threading.Event()
        self._world = make_world(self, self._first_state(seed))
        self.engine: str | None = getattr(self._world, "engine", None)
        """What carries its physics; None in instant mode."""
        self._primitives = primitives_of(self)

    @abstractmethod
    def _first_state(self, seed: int) -> State:
        """Return the state that a seed begins with; the same one every time."""

    def primitives(self) -> Mapping[str, Primitive]:
        """Return the functions programs may call, by name."""
        return self._primitives

    @property
    def state(self) -> State:
        """The world as it truly is, seen or not: plain, immutable data."""
        return self._world.state

    @property
    def sim_time_s(self) -> float:
        """Simulated seconds since the reset; 0 in instant mode, where motion takes no time."""
        return self._world.state.time_s

    def frame(self) -> None:
        """Call `on_frame`, if anyone listens."""
        if self.on_frame is not None:
            self.on_frame()

    def stop(self) -> None:
        """Stop the running motion at its next simulation steps; safe from any thread.

        The primitive that was moving raises `RobotError`. When nothing moves this does nothing:
        the flag is cleared when the next action begins.
        """
        self._stop.set()

    def check_stop(self) -> None:
        """Raise if `stop` was called since this action began."""
        if self._stop.is_set():
            raise RobotError(self._stopped)

    def close(self) -> None:
        """Release the simulation."""
        self._world.close()

    def reset(self, seed: int) -> None:
        """Build the world of a seed again; the same seed always gives the same bits."""
        self._world.state = self._first_state(seed)
        self.spoken.clear()

    def snapshot(self) -> tuple[State, tuple[str, ...]]:
        """Return the whole state of the world and what was said: plain, immutable data."""
        return self._world.state, tuple(self.spoken)

    def restore(self, snapshot: tuple[State, tuple[str, ...]]) -> None:
        """Go back to a snapshot; what follows has the same bits as if nothing came between."""
        self._world.state = snapshot[0]
        self.spoken[:] = snapshot[1]

    @abstractmethod
    def render(self, width: int = 480, height: int = 480) -> Any:
        """Return a picture of the scene as a PIL image."""


class TurnTaker:
    """Adds `end_turn` to a robot whose state has `turns`."""

    _world: Any

    def end_turn(self, words: str = "") -> tuple[str, ...]:
        """Begin another turn; return the instructions that were undone."""
        state = self._world.state
        self._world.state = replace(state, turns=state.turns.ended(words))
        undone: tuple[str, ...] = state.turns.undone
        return undone
