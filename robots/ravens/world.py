"""The tabletop's state, and the interface between its primitives and the worlds that run them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from cap.errors import NotGrasped
from robots.arm.gripper import OPEN_GAP_M, ROBOTIQ_2F_85, Fingers, Grip
from robots.arm.motion import Pose
from robots.arm.strokes import Stroke, stroke_of
from robots.ravens import transfer
from robots.ravens.scene import Scene
from robots.ravens.transfer import Transfer
from robots.simulation.turn_history import TurnHistory
from robots.simulation.world import WorldOwner
from robots.table.geometry import Vec3

Joints = tuple[float, ...]
Layout = tuple[tuple[str, Vec3], ...]
"""Where objects are, the lowest first: names and xyz, metres."""
MAX_PATHS = 500
"""Paths a world remembers; the oldest are forgotten."""


@dataclass(frozen=True)
class WorldState:
    """Everything that decides what a world does next: plain data, so a copy is a snapshot."""

    scene: Scene
    """Every object, at rest."""
    joints: Joints
    """Arm joint angles, radians, at rest."""
    gap_m: float = OPEN_GAP_M
    """Distance between the fingers."""
    held: str | None = None
    """What a stopped motion left in the gripper."""
    time_s: float = 0.0
    """Simulated time since the reset."""
    seed: int = 0
    """Of the scene, and of everything that goes wrong at random."""
    actions: int = 0
    """Motions since the reset: where in its random numbers the world is."""
    paths: tuple[Stroke, ...] = ()
    """Where `follow` led the fingertips since the reset: polylines of xy, metres, in order."""
    seen: Scene | None = None
    """What a camera saw before the gripper came to stand in its view, having touched nothing."""
    turns: TurnHistory[Layout] = field(default_factory=TurnHistory)
    """Where everything was seen before each of the last turns."""

    def followed(self, points: Sequence[Sequence[float]] | NDArray[np.float64]) -> WorldState:
        """Return the state with one more path; fewer than two points make none."""
        if len(points) < 2:
            return self
        return replace(self, paths=(*self.paths, stroke_of(points))[-MAX_PATHS:])

    def put_down(self, fingers: Fingers) -> Transfer:
        """Plan how what is held gets onto what is below it; see `transfer.put_down`."""
        assert self.held is not None
        hand = Pose.of_joints(self.joints)
        held = (self.scene[self.held], *transfer.resting_on(self.scene, self.held))
        grip = Grip((hand.x, hand.y, hand.z), hand.yaw, fingers.opened(self.gap_m))
        return transfer.put_down(self.scene, held, grip)

    def generator(self, stream: int) -> np.random.Generator:
        """Return the random numbers of one kind for this moment; the same ones every time."""
        return np.random.default_rng([self.seed, self.actions, stream])


def slipped(name: str) -> NotGrasped:
    """Return the failure of a grasp that did not hold."""
    return NotGrasped(f"{name!r} slipped out of the fingers; look where it is now")


class TabletopWorld:
    """Carries out planned motions and draws."""

    def __init__(
        self, owner: WorldOwner, state: WorldState, fingers: Fingers = ROBOTIQ_2F_85
    ) -> None:
        """Start from a state.

        Args:
            owner: The robot.
            state: Where everything is.
            fingers: How far the gripper opens; plans must know.
        """
        self.state = state
        """How everything is between motions: assign to put a snapshot back."""
        self.fingers = fingers
        self._owner = owner

    def remember(self, turns: TurnHistory[Layout]) -> None:
        """Keep where everything was before the last turns."""
        self.state = replace(self.state, turns=turns)

    def begin(self) -> None:
        """Make ready for an action: a stop of the one before is over.

        Raises:
            RobotError: The arm is not ready to move.
        """

    def transfer(self, planned: Transfer, *, slips: bool = False) -> None:
        """Pick an object up and put it down; or lose it as it is lifted.

        Raises:
            NotGrasped: The fingers closed on nothing, or the object was lost on the way.
            RobotError: The motion was stopped.
        """
        raise NotImplementedError

    def recover(self) -> None:
        """Put down what a stopped motion left in the gripper, if anything."""
        raise NotImplementedError

    def point(self, xy: tuple[float, float]) -> None:
        """Hold the gripper over a point of the table, metres."""
        raise NotImplementedError

    def follow(self, path: NDArray[np.float64], speed_mps: float) -> None:
        """Take the gripper to a path's first point, then along the path, clear of all objects.

        Args:
            path: Points on the table, shape (n, 2), n at least 2, metres.
            speed_mps: Greatest speed of the fingertips along the path, m/s.

        Raises:
            Unreachable: Part of the way is beyond the arm; nothing moved.
            RobotError: The motion was stopped; what was followed until then is in `state.paths`.
        """
        raise NotImplementedError

    def now(self) -> WorldState:
        """Return how everything is at this moment, in the middle of a motion too."""
        return self.state

    def render(self, width: int, height: int) -> Any:
        """Return a picture as a PIL image."""
        raise NotImplementedError

    def close(self) -> None:
        """Release what the world holds."""
