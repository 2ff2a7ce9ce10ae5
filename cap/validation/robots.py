"""`cap robots check`: whether a robot is what the engine, a model and a person expect of one.

It is built twice in its instant world, looked at, asked what it can be asked without arguments, and
its prompts' examples are executed there. Of a robot that is real in that mode too, those that may
move it run only if somebody approves them.
"""

from __future__ import annotations

import inspect
import re
import types
import typing
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from cap.engine.settings import Approve
from cap.errors import CapError
from cap.models.base import Model
from cap.program.scope import Primitive
from cap.robot import registry
from cap.robot.protocol import Conditioned, Locating, Rehearsable, Rewindable, Robot
from cap.sandbox.wire import encode
from cap.validation.contract import broken_promises
from cap.validation.prompts import check_robot_prompts

UNIT = re.compile(
    r"(?<![\w'])(m|cm|mm|met(re|er)s?|centimet(re|er)s?|rad|radians?|degrees?|s|seconds?|m/s|rad/s|kg|N|Nm|"
    r"pixels?|fractions?|percent|0 to 1|times|number of|how many)\b"
)
_PLAIN = (str, int, float, bool, complex, bytes, type(None), list, tuple, dict, set, frozenset)
_LIBRARIES = ("numpy", "shapely")
_SIMULATED = ("reset", "snapshot", "restore", "render")


@dataclass(frozen=True)
class RobotFinding:
    """Something that will not do."""

    where: str
    """The primitive, the prompt, or `robot`."""
    reason: str
    """What is wrong, and what to do."""
    skipped: bool = False
    """True if it is no fault: what was not looked at, or what no prompt offers to a model."""

    def __str__(self) -> str:
        """Return it as one line."""
        return f"{'a note: ' if self.skipped else ''}{self.where}: {self.reason}"


def check_robot(name: str, model: Model, approve: Approve | None = None) -> Iterator[RobotFinding]:
    """Look at a robot and execute its prompts' examples; yield what is wrong.

    Args:
        name: A registered name, or a file with a `create` function.
        model: Answers the LMPs that examples call.
        approve: Shown each example that may move a real robot; by default none of them runs.

    Raises:
        UsageError: It does not load.
    """
    robot = registry.make_robot(name, mode="instant", seed=0)
    wrong = list(_shape(robot))
    yield from wrong
    if wrong:
        return
    for primitive in robot.primitives().values():
        yield from _primitive(primitive)
    yield from _answers(robot)
    if isinstance(robot, Rewindable):
        yield from _same_bits(name, robot)
        if robot.simulated:  # it calls what moves the robot
            for line in broken_promises(robot):
                where, _, reason = line.partition(": ")
                yield RobotFinding(where, reason)
    robot.close()
    try:
        robot.close()
    except Exception as error:  # a user's code may fail in any way
        yield RobotFinding("close", f"fails the second time: {type(error).__name__}: {error}")
    yield from _prompts(name, robot.primitives().values(), model, approve)


def _shape(robot: Any) -> Iterator[RobotFinding]:
    """Yield what a robot lacks altogether."""
    rewinds = robot.simulated and not isinstance(robot, Rehearsable)
    for method in _SIMULATED if rewinds else ():
        if not callable(getattr(robot, method, None)):
            see = "robots.simulation.simulated_robot.SimulatedRobot"
            yield RobotFinding("robot", f"has no method '{method}'; see {see}")
    if not inspect.getdoc(type(robot)):
        yield RobotFinding("robot", "its class has no docstring; a model reads it")


def _primitive(primitive: Primitive) -> Iterator[RobotFinding]:
    """Yield what a primitive's signature and docstring lack."""
    name, doc = primitive.name, primitive.doc
    if not name.isidentifier() or name.startswith("_"):
        yield RobotFinding(name, "is no name a program can call")
    if not doc:
        yield RobotFinding(name, "has no docstring; it is what a model reads")
    try:
        hints = typing.get_type_hints(primitive.function)
    except Exception as error:  # an annotation may be any code
        yield RobotFinding(name, f"its annotations cannot be read: {error}")
        return
    numeric = False
    for parameter in primitive.signature.parameters.values():
        if parameter.kind in (parameter.VAR_POSITIONAL, parameter.VAR_KEYWORD):
            yield RobotFinding(name, f"takes *{parameter.name}; name its parameters")
            continue
        if parameter.name not in hints:
            yield RobotFinding(name, f"parameter '{parameter.name}' has no type")
            continue
        if parameter.name not in doc:
            yield RobotFinding(name, f"its docstring does not say what '{parameter.name}' is")
        yield from _crosses(name, f"parameter '{parameter.name}'", hints[parameter.name])
        numeric |= _holds_numbers(hints[parameter.name])
    if "return" not in hints:
        yield RobotFinding(name, "does not say what it returns")
        return
    yield from _crosses(name, "its result", hints["return"])
    if (numeric or _holds_numbers(hints["return"])) and not UNIT.search(doc):
        yield RobotFinding(name, "has numbers, and its docstring states no unit")


