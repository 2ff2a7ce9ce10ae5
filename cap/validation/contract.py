"""What every robot keeps to, whatever a program hands to its primitives.

A primitive refuses what it cannot use with an error of one line, before anything has changed; and
what a robot draws is made of what it says its bodies are.
"""

from __future__ import annotations

import math
import warnings
from collections.abc import Iterator, Mapping
from typing import Any

import numpy as np

from cap.errors import RobotError
from cap.program.scope import Primitive
from cap.robot.view import Viewable

ODD_VALUES: tuple[Any, ...] = (
    *(None, True, -1, 10**400, 1e300, 3 + 4j, math.nan, math.inf, np.bool_(True)),
    *("", "x" * 100_000, "\x00", "__class__", "unicorn", b"apple", object(), len),
    *([], [None], [[]], [1, 2, 3, 4], [[1, 2], [3]], [[0, 0], [1e300, 0]], [10**400, 0]),
    *([math.nan, 0], ["1", "2"], {}, {"x": 1}, {1}, range(100_000), [[0.0, 0.0]] * 20_000),
    *(np.zeros((0, 2)), np.zeros((2, 2, 2)), np.array(["a"]), np.array([1 + 2j, 3])),
)
"""No names of things, and no places or sizes that a robot could do something with."""
_LONGEST = 1000
"""Characters of a refusal."""
_WORDS = ("say",)
"""Primitives that take anything."""


def broken_promises(robot: Any, usual: Mapping[str, Any] | None = None) -> Iterator[str]:
    """Yield what of this a simulated robot does not keep to, a line each.

    Args:
        robot: In its instant world; it is as it was afterwards.
        usual: A value that can be used for each parameter, by its name; a parameter without one is
            given the odd value as well.
    """
    for primitive in robot.primitives().values():
        if primitive.name not in _WORDS:
            yield from _refusals(robot, primitive, usual or {})
    drawn = isinstance(robot, Viewable)
    if drawn and (unknown := robot.view().placements.keys() - robot.shapes().keys()):
        yield f"view: places {min(unknown)!r}, of which shapes() says nothing"
    if (size := robot.render(64, 48).size) != (64, 48):
        yield f"render: gives {size[0]} by {size[1]} pixels where 64 by 48 are asked for"


def _refusals(robot: Any, primitive: Primitive, usual: Mapping[str, Any]) -> Iterator[str]:
    """Yield where a primitive fails in another way than it should."""
    kept = robot.snapshot()
    parameters = primitive.signature.parameters.values()
    needed = [each.name for each in parameters if each.default is each.empty]
    for parameter in parameters:
        for odd in _odd_values(usual.get(parameter.name)):
            given = {name: usual.get(name, odd) for name in needed} | {parameter.name: odd}
            robot.restore(kept)
            if fault := _fault(robot, primitive, given, kept):
                yield f"{primitive.name}({parameter.name}={odd!r:.40}): {fault}"
                break
    robot.restore(kept)


def _fault(robot: Any, primitive: Primitive, given: Mapping[str, Any], kept: Any) -> str:
    """Return what is wrong with how a primitive refuses arguments, "" if nothing."""
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            primitive.function(**given)
    except (RobotError, TypeError, ValueError, ArithmeticError, LookupError) as error:
        message = str(error)
    except Exception as error:  # a person's code may fail in any way
        return f"raises {type(error).__name__}; use a class of cap.errors"
    else:
        return ""
    if robot.snapshot() != kept:
        return "fails, and something has changed; check first, then act"
    if len(message) > _LONGEST or "\n" in message:
        return f"its message is {len(message)} characters; use one short line"
    return ""


def _odd_values(usual: Any) -> Iterator[Any]:
    """Yield odd values, and what usually works with an odd value in it."""
    yield from ODD_VALUES
    for odd in ODD_VALUES:
        if isinstance(usual, list):
            yield [usual[0], odd]
        elif isinstance(usual, dict):
            yield dict.fromkeys(usual, odd)
