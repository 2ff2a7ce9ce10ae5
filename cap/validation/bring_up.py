"""`cap robots check NAME -R ...`: a real robot is brought up, from looking to the first motion."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Literal

from cap.errors import CapError, UsageError
from cap.robot.protocol import BringUp

StepResult = Literal["ok", "failed", "declined", "interrupted", "not done"]
INTERRUPTED = "it was ended here; what moved was stopped"
UNANSWERED = "it was ended at the question; nothing of this step was done"
NO_TERMINAL = "it needs a terminal, where a person can be asked: run it in one"


@dataclass(frozen=True)
class Checked:
    """The result of a step."""

    title: str
    """Of the step."""
    result: StepResult
    """`not done` behind a step that failed or was declined."""
    finding: str
    """What was found, or what is wrong and the remedy."""
    question: str = ""
    """What the person was asked, if anything."""
    exit_code: int = 0
    """Of the error it failed with, or of what it lacked."""


def walk(robot: BringUp, ask: Callable[[str], bool] | None) -> Iterator[Checked]:
    """Go through the checklist; each step rests on those before, so the first no ends it.

    Args:
        robot: What is brought up.
        ask: Puts a question to the person; None where there is nobody.
    """
    ended = ""
    for step in robot.steps():
        if ended:
            yield Checked(step.title, "not done", ended)
        elif step.question and ask is None:
            ended = f"after: {step.title}"
            yield Checked(step.title, "not done", NO_TERMINAL, step.question, UsageError.exit_code)
        elif step.question and ask is not None and not ask(step.question):
            ended = f"after: {step.title}"
            yield Checked(step.title, "declined", "the user said no", step.question)
        else:
            try:
                yield Checked(step.title, "ok", step.do(), step.question)
            except CapError as error:
                robot.stop()
                ended = f"after: {step.title}"
                why = f"{type(error).__name__}: {error}"
                yield Checked(step.title, "failed", why, step.question, error.exit_code)
