"""How a worker ended that gave no result, in words and as the right kind of failure."""

from __future__ import annotations

import os
import signal
from dataclasses import replace
from typing import TYPE_CHECKING

from cap.result import Failure, Result
from cap.sandbox.limits import Limits

if TYPE_CHECKING:
    from cap.sandbox.parent.template_client import Template, Worker

_TIME = (signal.SIGXCPU, signal.SIGPROF)
_NAMES: dict[int, str] = {entry.value: entry.name for entry in signal.Signals}
_WHY: dict[int, str] = {
    signal.SIGSYS: "it made a system call that ends a program",
    signal.SIGKILL: "the system ran out of memory, or it was killed from outside",
    signal.SIGSEGV: "its memory was damaged, or its stack is used up",
    signal.SIGBUS: "its memory was damaged",
    signal.SIGABRT: "a library gave up",
}


def explain(result: Result, worker: Worker, template: Template, limits: Limits) -> Result:
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
        why = f"the program ran longer than {limits.program_s:g} s"
        return Failure("timeout", "TimeLimit", why)
    why = f": {_WHY[number]}" if number in _WHY else ""
    name = _NAMES.get(number, f"signal {number}")
    return Failure("killed", "WorkerDied", f"its process ended by {name}{why}")
