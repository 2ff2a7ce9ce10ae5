"""What the engine is given with an instruction (`State`), and what it returns (`Answer`)."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Any, Protocol

from cap.models.base import Usage
from cap.program.program import Program
from cap.program.scope import Definition, Primitive
from cap.prompt.prompt import PastTurn
from cap.result import Call, Result, folded
from cap.robot.observation import Observation

NOTHING = Usage()


class EngineRobot(Protocol):
    """What the engine needs of a robot."""

    simulated: bool
    """False where a program moves real hardware."""

    def primitives(self) -> Mapping[str, Primitive]:
        """Return the functions programs may call, by name."""

    def context(self) -> Mapping[str, Any]:
        """Return facts a prompt may ask for, such as `objects`: plain data."""

    def stop(self) -> None:
        """Stop all motion at once; safe to call from any thread."""

    def close(self) -> None:
        """Release what it holds."""


@dataclass(frozen=True)
class Answer:
    """The result of one instruction."""

    result: Result
    """Value or failure, and the calls: those of all attempts."""
    program: Program | None = None
    """The program, if there was one; of several attempts the last."""
    generated: tuple[Definition, ...] = ()
    """Functions written for it, dependencies first."""
    kept: tuple[Definition, ...] = ()
    """Functions it uses that were there before: of earlier turns, and skills."""
    completion: str = ""
    """The model's raw answer."""
    ran: bool = False
    """True if the program was started."""
    attempts: int = 1
    """Programs asked for, repairs included."""
    earlier: tuple[str, ...] = ()
    """The complete programs of earlier rounds of the same turn."""
    tried: int = 0
    """Programs that were tried before this one was chosen; 0 if it was the only one."""
    accepted: bool = False
    """True if it was tried, and the goal check or the caller's own accepted what it did, though it
    may have failed then."""
    denied: str = ""
    """Why it is not verified: the goal check refused it, or could not tell."""
    earlier_calls: int = 0
    """How many of the calls are those of attempts before the last."""
    back: bool = False
    """True if what the last attempt did in the world was undone."""
    failed: tuple[PastTurn, ...] = ()
    """Attempts before the last whose motions stayed, for the history."""
    usage: Usage = NOTHING
    """What the model took, for everything that was asked for on the way."""
    by_lmp: Mapping[str, Usage] = field(default_factory=dict)
    """The same for each LMP."""
    seen: Observation | None = None
    """The world after it, where it was looked at already."""
    doubts: tuple[str, ...] = ()
    """What every reading of the words asks for and the world does not show: lines."""

    @property
    def source(self) -> str:
        """The complete program: functions it uses, generated functions, then the program."""
        parts = [*self.earlier, *(entry.source for entry in self.kept)]
        parts += [f"# Generated function.\n{entry.source.strip()}" for entry in self.generated]
        parts += [self.program.source] if self.program else []
        if len(parts) == 1:  # its lines keep their numbers, also below a line that was removed
            return f"{parts[0].rstrip()}\n"
        return "\n\n".join(part.strip() for part in parts) + "\n"

    @property
    def shown(self) -> str:
        """What a model is shown of it: with the functions that were generated for it."""
        if self.program is None or not self.generated:
            return self.written
        parts = [f"# Generated function.\n{entry.source.strip()}\n" for entry in self.generated]
        return "\n".join([*parts, self.program.source])

    @property
    def last_calls(self) -> tuple[Call, ...]:
        """The calls of the last attempt."""
        return self.result.calls[self.earlier_calls :]

    @property
    def done(self) -> tuple[Call, ...]:
        """The actions that are done and stay done: not those of attempts that were undone."""
        calls = () if self.back or not self.ran else self.last_calls
        return tuple(call for call in calls if call.kind == "action" and call.error is None)

    @property
    def written(self) -> str:
        """What the model wrote for the program itself; its raw answer where that is none."""
        return self.program.source if self.program else self.completion


@dataclass(frozen=True)
class State:
    """What a session gives to a program, and what it keeps of it."""

    variables: Mapping[str, Any] = field(default_factory=dict)
    """Plain data by name."""
    definitions: tuple[Definition, ...] = ()
    """Functions and classes as source."""
    history: tuple[PastTurn, ...] = ()
    """Earlier turns, for the prompt."""
    dropped: Mapping[str, str] = field(default_factory=dict)
    """Names that could not be kept, with the reason."""
    hints: tuple[str, ...] = ()
    """Lines that tell the model what else exists: skills."""
    goes_on: bool = False
    """True of a further round of an instruction: a program that does nothing says it is done."""
    given: str = ""
    """What its variables are, for the model to read: of an LMP that a program calls."""


def unanswered(answer: Answer) -> bool:
    """Tell whether a model gave no answer, or none for a function the program lacks."""
    failure = answer.result.failure
    return failure is not None and failure.kind == "model" and not answer.ran


def with_note(answer: Answer, after: Answer) -> Answer:
    """Return an answer whose repair failed, with the reason next to its own failure."""
    failure, why = answer.result.failure, after.result.failure
    assert failure is not None
    assert why is not None
    message = f"{failure.message}; a repair was asked for, but {why.error}: {why.message}"
    result = replace(answer.result, failure=replace(failure, message=message))
    return replace(answer, result=result, attempts=answer.attempts + 1)


def failed_attempt(answer: Answer, words: str) -> PastTurn:
    """Return a failed attempt whose motions stay, as later prompts show it."""
    done = ", ".join(folded(call.name for call in answer.done))
    note = f"failed after {done}, which stays done: {answer.result.failure}"
    return PastTurn(words, answer.shown, note=note)


def joined(before: Answer, after: Answer, words: str) -> Answer:
    """Return the later of two attempts, with what the earlier one called and printed.

    Args:
        before: The earlier one.
        after: The later one.
        words: The instruction of both.
    """
    result = replace(
        after.result,
        calls=(*before.result.calls, *after.result.calls),
        stdout=before.result.stdout + after.result.stdout,
    )
    failed = (*before.failed, failed_attempt(before, words)) if before.done else before.failed
    return replace(
        after,
        result=result,
        attempts=before.attempts + 1,
        earlier_calls=len(before.result.calls),
        failed=failed,
        generated=after.generated if before.back else (*before.generated, *after.generated),
    )
