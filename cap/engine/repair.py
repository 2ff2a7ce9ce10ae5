"""Repair: a program that cannot be, or that failed, goes back to the model with the reason.

A fault found before a program runs costs nothing to repair: nothing has moved. The same is true of
a value of the wrong kind where no action was called. After a failure during the run, simulation
goes back to where the turn began, and the whole program is asked for again. Where the world cannot
go back, what was done stays done, the failed program's variables and generated functions are kept,
and a program for the rest is asked for; on hardware only where the settings allow it.

The failed program becomes one more turn of the prompt, and the same instruction follows, so that
the text up to there stays what it was, byte for byte.
"""

from __future__ import annotations

import itertools
import operator
import re
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

from cap.checker.checker import ViolationsFound
from cap.checker.undefined import UndefinedName
from cap.engine.answer import Answer, State
from cap.engine.approval import DECLINED
from cap.engine.doubts.doubts import DID_NOTHING, UNCHANGED
from cap.engine.model_request import CutOff, Question
from cap.engine.settings import Repairs, Sort
from cap.errors import (
    AnswerFault,
    CapError,
    GenerationFailed,
    ModelError,
    NotFound,
)
from cap.program.program import AnsweredInWords, Program, ProgramSyntaxError
from cap.prompt.context import brief, cut
from cap.prompt.prompt import PastTurn
from cap.result import Call, Failure, FailureKind

_STATIC = ("syntax", "violation", "undefined", "generation", "rehearsal")
_RUNTIME = ("raised", "value", "limit", "output", "memory")
_ENDLESS = ("TimeLimit", "SimTimeLimit")
"""Times a program may take; a call that hangs is no program's fault."""
_REQUEST = "write the whole program again, corrected"
_SPEAK = "this is no program; write one, and to say something to the user call say('...')"
_ANSWER = "this is no program; write one that sets {returns}"
_LEFT = "what it did stays done{kept}; write a program for what is left to do"
_NO_LESS = "if it cannot be done as asked, say why, and do nothing less in its place"
_BACK = f"the world is again as it was before this program; {_REQUEST}; {_NO_LESS}"
_NOTHING_ELSE = "if the request is for what is not here, say so and use nothing else in its place"
"""Under a name that is not there, which comes with the names that are like it."""
_FOR_PERSONS = re.compile(r"; [^;]*another model with -m")
"""Advice for the user in a message; the model does not get it."""
MESSAGE_CHARS = 400
_ALIKE = 4
"""How many perception calls by one function in a row are listed; of more, the first and the
last."""
_CALLS_CHARS = 6_000
"""How long the list of calls may be; of more, the first and the last are listed."""
_SOURCE_CHARS = 6_000
"""How much of a failed program a repair request shows."""


_KINDS: tuple[tuple[Any, FailureKind], ...] = (
    (ModelError | AnsweredInWords, "model"),
    (ProgramSyntaxError | AnswerFault, "syntax"),
    (UndefinedName, "undefined"),
    (GenerationFailed, "generation"),
)
"""What errors before a program runs are called, by the first that fits."""


def failure_of(error: CapError) -> Failure:
    """Describe an error raised before a program ran."""
    kinds = (kind for kinds, kind in _KINDS if isinstance(error, kinds))
    kind: FailureKind = next(kinds, "violation")
    name = error.violations[0].rule if isinstance(error, ViolationsFound) else type(error).__name__
    return Failure(kind, name, str(error), error.line)


def unfit(failure: Failure) -> Failure:
    """Return the failure of an offline answer that reads a variable nothing has set."""
    why, _, _ = failure.message.partition(" Did you mean")
    message = (
        f"the closest example goes on with an earlier instruction ({why.rstrip('.')}); "
        "rephrase it, or use a language model with -m"
    )
    return Failure("model", "NoMatch", message, failure.line)


def explain(
    failure: Failure, program: Program, variables: Mapping[str, Any], dropped: Mapping[str, str]
) -> Failure:
    """Add what an error means in a session, such as after "make it bigger" as its first words.

    Args:
        failure: How a program failed.
        program: What failed.
        variables: What the session remembered before it.
        dropped: Names that could not be kept, with the reason: a kept function may read one.
    """
    if failure.error == "IndexError":
        read = program.table.get_identifiers()
        lists = {name for name, value in variables.items() if isinstance(value, list) and not value}
        empty = sorted(lists.intersection(read))
        why = f"{', '.join(empty)} is empty: there is nothing yet to refer to"
        return replace(failure, message=f"{failure.message}; {why}") if empty else failure
    if failure.error != "NameError":
        return failure
    why = "no earlier instruction of this session has set it"
    name = re.match(r"name '(\w+)'", failure.message)
    if name and name[1] in dropped:
        why = f"it {dropped[name[1]]}"
    return replace(failure, message=f"{failure.message}; {why}")


def sort_of(answer: Answer) -> Sort | None:
    """Return which sort of repair an attempt needs; None if it needs none, or none can help."""
    failure = answer.failure
    if failure is None:
        return None
    if not answer.ran:
        if failure.error == DECLINED:
            return "person"
        repairable = failure.kind in _STATIC or failure.error == AnsweredInWords.__name__
        return "static" if repairable else None
    if failure.kind == "value" and failure.error == NotFound.__name__:
        return None  # said on purpose: what was asked for is not there
    if failure.error in ("WrongKind", DID_NOTHING) and not acted(answer.last_calls):
        return "static"
    endless = failure.kind == "timeout" and failure.error in _ENDLESS
    return "runtime" if failure.kind in _RUNTIME or endless else None


