"""Observation: all that a robot is asked about its world, once before a turn and once after it.

Its snapshot can be written down as plain data and read back: what `snapshot` returns is said by its
own annotation (dataclasses, tuples, lists and mappings of plain data, and arrays), so nothing in a
file decides which types are built.

The robot may be a user's own: its answers are checked here, and an error in them is a `RobotError`
that names the robot and the question.
"""

from __future__ import annotations

import inspect
import math
import typing
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cache
from typing import Any

import msgspec
import numpy as np

from cap.errors import CapError, RobotError
from cap.result import plain
from cap.robot.protocol import Conditioned, Locating, Rewindable, Xyz
from cap.sandbox.frames import WireError
from cap.sandbox.wire import encode

MOVED_M = 0.005
"""Displacements below this are settling, not motion."""
Moved = Mapping[str, tuple[Xyz, Xyz]]
"""Objects that moved: where from and where to, xyz in metres."""
Changed = Mapping[str, tuple[Any, Any]]
"""What else changed, by name: before and after."""


@dataclass(frozen=True)
class Observation:
    """A robot's world at one moment."""

    positions: Mapping[str, Xyz]
    """Where objects are, xyz in metres."""
    condition: Mapping[str, Any] = field(default_factory=dict)
    """What else programs change, by name: see `cap.robot.protocol.Conditioned`."""
    facts: Mapping[str, Any] = field(default_factory=dict)
    """What prompts may show: the names programs know objects by, for one."""
    whereabouts: Mapping[str, str] = field(default_factory=dict)
    """What each object is in or on, in the robot's words: see `cap.robot.protocol.Locating`."""
    drawn: Sequence[Any] = ()
    """All lines that are drawn, xy in metres, of a robot that draws."""
    base_track: Sequence[Sequence[float]] = ()
    """The ends of the straight legs that a robot's base drove: `travel` so far, x, y in metres."""
    landmarks: Mapping[str, Sequence[float]] = field(default_factory=dict)
    """Where the middles of places with names are, xy in metres: the robot's `landmarks`."""
    world: Any = None
    """The robot's snapshot, if it was asked for; None of a robot that has none."""

    @classmethod
    def of(cls, robot: Any, *, world: bool = False) -> Observation:
        """Look at a robot's world.

        Args:
            robot: Whose.
            world: Whether a snapshot is taken as well, where the robot can.

        Raises:
            RobotError: It cannot be seen, or what the robot says of it is not as it must be.
        """
        positions = _asked(robot, "positions", _places)
        whereabouts = {}
        if isinstance(robot, Locating):
            whereabouts = _asked(robot, "whereabouts", _words)
        seen = cls(
            positions,
            plain(condition(robot)),
            facts(robot),
            whereabouts,
            plain(getattr(robot, "strokes", ())),
            plain(getattr(robot, "base_track", ())),
            plain(getattr(robot, "landmarks", {})),
        )
        return seen.with_world(robot) if world else seen

    def with_world(self, robot: Any) -> Observation:
        """Return it with the robot's snapshot as it is now."""
        kept = robot.snapshot() if isinstance(robot, Rewindable) else None
        return replace(self, world=kept)

    def since(self, before: Observation) -> tuple[Moved, dict[str, tuple[Any, Any]]]:
        """Return the objects that moved since an earlier one, and what else changed."""
        changed = {
            name: pair
            for name in dict.fromkeys([*before.condition, *self.condition])
            if not alike(*(pair := (before.condition.get(name), self.condition.get(name))))
        }
        for name in sorted(before.positions.keys() ^ self.positions.keys()):  # gone, or new
            changed[name] = before.positions.get(name), self.positions.get(name)
        return moved(before.positions, self.positions), changed


def moved(before: Mapping[str, Xyz], after: Mapping[str, Xyz]) -> Moved:
    """Return the objects that are elsewhere now."""
    return {
        name: (before[name], now)
        for name, now in after.items()
        if name in before and math.dist(before[name], now) > MOVED_M
    }


def alike(one: Any, other: Any) -> bool:
    """Tell whether two conditions are the same, as far as a body at rest is."""
    if isinstance(one, list) and isinstance(other, list) and len(one) == len(other):
        return all(map(alike, one, other))
    if isinstance(one, dict) and isinstance(other, dict) and one.keys() == other.keys():
        return all(alike(value, other[name]) for name, value in one.items())
    numbers = isinstance(one, int | float) and isinstance(other, int | float)
    return math.isclose(one, other, rel_tol=0, abs_tol=MOVED_M) if numbers else bool(one == other)


