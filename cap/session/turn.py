"""The result of one instruction of a session."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from cap.engine.answer import NOTHING, Answer
from cap.engine.effect import Effect
from cap.models.base import Usage
from cap.result import ByValue, Call, Failure, folded, plain
from cap.robot.observation import Moved
from cap.trace.trace import Trace

_LISTS = ("no_longer_seen", "newly_seen", "said", "left_over", "doubts", "undone")
"""What of an effect is printed as a list."""


@dataclass(frozen=True, eq=False, repr=False)
class Turn(ByValue):
    """The result of one instruction, for a person or a program to read.

    Turns are compared by what is in them, and can be pickled.
    """

    instruction: str
    """The person's words."""
    program: str
    """The complete program, generated functions first; "" if there was none."""
    value: Any
    """The value the prompt returns, or None."""
    calls: tuple[Call, ...]
    """Every call of the program, in order."""
    failure: Failure | None
    """Why it failed, or None."""
    effect: Effect
    """What it did to the world, what was said, what was left over."""
    stdout: str = ""
    """What the program printed."""
    attempts: int = 1
    """Programs the model was asked for, repairs included."""
    usage: Usage = NOTHING
    """What the model took for all of it."""
    by_lmp: Mapping[str, Usage] = field(default_factory=dict)
    """The same for each LMP, function generation among them."""
    tried: int = 0
    """Programs that were tried before one was run; 0 if none was tried."""
    done: tuple[Call, ...] = ()
    """The actions of the last attempt that are done and stay done."""
    back: bool = False
    """True if what the last attempt did in the world was undone."""
    written: str = ""
    """The last program by itself, whose lines its failure counts."""

    @classmethod
    def of(cls, words: str, answer: Answer, effect: Effect) -> Turn:
        """Describe an answer.

        Args:
            words: The person's words.
            answer: What the engine made of them.
            effect: What it did in the world.
        """
        result = answer.result
        return cls(
            instruction=words,
            program=answer.source if answer.program else "",
            value=result.value,
            calls=result.calls,
            failure=result.failure,
            effect=effect,
            stdout=result.stdout,
            attempts=answer.attempts,
            usage=answer.usage,
            by_lmp=answer.by_lmp,
            tried=answer.tried,
            done=answer.done,
            back=answer.back,
            written=answer.program.source if answer.program else "",
        )

    @property
    def ok(self) -> bool:
        """True if the program ran to its end, and did what was expected of it."""
        return self.failure is None

    @property
    def moved(self) -> Moved:
        """Objects that moved: where from and where to, xyz in metres."""
        return self.effect.moved

    @property
    def prompt_effect(self) -> str:
        """Its effect as later prompts show it; "" of a failure that did nothing."""
        idle = self.failure is not None and self.effect.still and not self.effect.said
        return "" if idle else self.effect.line

    @property
    def note(self) -> str:
        """Its failure as later prompts show it, with what was done by then; "" of success."""
        if self.failure is None:
            return ""
        acted = " before anything was done"
        if self.done:
            acted = f" after {', '.join(folded(call.name for call in self.done))}, which stays done"
        if self.back:
            acted = ", and what it did was undone"
        if self.failure.kind == "killed":
            return f"its process was lost{acted}; nothing is known to be wrong with the program"
        return f"failed{acted}: {self.failure}"

    def __repr__(self) -> str:
        """Return the turn as one line: the words, and the result."""
        came = "ok" if self.failure is None else str(self.failure)
        did = self.effect.line
        return f"<Turn {self.instruction!r}: {came}{f'; {did}' if did else ''}>"

    def as_json(self) -> dict[str, Any]:
        """Return plain data that `json.dumps` takes, as `--json` prints it."""
        failure = self.failure
        described = failure and {**vars(failure), "cause": failure.cause}
        return {
            "instruction": self.instruction,
            "program": self.program,
            "value": plain(self.value),
            "calls": plain([vars(call) for call in self.calls]),
            "failure": described,
            "effect": list(self.effect.words),
            "moved": plain(self.moved),
            "changed": plain(self.effect.changed),
            **{name: list(getattr(self.effect, name)) for name in _LISTS},
            "stdout": self.stdout,
            "attempts": self.attempts,
            "tried": self.tried,
            "usage": dict(vars(self.usage)),
            "usage_by_lmp": {name: dict(vars(usage)) for name, usage in self.by_lmp.items()},
        }

    def record(self, trace: Trace, model: str) -> None:
        """Record how the turn ended.

        Args:
            trace: Where.
            model: The name of what wrote its program.
        """
        if self.stdout:
            trace.event("stdout", text=self.stdout)
        places = {"places": self.effect.places} if self.effect.places else {}
        trace.event("moved", objects=self.moved, **places)
        trace.event(
            "effect",
            words=self.effect.words,
            changed=self.effect.changes,
            no_longer_seen=self.effect.no_longer_seen,
            newly_seen=self.effect.newly_seen,
            left_over=(
                *(f"done, but: {line}" for line in self.effect.doubts),
                *self.effect.left_over,
            ),
            undone=self.effect.undone_line,
            still=self.effect.stillness,
        )
        if self.failure is not None:
            trace.event("failure", **vars(self.failure), cause=self.failure.cause)
        cost = {"attempts": self.attempts, "usage": self.usage, "by_lmp": self.by_lmp}
        cost["model"] = model
        trace.event("done", ok=self.ok, value=self.value, **cost)


def unmet(effect: Effect, expected: Sequence[str]) -> Failure | None:
    """Return the failure of a turn that did not have the effect it was to have; None if it had.

    Args:
        effect: What it did.
        expected: Words of `cap.result.EFFECTS`.
    """
    lacking = [word for word in expected if word not in effect.words]
    if not lacking:
        return None
    came = effect.words or [f"{name} is no longer seen" for name in effect.no_longer_seen]
    came = came or [f"{name} was not seen before" for name in effect.newly_seen]
    message = f"expected: {', '.join(lacking)}; the effect was: {', '.join(came)}"
    return Failure("effect", "Unexpected", message)
