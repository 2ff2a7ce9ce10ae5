"""`cap robots check`: whether a robot is what the engine, a model and a person expect of one.

It is built twice in its instant world, looked at, asked what it can be asked without arguments, and
its prompts' examples are executed there. Of a robot that is real in that mode too, those that may
move it run only if somebody approves them. Whatever a program hands to its primitives, each refuses
what it cannot use with an error of one line, before anything has changed.
"""

from __future__ import annotations

import inspect
import math
import re
import typing
import warnings
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from cap.engine.settings import Approve
from cap.errors import CapError, RobotError
from cap.models.base import Model
from cap.program.scope import Primitive
from cap.robot import registry
from cap.robot.observation import Observation
from cap.robot.protocol import Rehearsable, Rewindable, Robot
from cap.sandbox.wire import encode
from cap.validation.prompts import check_robot_prompts

UNIT = re.compile(
    r"(?<![\w'])(m|cm|mm|met(re|er)s?|centimet(re|er)s?|rad|radians?|degrees?|s|seconds?|m/s|rad/s|kg|N|Nm|"
    r"pixels?|fractions?|percent|0 to 1|times|number of|how many)\b"
)
ODD_VALUES: tuple[Any, ...] = (
    *(None, -1, math.nan, math.inf, "", "x" * 100_000, "unicorn"),
    *([], [None], [[1, 2], [3]], [math.nan, 0], ["1", "2"], {"x": 1}),
)
"""No names of things, and no places or sizes that a robot could do something with."""
LONGEST_REFUSAL = 1000
"""Characters."""
_CROSSING = ("builtins", "numpy", "shapely", "collections", "typing", "types")
"""Packages whose types cross between a program and the robot."""
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
        for reason in _signature(primitive):
            yield RobotFinding(primitive.name, reason)
    yield from _answers(robot)
    if isinstance(robot, Rewindable):
        yield from _same_bits(name, robot)
        if robot.simulated:  # it calls what moves the robot
            yield from broken_promises(robot)
    robot.close()
    yield from _failing("close", robot.close, "fails the second time")
    try:
        yield from _prompts(name, robot, model, approve)
    except CapError as error:
        yield RobotFinding("prompts", str(error))


def _failing(where: str, call: Callable[[], Any], what: str) -> Iterator[RobotFinding]:
    """Yield that a call fails, or returns what cannot cross, if it does."""
    try:
        value = call()
        encode(dict(value) if isinstance(value, Mapping) else value)
    except Exception as error:  # a user's code may fail in any way
        yield RobotFinding(where, f"{what}: {type(error).__name__}: {error}")


def _shape(robot: Any) -> Iterator[RobotFinding]:
    """Yield what a robot lacks altogether."""
    if robot.simulated and not isinstance(robot, Rehearsable):
        for method in _SIMULATED:
            if not callable(getattr(robot, method, None)):
                see = "robots.simulation.simulated_robot.SimulatedRobot"
                yield RobotFinding("robot", f"has no method '{method}'; see {see}")
    if not inspect.getdoc(type(robot)):
        yield RobotFinding("robot", "its class has no docstring; a model reads it")


def _signature(primitive: Primitive) -> Iterator[str]:
    """Yield what a primitive's signature and docstring lack."""
    doc = primitive.doc
    if not doc:
        yield "has no docstring; it is what a model reads"
    try:
        hints = typing.get_type_hints(primitive.function)
    except Exception as error:  # an annotation may be any code
        yield f"its annotations cannot be read: {error}"
        return
    if "return" not in hints:
        yield "does not say what it returns"
    for name, parameter in primitive.signature.parameters.items():
        if parameter.kind in (parameter.VAR_POSITIONAL, parameter.VAR_KEYWORD):
            yield f"takes *{name}; name its parameters"
        elif name not in hints:
            yield f"parameter '{name}' has no type"
        elif name not in doc:
            yield f"its docstring does not say what '{name}' is"
    numbers = False
    for name, hint in hints.items():
        what = "its result" if name == "return" else f"parameter '{name}'"
        for leaf in _leaves(hint):
            package = getattr(leaf, "__module__", "builtins").partition(".")[0]
            if leaf is object or package not in _CROSSING:
                yield f"{what} is of {leaf!r}, which cannot cross; use plain data"
            numbers = numbers or leaf in (float, complex) or package == "numpy"
    if numbers and not UNIT.search(doc):
        yield "has numbers, and its docstring states no unit"


