"""Repair: a program that cannot be, or that failed, goes back to the model with the reason.

What is wrong with a program before it runs costs nothing to mend: nothing has moved. So does a
value of the wrong kind where no action was called. What fails while it runs is another matter: what
was done stays done, the model is told of it, and on hardware nothing is tried again unasked.

The failed program becomes one more turn of the prompt, and the same instruction follows, so that
the text up to there stays what it was, byte for byte.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any, Literal

from cap.engine.approval import DECLINED
from cap.errors import NotFound
from cap.program.program import AnsweredInWords
from cap.prompt.prompt import PastTurn
from cap.result import Call, Failure

Sort = Literal["static", "runtime", "person"]
_STATIC = ("syntax", "violation", "undefined", "generation", "rehearsal")
_RUNTIME = ("raised", "value")
_REQUEST = "write the whole program again, corrected"
_SPEAK = "this is no program; write one, and to say something to the person call say('...')"
_ANSWER = "this is no program; write one that sets {returns}"
_LEFT = "what it did stays done; write a program for what is left to do"
_FOR_PERSONS = re.compile(r"; [^;]*another model with -m")
"""What a person can do about an answer; a model is not told."""
_VALUE_CHARS, _MESSAGE_CHARS = 80, 400
_CALLS = 12
"""How many of the last calls a model is told of."""
_SOURCE_CHARS = 6_000
"""How much of a failed program is shown again."""


@dataclass(frozen=True)
class Repairs:
    """How often one instruction's program may be written again."""

    static: int = 2
    """For what is found before it runs."""
    runtime: int = 1
    """For what fails while it runs."""

    def nested(self, acts: bool) -> Repairs:
        """Return how often, for an LMP that a program calls: one that acts is not run again."""
        return replace(self, runtime=0) if acts else self

    def without(self, sort: Sort) -> Repairs:
        """Return what is left after one repair; a person may say no as often as they like."""
        if sort == "person":
            return self
        if sort == "static":
            return replace(self, static=self.static - 1)
        return replace(self, runtime=self.runtime - 1)

    def allow(self, sort: Sort | None) -> bool:
        """Tell whether one more is left."""
        if sort is None or sort == "person":
            return sort is not None
        return (self.static if sort == "static" else self.runtime) > 0


def sort_of(failure: Failure, calls: Sequence[Call], ran: bool) -> Sort | None:
    """Tell which sort of repair a failure asks for; None if none can help.

    Args:
        failure: How the program failed.
        calls: What it called.
        ran: Whether it was started.
    """
    if not ran and failure.error == DECLINED:
        return "person"
    if not ran:
        mends = failure.kind in _STATIC or failure.error == AnsweredInWords.__name__
        return "static" if mends else None
    if failure.kind == "value" and failure.error == NotFound.__name__:
        return None  # said on purpose: what was asked for is not there
    if failure.error == "WrongKind" and not acted(calls):
        return "static"
    return "runtime" if failure.kind in _RUNTIME else None


def acted(calls: Sequence[Call]) -> bool:
    """Tell whether any of the calls was an action."""
    return any(call.kind == "action" for call in calls)


def failed_turn(instruction: str, context: str, source: str, note: str) -> PastTurn:
    """Return a failed attempt as a turn of the prompt, with what went wrong as its note."""
    return PastTurn(instruction, _cut(source, _SOURCE_CHARS), context, note)


def note_of(
    failure: Failure, source: str, calls: Sequence[Call], returns: str | None = None
) -> str:
    """Return the reason, where it is in the program, the calls up to there, and the request.

    Args:
        failure: How the program failed.
        source: Its text.
        calls: What it called.
        returns: The variable its prompt's programs set; None of one that speaks to the person.
    """
    if failure.error == AnsweredInWords.__name__:
        return _ANSWER.format(returns=returns) if returns else _SPEAK
    reason = reason_of(failure)
    line = _line(source, failure.line)
    parts = [f"{reason} (in `{line}`)" if line and calls else reason]
    if calls:
        parts.append(f"calls: {'; '.join(map(_told, calls[-_CALLS:]))}")
    return "; ".join([*parts, _LEFT if acted(calls) else _REQUEST])


def again(reason: str) -> str:
    """Return the note under a generated function that could not be used."""
    reason = _cut(reason, _MESSAGE_CHARS).rstrip(".")
    return f"{reason}; write the whole function again, corrected"


def reason_of(failure: Failure) -> str:
    """Return what went wrong and in which line."""
    where = f"line {failure.line}: " if failure.line else ""
    name = f"{failure.error}: " if failure.kind in _RUNTIME else ""
    message = _FOR_PERSONS.sub("", failure.message)
    return f"{where}{name}{_cut(message, _MESSAGE_CHARS)}"


def _told(call: Call) -> str:
    given = [_shown(value) for value in call.args]
    given += [f"{name}={_shown(value)}" for name, value in call.kwargs.items()]
    told = f"{call.name}({', '.join(given)})"
    if call.error is not None:
        return f"{told} failed: {_cut(call.error, _MESSAGE_CHARS)}"
    return told if call.result is None else f"{told} returned {_shown(call.result)}"


def _shown(value: Any) -> str:
    try:
        return _cut(" ".join(repr(value).split()), _VALUE_CHARS)
    except ValueError:  # Python shows no integer of more than 4300 digits
        return f"<{type(value).__name__}>"


def _cut(text: str, chars: int) -> str:
    return text if len(text) <= chars else f"{text[: chars - 3]}..."


def _line(source: str, number: int | None) -> str:
    """Return one line of a source, or "" where there is no such line."""
    lines = source.split("\n")
    return lines[number - 1].strip() if number and number <= len(lines) else ""
