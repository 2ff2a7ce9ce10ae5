"""What a simulated world needs of its robot, and a robot of its world: time, stopping, state."""

from __future__ import annotations

from collections.abc import Callable
from typing import Protocol, TypeVar

from robots.arm.motion import DT_S

_STOP_CHECK_STEPS = 4


class TimedState(Protocol):
    """The state of a world: plain data, so a copy is a snapshot."""

    @property
    def time_s(self) -> float:
        """Simulated time since the reset."""


State = TypeVar("State", bound=TimedState)


class WorldOwner(Protocol):
    """What a world needs of the robot it belongs to."""

    on_frame: Callable[[], None] | None
    """What `frame` calls, if anything."""
    frame_every_s: float
    """Simulated seconds between two calls of `frame`."""

    def frame(self) -> None:
        """Let a recorder take a picture."""

    def check_stop(self) -> None:
        """Raise `RobotError` if the running motion was asked to stop."""


class SimulatedWorld(Protocol[State]):
    """What a robot needs of any world, whatever is done in it."""

    state: State
    """How everything is between motions: plain data; assign to put a snapshot back."""

    def close(self) -> None:
        """Release what the world holds."""


def after_step(owner: WorldOwner, steps: int, *, watched: bool = True) -> None:
    """Let the owner see and stop a motion, each when it is time to.

    Args:
        owner: The robot whose world advanced by a step.
        steps: How many of them there were since the simulation was built.
        watched: Whether the motion may be stopped.

    Raises:
        RobotError: It was asked to stop.
    """
    every = max(1, round(owner.frame_every_s / DT_S))
    if owner.on_frame is not None and steps % every == 0:
        owner.frame()
    if watched and steps % _STOP_CHECK_STEPS == 0:
        owner.check_stop()