def _leaves(hint: Any) -> Iterator[Any]:
    """Yield the classes a type is made of."""
    origin, arguments = typing.get_origin(hint), typing.get_args(hint)
    if origin is typing.Literal:
        yield from map(type, arguments)
        return
    yield origin or hint
    for argument in arguments:
        yield from _leaves(argument)


def _answers(robot: Robot) -> Iterator[RobotFinding]:
    """Yield what goes wrong with facts, and with questions that need no argument."""
    yield from _failing("robot", lambda: vars(Observation.of(robot)), "cannot be observed")
    for name, primitive in robot.primitives().items():
        parameters = primitive.signature.parameters.values()
        if primitive.kind == "perception" and all(p.default is not p.empty for p in parameters):
            yield from _failing(name, primitive.function, "fails when it is asked")
    yield from _failing("stop", robot.stop, "must be safe at any time")


def _same_bits(name: str, robot: Any) -> Iterator[RobotFinding]:
    """Yield where the same seed, or a restored snapshot, gives another world."""
    seen, kept = Observation.of(robot), robot.snapshot()
    other = registry.make_robot(name, mode="instant", seed=0)
    if Observation.of(other).positions != seen.positions:
        yield RobotFinding("reset", "the same seed gives another world; draw only from the seed")
    other.close()
    robot.reset(1)
    robot.restore(kept)
    if lost := [name for part in Observation.of(robot).since(seen) for name in part]:
        reason = f"does not bring back {', '.join(lost)}; keep it in snapshot()"
        yield RobotFinding("restore", reason)


def _prompts(
    name: str, robot: Robot, model: Model, approve: Approve | None
) -> Iterator[RobotFinding]:
    """Yield what is wrong with the robot's prompts, and which primitives none of them imports.

    Raises:
        CapError: A prompt cannot be used.
    """
    for prompt, count, findings in check_robot_prompts(name, model, approve=approve):
        where = f"prompts/{prompt.name}.py"
        faults = [found for found in findings if not found.skipped]
        for found in faults:
            yield RobotFinding(f"{where} line {found.line}", found.reason)
        if left := len(findings) - len(faults):
            reason = (
                f"{left} of {count} examples were not executed: they move a real robot and nobody "
                "approved it, or they go on from one that did not run"
            )
            yield RobotFinding(where, reason, skipped=True)
    prompts = registry.robot_prompts(name)
    if "ui" not in prompts:
        yield RobotFinding("prompts", "there is no ui.py; it answers a person")
    imported = {hint for prompt in prompts.values() for hint in prompt.hints}
    reason = (
        "no prompt imports it, so no model knows it: add it to "
        "'from robot import ...' in prompts/ui.py, with an example"
    )
    for primitive in robot.primitives():
        if primitive not in imported:
            yield RobotFinding(primitive, reason, skipped=True)


def broken_promises(robot: Any) -> Iterator[RobotFinding]:
    """Yield where a simulated robot does not refuse odd values as it should.

    Args:
        robot: In its instant world; it is as it was afterwards.
    """
    kept = robot.snapshot()
    for primitive in robot.primitives().values():
        parameters = primitive.signature.parameters.values()
        needed = [each.name for each in parameters if each.default is each.empty]
        for name in primitive.signature.parameters if primitive.name != "say" else ():
            for odd in ODD_VALUES:
                robot.restore(kept)
                given = {**dict.fromkeys(needed, odd), name: odd}
                if why := fault(robot, primitive, given):
                    yield RobotFinding(f"{primitive.name}({name}={odd!r:.40})", why)
                    break
    robot.restore(kept)


def fault(robot: Any, primitive: Primitive, given: Mapping[str, Any]) -> str:
    """Return what is wrong with how a primitive refuses arguments, "" if nothing."""
    kept = robot.snapshot()
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
    if len(message) > LONGEST_REFUSAL or "\n" in message:
        return f"its message is {len(message)} characters; use one short line"
    return ""
