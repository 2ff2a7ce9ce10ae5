"""Function generation: what a program calls and nobody defined is asked for, wave by wave.

A wave holds every undefined function of the programs of the wave before it, each with all its call
sites, and is asked for at once. A function the program defines itself, a local, a parameter, a
method or a builtin is never asked for, and a recursive function is asked for once. A name that is
handed on, not called, is a function by the rule of `cap.checker.undefined`, or else a fault.

An answer that cannot be used is asked for once more, with the reason. It cannot be used if it fails
the check, does not define its function, does more than define, does not fit the calls it is for,
or itself calls something in a way that cannot be: a function written earlier is right, and the
caller is mended.
"""

from __future__ import annotations

import ast
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

from cap.checker.undefined import CallSite, undefined
from cap.errors import CapError, CheckFailed, GenerationFailed, ModelError, did_you_mean
from cap.program.program import Program
from cap.scope import Definition


@dataclass(frozen=True)
class GenerationLimits:
    """How much may be generated for one program."""

    depth: int = 4
    """Waves: a generated function's own helpers are one deeper."""
    functions: int = 16
    """Functions in all."""
    tokens: int = 16_000
    """Completion tokens in all, as the model counts them; no wave begins beyond."""


@dataclass(frozen=True)
class Wanted:
    """A function to be written."""

    name: str
    """Its name."""
    calls: tuple[CallSite, ...]
    """Every place that calls it, or hands it to something that will."""
    parent: str = ""
    """The generated function that first calls it; "" for the program itself."""
    failed: Program | None = None
    """An earlier answer that could not be used, where there is a program."""
    reason: str = ""
    """Why it could not, if this is the second time it is asked for."""

    @property
    def request(self) -> str:
        """The calls, as a prompt shows them."""
        return "; ".join(dict.fromkeys(site.text for site in self.calls))


class UndefinedName(CheckFailed):
    """A name that is read, not called, and defined nowhere."""

    def __init__(self, message: str, line: int | None = None) -> None:
        super().__init__(message)
        self.line = line


Write = Callable[[Sequence[Wanted]], Sequence[Program | CapError]]
"""Asks for the functions of one wave; each comes back checked, or as what is wrong with it."""
Faults = Callable[[Program, Sequence[Definition]], Sequence[str]]
"""Tells what in a program cannot be, given what was written so far."""


def generate(
    program: Program,
    known: Iterable[str],
    write: Write,
    *,
    budget: GenerationLimits | None = None,
    unavailable: Callable[[str], str | None] = lambda name: None,
    faults: Faults = lambda program, written: (),
    tokens: Callable[[], int] = lambda: 0,
    again: bool = True,
) -> tuple[Definition, ...]:
    """Return definitions, dependencies first, for everything a program calls and nobody defined.

    Args:
        program: The main program.
        known: Names in scope.
        write: Asks for the functions of a wave.
        budget: Limits.
        unavailable: Tells why a name must not be generated, or None.
        faults: Tells what in a program cannot be.
        tokens: Tells how many tokens the functions took so far.
        again: Ask a second time for what cannot be used.

    Raises:
        UndefinedName: The program reads a name that is no function.
        GenerationFailed: The budget is spent, or an answer cannot be used.
        ModelError: The model gave no answer.
    """
    work = _Generation({*known, *_defined(program)}, write, budget or GenerationLimits())
    work.unavailable, work.faults, work.tokens, work.again = unavailable, faults, tokens, again
    return work.run(program)


