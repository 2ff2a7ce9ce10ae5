"""What a complete program passes before it runs: a rehearsal, and a person's word."""

from __future__ import annotations

from dataclasses import dataclass

from cap.engine.answer import Answer, Approve
from cap.engine.rehearsal import Rehearsal, Rehearse
from cap.errors import RobotError
from cap.prompt.prompt import Prompt
from cap.result import Failure
from cap.sandbox.parent.deadlines import asking_person
from cap.trace.trace import Trace

_NOT_APPROVED = Failure("refused", "NotApproved", "the program was not approved; nothing ran")


@dataclass(frozen=True)
class Gate:
    """Lets programs through, or says why not."""

    approve: Approve | None
    """Shown the complete program; None lets everything through."""
    rehearsal: Rehearsal | None
    """Has programs run in the robot's twin first; None where there is none, or it is not wanted."""
    trace: Trace
    """Told of each rehearsal; its depth tells nested programs from the outermost."""

    def refusal(self, prompt: Prompt, answer: Answer, rehearse: Rehearse) -> Failure | None:
        """Return why a program must not run; None lets it.

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
        return _NOT_APPROVED if asks and not self._approved(answer.source) else None

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

    def _approved(self, source: str) -> bool:
        """Ask the person, if anyone is to be asked; their time counts for nothing."""
        if self.approve is None:
            return True
        with asking_person():
            return self.approve(source)
