"""The seam between the tabletop's primitives and what carries them out."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Protocol

from robots.ravens.plan import Transfer
from robots.ravens.scene import Scene

OPEN_GAP_M = 0.085
"""The gripper's stroke: the published 85 mm of the Robotiq 2F-85."""
Joints = tuple[float, ...]


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


class Host(Protocol):
    """What a world needs of the robot it belongs to."""

    frame_every_steps: int
    """Simulation steps between two calls of `frame`."""

    def frame(self) -> None:
        """Let a recorder take a picture."""

    def check_stop(self) -> None:
        """Raise `RobotError` if the running motion was told to stop."""


class World(Protocol):
    """Carries out planned motions and draws."""

    state: WorldState
    """Where everything is between motions; assign to put a snapshot back."""

    def transfer(self, planned: Transfer) -> None:
        """Pick an object up and put it down.

        Raises:
            NotGrasped: The fingers closed on nothing, or the object was lost on the way.
            RobotError: The motion was stopped.
        """

    def recover(self) -> None:
        """Put down what a stopped motion left in the gripper, if anything."""

    def point(self, xy: tuple[float, float]) -> None:
        """Hold the gripper over a point of the table, metres."""

    def render(self, width: int, height: int) -> Any:
        """Return a picture as a PIL image."""

    def close(self) -> None:
        """Release what the world holds."""
