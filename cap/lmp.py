"""The engine: one instruction walks from prompt to result, and so does every LMP it calls.

    prompt -> completion -> program -> check -> generated functions -> sandbox -> value

An LMP called from inside a program is a primitive whose body, here in the parent, walks the same
road with a worker of its own while the outer program waits.
"""

from __future__ import annotations

import functools
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np

from cap.checker import Violation, check
from cap.errors import (
    CapError,
    CheckFailed,
    GenerationFailed,
    LMPFailed,
    ModelError,
)
from cap.generate import Budget, UndefinedName, generate
from cap.kinds import kind_error
from cap.library import EVERYWHERE
from cap.models.base import Completion, Model, Request
from cap.names import Undefined
from cap.program import Program, ProgramSyntaxError
from cap.prompt import Prompt, Turn, parse_context, render_context
from cap.result import Call, Failure, FailureKind, Result
from cap.sandbox import Sandbox
from cap.sandbox.clocks import asking_person
from cap.scope import Definition, Primitive, Robot, Scope
from cap.trace import Trace

MAX_NESTING = 6
"""How deep LMPs may call LMPs."""


class ViolationsFound(CheckFailed):
    """The check refused a program."""

    def __init__(self, violations: Sequence[Violation]) -> None:
        first, *rest = violations
        super().__init__("; ".join([first.reason, *map(str, rest[:4])]))
        self.violations = tuple(violations)
        self.line = first.line


@dataclass(frozen=True)
class Answer:
    """What came of one instruction."""

    result: Result
    """Value or failure, and the calls."""
    program: Program | None = None
    """The program, if there was one."""
    generated: tuple[Definition, ...] = ()
    """Functions written for it, helpers first."""

    @property
    def source(self) -> str:
        """The complete program: generated functions, then the program."""
        own = [self.program.source] if self.program else []
        return "\n\n".join(part.strip() for part in [*map(_source, self.generated), *own]) + "\n"


@dataclass(frozen=True)
class State:
    """What a session hands to a program and takes back."""

    variables: Mapping[str, Any] = field(default_factory=dict)
    """Plain data by name."""
    definitions: tuple[Definition, ...] = ()
    """Functions and classes as source."""
    history: tuple[Turn, ...] = ()
    """Earlier turns, for the prompt."""
    dropped: Mapping[str, str] = field(default_factory=dict)
    """Names that could not be kept, with the reason."""
    hints: tuple[str, ...] = ()
    """Lines that tell the model what else exists: skills."""


Approve = Callable[[str], bool]
"""Shown the complete program; False refuses it."""


