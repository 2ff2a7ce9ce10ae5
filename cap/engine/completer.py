"""From a program to a complete one: checked, without faults, everything it calls defined."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import replace

from cap.checker.checker import Examination, examine, known_names
from cap.checker.policy import Policy
from cap.checker.undefined import undefined
from cap.engine.failures import ViolationsFound
from cap.engine.generation import GenerationLimits, Wanted, generate
from cap.engine.question import Author, Question
from cap.engine.repair import again
from cap.errors import CapError, EmptyCompletion, GenerationFailed, ModelError
from cap.models.base import Completion
from cap.program.program import Program
from cap.prompt.prompt import PastTurn, Prompt
from cap.scope import Definition, Scope
from cap.trace.trace import Trace


class Completer:
    """Completes programs, with one model and one prompt for functions."""

    def __init__(
        self, author: Author, prompt: Prompt, policy: Policy, budget: GenerationLimits, trace: Trace
    ) -> None:
        """Keep whom to ask, with which prompt, what is allowed, and where events go."""
        self.author = author
        self.prompt = prompt
        self.policy = policy
        self.budget = budget
        self.trace = trace

    def complete(
        self, examined: Examination, scope: Scope, unavailable: Callable[[str], str | None]
    ) -> tuple[Definition, ...]:
        """Return the functions a program lacks, unless the program itself is refused.

        Raises:
            CheckFailed: The program is refused; nothing was asked for.
            GenerationFailed: A function cannot be had.
            ModelError: The model gave no answer.
        """
        self._refuse(examined)
        if not examined.undefined:  # the usual case
            return ()

        def faults_of(program: Program, written: Sequence[Definition]) -> list[str]:
            wider = replace(scope, definitions=(*scope.definitions, *written))
            found = examine(program, wider, self.policy).violations
            return [f"line {fault.line}: {fault.reason}" for fault in found]

        tally = self.author.tally
        mark = tally.mark()
        return generate(
            examined.program,
            known_names(scope, self.policy),
            lambda wanted: self._write(wanted, scope),
            budget=self.budget,
            unavailable=unavailable,
            faults=faults_of,
            tokens=lambda: tally.since(mark).completion_tokens,
            again=may_repair(self.author),
        )

    def _write(self, wanted: Sequence[Wanted], scope: Scope) -> list[Program | CapError]:
        """Ask for the functions of one wave, all at once."""
        for entry in wanted:
            if entry.reason:
                source = entry.failed.source if entry.failed else ""
                name = self.prompt.name
                self.trace.event("repair", lmp=name, attempt=2, reason=entry.reason, source=source)
        answers = self.author.ask_all(self.prompt, [_order(entry) for entry in wanted])
        return [
            self._read(entry.name, answer, scope)
            for entry, answer in zip(wanted, answers, strict=True)
        ]

    def _read(self, name: str, answer: Completion | ModelError, scope: Scope) -> Program | CapError:
        """Return the checked program of an answer, or what is wrong with it."""
        if isinstance(answer, ModelError):
            return answer
        try:
            program = Program.from_completion(answer.text, self.prompt.header.stop)
            examined = examine(program, scope, self.policy)
            self._refuse(examined)
        except EmptyCompletion as error:  # it can be asked again, as after any other mistake
            return GenerationFailed(str(error))
        except CapError as error:
            return error
        self.trace.event("generated", name=name, source=examined.program.source)
        return examined.program

    def _refuse(self, examined: Examination) -> None:
        if examined.violations:
            found = list(map(str, examined.violations))
            self.trace.event("violations", source=examined.program.source, found=found)
            raise ViolationsFound(examined)


def may_repair(author: Author) -> bool:
    """Tell whether a model can be asked to mend what it wrote."""
    return bool(getattr(author.model, "repairs", True))


def kept_for(program: Program, scope: Scope, written: Iterable[Definition]) -> list[Definition]:
    """Return the definitions of a scope that a program uses, by way of others too, in order."""
    kept = {entry.name: entry for entry in scope.definitions}
    if not kept:
        return []
    used: set[str] = set()
    ahead = [program, *(Program.parse(entry.source) for entry in written)]
    while ahead:
        for entry in undefined(ahead.pop(), ()):
            if entry.name in kept and entry.name not in used:
                used.add(entry.name)
                ahead.append(Program.parse(kept[entry.name].source))
    return [entry for name, entry in kept.items() if name in used]


def _order(entry: Wanted) -> Question:
    """Return what to ask for a function; after a failed answer, that one and why it failed."""
    if not entry.reason:
        return Question(entry.request)
    code = entry.failed.source if entry.failed else ""
    return Question(
        entry.request, history=(PastTurn(entry.request, code, note=again(entry.reason)),)
    )
