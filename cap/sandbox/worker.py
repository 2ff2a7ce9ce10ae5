"""The untrusted side: one fresh process runs one program and is gone.

Robot functions are proxies that send a call over the pipe and wait for its answer; values cross
as plain data (`cap.sandbox.wire`), and nothing here is trusted by the parent.
"""

from __future__ import annotations

import os
import types
from collections.abc import Callable, Mapping
from typing import Any, NoReturn

from cap.sandbox import isolation, wire
from cap.sandbox.namespace import library, safe_builtins

PROGRAM = "<program>"


class Output:
    """What the program prints, up to a limit."""

    def __init__(self, limit_chars: int) -> None:
        self.parts: list[str] = []
        self.left = limit_chars

    def print(self, *values: Any, sep: str | None = " ", end: str | None = "\n", **_: Any) -> None:
        """Stand in for the builtin; `file` and `flush` mean nothing here."""
        text = (" " if sep is None else sep).join(map(str, values))
        text += "\n" if end is None else end
        if len(text) > self.left:
            raise OutputLimit("the program printed too much")
        self.left -= len(text)
        self.parts.append(text)


class OutputLimit(BaseException):
    """More was printed than the limit allows; programs cannot catch it by `except Exception`."""


def main(requests: int, answers: int) -> NoReturn:
    """Run the one program that arrives on a pipe, send its result, and end the process."""
    _prewarm()
    try:
        job = wire.decode(wire.receive(requests))
    except wire.PeerClosed:  # a spare that was never needed
        os._exit(0)
    isolation.lock_down(job["cpu_s"], job["memory_bytes"])
    output = Output(job["stdout_chars"])
    space = _namespace(job, output, requests, answers)
    given = {name: value for name, value in space.items() if name not in job["variables"]}
    try:
        for name, source in job["definitions"]:
            exec(compile(source, f"<{name}>", "exec", dont_inherit=True), space)
        exec(compile(job["source"], PROGRAM, "exec", dont_inherit=True), space)
        message = _success(job, space, given)
    except BaseException as error:  # whatever the program did ends here
        message = _failure(error)
    wire.send(answers, _done(message, output))
    os._exit(0)


def _done(message: dict[str, Any], output: Output) -> bytes:
    """Return the last frame; a result that does not fit in one is a failure of its own."""
    stdout = wire.text("".join(output.parts))
    try:
        return wire.encode(["done", {**message, "stdout": stdout}])
    except wire.WireError as error:
        return wire.encode(["done", {**_failure(ValueError(str(error))), "stdout": stdout}])


def _prewarm() -> None:
    """Take the first-touch page faults of the common path while nobody waits."""
    output = Output(100)
    space = library(0) | {"__builtins__": safe_builtins(output.print)}
    exec(compile(_WARM, PROGRAM, "exec", dont_inherit=True), space)
    wire.decode(wire.encode(["done", {"value": [1.0, (2, "a")], "array": space["point"]}]))


_WARM = """
def helper(count, *rest, **named):
    return [f"{i:.1f}" for i in range(count)]
point = np.array([0.5, 0.25]) * 2
try:
    print(sorted(helper(3), key=lambda text: -float(text)), np.linalg.norm(point))
except ValueError as error:
    point = None
"""


def _namespace(
    job: Mapping[str, Any], output: Output, requests: int, answers: int
) -> dict[str, Any]:
    space: dict[str, Any] = library(job["seed"])
    space["__builtins__"] = safe_builtins(output.print)
    space["__name__"] = "__main__"
    for name in job["primitives"]:
        space[name] = _proxy(name, requests, answers)
    for group, members in job["groups"].items():
        space[group] = types.SimpleNamespace(**{member: space[member] for member in members})
    space.update(job["variables"])
    return space


def _proxy(name: str, requests: int, answers: int) -> Callable[..., Any]:
    def call(*args: Any, **kwargs: Any) -> Any:
        try:
            frame = wire.encode(["call", name, list(args), kwargs])
        except wire.WireError as error:
            raise TypeError(f"{name}(): {error}") from None
        wire.send(answers, frame)
        status, *rest = wire.decode(wire.receive(requests))
        if status == "ok":
            return rest[0]
        kind, text = rest
        raise wire.RAISABLE[kind](text)

    call.__name__ = call.__qualname__ = name
    return call


def _success(
    job: Mapping[str, Any], space: dict[str, Any], given: Mapping[str, Any]
) -> dict[str, Any]:
    """Return the value asked for and, for a session, what else the program left bound."""
    message: dict[str, Any] = {"status": "ok", "variables": {}, "defined": [], "dropped": []}
    if (returns := job["returns"]) is not None:
        if returns not in space:
            raise NameError(f"the program ended without setting '{returns}'")
        try:
            message["value"] = wire.encode(space[returns])
        except wire.WireError as error:
            raise TypeError(f"'{returns}' is not plain data: {error}") from None
    for name, value in space.items() if job["keep"] else ():
        if name.startswith("_") or (name in given and value is given[name]):
            continue
        if isinstance(value, types.FunctionType | type):
            message["defined"].append(name)
            continue
        try:
            message["variables"][name] = wire.encode(value)
        except wire.WireError:
            message["dropped"].append(name)
    return message


def _failure(error: BaseException) -> dict[str, Any]:
    line, inside = None, ""
    trace = error.__traceback__
    while trace is not None:
        code = trace.tb_frame.f_code
        if code.co_filename == PROGRAM:
            line = trace.tb_lineno
        if code.co_filename.startswith("<"):
            inside = "" if code.co_name == "<module>" else f" (in {code.co_name})"
        trace = trace.tb_next
    try:
        text = str(error)
    except BaseException:  # a program's own exception class may do anything
        text = ""
    return {
        "status": "failed",
        "error": type(error).__name__,
        "message": wire.one_line(text) + inside,
        "line": line,
    }