class Engine:
    """Runs the LMPs of one robot with one model."""

    def __init__(
        self,
        robot: Robot,
        model: Model,
        prompts: Mapping[str, Prompt],
        function_prompt: Prompt,
        *,
        sandbox: Sandbox,
        trace: Trace,
        seed: int = 0,
        approve: Approve | None = None,
        budget: Budget | None = None,
    ) -> None:
        self.robot = robot
        self.model = model
        self.prompts = prompts
        self.function_prompt = function_prompt
        self.sandbox = sandbox
        self.trace = trace
        self.approve = approve
        self.budget = budget or Budget()
        self.seed = seed
        self.programs = 0
        """Programs run so far; each has random numbers of its own, by its number."""
        self._primitives = {**robot.primitives(), **self._lmp_primitives()}

    def run(
        self, prompt: Prompt, instruction: str, context: str = "", state: State | None = None
    ) -> Answer:
        """Have a program written for an instruction and run it."""
        state = state or State()
        try:
            facts = parse_context(context)
            program = self._write(prompt, instruction, context, state.history)
        except CapError as error:
            return Answer(Result(failure=failure_of(error)))
        with_facts = replace(state, variables={**state.variables, **facts})
        return self.run_program(prompt, program, with_facts)

    def run_program(self, prompt: Prompt, program: Program, state: State) -> Answer:
        """Check, complete and run a program in a prompt's scope."""
        scope = self.scope(prompt, state)
        program = program.without_imports(_known(scope))
        try:
            generated = self._complete(prompt, program, scope, state)
        except CapError as error:
            return self._show(prompt, Answer(Result(failure=failure_of(error)), program))
        answer = self._show(prompt, Answer(Result(), program, generated))
        if prompt.header.actions and not self._approved(answer.source):
            failure = Failure("refused", "NotApproved", "the program was not approved; nothing ran")
            return replace(answer, result=Result(failure=failure))
        scope = replace(scope, definitions=(*scope.definitions, *generated))
        return replace(answer, result=self._execute(prompt, program, scope))

    def _show(self, prompt: Prompt, answer: Answer) -> Answer:
        """Write down a complete program, also one that was refused, and show it."""
        assert answer.program is not None
        path = self.trace.program(prompt.name, answer.source)
        self.trace.event(
            "program",
            lmp=prompt.name,
            source=answer.program.source,
            generated=[(entry.name, entry.source) for entry in answer.generated],
            notes=answer.program.notes,
            path=path.name if path else None,
        )
        return answer

    def _approved(self, source: str) -> bool:
        """Ask the person, if anyone is to be asked; their time counts for nothing."""
        if self.approve is None:
            return True
        with asking_person():
            return self.approve(source)

    def scope(self, prompt: Prompt, state: State | None = None) -> Scope:
        """Return what a prompt's programs may use: what its hints name, and no more."""
        state = state or State()
        allowed = {
            name: primitive
            for name, primitive in self._primitives.items()
            if (primitive.kind != "action" or prompt.header.actions) and name != prompt.name
        }
        groups = {"robot": tuple(allowed)} if "robot" in prompt.hints else {}
        hinted = {name: allowed[name] for name in prompt.hints if name in allowed}
        return Scope(
            primitives=allowed if groups or not prompt.hints else hinted,
            variables=state.variables,
            definitions=state.definitions,
            groups=groups,
        )

    def context(self, prompt: Prompt) -> str:
        """Return the context lines a prompt asks for, from the robot as it is now."""
        if not prompt.header.context:
            return ""
        facts = self.robot.context()
        return render_context({name: facts[name] for name in prompt.header.context})

    def _lmp_primitives(self) -> dict[str, Primitive]:
        """Return every prompt that returns a value as a function programs may call."""
        return {
            name: Primitive.of(self._caller(prompt), "lmp", name)
            for name, prompt in self.prompts.items()
            if prompt.header.returns is not None
        }

    def _caller(self, prompt: Prompt) -> Callable[..., Any]:
        def call(description: str, context: str = "", **variables: Any) -> Any:
            if not isinstance(description, str) or not isinstance(context, str):
                raise TypeError(f"{prompt.name}() takes a description in words (a string)")
            return self._nested(prompt, description, context, variables)

        call.__doc__ = f"Ask the '{prompt.name}' LMP; returns {' or '.join(prompt.header.kind)}."
        return call

    def _nested(
        self, prompt: Prompt, description: str, context: str, variables: Mapping[str, Any]
    ) -> Any:
        if self.trace.depth >= MAX_NESTING:
            raise LMPFailed(f"{prompt.name}({description!r}): LMPs call each other too deep")
        self.trace.depth += 1
        try:
            self.trace.event("instruction", lmp=prompt.name, text=description)
            shown = context or self.context(prompt)
            answer = self.run(prompt, description, shown, State(variables=variables))
        finally:
            self.trace.depth -= 1
        failure = answer.result.failure
        if failure is not None:
            message = f"{prompt.name}({description!r}): {failure.message or failure.error}"
            error = LMPFailed(message)
            error.failure = replace(failure, message=message)  # type: ignore[attr-defined]
            raise error
        return answer.result.value

    def _write(
        self, prompt: Prompt, instruction: str, context: str, history: Sequence[Turn]
    ) -> Program:
        """Ask the model, take the program from its answer."""
        text = prompt.render(instruction, context, history)
        self.trace.event(
            "prompt",
            lmp=prompt.name,
            sha256=prompt.sha256,
            model=self.model.name,
            tail=text.removeprefix(prompt.text.rstrip()).strip(),
        )
        completion = self.model.complete(Request(prompt=text, stop=prompt.header.stop))
        self._note(prompt, completion)
        return Program.from_completion(completion.text, prompt.header.stop)

    def _note(self, prompt: Prompt, completion: Completion) -> None:
        self.trace.event(
            "completion",
            lmp=prompt.name,
            text=completion.text,
            model=completion.model,
            prompt_tokens=completion.prompt_tokens,
            completion_tokens=completion.completion_tokens,
            notes=completion.notes,
        )

    def _complete(
        self, prompt: Prompt, program: Program, scope: Scope, state: State
    ) -> tuple[Definition, ...]:
        """Check a program and generate what it calls and nobody defined."""
        reserved = frozenset([*scope.primitives, *scope.groups])
        known = _known(scope)
        self._check(program, reserved)

        def write(entry: Undefined) -> Program:
            request = "; ".join(dict.fromkeys(site.text for site in entry.calls))
            written = self._write(self.function_prompt, request, "", ())
            written = written.without_imports(known)
            self._check(written, reserved)
            self.trace.event("generated", name=entry.name, source=written.source)
            return written

        return generate(
            program,
            known,
            write,
            budget=self.budget,
            unavailable=functools.partial(self._unavailable, prompt, state),
        )

    def _unavailable(self, prompt: Prompt, state: State, name: str) -> str | None:
        """Tell why an undefined name must not be generated."""
        if name in state.dropped:
            return f"'{name}' {state.dropped[name]}"
        if name in self._primitives:
            return f"'{name}' is not available to '{prompt.name}' programs"
        return None

    def _check(self, program: Program, reserved: frozenset[str]) -> None:
        violations = check(program.tree, self.sandbox.policy, reserved)
        if violations:
            self.trace.event("violations", source=program.source, found=list(map(str, violations)))
            raise ViolationsFound(violations)

    def _execute(self, prompt: Prompt, program: Program, scope: Scope) -> Result:
        header = prompt.header
        self.programs += 1
        sequence = np.random.SeedSequence([self.seed, self.programs])
        calls: list[Call] = []

        def on_call(call: Call) -> None:
            calls.append(call)
            self.trace.event("call", **vars(call))

        try:
            result = self.sandbox.execute(
                program,
                scope,
                returns=header.returns,
                keep=header.session,
                seed=int(sequence.generate_state(1)[0]),
                on_call=on_call,
                robot=self.robot,
            )
        except KeyboardInterrupt:
            if self.trace.depth:  # the outer program ends as well
                raise
            failure = Failure("interrupted", "Interrupted", "stopped by Ctrl-C")
            return Result(failure=failure, calls=tuple(calls))
        if result.failure is not None and header.session:
            return replace(result, failure=_explain(result.failure))
        if result.failure is None and header.returns is not None:
            wrong = kind_error(result.value, header.kind)
            if wrong is not None:
                failure = Failure("value", "WrongKind", f"'{header.returns}': {wrong}")
                return replace(result, failure=failure)
        return result


def failure_of(error: CapError) -> Failure:
    """Describe an error raised before a program ran."""
    kind: FailureKind = "violation"
    if isinstance(error, ModelError):
        kind = "model"
    elif isinstance(error, ProgramSyntaxError):
        kind = "syntax"
    elif isinstance(error, UndefinedName):
        kind = "undefined"
    elif isinstance(error, GenerationFailed):
        kind = "generation"
    name = error.violations[0].rule if isinstance(error, ViolationsFound) else type(error).__name__
    return Failure(kind, name, str(error), getattr(error, "line", None))


def _explain(failure: Failure) -> Failure:
    """Add to a name nobody set what it means in a session: "undo that" as its first words, say."""
    if failure.error != "NameError":
        return failure
    why = "no earlier instruction of this session has set it"
    return replace(failure, message=f"{failure.message}; {why}")


def _known(scope: Scope) -> frozenset[str]:
    """Return every name a program of this scope may read."""
    return scope.names() | EVERYWHERE


def _source(definition: Definition) -> str:
    return definition.source
