"""What came of a program: its worker's last message, or how a worker ended that sent none.

The message is never trusted to be well-formed.
"""

from __future__ import annotations

import keyword
import os
import signal
from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from cap.checker.allowlist import EVERYWHERE
from cap.errors import clipped
from cap.program.parser import MAX_SOURCE_CHARS
from cap.program.private_names import is_special
from cap.program.scope import Scope
from cap.result import Failure, Result
from cap.sandbox.limits import Limits
from cap.sandbox.wire import codec

if TYPE_CHECKING:
    from cap.sandbox.parent.template_client import TemplateClient, Worker

Raised = dict[tuple[str, str], Failure]
"""Failures of primitives by the error's name and message, as the program sees them."""
_GIVEN_HERE = frozenset(
    [
        *("TimeLimit", "SimTimeLimit", "CallTimeout", "CallLimit", "CallBytesLimit"),
        "ActionLimit",
        *("WorkerDied", "ProtocolError", "UndefinedName", "ProgramSyntaxError"),
    ]
)
"""Names of failures that no worker tells of."""
_MESSAGE_CHARS = 2200
"""An exception's message, and the function it came from."""
_LARGE_BYTES = 1 << 20
"""A variable from here on can be why a program did not begin in time."""
_TIME = (signal.SIGXCPU, signal.SIGPROF)
_NAMES: dict[int, str] = {entry.value: entry.name for entry in signal.Signals}
_WHY: dict[int, str] = {
    signal.SIGSYS: "it made a system call that ends a program",
    signal.SIGKILL: "the system ran out of memory, or it was killed from outside",
    signal.SIGSEGV: "its memory was damaged, or its stack is used up",
    signal.SIGBUS: "its memory was damaged",
    signal.SIGABRT: "a library gave up",
}


Watch = Callable[[], None]
"""Called now and then while values are read; what it raises ends that."""


def read_result(
    message: list[Any], raised: Raised, limits: Limits, watch: Watch | None = None
) -> Result:
    """Return what came of a program.

    Args:
        message: `["done", {...}]`.
        raised: What its primitives raised.
        limits: What it might use.
        watch: Ends the reading when its time is over.

    Raises:
        WireError: The message is not well-formed.
    """
    entries = message[1]
    if not isinstance(entries, dict) or type(stdout := entries.get("stdout")) is not str:
        raise codec.WireError("malformed result")
    stdout = stdout[: limits.stdout_chars]
    if entries.get("status") == "ok":
        return _success(entries, stdout, watch)
    error, text, line = (entries.get(name) for name in ("error", "message", "line"))
    if not (type(error) is str and type(text) is str and (line is None or type(line) is int)):
        raise codec.WireError("malformed result")
    error = "".join(letter for letter in error if letter.isalnum() or letter in "._")
    if error in _GIVEN_HERE:
        error = f"program.{error}"
    error, text = clipped(error), codec.one_line(text, _MESSAGE_CHARS)
    failure = _failure(Failure("raised", error, text, line), raised, limits)
    variables = entries.get("variables", b"")
    if type(variables) is not bytes:
        raise codec.WireError("malformed result")
    left = _variables(variables, watch) if variables else {}
    return Result(failure=failure, stdout=stdout, variables=left)


def _success(entries: Mapping[str, Any], stdout: str, watch: Watch | None) -> Result:
    variables, defined, dropped = (
        entries.get(name) for name in ("variables", "defined", "dropped")
    )
    if not (type(variables) is bytes and type(defined) is dict):
        raise codec.WireError("malformed result")
    if not all(type(line) is int for line in defined.values()):
        raise codec.WireError("malformed result")
    return Result(
        value=_value(entries["value"], watch) if "value" in entries else None,
        variables=_variables(variables, watch) if variables else {},
        defined=dict(zip(_names(list(defined)), defined.values(), strict=True)),
        dropped=_names(dropped),
        oversized=_names(entries.get("oversized", [])),
        stdout=stdout,
    )


