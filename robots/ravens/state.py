"""Everything that decides what the table does next: plain data, so a copy is a snapshot."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace

import numpy as np
from numpy.typing import NDArray

from cap.errors import NotGrasped
from robots.arm.gripper import OPEN_GAP_M, Fingers, Grip
from robots.arm.motion import Pose
from robots.arm.strokes import Stroke, stroke_of
from robots.ravens import transfer
from robots.ravens.scene import Scene
from robots.ravens.transfer import Transfer
from robots.simulation.simulated_robot import TurnHistory
from robots.table.geometry import Vec3

Joints = tuple[float, ...]
Layout = tuple[tuple[str, Vec3], ...]
"""Where objects are, the lowest first: names and xyz, metres."""
MAX_PATHS = 500
"""Paths a world remembers; the oldest are forgotten."""


@dataclass(frozen=True)
class WorldState:
    """The whole world."""

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
