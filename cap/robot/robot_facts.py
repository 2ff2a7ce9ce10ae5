"""What a robot says of its world, taken with care: a person may have written it."""

from __future__ import annotations

import inspect
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from typing import Any, Protocol

from cap.errors import CapError, RobotError
from cap.robot.displacement import Positions, Xyz
from cap.robot.protocol import Conditioned, Locating
from cap.sandbox.frames import WireError
from cap.sandbox.wire import encode


class Telling(Protocol):
    """Whatever has facts for prompts."""

    def context(self) -> Mapping[str, Any]:
        """Return facts by name."""


class Placing(Protocol):
    """Whatever knows where objects are."""

    def positions(self) -> Positions:
        """Return where each object is, xyz in metres."""


def about(robot: Any) -> str:
    """Return what a robot says of itself and its world: its class's docstring.

    One whose class cannot say it has an attribute `about`.
    """
    said = getattr(robot, "about", None)
    return said if isinstance(said, str) else inspect.cleandoc(type(robot).__doc__ or "")


def facts(robot: Telling) -> dict[str, Any]:
    """Return a robot's facts.

    Raises:
        RobotError: They cannot be had, or are not plain data.
    """
    with _asking(robot, "context()"):
        found = dict(robot.context())
        encode(found)
    objects = found.get("objects", [])
    if not (isinstance(objects, list | tuple) and all(isinstance(one, str) for one in objects)):
        raise RobotError(f"{_whose(robot)} context() has objects that are no list of names")
    return found


def places(robot: Placing) -> dict[str, Xyz]:
    """Return where a robot's objects are, xyz in metres.

    Raises:
        RobotError: That cannot be had, or is no table of points.
    """
    with _asking(robot, "positions()"):
        found = dict(robot.positions())
        for name, (x, y, z) in found.items():
            if not isinstance(name, str):
                raise TypeError(f"{name!r} is no name")
            float(x), float(y), float(z)
    return found


def condition(robot: Any) -> dict[str, Any]:
    """Return what else than objects' places a robot's programs change; {} if it tells of nothing.

    Raises:
        RobotError: It cannot be had, or is not plain data.
    """
    if not isinstance(robot, Conditioned):
        return {}
    with _asking(robot, "condition()"):
        found = dict(robot.condition())
        encode(found)
    return found


def whereabouts(robot: Any) -> dict[str, str]:
    """Return what each of a robot's objects is in or on, in words; {} if it has none for that.

    Raises:
        RobotError: That cannot be had, or is no table of words.
    """
    if not isinstance(robot, Locating):
        return {}
    with _asking(robot, "whereabouts()"):
        found = dict(robot.whereabouts())
        for name, place in found.items():
            if not (isinstance(name, str) and isinstance(place, str)):
                raise TypeError(f"{name!r}: {place!r} is no name with a place in words")
    return found


@contextmanager
def _asking(robot: Any, what: str) -> Iterator[None]:
    """Raise what goes wrong inside as the robot's failure, with what it was asked.

    Raises:
        RobotError: It has failed, or what it told is not plain data.
    """
    try:
        yield
    except CapError:
        raise
    except WireError as error:
        raise RobotError(f"{_whose(robot)} {what} is not plain data: {error}") from None
    except Exception as error:  # a person's code may fail in any way
        told = f"{type(error).__name__}: {error}; see cap robots check"
        raise RobotError(f"{_whose(robot)} {what} failed: {told}") from None


def _whose(robot: Any) -> str:
    return f"robot '{getattr(robot, 'name', '?')}':"
