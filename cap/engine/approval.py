"""Approval: what a complete program passes before it runs, and each call before it moves the robot.

A program is rehearsed first, where the robot has a simulated twin: the twin stands in the scene as
it is seen now, and what fails there, or passes a limit there, does not run here. The model's
answers to what the program asks on the way are remembered: the run that follows gets the same, and
anything else that has to be written then is shown to the user first. Then the user is asked, where
the settings say so. A yes is for the world as it was then: if that has changed meanwhile, the
change is reported, and the program is rehearsed and shown again.
"""

from __future__ import annotations

import contextlib
import functools
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field, replace
from typing import Any

from cap.engine.answer import Answer
from cap.engine.settings import Allow, Approve, Decision
from cap.errors import ModelError, NotApproved, RobotError
from cap.messages import shown_call
from cap.program.scope import Primitive
from cap.prompt.prompt import Prompt
from cap.result import Failure, Result
from cap.robot.observation import Observation
from cap.robot.protocol import Rehearsable, Robot
from cap.sandbox.limits import asking_person
from cap.sandbox.robot_thread import on_waiting_thread
from cap.trace.trace import Event, Trace

Rehearse = Callable[[Robot, Trace], Result]
"""Runs the program on a twin, with a trace."""
_SILENT = ("say",)
"""Actions that move nothing."""
_NOT_APPROVED = Failure(
    "refused", NotApproved.__name__, "the program was not approved; nothing ran"
)
DECLINED = "Declined"
"""The error of a program that a user declined with a reason."""
_MOST_CHANGES = 10
"""A world that has changed this often while a decision was awaited does not come to rest."""
_RESTLESS = "the world keeps changing while a decision is awaited; nothing was moved"
_ENDLESS = ("CallLimit", "ActionLimit", "SimTimeLimit", "TimeLimit")
"""How a loop without an end is ended."""


@dataclass
class Rehearsal:
    """Rehearses the programs of one robot, and knows what it has seen."""

    robot: Rehearsable
    """Whose twin is used."""
    sources: dict[str, str] = field(default_factory=dict)
    """Programs of nested LMPs of the last rehearsal: the LMP by its program."""

    @contextlib.contextmanager
    def twin(self) -> Iterator[Robot]:
        """Yield a new twin, in the scene as it is seen now.

        Raises:
            RobotError: The scene cannot be seen, or the twin is real.
        """
        twin = self.robot.twin()
        try:
            if not twin.simulated:
                raise RobotError(
                    "the robot's twin is no simulation, so nothing can be rehearsed in it"
                )
            yield twin
        finally:
            twin.close()

    def run(self, rehearse: Rehearse, main: Trace) -> tuple[Observation, Failure | None]:
        """Have a program run on a new twin; return what it began with, and why it must not run.

        Args:
            rehearse: Runs it.
            main: The turn's trace, which records the rehearsal and its result.

        Raises:
            RobotError: The scene cannot be seen, or the twin is real.
        """
        self.sources.clear()
        trace = Trace()
        trace.listeners.append(self._note)
        with self.twin() as twin:
            main.progress("rehearsing", robot=twin)
            began = Observation.of(twin)
            result = rehearse(twin, trace)
            moved, _ = Observation.of(twin).since(began)
            sim_s = float(getattr(twin, "sim_time_s", 0.0))
        failure = result.failure and _of_rehearsal(result.failure)
        main.event(
            "rehearsal",
            failure=failure,
            calls=result.calls,
            moved=moved,
            sim_s=sim_s,
            programs=[(lmp, source) for source, lmp in self.sources.items()],
        )
        return began, failure

    def _note(self, event: Event) -> None:
        if event.kind == "program":
            self.sources[str(event.data["source"])] = str(event.data["lmp"])


