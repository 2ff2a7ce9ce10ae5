"""The goal check: a program that decides whether what an instruction asks for is so.

The model writes it from the instruction alone, before anything is done, with
`prompts/ROBOT/goal.py`; it may only look. One that is satisfied before anything is done accepts
nothing, but objects to a program that makes it false.
"""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

from cap.engine.approval import Rehearsal
from cap.errors import NotFound, RobotError
from cap.result import Result
from cap.robot.protocol import Rewindable
from cap.trace.trace import Trace

GOAL = "goal"
"""The prompt whose programs are goal checks; no program may call it."""
NOT_SO = "a check written from these words alone finds that what they ask for is not so"
SAYS_NO = "the goal check says no"
_ASKED = ("prompt", "completion", "unanswered")


class TrialTrace(Trace):
    """The trace of a program that is only tried: its requests are in the turn's own trace."""

    def __init__(self, main: Trace) -> None:
        """Pass on to another trace."""
        super().__init__()
        self._main = main

    @property
    def keyed(self) -> bool:
        """Whether completions are written down with their keys."""
        return self._main.keyed

    def event(self, kind: str, /, **data: Any) -> None:
        """Pass on requests and answers only."""
        if kind in _ASKED:
            with self._main.nested():
                self._main.event(kind, **data)


@contextlib.contextmanager
def stage(robot: Any, rehearsal: Rehearsal | None, world: Any) -> Iterator[Any]:
    """Yield a robot in the present world, where a program may be tried.

    Args:
        robot: A simulated one is restored afterwards; of a real one its twin is used.
        rehearsal: Makes that twin.
        world: The snapshot of a simulated robot's world as it is; None of a real one.

    Raises:
        RobotError: The scene cannot be seen, or the twin is no simulation.
    """
    if rehearsal is None or world is not None:
        try:
            yield robot
        finally:
            if world is not None and isinstance(robot, Rewindable):
                robot.restore(world)
        return
    twin = rehearsal.robot.twin()
    try:
        if not twin.simulated:
            raise RobotError("the robot's twin is no simulation, so nothing can be tried in it")
        yield twin
    finally:
        twin.close()


@dataclass
class GoalCheck:
    """The check of one instruction; it judges the worlds its programs leave."""

    run: Callable[[Any], Result] | None
    """Runs it in a robot's world; None if there is none."""
    unusable: str = ""
    """Why there is none; "" if there is."""
    satisfied_before: bool = False
    """Whether it accepts the world as it was: then it can only object."""

    def begin(self, robot: Any) -> None:
        """Run it in the world as it is before the turn."""
        assert self.run is not None
        result = self.run(robot)
        if result.failure is None:
            self.satisfied_before = bool(result.value)
        elif result.failure.error == NotFound.__name__:
            self.unusable = "the goal check cannot tell"
        else:
            self.unusable = f"the goal check cannot be used: {result.failure}"

    @property
    def accepts(self) -> bool:
        """Whether it can accept a world, and not only object to one."""
        return not (self.unusable or self.satisfied_before)

    def says(self, robot: Any) -> bool | None:
        """Return whether what was asked for is so in a robot's world; None if it cannot tell."""
        if self.unusable or self.run is None:
            return None
        result = self.run(robot)
        if result.failure is not None or (self.satisfied_before and result.value):
            return None
        return bool(result.value)

    def denial(self, verdict: bool | None) -> str:
        """Return why it does not accept a world, by what it says of it; "" if it does."""
        if self.unusable or verdict:
            return self.unusable
        return SAYS_NO if verdict is False else "the goal check says nothing of it"

    def decision(self, verdict: bool | None) -> str:
        """Return what it decided among programs, for people."""
        if self.unusable:
            return self.unusable
        if self.accepts:
            return f"the goal check accepts {'it' if verdict else 'none'}"
        objects = "to all of them" if verdict is False else "not to it"
        return f"the goal check is satisfied before anything is done, and objects {objects}"