def about(robot: Any) -> str:
    """Return what a robot says of itself and its world: its class's docstring.

    One whose class cannot say it has an attribute `about`.
    """
    said = getattr(robot, "about", None)
    return said if isinstance(said, str) else inspect.cleandoc(type(robot).__doc__ or "")


def facts(robot: Any) -> dict[str, Any]:
    """Return a robot's facts: plain data by name.

    Raises:
        RobotError: They cannot be had, or are not plain data.
    """
    found = _asked(robot, "context", _plain)
    objects = found.get("objects", [])
    if not (isinstance(objects, list | tuple) and all(isinstance(one, str) for one in objects)):
        raise RobotError(f"{_whose(robot)} context() has objects that are no list of names")
    return found


def condition(robot: Any) -> dict[str, Any]:
    """Return what else than objects' places a robot's programs change; {} if it reports nothing.

    Raises:
        RobotError: It cannot be had, or is not plain data.
    """
    if not isinstance(robot, Conditioned):
        return {}
    return _asked(robot, "condition", _plain)


def _plain(given: Mapping[str, Any]) -> dict[str, Any]:
    encode(found := dict(given))
    return found


def _words(given: Mapping[str, str]) -> dict[str, str]:
    return msgspec.convert(given, dict[str, str])


def _places(given: Mapping[str, Any]) -> dict[str, Xyz]:
    for name, (x, y, z) in given.items():
        if not isinstance(name, str):
            raise TypeError(f"{name!r} is no name")
        float(x), float(y), float(z)
    return dict(given)


def _asked(robot: Any, method: str, checked: Callable[[Any], dict[str, Any]]) -> dict[str, Any]:
    """Return what a robot's method answers.

    Raises:
        RobotError: It failed, or its answer is not plain data.
    """
    try:
        return checked(getattr(robot, method)())
    except CapError:
        raise
    except WireError as error:
        raise RobotError(f"{_whose(robot)} {method}() is not plain data: {error}") from None
    except Exception as error:  # a user's code may fail in any way
        why = f"{type(error).__name__}: {error}; see cap robots check"
        raise RobotError(f"{_whose(robot)} {method}() failed: {why}") from None


def _whose(robot: Any) -> str:
    return f"robot '{getattr(robot, 'name', '?')}':"


class NotPlain(TypeError):
    """A value is not what its annotation says, or that is nothing that can be written."""


def kind_of(robot: Rewindable) -> Any:
    """Return the annotation of what a robot's `snapshot` returns."""
    return _returned(type(robot))


def pack(value: Any, kind: Any) -> Any:
    """Return a value as plain data: dataclasses as dictionaries, arrays as lists.

    Raises:
        NotPlain: It is not of that kind.
    """
    try:
        plain = msgspec.to_builtins(value, builtin_types=(bytes,), enc_hook=_listed)
    except (TypeError, ValueError, RecursionError) as error:
        raise NotPlain(str(error)) from None
    back = unpack(plain, kind)
    try:
        same = bool(back == value)
    except ValueError:  # it holds arrays
        same = type(back) is type(value)
    if not same:
        raise NotPlain(f"a '{type(value).__name__}' is not what the annotation says: {kind}")
    return plain


def unpack(plain: Any, kind: Any) -> Any:
    """Return what `pack` was given.

    Raises:
        NotPlain: The data is not of that kind.
    """
    try:
        return msgspec.convert(plain, kind, builtin_types=(bytes,), dec_hook=_made)
    except (msgspec.ValidationError, TypeError, ValueError) as error:
        raise NotPlain(str(error)) from None


def _listed(value: Any) -> Any:
    if isinstance(value, np.ndarray | np.generic):
        return value.tolist()
    raise TypeError(f"a '{type(value).__name__}' cannot be written down")


def _made(kind: Any, value: Any) -> Any:
    if kind is np.ndarray:
        return np.array(value)
    raise TypeError(f"nothing is made of '{kind}'")


@cache
def _returned(robot: Any) -> Any:
    """Return what a class's `snapshot` returns; its base may leave that to the class."""
    kind = typing.get_type_hints(robot.snapshot).get("return", Any)
    stands_for: dict[Any, Any] = {}
    for owner in robot.__mro__:
        for base in getattr(owner, "__orig_bases__", ()):
            variables = getattr(typing.get_origin(base), "__parameters__", ())
            stands_for |= dict(zip(variables, typing.get_args(base), strict=False))
    return _filled(kind, stands_for)


def _filled(kind: Any, stands_for: Mapping[Any, Any]) -> Any:
    """Return an annotation with what its type variables stand for."""
    if isinstance(kind, typing.TypeVar):
        return stands_for.get(kind, Any)
    variables = getattr(kind, "__parameters__", ())
    return kind[tuple(stands_for.get(entry, Any) for entry in variables)] if variables else kind
