"""`cap robots check`: whether a robot is what the engine, a model and a person expect of one.

It is built twice in its instant world, looked at, asked what it can be asked without arguments, and
its prompts' examples are executed there. Of a robot that is real in that mode too, those that may
move it run only if somebody approves them.
"""

from __future__ import annotations

import inspect
import re
import typing
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from functools import partial
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
            for line in broken_promises(robot):
                where, _, reason = line.partition(": ")
                yield RobotFinding(where, reason)
    robot.close()
    yield from _failing("close", robot.close, "fails the second time")
    try:
        yield from _prompts(name, robot.primitives(), model, approve)
    except CapError as error:
        yield RobotFinding("prompts", str(error))


def _failing(where: str, call: Callable[[], Any], what: str) -> Iterator[RobotFinding]:
    """Yield that a call fails, if it does."""
    try:
        call()
    except Exception as error:  # a user's code may fail in any way
        yield RobotFinding(where, f"{what}: {type(error).__name__}: {error}")


def _shape(robot: Any) -> Iterator[RobotFinding]:
    """Yield what a robot lacks altogether."""
    rewinds = robot.simulated and not isinstance(robot, Rehearsable)
    for method in _SIMULATED if rewinds else ():
        if not callable(getattr(robot, method, None)):
            see = "robots.simulation.simulated_robot.SimulatedRobot"
            yield RobotFinding("robot", f"has no method '{method}'; see {see}")
    if not inspect.getdoc(type(robot)):
        yield RobotFinding("robot", "its class has no docstring; a model reads it")


def _signature(primitive: Primitive) -> Iterator[str]:
    """Yield what a primitive's name, signature and docstring lack."""
    name, doc = primitive.name, primitive.doc
    if not name.isidentifier() or name.startswith("_"):
        yield "is no name a program can call"
    if not doc:
        yield "has no docstring; it is what a model reads"
    try:
        hints = typing.get_type_hints(primitive.function)
    except Exception as error:  # an annotation may be any code
        yield f"its annotations cannot be read: {error}"
        return
    typed = {"its result": hints["return"]} if "return" in hints else {}
    if not typed:
        yield "does not say what it returns"
    for parameter in primitive.signature.parameters.values():
        if parameter.kind in (parameter.VAR_POSITIONAL, parameter.VAR_KEYWORD):
            yield f"takes *{parameter.name}; name its parameters"
        elif parameter.name not in hints:
            yield f"parameter '{parameter.name}' has no type"
        else:
            typed[f"parameter '{parameter.name}'"] = hints[parameter.name]
            if parameter.name not in doc:
                yield f"its docstring does not say what '{parameter.name}' is"
    leaves = [(what, leaf) for what, hint in typed.items() for leaf in _leaves(hint)]
    for what, leaf in leaves:
        if leaf is object or leaf.__module__.partition(".")[0] not in _CROSSING:
            yield f"{what} is of {leaf!r}, which cannot cross; use plain data"
    numbers = any(leaf in (float, complex) or _is_numpy(leaf) for _, leaf in leaves)
    if numbers and not UNIT.search(doc):
        yield "has numbers, and its docstring states no unit"


def _is_numpy(leaf: Any) -> bool:
    return str(leaf.__module__).startswith("numpy")


def _leaves(hint: Any) -> Iterator[Any]:
    """Yield the classes a type is made of."""
    origin, arguments = typing.get_origin(hint), typing.get_args(hint)
    if origin is typing.Literal:
        yield from map(type, arguments)
    elif origin is not None and origin.__module__.startswith(("numpy", "shapely")):
        yield origin
    elif hint is not Ellipsis and not isinstance(hint, typing.TypeVar | str):
        yield origin or hint
        for argument in arguments:
            yield from _leaves(argument)


def _answers(robot: Robot) -> Iterator[RobotFinding]:
    """Yield what goes wrong with facts, and with questions that need no argument."""
    asked = {
        name: primitive.function
        for name, primitive in robot.primitives().items()
        if primitive.kind == "perception"
        and all(p.default is not p.empty for p in primitive.signature.parameters.values())
    }
    asked |= {"context": robot.context, "positions": robot.positions}
    if isinstance(robot, Conditioned):
        asked["condition"] = robot.condition
    if isinstance(robot, Locating):
        asked["whereabouts"] = robot.whereabouts

    def answer(question: Callable[[], Any]) -> None:
        value = question()
        encode(dict(value) if isinstance(value, Mapping) else value)

    for name, question in asked.items():
        yield from _failing(name, partial(answer, question), "fails when it is asked")
    yield from _failing("stop", robot.stop, "must be safe at any time")


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
    name: str, primitives: Iterable[str], model: Model, approve: Approve | None
) -> Iterator[RobotFinding]:
    """Yield what is wrong with the robot's prompts, and which primitives none of them imports.

    Raises:
        CapError: A prompt cannot be used.
    """
    for prompt, count, findings in check_robot_prompts(name, model, approve=approve):
        where = f"prompts/{prompt.name}.py"
        left = sum(found.skipped for found in findings)
        for found in findings:
            if not found.skipped:
                line = f" line {found.line}" if found.line else ""
                yield RobotFinding(f"{where}{line}", found.reason)
        if left:
            reason = f"{left} of {count} examples were not executed: they move a real robot"
            yield RobotFinding(where, f"{reason}, and nobody approved it", skipped=True)
    prompts = registry.robot_prompts(name)
    if "ui" not in prompts:
        yield RobotFinding("prompts", "there is no ui.py; it answers a person")
    imported = {hint for prompt in prompts.values() for hint in prompt.hints}
    for primitive in primitives:
        if primitive not in imported:
            reason = (
                "no prompt imports it, so no model knows it: add it to "
                "'from robot import ...' in prompts/ui.py, with an example"
            )
            yield RobotFinding(primitive, reason, skipped=True)
