"""An LMP as programs know it: which of them a program may call, how, and what comes back.

`Engine.run` writes and runs an LMP's program; these are the rules on both sides of that. A name
that the context has, or all objects of one kind, needs no program.
"""

from __future__ import annotations

import inspect
from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from cap.engine.answer import State
from cap.errors import LMPFailed, NotFound, PromptError
from cap.program.program import Program
from cap.program.scope import Primitive, Scope
from cap.prompt.prompt import Header, Prompt, kind_error, one_line
from cap.result import Failure, Result

MAX_NESTING = 6
"""How deep LMPs may call each other."""
GROUP = "robot"
"""The object whose attributes a robot's functions are as well, as some of the paper's programs call
them: `robot.say('hi')`."""
RETURNED = "ret_val"
"""The variable that programs of the original prompts answer in, read where the prompt's own is not
set."""


def unhinted(prompt: Prompt) -> Prompt:
    """Return a prompt whose programs see every primitive and LMP: for a user's own programs."""
    return replace(prompt, hints=())


def hinted(prompt: Prompt, scope: Scope) -> Mapping[str, Primitive]:
    """Return the functions a prompt's model reads about: those its hints name, else all."""
    if GROUP in prompt.hints or not prompt.hints:
        return scope.primitives
    return {name: scope.primitives[name] for name in prompt.hints if name in scope.primitives}


def scope_of(
    engine: Any, prompt: Prompt, state: State | None = None, program: Program | None = None
) -> Scope:
    """Return what a prompt's programs may use.

    That is every function of the robot, actions if it has the right to act, and of the LMPs
    those that its hints name or its examples call.

    Args:
        engine: Has the functions and the LMPs.
        prompt: The prompt.
        state: What a session remembers.
        program: The program, which may call functions as attributes of `robot`.
    """
    state = state or State()
    itself = prompt.name if prompt.name in engine.prompts else None
    grouped = GROUP in prompt.hints
    named = {*prompt.hints, *prompt.called}
    shown = {
        name: primitive
        for name, primitive in engine.primitives.items()
        if (primitive.kind != "action" or prompt.header.actions)
        and name != itself
        and (primitive.kind != "lmp" or name in named or grouped or not prompt.hints)
    }
    if program is not None and GROUP not in state.variables and not program.sets(GROUP):
        grouped = grouped or f"{GROUP}." in program.source
    return Scope(
        primitives=shown,
        variables=state.variables,
        definitions=state.definitions,
        groups={GROUP: tuple(shown)} if grouped else {},
    )


def nested_lmp(engine: Any, prompt: Prompt, variables: Mapping[str, Any]) -> Primitive:
    """Return one LMP of an engine, as a function that the programs of others call.

    Args:
        engine: Has its programs written and runs them.
        prompt: The LMP.
        variables: Plain data its programs see in addition to their keyword arguments.
    """
    name, trace, header = prompt.name, engine.trace, prompt.header

    def call(description: str, context: str = "", **given: Any) -> Any:
        if not isinstance(description, str) or not isinstance(context, str):
            raise TypeError(f"{name}() takes a description in words (a string)")
        if header.arguments and (unknown := given.keys() - header.arguments.keys()):
            takes = ", ".join(header.arguments)
            raise TypeError(f"{name}() takes no {sorted(unknown)[0]!r}: use {takes}")
        called = f"{name}({description!r})"
        if trace.depth >= MAX_NESTING:
            raise LMPFailed(f"{called}: LMPs call each other too deep")
        with trace.nested():
            trace.event("instruction", lmp=name, text=description)
            try:
                answer = engine.answer(prompt, description, context, {**variables, **given})
            except PromptError as error:
                raise LMPFailed(f"{called}: {error}") from None
        failure = answer.failure
        if failure is None:
            return answer.result.value
        if failure.error == NotFound.__name__ and not failure.robot:
            raise NotFound(f"{called}: {failure.message}")
        raise lmp_failed(called, failure)

    kinds = " or ".join(kind for kind in header.kind if kind != "any")
    doc = header.doc or (f"Return {kinds} for a description." if kinds else "")
    return Primitive(name, call, "lmp", inspect.signature(call), doc)


def lmp_failed(called: str, failure: Failure) -> LMPFailed:
    """Return the error that a caller gets for an LMP that failed."""
    said = failure.message or failure.error
    error = LMPFailed(f"{called}: {said if failure.error == LMPFailed.__name__ else failure}")
    error.failure = replace(failure, message=f"{called}: {said}")
    return error


def named_exactly(header: Header, description: str, facts: Mapping[str, Any]) -> Any:
    """Return what a description names without a request: a name, or all names of a kind."""
    names = facts.get(header.exact, ())
    words = one_line(description).removeprefix("all ").removeprefix("the ")
    if isinstance(names, list | tuple):
        if words in names:
            return words
        ends = {name: str(name).split(" ")[-1] for name in names}
        alike = [name for name, noun in ends.items() if words in (f"{noun}s", f"{noun}es")]
        if "names" in header.kind and (alike or names == []):
            return alike
    return None


def of_kind(result: Result, header: Header) -> Result:
    """Return the result of an LMP's program, or a failure if its value is of the wrong kind."""
    wrong = None if header.returns is None else kind_error(result.value, header.kind)
    if wrong is None:
        return result
    failure = Failure("value", "WrongKind", f"'{header.returns}': {wrong}")
    if result.value is None:  # this is how the prompts say that there is none
        failure = Failure("value", NotFound.__name__, "there is none")
    return replace(result, failure=failure)
