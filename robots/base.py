"""What all robots share: decorators that make a method a primitive."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, TypeVar

from cap.program.scope import Kind, Primitive

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
