"""Errors as failures, and failures as errors."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import replace

from cap.engine.function_generation import UndefinedName, ViolationsFound
from cap.errors import AnswerFault, CapError, GenerationFailed, LMPFailed, ModelError
from cap.program.program import AnsweredInWords, ProgramSyntaxError
from cap.result import Failure, FailureKind


def failure_of(error: CapError) -> Failure:
    """Describe an error raised before a program ran."""
    kind: FailureKind = "violation"
    if isinstance(error, ModelError | AnsweredInWords):
        kind = "model"
    elif isinstance(error, ProgramSyntaxError | AnswerFault):
        kind = "syntax"
    elif isinstance(error, UndefinedName):
        kind = "undefined"
    elif isinstance(error, GenerationFailed):
        kind = "generation"
    name = error.violations[0].rule if isinstance(error, ViolationsFound) else type(error).__name__
    return Failure(kind, name, str(error), getattr(error, "line", None))


def lmp_failed(called: str, failure: Failure) -> LMPFailed:
    """Return the error that a caller gets for an LMP that failed."""
    said = failure.message or failure.error
    error = LMPFailed(f"{called}: {said if failure.error == LMPFailed.__name__ else failure}")
    error.failure = replace(failure, message=f"{called}: {said}")
    return error


def unfit(failure: Failure) -> Failure:
    """Return the failure of an offline answer that reads a variable nothing has set."""
    why, _, _ = failure.message.partition(" Did you mean")
    message = (
        f"the closest example goes on with an earlier instruction ({why.rstrip('.')}); "
        "rephrase it, or use a language model with -m"
    )
    return Failure("model", "NoMatch", message, failure.line)


def explain(failure: Failure, dropped: Mapping[str, str]) -> Failure:
    """Add to a NameError what it means in a session, such as after "undo that" as its first words.

    Args:
        failure: How a program failed.
        dropped: Names that could not be kept, with the reason: a kept function may read one.
    """
    if failure.error != "NameError":
        return failure
    why = "no earlier instruction of this session has set it"
    name = re.match(r"name '(\w+)'", failure.message)
    if name and name[1] in dropped:
        why = f"it {dropped[name[1]]}"
    return replace(failure, message=f"{failure.message}; {why}")
