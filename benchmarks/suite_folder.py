"""A suite of a robot as a folder: `tasks.toml`, and `judge.py` with what must be so.

    robot = "ravens"

    [[task]]
    name = "to-corner"
    words.block = ["red block", "blue block"]
    words.cm = { least = 4, most = 10 }
    steps = [{ say = "move the {block} by {cm} cm", program = "...", judge = "moved" }]

A step's judge is a function of `judge.py`: `moved(before, robot, words)` returns in words what the
robot's world lacks, or None if it lacks nothing. It is asked after the step, and must change
nothing.
"""

from __future__ import annotations

import hashlib
import importlib
import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from types import ModuleType
from typing import Any

import msgspec
import numpy as np

from benchmarks import task_file
from benchmarks.robot_suite import RobotCase, RobotSuite, RobotTask
from cap.errors import UsageError, did_you_mean
from cap.robot import registry

TASKS, JUDGE = "tasks.toml", "judge.py"
WATCH = "watch"
"""The word that a `draw` function may return a function as: it is called with the robot after each
of a program's calls, for a judge of the way there."""


class WholeNumber(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """A word that is a whole number, both ends included."""

    least: int
    most: int


class TaskStep(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """One instruction of a task."""

    say: str
    """What a person says; words in braces are drawn."""
    program: str
    """The oracle's program for it, with the same words."""
    judge: str = ""
    """Function of `judge.py` that says what the world then lacks; the last step needs one."""


class TaskTable(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """One task."""

    name: str
    """As reports show it."""
    steps: list[TaskStep]
    """Said one after the other in one session."""
    words: dict[str, WholeNumber | list[str] | str] = {}
    """Drawn in this order: a whole number, one of a list, or one of what a method of the robot
    returns. Of a whole number `{NAME_m}` is a hundredth: centimetres in metres."""
    draw: str = ""
    """Function of `judge.py` that draws all words: `draw(rng, robot)` returns them by name."""


class SuiteTable(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """What `tasks.toml` holds."""

    robot: str
    """Registered robot, or a robot's file beside `tasks.toml`."""
    task: list[TaskTable]
    """In report order."""
    name: str = ""
    """By default that of the folder."""
    about: str = ""
    """What it is, in one line."""
    version: str = ""
    """Changes whenever outcomes may; by default with every byte of the two files."""
    texts: dict[str, str] = {}
    """Pieces of text that several programs share, by the word that stands for them."""


@dataclass(frozen=True)
class Before:
    """How a robot's world was before the first step."""

    positions: Mapping[str, tuple[float, float, float]]
    """Where each object was, xyz in metres."""
    state: Any
    """The robot's own `state`; None if it has none."""


def load(folder: Path) -> RobotSuite:
    """Return the suite of a folder.

    Raises:
        UsageError: A file in it cannot be used; with the line where that is known.
    """
    table = task_file.load_whole(folder / TASKS, SuiteTable)
    here = Path(__file__).resolve().parent
    if folder.resolve().parent == here:
        judges = importlib.import_module(f"benchmarks.{folder.name}.judge")
    else:
        judges = registry.load_module(folder / JUDGE)
    for task in table.task:
        if not task.steps or not task.steps[-1].judge:
            raise UsageError(f"{folder / TASKS}: the last step of '{task.name}' has no judge")
        for name in filter(None, (task.draw, *(step.judge for step in task.steps))):
            if not callable(getattr(judges, name, None)):
                hint = did_you_mean(name, vars(judges))
                raise UsageError(f"{folder / JUDGE} has no function '{name}'.{hint}")
        known = {*task.words, *(f"{name}_m" for name in task.words)}
        for step in task.steps if not task.draw else ():
            for word in re.findall(r"\{(\w+)\}", step.say):
                if word not in known:
                    hint = did_you_mean(word, known)
                    raise UsageError(f"{folder / TASKS}: '{task.name}' has no word '{word}'.{hint}")
    beside = folder / table.robot
    robot = str(beside.resolve()) if registry.is_file(table.robot) else table.robot
    made = [RobotTask(task.name, partial(_case, task, table.texts, judges)) for task in table.task]
    version = table.version or _digest(folder)
    return RobotSuite(table.name or folder.resolve().name, version, robot, made, table.about)


def _digest(folder: Path) -> str:
    data = b"".join((folder / name).read_bytes() for name in (TASKS, JUDGE))
    return hashlib.sha256(data).hexdigest()[:12]


def _case(
    task: TaskTable,
    texts: Mapping[str, str],
    judges: ModuleType,
    rng: np.random.Generator,
    robot: Any,
) -> RobotCase:
    """Draw a task's words for a robot in its first state."""
    if task.draw:
        words: dict[str, Any] = dict(getattr(judges, task.draw)(rng, robot))
    else:
        words = {name: _drawn(spec, rng, robot) for name, spec in task.words.items()}
    numbers = {f"{name}_m": word / 100 for name, word in words.items() if isinstance(word, int)}
    slots = {**words, **numbers}
    before = Before(dict(robot.positions()), getattr(robot, "state", None))
    after_steps = [_judge(getattr(judges, step.judge, None), before, words) for step in task.steps]
    last = after_steps.pop()
    assert last is not None
    return RobotCase(
        tuple(filled(step.say, slots) for step in task.steps),
        tuple(filled(step.program, {**texts, **slots}) for step in task.steps),
        last,
        on_the_way=tuple(after_steps),
        watch=words.get(WATCH),
    )


def _drawn(spec: WholeNumber | list[str] | str, rng: np.random.Generator, robot: Any) -> Any:
    if isinstance(spec, WholeNumber):
        return int(rng.integers(spec.least, spec.most + 1))
    return str(rng.choice(getattr(robot, spec)() if isinstance(spec, str) else spec))


def _judge(
    judge: Callable[[Before, Any, Mapping[str, Any]], str | None] | None,
    before: Before,
    words: Mapping[str, Any],
) -> Callable[[Any], str | None] | None:
    if judge is None:
        return None

    def missed(robot: Any) -> str | None:
        return judge(before, robot, words)

    return missed


def filled(text: str, words: Mapping[str, Any]) -> str:
    """Return a text with words in place of their names in braces; other braces stay."""
    for name, word in words.items():
        text = text.replace(f"{{{name}}}", str(word))
    return text