class _Generation:
    """The functions written so far for one program."""

    unavailable: Callable[[str], str | None]
    faults: Faults
    tokens: Callable[[], int]
    again: bool

    def __init__(self, names: set[str], write: Write, budget: GenerationLimits) -> None:
        self.names = names
        self.write = write
        self.budget = budget
        self.waves = 0
        self.programs: dict[str, Program] = {}
        self.parents: dict[str, str] = {}

    def run(self, program: Program) -> tuple[Definition, ...]:
        wanted = self._wanted({"": program})
        first = [entry.name for entry in wanted]
        while wanted:
            self._spend(wanted)
            self.waves += 1
            self.names |= {entry.name for entry in wanted}
            self.parents |= {entry.name: entry.parent for entry in wanted}
            wave = self._wave(wanted)
            self.programs |= wave
            self.names.update(name for written in wave.values() for name in _defined(written))
            wanted = self._wanted(wave)
        return tuple(map(self._definition, _dependencies_first(first, self.programs)))

    def _definition(self, name: str) -> Definition:
        return _as_definition(name, self.programs[name])

    def _wanted(self, programs: Mapping[str, Program]) -> list[Wanted]:
        """Return what programs call and nobody defines, each name once with all its calls."""
        found: dict[str, Wanted] = {}
        for parent, program in programs.items():
            for name, calls in self._undefined(program):
                earlier = found.get(name, Wanted(name, (), parent))
                found[name] = replace(earlier, calls=(*earlier.calls, *calls))
        return list(found.values())

    def _undefined(self, program: Program) -> Iterator[tuple[str, tuple[CallSite, ...]]]:
        for entry in undefined(program, self.names):
            if reason := self.unavailable(entry.name):
                raise UndefinedName(reason, entry.line)
            if not entry.calls:
                hint = did_you_mean(entry.name, self.names)
                raise UndefinedName(f"name '{entry.name}' is not defined.{hint}", entry.line)
            yield entry.name, entry.calls

    def _wave(self, wanted: Sequence[Wanted]) -> dict[str, Program]:
        """Have the functions of one wave written; those that cannot be used once more."""
        answers = self._written(wanted)
        problems = self._problems(wanted, answers)
        if problems and self.again:
            self._spend_tokens(wanted[0])
            retried = [
                _again(entry, answers, problems) for entry in wanted if entry.name in problems
            ]
            answers |= self._written(retried)
            problems = self._problems(wanted, answers)
        for name, problem in problems.items():
            what = f"the answer for function '{name}' {problem}"
            raise GenerationFailed(f"{what}; try again, or another model with -m")
        return {name: answer for name, answer in answers.items() if isinstance(answer, Program)}

    def _written(self, wanted: Sequence[Wanted]) -> dict[str, Program | CapError]:
        answers = self.write(wanted)
        for answer in answers:
            if isinstance(answer, ModelError):
                raise answer
        return {entry.name: answer for entry, answer in zip(wanted, answers, strict=True)}

    def _problems(
        self, wanted: Sequence[Wanted], answers: Mapping[str, Program | CapError]
    ) -> dict[str, str]:
        """Return why answers cannot be used, by name, in the order of the wave."""
        problems: dict[str, str] = {}
        taken, usable = set(self.names), dict[str, Program]()
        for entry in wanted:
            answer = answers[entry.name]
            if isinstance(answer, CapError):
                problems[entry.name] = f"is refused: {_with_line(answer)}"
            elif problem := self._problem(entry, answer, taken):
                problems[entry.name] = problem
            else:
                usable[entry.name] = answer
                taken.update(_defined(answer))
        written = [_as_definition(*item) for item in (*self.programs.items(), *usable.items())]
        for name, program in usable.items():
            if found := self.faults(program, written):
                problems[name] = f"has faults: {'; '.join(found)}"
        return problems

    def _problem(self, entry: Wanted, answer: Program, taken: set[str]) -> str | None:
        """Return what is wrong with one answer by itself."""
        defined = _defined(answer)
        if entry.name not in defined:
            return f"defines {', '.join(defined)}" if defined else "defines no function"
        if not all(_is_definition_or_inert(node) for node in answer.tree.body):
            return "has statements outside functions"
        if clash := sorted((set(defined) & taken) - {entry.name}):
            return f"also defines {clash}, already there"
        try:
            list(self._undefined(answer))
        except UndefinedName as error:
            return f"is refused: {_with_line(error)}"
        return self._misfit(entry, answer)

    def _misfit(self, entry: Wanted, answer: Program) -> str | None:
        """Return a call the function is for and does not fit."""
        written = [_as_definition(entry.name, answer)]
        for site in entry.calls:
            if found := self.faults(_bare_call(entry.name, site), written):
                return f"does not fit the call {site.text}: {found[0]}"
        return None

    def _spend(self, wanted: Sequence[Wanted]) -> None:
        """Raise if the next wave passes the budget."""
        if self.waves >= self.budget.depth:
            trail = self._trail(wanted[0])
            what = f"ever deeper helpers (limit {self.budget.depth} levels; ask for less at once)"
            raise GenerationFailed(f"generated functions call {what}: {trail}")
        if len(self.programs) + len(wanted) > self.budget.functions:
            what = f"more than {self.budget.functions} functions to generate (ask for less at once)"
            raise GenerationFailed(f"{what}: {self._trail(wanted[0])}")
        self._spend_tokens(wanted[0])

    def _spend_tokens(self, entry: Wanted) -> None:
        if (spent := self.tokens()) >= self.budget.tokens:
            what = f"generated functions took {spent} tokens (limit {self.budget.tokens})"
            raise GenerationFailed(f"{what}: {self._trail(entry)}")

    def _trail(self, entry: Wanted) -> str:
        """Return the chain of callers that led to a function."""
        trail, parent = [entry.name], entry.parent
        while parent:
            trail.append(parent)
            parent = self.parents[parent]
        return " <- ".join(trail)


def _again(
    entry: Wanted, answers: Mapping[str, Program | CapError], problems: Mapping[str, str]
) -> Wanted:
    """Return a function to be asked for once more, with what was wrong."""
    answer = answers[entry.name]
    failed = answer if isinstance(answer, Program) else getattr(answer, "program", None)
    return replace(entry, failed=failed, reason=f"this {problems[entry.name]}")


def _with_line(error: CapError) -> str:
    line = getattr(error, "line", None)
    return f"line {line}: {error}" if line else str(error)


def _bare_call(name: str, site: CallSite) -> Program:
    """Return a call with nothing but its form: how many arguments, and which keywords."""
    values = ("*[]" if entry.startswith("*") else "None" for entry in site.arguments)
    keywords = ("**{}" if entry == "**" else f"{entry}=None" for entry in site.keywords)
    return Program.parse(f"{name}({', '.join([*values, *keywords])})\n")


def _defined(program: Program) -> list[str]:
    """Return the functions and classes a program defines at its top level."""
    kinds = ast.FunctionDef | ast.ClassDef
    return [node.name for node in program.tree.body if isinstance(node, kinds)]


def _as_definition(name: str, program: Program) -> Definition:
    return Definition(name, program.source.strip() + "\n", origin="generated")


def _dependencies_first(first: Iterable[str], programs: Mapping[str, Program]) -> list[str]:
    """Return functions in an order in which each comes after those it uses, as far as it can."""
    homes = {name: home for home, program in programs.items() for name in _defined(program)}
    order: list[str] = []
    seen: set[str] = set()

    def visit(home: str) -> None:
        if home not in seen:
            seen.add(home)
            for used in undefined(programs[home], ()):
                if used.name in homes:
                    visit(homes[used.name])
            order.append(home)

    for name in first:
        visit(name)
    return order


def _is_definition_or_inert(node: ast.stmt) -> bool:
    """Tell whether a top-level statement defines something, or does nothing at all.

    An import that is still there is one the policy allows.
    """
    text = isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant)
    kinds = ast.FunctionDef | ast.ClassDef | ast.Import | ast.ImportFrom | ast.Pass
    return text or isinstance(node, kinds)
