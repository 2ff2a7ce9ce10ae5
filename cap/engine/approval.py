"""Approval: what a complete program passes before it runs, and each call before it moves the robot.

A program is rehearsed in the robot's twin, where there is one, and shown to a person, where one is
to be asked.
"""

from __future__ import annotations

import functools
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from typing import Any

from cap.engine.answer import Answer, Approve, Decision
from cap.engine.rehearsal import Rehearsal, Rehearse
from cap.errors import RobotError
from cap.prompt.prompt import Prompt
from cap.result import Failure
from cap.sandbox.parent.deadlines import asking_person
from cap.scope import Primitive
from cap.trace.trace import Trace

Allow = Callable[[str], bool]
"""Shown one call as text; False refuses it."""
_SILENT = ("say",)
"""Actions that move nothing."""
_NOT_APPROVED = Failure("refused", "NotApproved", "the program was not approved; nothing ran")
DECLINED = "Declined"
"""The error of a program that a person did not approve, with a reason."""


@dataclass(frozen=True)
class Gate:
    """Lets programs through, or says why not."""

    approve: Approve | None
    """Shown the complete program; None lets everything through."""
    rehearsal: Rehearsal | None
    """Has programs run in the robot's twin first; None where there is none, or it is not wanted."""
    trace: Trace
    """Told of each rehearsal; its depth tells nested programs from the outermost."""

    def word(self, prompt: Prompt, answer: Answer, rehearse: Rehearse) -> Failure | str | None:
        """Return why a program must not run, or what is to run in its place; None lets it.

        The outermost program is rehearsed and approved, with every program it asks for on the way.
        A nested one that the rehearsal did not see needs a word of its own, whatever it does.

        Args:
            prompt: Whose program it is.
            answer: The program, complete.
            rehearse: Carries it out on a twin.
        """
        assert answer.program is not None
        asks = prompt.header.actions
        if self.rehearsal is not None and self.trace.depth:
            asks = not self.rehearsal.knows(answer.program.source)
        elif self.rehearsal is not None and asks:
            failure = self._rehearsed(self.rehearsal, rehearse)
            if failure is not None:
                return failure
        if asks and self.approve is not None:
            with asking_person():  # their time counts for nothing
                said = self.approve(answer.source)
            decision = said if isinstance(said, Decision) else Decision(said)
            if decision.edited:
                return decision.edited
            if decision.reason:
                return Failure("refused", DECLINED, f"the person said no: {decision.reason}")
            return None if decision.allowed else _NOT_APPROVED
        return None

    def _rehearsed(self, rehearsal: Rehearsal, rehearse: Rehearse) -> Failure | None:
        """Rehearse a program and tell of it; return why it must not run on the robot."""
        try:
            done = rehearsal.run(rehearse)
        except RobotError as error:  # the scene could not be seen, so there is no twin of it
            return Failure("raised", type(error).__name__, str(error), robot=True)
        self.trace.event(
            "rehearsal",
            failure=done.failure,
            calls=done.result.calls,
            moved=done.moved,
            sim_s=done.sim_s,
            programs=[(lmp, source) for source, lmp in rehearsal.sources.items()],
        )
        return done.failure


def asked(primitives: Mapping[str, Primitive], allow: Allow | None) -> dict[str, Primitive]:
    """Return a robot's functions, of which those that move it ask first.

    Args:
        primitives: By name.
        allow: Asked; a call it refuses raises `RobotError`. None asks for nothing.
    """
    if allow is None:
        return dict(primitives)
    return {
        name: _asked(primitive, allow)
        if primitive.kind == "action" and name not in _SILENT
        else primitive
        for name, primitive in primitives.items()
    }


def _asked(primitive: Primitive, allow: Allow) -> Primitive:
    function = primitive.function

    @functools.wraps(function)
    def call(*args: Any, **kwargs: Any) -> Any:
        from cap.trace.terminal import shown_call  # its terminal library is slow to load

        with asking_person():
            allowed = allow(shown_call(primitive.name, args, kwargs))
        if not allowed:
            raise RobotError(f"{primitive.name} was not allowed by the person; nothing moved")
        return function(*args, **kwargs)

    return replace(primitive, function=call)
