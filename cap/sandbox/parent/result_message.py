"""Reading a worker's last message: a value or a failure, never trusted to be well-formed."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from cap.result import Failure, Result
from cap.sandbox.limits import Limits
from cap.sandbox.wire import codec

Raised = dict[tuple[str, str], Failure]
"""Failures of primitives by the error's name and message, as the program sees them."""


def read_result(message: list[Any], raised: Raised, limits: Limits) -> Result:
    """Return what came of a program.

    Args:
        message: `["done", {...}]`.
        raised: What its primitives raised.
        limits: What it might use.

    Raises:
        WireError: The message is not well-formed.
    """
    entries = message[1]
    if not isinstance(entries, dict) or type(stdout := entries.get("stdout")) is not str:
        raise codec.WireError("malformed result")
    if entries.get("status") == "ok":
        return _success(entries, stdout)
    error, text, line = (entries.get(name) for name in ("error", "message", "line"))
    if not (type(error) is str and type(text) is str and (line is None or type(line) is int)):
        raise codec.WireError("malformed result")
    failure = _failure(Failure("raised", error, text, line), raised, limits)
    return Result(failure=failure, stdout=stdout)


def _success(entries: Mapping[str, Any], stdout: str) -> Result:
    variables, defined, dropped = (
        entries.get(name) for name in ("variables", "defined", "dropped")
    )
    if not (type(variables) is bytes and type(defined) is list and type(dropped) is list):
        raise codec.WireError("malformed result")
    return Result(
        value=_value(entries["value"]) if "value" in entries else None,
        variables=_variables(variables) if variables else {},
        defined=tuple(map(str, defined)),
        dropped=tuple(map(str, dropped)),
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


def _value(data: Any) -> Any:
    """Read a value the worker encoded on its own."""
    if not isinstance(data, bytes):
        raise codec.WireError("malformed result")
    return codec.decode(data)


def _variables(data: bytes) -> dict[str, Any]:
    """Read the variables it left; they came together, as they may share their parts."""
    variables = codec.decode(data)
    if type(variables) is not dict or not all(type(name) is str for name in variables):
        raise codec.WireError("malformed result")
    return variables