def _failure(
    failure: Failure, raised: Mapping[tuple[str, str], Failure], limits: Limits
) -> Failure:
    """Tell apart the program's own exceptions, its limits, and those of what it called."""
    error, text, line = failure.error, failure.message, failure.line
    if error == "OutputLimit":
        limit = f"{limits.stdout_chars} characters"
        return Failure("output", error, f"it printed more than {limit}", line)
    if error == "MemoryError":
        limit = f"{limits.memory_bytes >> 20} MiB"
        return Failure("memory", error, f"it needed more than {limit}", line)
    for (kind, seen), cause in raised.items():
        if kind == error and (text == seen or text.startswith(f"{seen} (in ")):
            return replace(cause, line=line)
    return failure


def _value(data: Any, watch: Watch | None) -> Any:
    """Read a value the worker encoded on its own."""
    if not isinstance(data, bytes):
        raise codec.WireError("malformed result")
    return codec.decode(data, watch)


def _names(found: Any) -> tuple[str, ...]:
    """Read names it left bound: those of a program, which is no longer than it may be."""
    if type(found) is not list or not all(map(_is_name, found)):
        raise codec.WireError("malformed result")
    if sum(map(len, found)) > 16 * MAX_SOURCE_CHARS:
        raise codec.WireError("more names than a program can bind")
    return tuple(found)


def _is_name(found: Any) -> bool:
    """Tell whether a program may leave it bound: no word of Python, nor a name of its machinery."""
    return (
        type(found) is str
        and found.isidentifier()
        and not is_special(found)
        and not keyword.iskeyword(found)
    )


def _variables(data: bytes, watch: Watch | None) -> dict[str, Any]:
    """Read the variables it left; they came together, as they may share their parts."""
    variables = codec.decode(data, watch)
    if type(variables) is not dict:
        raise codec.WireError("malformed result")
    _names([*variables])
    return variables


def without_hiding(result: Result, scope: Scope) -> Result:
    """Return a result whose names hide none that a later program relies on; the others it drops.

    A name that the scope itself gives as a variable is its own matter.
    """
    if not result.variables and not result.defined:
        return result
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


def within(result: Result, lines: int) -> Result:
    """Return a result whose failure names no line that its program does not have."""
    failure = result.failure
    if failure is None or failure.line is None or 1 <= failure.line <= lines:
        return result
    return replace(result, failure=replace(failure, line=None))


def not_begun(result: Result, scope: Scope, limits: Limits) -> Result:
    """Return a result that names the largest variable, if those took a program's time to send."""
    if result.failure is None or result.failure.kind != "timeout" or not scope.variables:
        return result
    sizes = {name: len(codec.encode_shared(value)) for name, value in scope.variables.items()}
    name = max(sizes, key=sizes.__getitem__)
    if sizes[name] < _LARGE_BYTES:
        return result
    why = f"variables took longer than {limits.program_s:g} s to send"
    largest = f"'{name}' is the largest ({sizes[name] / (1 << 20):.0f} MiB); make it smaller"
    failure = replace(result.failure, message=f"the program did not begin: its {why}; {largest}")
    return replace(result, failure=failure)


def explain(result: Result, worker: Worker, template: TemplateClient, limits: Limits) -> Result:
    """Return a result whose failure says how the worker ended, where that can be known.

    Args:
        result: What the conversation made of it.
        worker: The worker, not yet ended by this process.
        template: The one that forked it.
        limits: What the program might use.
    """
    if result.failure is None or result.failure.kind != "killed":
        return result
    status = template.status(worker)
    return result if status is None else replace(result, failure=describe(status, limits))


def describe(status: int, limits: Limits) -> Failure:
    """Return the failure for a wait status."""
    if not os.WIFSIGNALED(status):
        code = os.waitstatus_to_exitcode(status)
        why = f"its process ended itself (exit code {code})"
        return Failure("killed", "WorkerDied", why)
    number = os.WTERMSIG(status)
    if number in _TIME:
        return out_of_time(limits)
    why = f": {_WHY[number]}" if number in _WHY else ""
    name = _NAMES.get(number, f"signal {number}")
    return Failure("killed", "WorkerDied", f"its process ended by {name}{why}")


def out_of_time(limits: Limits) -> Failure:
    """Return the failure of a program that took too long."""
    return Failure("timeout", "TimeLimit", f"the program ran longer than {limits.program_s:g} s")