def repairs_left(repairs: Repairs, *, nested_acts: bool) -> dict[Sort, int]:
    """Return how often a program may be written again; one that is nested and acts runs once."""
    runtime = 0 if nested_acts else repairs.runtime
    return {"static": repairs.static, "runtime": runtime, "person": 1}


def next_repair(left: dict[Sort, int], answer: Answer) -> Failure | None:
    """Take a repair for an attempt; return the failure that is its reason, None if none is left.

    A user may decline as often as they like. That an answer is no program, or that an order changed
    nothing, is said once.
    """
    sort, failure = sort_of(answer), answer.failure
    if sort is None or failure is None or left[sort] <= 0:
        return None
    if sort != "person":
        left[sort] -= 1
    if failure.error in (AnsweredInWords.__name__, UNCHANGED):
        left["static"] = 0
    if failure.error == UNCHANGED:
        left["runtime"] = 0
    return failure


def acted(calls: Sequence[Call]) -> bool:
    """Return whether any of the calls was an action."""
    return any(call.kind == "action" for call in calls)


def asked_again(question: Question, answer: Answer) -> Question:
    """Return the question after a failed attempt: with it as a turn, and what went wrong as a note.

    An answer that was cut off gets more room.
    """
    failure, facts = answer.failure, question.context.facts
    kept = [name for name in answer.result.variables if name not in facts]
    note = note_of(answer, question.prompt.header.returns, kept)
    source = cut(answer.shown, _SOURCE_CHARS)
    turn = PastTurn(question.instruction, source, question.context.text, note=note)
    if failure is not None and failure.error == CutOff.__name__:
        question = question.with_more_room()
    return replace(question, history=(*question.history, turn))


def left_by(state: State, answer: Answer) -> State:
    """Return a state with what a failed program set, where its world stays as well."""
    definitions = tuple(dict.fromkeys((*state.definitions, *answer.generated)))
    variables = {**state.variables, **answer.result.variables}
    return replace(state, variables=variables, definitions=definitions)


def note_of(answer: Answer, returns: str | None = None, kept: Sequence[str] = ()) -> str:
    """Return the reason, where it is in the program, the calls up to there, and the request.

    Args:
        answer: An attempt that failed.
        returns: The variable its prompt's programs set; None of one that speaks to the person.
        kept: Names that it set and that are still set.
    """
    failure, calls = answer.failure, answer.last_calls
    assert failure is not None
    if failure.error == AnsweredInWords.__name__:
        return _ANSWER.format(returns=returns) if returns else _SPEAK
    reason = reason_of(failure)
    line = _line(answer.shown, failure.line)
    parts = [f"{reason} (in `{line}`)" if line and calls else reason]
    if failure.error == NotFound.__name__:
        parts.append(_NOTHING_ELSE)
    if calls:
        parts.append(f"calls: {'; '.join(_folded(calls))}")
    if not any(call.kind == "action" and call.error is None for call in calls):
        refused = bool(calls) and calls[-1].kind == "action"
        return "; ".join([*parts, _REQUEST, *([_NO_LESS] if refused else [])])
    set_still = f", and {', '.join(kept)} are still set" if kept else ""
    return "; ".join([*parts, _BACK if answer.back else _LEFT.format(kept=set_still)])


def again(reason: str) -> str:
    """Return the note under a generated function that could not be used."""
    reason = cut(reason, MESSAGE_CHARS).rstrip(".")
    return f"{reason}; write the whole function again, corrected"


def reason_of(failure: Failure) -> str:
    """Return what went wrong and in which line."""
    where = f"line {failure.line}: " if failure.line else ""
    name = f"{failure.error}: " if failure.kind in _RUNTIME else ""
    message = _FOR_PERSONS.sub("", failure.message)
    return f"{where}{name}{cut(message, MESSAGE_CHARS)}"


def _folded(calls: Sequence[Call]) -> list[str]:
    """Return calls in words: every action; of what only looked nothing twice, and no long rows."""
    seen: set[str] = set()
    kept: list[Call] = []
    for call in calls:
        line = _with_result(call)
        if call.kind == "action" or line not in seen:
            kept.append(call)
        seen.add(line)
    lines: list[str] = []
    for (name, kind), row in itertools.groupby(kept, key=operator.attrgetter("name", "kind")):
        shown = [*map(_with_result, row)]
        if kind == "perception" and len(shown) > _ALIKE:
            shown = [shown[0], f"{name} {len(shown) - 3} times more", *shown[-2:]]
        for line, same in itertools.groupby(shown):
            times = len(list(same))
            lines.append(line if times == 1 else f"{line}, {times} times")
    left_out = 0
    while len(lines) > 1 and sum(map(len, lines)) > _CALLS_CHARS:
        left_out += 1
        del lines[len(lines) // 2]
    if left_out:
        lines.insert((len(lines) + 1) // 2, f"{left_out} calls are left out here")
    return lines


def _with_result(call: Call) -> str:
    """Return one call as a line: its arguments, and its result or failure."""
    given = [brief(value) for value in call.args]
    given += [f"{name}={brief(value)}" for name, value in call.kwargs.items()]
    called = f"{call.name}({', '.join(given)})"
    if call.error is not None:
        return f"{called} failed: {cut(call.error, MESSAGE_CHARS)}"
    return called if call.result is None else f"{called} returned {brief(call.result)}"


def _line(source: str, number: int | None) -> str:
    """Return one line of a source, or "" where there is no such line."""
    lines = source.split("\n")
    return lines[number - 1].strip() if number and number <= len(lines) else ""
