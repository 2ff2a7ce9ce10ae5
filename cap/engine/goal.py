"""The goal check: a program that tells whether what an instruction asks for is so.

The model writes it from the instruction alone, before anything is done, with
`prompts/ROBOT/goal.py`; it may only look. One that is satisfied before anything is done accepts
nothing, but objects to a program that makes it false.
"""

from __future__ import annotations

import contextlib
from collections.abc import Iterator
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from cap.engine.answer import Answer, State
from cap.engine.effect import WorldView
from cap.engine.question import Question
from cap.errors import ModelError, NotFound, PromptError, RobotError
from cap.models.base import Completion
from cap.prompt.prompt import Prompt
from cap.robot.protocol import Rewindable
from cap.trace.trace import Trace, plain

if TYPE_CHECKING:
    from cap.engine.engine import Engine

GOAL = "goal"
"""The prompt whose programs tell whether what was asked for is so; no program may call it."""
NOT_SO = "a check written from these words alone finds that what they ask for is not so"


SAYS_NO = "the goal check says no"
_ASKED = ("prompt", "completion", "unanswered")


class TrialTrace(Trace):
    """The trace of a program that is only tried: what was asked for it stands in the turn's own."""

    def __init__(self, main: Trace) -> None:
        """Hand on to another trace."""
        super().__init__()
        self._main = main

    @property
    def keyed(self) -> bool:
        """Whether completions are written down with their keys."""
        return self._main.keyed

    def event(self, kind: str, /, **data: Any) -> None:
        """Hand on questions and answers alone."""
        if kind in _ASKED:
            with self._main.nested():
                self._main.event(kind, **data)


@contextlib.contextmanager
def stage(engine: Engine, world: Any) -> Iterator[Any]:
    """Yield a robot in the present world, where a program may be tried.

    Args:
        engine: Whose robot: a simulated one is put back afterwards, a real one's twin is used.
        world: The snapshot of a simulated robot's world as it is; None of a real one.

    Raises:
        RobotError: The scene cannot be seen, or the twin is no simulation.
    """
    robot, rehearsal = engine.robot, engine.gate.rehearsal
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


class GoalCheck:
    """The check of one instruction; it judges the worlds that come of it."""

    def __init__(self, engine: Engine, words: str, before: WorldView) -> None:
        """Have it written, and run it in the world as it is.

        Args:
            engine: Of the turn.
            words: The instruction.
            before: The world as it is, before the turn.

        Raises:
            RobotError: The world cannot be seen.
        """
        prompt = engine.prompts[GOAL]
        self._prompt: Prompt = replace(prompt, header=replace(prompt.header, actions=False))
        self._engine = engine
        self._completion: Completion | None = None
        self.satisfied_before = False
        """Whether it accepts the world as it was: then it can only object."""
        self.unusable = ""
        """Why there is none; "" if there is."""
        known = {
            "before": {name: list(xyz) for name, xyz in before.positions.items()},
            "drawn_before": plain(getattr(engine.robot, "strokes", None)),
            "robot_before": before.condition.get("robot"),
        }
        self._state = State(variables={name: v for name, v in known.items() if v is not None})
        try:
            context, docs = engine.context(self._prompt), engine.docs(self._prompt)
            self._question = Question(words, context, docs=docs)
            self._completion = engine.author.ask(self._prompt, self._question)
        except (ModelError, PromptError) as error:
            self.unusable = f"there is no goal check: {str(error).partition('; ')[0]}"
            return
        world = (
            engine.robot.snapshot()
            if engine.robot.simulated and isinstance(engine.robot, Rewindable)
            else None
        )
        with stage(engine, world) as robot:
            result = self._run(robot).result
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
        if self.unusable:
            return None
        result = self._run(robot).result
        if result.failure is not None or (self.satisfied_before and result.value):
            return None
        return bool(result.value)

    def denial(self, verdict: bool | None) -> str:
        """Return why it does not accept a world, by what it says of it; "" if it does."""
        if self.unusable or verdict:
            return self.unusable
        return SAYS_NO if verdict is False else "the goal check says nothing of it"

    def _run(self, robot: Any) -> Answer:
        engine = self._engine.copy_for(robot, TrialTrace(self._engine.trace))
        given = self._completion
        answer = engine.attempt(self._prompt, self._question, self._state, given=given)
        assert answer is not None
        return answer
