"""What the engine is given (`Instruction`, `State`), and what it returns (`Answer`)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from cap.engine.goal_check import GoalCheck
from cap.models.base import Usage
from cap.program.program import Program
from cap.program.scope import Definition
from cap.prompt.context import Context
from cap.prompt.prompt import PastTurn, Prompt
from cap.result import Call, Failure, Result, folded
from cap.robot.observation import Observation

NOTHING = Usage()


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
    found: State | None = None
    """What the last program of several rounds found; None of a turn of one program."""
    seen: Observation | None = None
    """The world after it, where it was looked at already."""
    doubts: tuple[str, ...] = ()
    """What every reading of the words asks for and the world does not show: lines."""

    @property
    def failure(self) -> Failure | None:
        """Why it failed; None if it did not."""
        return self.result.failure

    @property
    def source(self) -> str:
        """The complete program: functions it uses, generated functions, then the program."""
        parts = [*self.earlier, *(entry.source for entry in self.kept), *self._written]
        if len(parts) == 1:  # its lines keep their numbers, also below a line that was removed
            return f"{parts[0].rstrip()}\n"
        return "\n\n".join(part.strip() for part in parts) + "\n"

    @property
    def shown(self) -> str:
        """What a model is shown of it: with the functions that were generated for it."""
        return "\n\n".join(self._written) if self.program else self.completion

    @property
    def _written(self) -> list[str]:
        parts = [f"# Generated function.\n{entry.source.strip()}" for entry in self.generated]
        return [*parts, self.program.source] if self.program else parts

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


@dataclass(frozen=True)
class Instruction:
    """One instruction for an LMP, and what its result is judged by."""

    prompt: Prompt
    """The LMP."""
    words: str
    """The person's words, or a program's."""
    context: Context = field(default_factory=Context)
    """The facts shown above them."""
    state: State = field(default_factory=State)
    """What a session remembers."""
    before: Observation | None = None
    """The world before the turn; where it can, it is restored before a repair."""
    compared: bool = True
    """Whether what changed since then is compared with the instruction."""
    fixed: bool = False
    """The context is the caller's own, and not read again after an attempt that acted."""
    expect: Sequence[str] = ()
    """The effect by which one of several programs is chosen (`cap.result.EFFECTS`)."""
    moved_before: Mapping[str, Any] = field(default_factory=dict)
    """What the turn before it moved, for "the other one"."""
    goal: GoalCheck | None = None
    """The instruction's goal check, if it was asked for before."""


def with_failure(answer: Answer, failure: Failure | None) -> Answer:
    """Return an answer that failed in this way, or in none."""
    return replace(answer, result=replace(answer.result, failure=failure))


def failed_attempt(answer: Answer, words: str) -> PastTurn:
    """Return a failed attempt whose motions stay, as later prompts show it."""
    done = ", ".join(folded(call.name for call in answer.done))
    note = f"failed after {done}, which stays done: {answer.failure}"
    return PastTurn(words, answer.shown, note=note)


def joined(before: Answer, after: Answer) -> Answer:
    """Return the later of two answers, with what the earlier one called and printed."""
    result = replace(
        after.result,
        calls=(*before.result.calls, *after.result.calls),
        stdout=before.result.stdout + after.result.stdout,
    )
    return replace(
        after,
        result=result,
        attempts=before.attempts + after.attempts,
        tried=before.tried + after.tried,
        earlier_calls=len(before.result.calls) + after.earlier_calls,
    )