def _of_rehearsal(failed: Failure) -> Failure:
    message = f"in the rehearsal: {failed.message}; nothing moved"
    if failed.error in _ENDLESS:
        message += "; a loop cannot wait there for something new: the twin sees what is there now"
    if failed.exit_code == ModelError.exit_code:  # the model's, wherever it is found
        return replace(failed, message=message)
    return replace(failed, kind="rehearsal", message=message)


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
    if rehearsal is not None and world is None:
        with rehearsal.twin() as twin:
            yield twin
        return
    try:
        yield robot
    finally:
        if world is not None:
            robot.restore(world)


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
        if kind in ("prompt", "completion", "unanswered"):
            with self._main.nested():
                self._main.event(kind, **data)


@dataclass(frozen=True)
class Passage:
    """Whether a program may run."""

    refused: Failure | None = None
    """Why not."""
    edited: str = ""
    """What a person wrote in its place."""


@dataclass(frozen=True)
class Gate:
    """Lets programs and calls through, or refuses them with a reason."""

    robot: Robot
    """Whose world is looked at before and after a question."""
    trace: Trace
    """Records each rehearsal; its depth distinguishes nested programs from the outermost."""
    approve: Approve | None = None
    """Shown the complete program; None lets everything through."""
    allow: Allow | None = None
    """Shown each call that moves the robot; None asks for nothing."""
    rehearsal: Rehearsal | None = None
    """Has programs run in the robot's twin first; None where there is none, or it is not wanted."""

    def passage(self, prompt: Prompt, answer: Answer, rehearse: Rehearse) -> Passage:
        """Return whether a program may run.

        The outermost program is rehearsed and approved, with every program it asks for on the way.
        A nested one that the rehearsal did not see is shown by itself, whatever it does.

        Args:
            prompt: Whose program it is.
            answer: The program, complete.
            rehearse: Runs it on a twin.
        """
        assert answer.program is not None
        asks, rehearsal, moment = prompt.header.actions, self.rehearsal, "the program was rehearsed"
        if rehearsal is not None and self.trace.depth:
            asks, rehearsal = answer.program.source not in rehearsal.sources, None
        if not asks:
            return Passage()
        try:
            for _ in range(_MOST_CHANGES):
                before = None
                if rehearsal is not None:
                    before, failure = rehearsal.run(rehearse, self.trace)
                    if failure is not None:
                        return Passage(failure)
                if self.approve is None:
                    return Passage()
                if before is None:
                    before, moment = self._look(), "the program was shown"
                with asking_person():  # the user's time does not count
                    said = self.approve(answer.source)
                decision = said if isinstance(said, Decision) else Decision(said)
                if decision.edited:
                    return Passage(edited=decision.edited)
                if decision.reason:
                    message = f"the user said no: {decision.reason}"
                    return Passage(Failure("refused", DECLINED, message))
                if not decision.allowed:
                    return Passage(_NOT_APPROVED)
                if not self._changed_since(before, moment):
                    return Passage()
        except RobotError as error:  # the scene could not be seen
            return Passage(Failure("raised", type(error).__name__, str(error), robot=True))
        return Passage(Failure("raised", RobotError.__name__, _RESTLESS, robot=True))

    def _look(self) -> Observation | None:
        """Return the world as it is now; None of a simulated one, which nothing else changes.

        Raises:
            RobotError: It cannot be seen.
        """
        if self.rehearsal is not None:
            with self.rehearsal.twin() as twin:
                return Observation.of(twin)
        return None if self.robot.simulated else Observation.of(self.robot)

    def _changed_since(self, before: Observation | None, moment: str) -> bool:
        """Return whether the world changed since a question, and record how."""
        now = self._look()
        if before is None or now is None:
            return False
        moved, changed = now.since(before)
        if moved or changed:
            self.trace.event("changed_since", since=moment, moved=moved, changed=changed)
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
                    raise NotApproved(f"the user said no to {shown}; the program ended there")
                if not self._changed_since(before, "the call was shown"):
                    return function(*args, **kwargs)
            raise RobotError(_RESTLESS)

        return replace(primitive, function=call)
