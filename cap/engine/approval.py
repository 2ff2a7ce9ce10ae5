"""Approval: what a complete program passes before it runs, and each call before it moves the robot.

A program is rehearsed in the robot's twin, where there is one, and shown to a person, where one is
to be asked. A yes holds for the world as it was then: where that has changed meanwhile, it is said,
and the program is rehearsed and asked for again.
"""

from __future__ import annotations

import functools
from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any

from cap.engine.answer import Answer, Approve, Decision, EngineRobot
from cap.engine.effect import WorldView
from cap.engine.rehearsal import Rehearsal, Rehearse, Rehearsed
from cap.errors import NotApproved, RobotError
from cap.program.scope import Primitive
from cap.prompt.prompt import Prompt
from cap.result import Failure
from cap.sandbox.clocks import asking_person
from cap.sandbox.robot_thread import on_waiting_thread
from cap.trace.messages import shown_call
from cap.trace.trace import Trace

Allow = Callable[[str], bool]
"""Shown one call as text; False refuses it, and ends its program."""
_SILENT = ("say",)
"""Actions that move nothing."""
_NOT_APPROVED = Failure(
    "refused", NotApproved.__name__, "the program was not approved; nothing ran"
)
DECLINED = "Declined"
"""The error of a program that a person did not approve, with a reason."""
_MOST_CHANGES = 10
"""A world that has changed so often while one word was waited for does not come to rest."""
_RESTLESS = "the world changes again and again while a word is waited for; nothing was moved"


@dataclass(frozen=True)
class Gate:
    """Lets programs and calls through, or says why not."""

    robot: EngineRobot
    """Whose world is looked at before and after a question."""
    trace: Trace
    """Told of each rehearsal; its depth tells nested programs from the outermost."""
    approve: Approve | None = None
    """Shown the complete program; None lets everything through."""
    allow: Allow | None = None
    """Shown each call that moves the robot; None asks for nothing."""
    rehearsal: Rehearsal | None = None
    """Has programs run in the robot's twin first; None where there is none, or it is not wanted."""

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
        asks, rehearsal = prompt.header.actions, self.rehearsal
        if rehearsal is not None and self.trace.depth:
            asks, rehearsal = not rehearsal.knows(answer.program.source), None
        if not asks:
            return None
        try:
            for _ in range(_MOST_CHANGES):
                done = None if rehearsal is None else self._rehearsed(rehearsal, rehearse)
                if done is not None and done.failure is not None:
                    return done.failure
                if self.approve is None:
                    return None
                before = self._look() if done is None else done.began
                with asking_person():  # their time counts for nothing
                    said = self.approve(answer.source)
                decision = said if isinstance(said, Decision) else Decision(said)
                if decision.edited:
                    return decision.edited
                if decision.reason:
                    return Failure("refused", DECLINED, f"the person said no: {decision.reason}")
                if not decision.allowed:
                    return _NOT_APPROVED
                moment = "the program was shown" if done is None else "the program was rehearsed"
                if not self._changed_since(before, moment):
                    return None
        except RobotError as error:  # the scene could not be seen
            return Failure("raised", type(error).__name__, str(error), robot=True)
        return Failure("raised", RobotError.__name__, _RESTLESS, robot=True)

    def _rehearsed(self, rehearsal: Rehearsal, rehearse: Rehearse) -> Rehearsed:
        """Rehearse a program and tell of it.

        Raises:
            RobotError: The scene cannot be seen, so there is no twin of it.
        """
        done = rehearsal.run(rehearse, self.trace)
        self.trace.event(
            "rehearsal",
            failure=done.failure,
            calls=done.result.calls,
            moved=done.moved,
            sim_s=done.sim_s,
            programs=[(lmp, source) for source, lmp in rehearsal.sources.items()],
        )
        return done

    def _look(self) -> WorldView | None:
        """Return the world as it is now; None of a simulated one, which nobody else changes.

        Raises:
            RobotError: It cannot be seen.
        """
        if self.rehearsal is not None:
            return self.rehearsal.look()
        return None if self.robot.simulated else WorldView.of(self.robot)

    def _changed_since(self, before: WorldView | None, moment: str) -> bool:
        """Tell whether the world is otherwise than before a question, and say how."""
        now = self._look()
        if before is None or now is None:
            return False
        moved, changed = now.since(before)
        if moved or changed:
            self.trace.event("otherwise", since=moment, moved=moved, changed=changed)
        return bool(moved or changed)

    def asking(self, primitive: Primitive) -> Primitive:
        """Return one of the robot's functions, which asks first if it moves and that is wanted."""
        allow = self.allow
        if allow is None or primitive.kind != "action" or primitive.name in _SILENT:
            return primitive
        function = primitive.function

        @functools.wraps(function)
        def call(*args: Any, **kwargs: Any) -> Any:
            shown = shown_call(primitive.name, args, kwargs)
            for _ in range(_MOST_CHANGES):
                before = self._look()
                with asking_person():
                    allowed = on_waiting_thread(functools.partial(allow, shown))
                if not allowed:
                    raise NotApproved(f"the person said no to {shown}; the program ended there")
                if not self._changed_since(before, "the call was shown"):
                    return function(*args, **kwargs)
            raise RobotError(_RESTLESS)

        return replace(primitive, function=call)
