"""Results of programs: read from a worker's last message, or from how its process ended.

The message comes from a hostile process: nothing in it is taken to be well-formed.
"""

from __future__ import annotations

import keyword
import os
import signal
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from typing import Any, Literal

from cap.checker.policy import EVERYWHERE
from cap.errors import clipped
from cap.program.program import MAX_SOURCE_CHARS
from cap.program.scope import Scope
from cap.result import Failure, Result
from cap.sandbox import frames, wire
from cap.sandbox.limits import Limits

Raised = dict[tuple[str, str], Failure]
"""Failures of primitives by the error's name and message, as the program sees them."""
_PARENTS_OWN = frozenset(
    [
        *("TimeLimit", "SimTimeLimit", "CallTimeout", "CallLimit", "CallBytesLimit"),
        *("ActionLimit", "WorkerDied", "ProtocolError", "UndefinedName", "ProgramSyntaxError"),
    ]
)
"""Names of failures that only the parent may give."""
_MESSAGE_CHARS = 2200
"""An exception's message, and the function it came from."""
_SIGNALS: dict[int, str] = {entry.value: entry.name for entry in signal.Signals}
_REASONS: dict[int, str] = {
    signal.SIGSYS: "it made a system call that ends a program",
    signal.SIGKILL: "the system ran out of memory, or it was killed from outside",
    signal.SIGSEGV: "its memory was damaged, or its stack is used up",
    signal.SIGBUS: "its memory was damaged",
    signal.SIGABRT: "a library gave up",
}
Watch = Callable[[], None]
"""Called now and then while values are read; what it raises ends that."""


@dataclass(frozen=True)
class CallAnswer:
    """The outcome of one call of a program's function; plain data."""

    kind: Literal["value", "yields", "raises"]
    """It returned a value, an iterator, or raised."""
    value: Any
    """The value, or the list of what the iterator yielded; for `raises` the exception's name."""
    message: str = ""
    """Of the exception."""


def read_result(
    entries: Mapping[str, Any], raised: Raised, limits: Limits, watch: Watch | None = None
) -> Result:
    """Return the result in a worker's last message.

    Args:
        entries: The message's content.
        raised: What the program's primitives raised.
        limits: What it might use.
        watch: Ends the reading when its time is over.

    Raises:
        WireError: The message is not well-formed.
    """
    stdout = _typed(entries, "stdout", str)[: limits.stdout_chars]
    if entries.get("status") == "ok":
        value = entries.get("value")
        defined = _typed(entries, "defined", dict, {})
        if not all(type(line) is int for line in defined.values()):
            raise frames.WireError("malformed result")
        return Result(
            value=wire.decode(value, watch) if type(value) is bytes else value,
            variables=_variables(entries, watch),
            defined=dict(zip(_names([*defined]), defined.values(), strict=True)),
            dropped=_names(_typed(entries, "dropped", list, [])),
            oversized=_names(_typed(entries, "oversized", list, [])),
            stdout=stdout,
        )
    error, text = _typed(entries, "error", str), _typed(entries, "message", str)
    error, text = error[:_MESSAGE_CHARS], text[: 4 * _MESSAGE_CHARS]
    text, line = wire.one_line(text, _MESSAGE_CHARS), entries.get("line")
    if not (line is None or type(line) is int):
        raise frames.WireError("malformed result")
    error = clipped("".join(letter for letter in error if letter.isalnum() or letter in "._"))
    if error in _PARENTS_OWN:
        error = f"program.{error}"
    kind: Literal["syntax", "raised"] = "syntax" if entries.get("status") == "syntax" else "raised"
    failure = _failure(Failure(kind, error, text, line), raised, limits)
    return Result(failure=failure, stdout=stdout, variables=_variables(entries, watch))


def _typed(entries: Mapping[str, Any], name: str, kind: type, default: Any = None) -> Any:
    value = entries.get(name, default)
    if type(value) is not kind:
        raise frames.WireError("malformed result")
    return value


def _failure(failure: Failure, raised: Raised, limits: Limits) -> Failure:
    """Distinguish the program's own exceptions, its limits, and those of what it called."""
    error, text, line = failure.error, failure.message, failure.line
    if error == "OutputLimit":
        return Failure("output", error, limits.reason(error), line)
    if error == "MemoryError":
        return Failure("memory", error, limits.reason(error), line)
    for (kind, seen), cause in raised.items():
        if kind == error and (text == seen or text.startswith(f"{seen} (in ")):
            return replace(cause, line=line)
    return failure


