"""The goal check: a program that decides whether what an instruction asks for is so."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from cap.errors import NotFound
from cap.result import Result

GOAL = "goal"
"""The prompt whose programs are goal checks; no program may call it."""
NOT_SO = "a check written from these words alone finds that what they ask for is not so"
SAYS_NO = "the goal check says no"


@dataclass
class GoalCheck:
    """A program that decides whether what an instruction asks for is so.

    The model writes it from the instruction alone, before anything is done, with
    `prompts/ROBOT/goal.py`; it may only look. One that is satisfied before anything is done accepts
    nothing, but objects to a program that makes it false.
    """

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
