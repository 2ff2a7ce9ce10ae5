"""What robots share: decorators that make a method a primitive, and the simulated protocol."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, Protocol, TypeVar

from cap.robot.protocol import Robot
from cap.scope import Kind, Primitive

F = TypeVar("F", bound=Callable[..., Any])
_KIND = "__cap_kind__"


def perception(method: F) -> F:
    """Mark a method as a primitive that only reads the world."""
    setattr(method, _KIND, "perception")
    return method


def action(method: F) -> F:
    """Mark a method as a primitive that moves the robot or speaks."""
    setattr(method, _KIND, "action")
    return method


def primitives_of(robot: object) -> Mapping[str, Primitive]:
    """Return the decorated methods of a robot, in the order they are defined."""
    found: dict[str, Primitive] = {}
    for cls in reversed(type(robot).__mro__):
        for name, member in vars(cls).items():
            kind: Kind | None = getattr(member, _KIND, None)
            if kind is not None:
                found[name] = Primitive.of(getattr(robot, name), kind, name)
    return found


class SimulatedRobot(Robot, Protocol):
    """A robot in a world of its own that can be seen, reset, kept and put back."""

    mode: str
    """`physics` (bodies, contacts, motion in time) or `instant` (no dynamics)."""

    def reset(self, seed: int) -> None:
        """Build a new scene; the same seed gives the same scene and the same bits ever after."""

    def snapshot(self) -> Any:
        """Return the whole state of the world, to be handed to `restore`."""

    def restore(self, snapshot: Any) -> None:
        """Go back to a snapshot of this world."""

    def render(self, width: int = 480, height: int = 480) -> Any:
        """Return a picture of the scene as a PIL image."""