def _leaves(hint: Any) -> Iterator[Any]:
    """Yield the plain types a type is made of."""
    arguments = typing.get_args(hint)
    origin = typing.get_origin(hint)
    if origin is typing.Literal:
        yield from map(type, arguments)
        return
    if isinstance(hint, typing.TypeVar | str) or hint is Ellipsis:
        return
    if origin not in (None, typing.Union, types.UnionType):
        yield origin
        if getattr(origin, "__module__", "").startswith(_LIBRARIES):
            return
    elif not arguments:
        yield hint
    for argument in arguments:
        yield from _leaves(argument)


def _crosses(where: str, what: str, hint: Any) -> Iterator[RobotFinding]:
    """Yield the types that cannot cross between a program and the robot."""
    for leaf in _leaves(hint):
        module = getattr(leaf, "__module__", "")
        plain = leaf is Any or leaf in _PLAIN or module.startswith((*_LIBRARIES, "collections.abc"))
        if not plain:
            yield RobotFinding(where, f"{what} is of {leaf!r}, which cannot cross; use plain data")


def _holds_numbers(hint: Any) -> bool:
    return any(
        leaf in (float, complex) or getattr(leaf, "__module__", "").startswith("numpy")
        for leaf in _leaves(hint)
    )


def _answers(robot: Robot) -> Iterator[RobotFinding]:
    """Yield what goes wrong with facts, and with questions that need no argument."""
    known = robot.primitives()
    asked = {
        name: primitive.function
        for name, primitive in known.items()
        if primitive.kind == "perception"
        and all(p.default is not p.empty for p in primitive.signature.parameters.values())
    }
    asked |= {"context": robot.context, "positions": robot.positions}
    if isinstance(robot, Conditioned):
        asked["condition"] = robot.condition
    if isinstance(robot, Locating):
        asked["whereabouts"] = robot.whereabouts
    for name, question in asked.items():
        try:
            value = question()
            encode(dict(value) if isinstance(value, Mapping) else value)
        except Exception as error:  # a user's code may fail in any way
            yield RobotFinding(name, f"fails when it is asked: {type(error).__name__}: {error}")
    try:
        robot.stop()
    except Exception as error:  # a user's code may fail in any way
        yield RobotFinding("stop", f"must be safe at any time: {type(error).__name__}: {error}")


def _same_bits(name: str, robot: Any) -> Iterator[RobotFinding]:
    """Yield where the same seed, or a restored snapshot, gives another world."""
    other = registry.make_robot(name, mode="instant", seed=0)
    if dict(robot.positions()) != dict(other.positions()):
        yield RobotFinding("reset", "the same seed gives another world; draw only from the seed")
    other.close()
    kept, places = robot.snapshot(), dict(robot.positions())
    robot.reset(1)
    robot.restore(kept)
    if dict(robot.positions()) != places:
        yield RobotFinding("restore", "does not bring the world of a snapshot back")


def _prompts(
    name: str, primitives: Iterable[Primitive], model: Model, approve: Approve | None
) -> Iterator[RobotFinding]:
    """Yield what is wrong with the robot's prompts, and which primitives none of them imports."""
    try:
        for prompt, count, findings in check_robot_prompts(name, model, approve=approve):
            where = f"prompts/{prompt.name}.py"
            for found in findings:
                if not found.skipped:
                    line = f" line {found.line}" if found.line else ""
                    yield RobotFinding(f"{where}{line}", found.reason)
            if left := sum(found.skipped for found in findings):
                reason = f"{left} of {count} examples were not executed: they move a real robot"
                yield RobotFinding(where, f"{reason}, and nobody approved it", skipped=True)
        prompts = registry.robot_prompts(name)
        if "ui" not in prompts:
            yield RobotFinding("prompts", "there is no ui.py; it answers a person")
        imported = {hint for prompt in prompts.values() for hint in prompt.hints}
        for primitive in primitives:
            if primitive.name not in imported:
                reason = (
                    "no prompt imports it, so no model knows it: add it to "
                    "'from robot import ...' in prompts/ui.py, with an example"
                )
                yield RobotFinding(primitive.name, reason, skipped=True)
    except CapError as error:
        yield RobotFinding("prompts", str(error))