def _names(found: list[Any]) -> tuple[str, ...]:
    """Return names the program left bound, no more than a program can bind."""
    if not all(map(_is_name, found)):
        raise frames.WireError("malformed result")
    if sum(map(len, found)) > 16 * MAX_SOURCE_CHARS:
        raise frames.WireError("more names than a program can bind")
    return tuple(found)


def _is_name(found: Any) -> bool:
    """Return True if a program may leave it bound: no keyword, nor a name with special meaning."""
    return (
        type(found) is str
        and found.isidentifier()
        and not (found.startswith("__") and found.endswith("__"))
        and not keyword.iskeyword(found)
    )


def _variables(entries: Mapping[str, Any], watch: Watch | None) -> dict[str, Any]:
    """Return the variables the program left."""
    variables = _typed(entries, "variables", dict, {})
    _names([*variables])
    if not all(type(data) is bytes for data in variables.values()):
        raise frames.WireError("malformed result")
    if sum(map(len, variables.values())) > wire.MAX_KEPT_BYTES:
        raise frames.WireError("more variables than can be kept")
    found, left_values = {}, wire.MAX_KEPT_VALUES
    for name, data in variables.items():
        found[name] = wire.decode(data, watch)
        left_values -= wire.count_values(found[name])
        if left_values < 0:
            raise frames.WireError("more variables than can be kept")
    return found


def read_answers(value: Any, count: int, watch: Watch | None = None) -> list[CallAnswer] | None:
    """Return the answers of a function that was called several times; None if malformed.

    Args:
        value: What the worker sent.
        count: How many answers it should be.
        watch: Called for each answer, and while a large one is read; what it raises ends that.
    """
    if type(value) is not list or len(value) != count:
        return None
    expected: Mapping[str, type] = {"value": object, "yields": list, "raises": str}
    answers = []
    for entry in value:
        if type(entry) is not list or [*map(type, entry)] != [str, bytes, str]:
            return None
        kind, data, message = entry
        if watch is not None:
            watch()
        try:
            given = wire.decode(data, watch)
        except frames.WireError:
            return None
        if not isinstance(given, expected.get(kind, ())):
            return None
        if kind == "raises":
            given = clipped(str(given))
        answers.append(CallAnswer(kind, given, wire.one_line(message)))
    return answers


def within_scope(result: Result, scope: Scope, lines: int) -> Result:
    """Return a result without what its program cannot have: foreign lines, names of others.

    A name of the library or of a primitive is dropped: later programs rely on it. One that the
    scope itself gives as a variable is the scope's own affair.
    """
    failure = result.failure
    if failure is not None and failure.line is not None and not 1 <= failure.line <= lines:
        result = replace(result, failure=replace(failure, line=None))
    taken = (EVERYWHERE | scope.primitives.keys() | scope.groups.keys()) - scope.variables.keys()
    hiding = [name for name in (*result.variables, *result.defined) if name in taken]
    if not hiding:
        return result
    return replace(
        result,
        variables={name: at for name, at in result.variables.items() if name not in taken},
        defined={name: line for name, line in result.defined.items() if name not in taken},
        dropped=(*result.dropped, *hiding),
    )


def failure_of_exit(status: int, limits: Limits) -> Failure:
    """Return the failure of a worker whose process ended with a wait status."""
    if not os.WIFSIGNALED(status):
        code = os.waitstatus_to_exitcode(status)
        return Failure("killed", "WorkerDied", f"its process ended itself (exit code {code})")
    number = os.WTERMSIG(status)
    if number in (signal.SIGXCPU, signal.SIGPROF):
        return out_of_time(limits)
    why = f": {_REASONS[number]}" if number in _REASONS else ""
    name = _SIGNALS.get(number, f"signal {number}")
    return Failure("killed", "WorkerDied", f"its process ended by {name}{why}")


def out_of_time(limits: Limits) -> Failure:
    """Return the failure of a program that took too long."""
    return Failure("timeout", "TimeLimit", limits.reason("TimeLimit"))
