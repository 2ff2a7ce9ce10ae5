"""Function generation: what a program calls and does not define is asked for, wave by wave.

A wave holds every undefined function of the programs of the wave before it, each with all its call
sites, and is asked for at once. A function the program defines itself, a local, a parameter, a
method or a builtin is never asked for, and a recursive function is asked for once. A name that is
handed on, not called, is a function by the rule of `cap.checker.undefined`, or else a fault.

An answer that cannot be used is asked for once more, with the reason. It cannot be used if it fails
the check, does not define its function, does not fit the calls it is for, or calls something in a
way that does not fit: a function written earlier is taken as right, and the caller is written
again. What an answer does in addition, such as to test its function, is removed.
"""

from __future__ import annotations

import ast
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field, replace

from cap.checker.checker import Examination, Violation, ViolationsFound, examine
from cap.checker.policy import Policy
from cap.checker.undefined import CallSite, Undefined, UndefinedName, undefined, why_undefined
from cap.engine.model_request import Author, Question, program_of
from cap.engine.repair import again
from cap.engine.settings import GenerationLimits
from cap.errors import ANOTHER, CapError, GenerationFailed, ModelError
from cap.models.base import Completion
from cap.program.program import Program
from cap.program.scope import Definition, Scope
from cap.prompt.context import program_lines
from cap.prompt.prompt import PastTurn, Prompt
from cap.trace.trace import Trace


@dataclass(frozen=True)
class Wanted:
    """A function to be written."""

    name: str
    """Its name."""
    calls: tuple[CallSite, ...]
    """Every place that calls it, or hands it to something that will."""
    parent: str = ""
    """The generated function that first calls it; "" for the program itself."""
    failed: str = ""
    """The program of an earlier answer that could not be used; "" if there is none."""
    reason: str = ""
    """Why it could not, if this is the second time it is asked for."""

    @property
    def request(self) -> str:
        """The calls, as a prompt shows them."""
        return "; ".join(dict.fromkeys(site.text for site in self.calls))


def refused(examined: Examination, trace: Trace) -> ViolationsFound:
    """Record why the check refuses a program; return the error to raise."""
    found = list(map(str, examined.violations))
    trace.event("violations", source=examined.program.source, found=found)
    return ViolationsFound(examined)


@dataclass
class Generation:
    """The functions written for one program."""

    author: Author
    """Asks the model."""
    prompt: Prompt
    """Asks for one function."""
    scope: Scope
    """What the program may use."""
    policy: Policy
    """What the check allows."""
    limits: GenerationLimits = field(default_factory=GenerationLimits)
    """How much may be generated."""
    unavailable: Mapping[str, str] = field(default_factory=dict)
    """Names that must not be generated, each with the reason."""
    docs: str = ""
    """What the functions do that the program may call."""
    words: str = ""
    """The instruction it was written for."""
    known: Mapping[str, Program] = field(default_factory=dict)
    """Functions generated before, by name: one that fits is not asked for again."""

    def __post_init__(self) -> None:
        """Start with none."""
        self._names = {*self.scope.names(), *self.policy.names()}
        self._programs: dict[str, Program] = {}

    def run(self, program: Program) -> tuple[Definition, ...]:
        """Return definitions, dependencies first, for all that a program calls and does not define.

        Raises:
            UndefinedName: The program reads a name that is no function.
            GenerationFailed: A limit is reached, or an answer cannot be used.
            ModelError: The model gave no answer.
        """
        limits, depth, wave = self.limits, 0, {"": program}
        self._caller = program
        self._names.update(_defined(program))
        while wanted := self._wanted(wave):
            name = wanted[0].name
            if depth >= limits.depth:
                what = f"ever deeper helpers (limit {limits.depth} levels; ask for less at once)"
                raise GenerationFailed(f"generated functions call {what}: {name}")
            if len(self._programs) + len(wanted) > limits.functions:
                what = f"more than {limits.functions} functions to generate (ask for less at once)"
                raise GenerationFailed(f"{what}: {name}")
            depth += 1
            self._names.update(entry.name for entry in wanted)
            wave = self._wave(wanted)
            self._programs = wave | self._programs  # what a wave calls is before it
            self._names.update(name for written in wave.values() for name in _defined(written))
        return tuple(_as_definition(*item) for item in self._programs.items())

    def write(self, wanted: Sequence[Wanted]) -> list[Program | CapError]:
        """Ask for functions, all at once; return the program of each, or what is wrong with it."""
        questions = []
        for entry in wanted:
            given = ""
            if self.prompt.header.docs:
                lines = [site.line for site in entry.calls if site.line]
                caller = self._programs.get(entry.parent, self._caller)
                given = program_lines(self.words, caller.source, lines)
            question = Question(self.prompt, entry.request, docs=self.docs, given=given)
            if entry.reason:
                about = {"reason": entry.reason, "source": entry.failed}
                self.author.trace.event("repair", lmp=self.prompt.name, attempt=2, **about)
                turn = PastTurn(entry.request, entry.failed, note=again(entry.reason))
                question = replace(question, history=(turn,)).with_more_room()
            questions.append(question)
        answers = self.author.ask_all(questions)
        return [self._read(*pair) for pair in zip(wanted, answers, strict=True)]

    def _read(self, entry: Wanted, answer: Completion | ModelError) -> Program | CapError:
        """Return the checked program of an answer, or what is wrong with it."""
        if isinstance(answer, ModelError):
            return answer
        try:
            examined = examine(program_of(answer, self.prompt), self.scope, self.policy)
            if examined.violations:
                raise refused(examined, self.author.trace)
        except CapError as error:
            return error
        alone = _definitions_alone(examined.program, self.scope.primitives)
        self.author.trace.event("generated", name=entry.name, source=alone.source)
        return alone

    def _wanted(self, programs: Mapping[str, Program]) -> list[Wanted]:
        """Return what programs call and do not define, each name once with all its calls."""
        found: dict[str, Wanted] = {}
        for parent, program in programs.items():
            for entry in self._undefined(program):
                earlier = found.get(entry.name, Wanted(entry.name, (), parent))
                found[entry.name] = replace(earlier, calls=(*earlier.calls, *entry.calls))
        return list(found.values())

    def _undefined(self, program: Program) -> list[Undefined]:
        """Return the functions that a program lacks.

        Raises:
            UndefinedName: It lacks something else.
        """
        found = list(undefined(program, self._names))
        for entry in found:
            reason = self.unavailable.get(entry.name) or why_undefined(
                entry, self._names, self.scope.primitives
            )
            if reason:
                raise UndefinedName(reason, entry.line)
        return found

    def _wave(self, wanted: Sequence[Wanted]) -> dict[str, Program]:
        """Have the functions of one wave written; those that cannot be used once more."""
        answers: dict[str, Program | CapError] = {
            entry.name: self.known[entry.name] for entry in wanted if self._fits(entry)
        }
        left = [entry for entry in wanted if entry.name not in answers]
        problems: dict[str, str] = {}
        for _ in range(2 if self.author.repairs else 1):
            for entry, answer in zip(left, self.write(left) if left else (), strict=True):
                if isinstance(answer, ModelError):
                    raise answer
                answers[entry.name] = answer
            problems = self._problems(wanted, answers)
            if not problems:
                return {name: one for name, one in answers.items() if isinstance(one, Program)}
            left = []
            for entry in wanted:
                if entry.name in problems:
                    answer = answers[entry.name]
                    failed = getattr(getattr(answer, "program", answer), "source", "")
                    reason = f"this {problems[entry.name]}"
                    left.append(replace(entry, failed=failed, reason=reason))
        name, problem = next(iter(problems.items()))
        what = f"the answer for function '{name}' {problem}"
        what = what.rstrip(".").replace(ANOTHER, "")  # each answer's own reason ends so
        raise GenerationFailed(f"{what}{ANOTHER}")

    def _fits(self, entry: Wanted) -> bool:
        """Return whether a function that was generated before can be used in this scope."""
        program = self.known.get(entry.name)
        if program is None or examine(program, self.scope, self.policy).violations:
            return False
        return self._problem(entry, program, self._names) is None

    def _problems(
        self, wanted: Sequence[Wanted], answers: Mapping[str, Program | CapError]
    ) -> dict[str, str]:
        """Return why answers cannot be used, by name, in the wave's order."""
        problems, usable, taken = dict[str, str](), dict[str, Program](), set(self._names)
        for entry in wanted:
            answer = answers[entry.name]
            if isinstance(answer, CapError):
                problems[entry.name] = f"is refused: {_with_line(answer)}"
            elif problem := self._problem(entry, answer, taken):
                problems[entry.name] = problem
            else:
                usable[entry.name] = answer
                taken.update(_defined(answer))
        written = [_as_definition(*item) for item in (*self._programs.items(), *usable.items())]
        for name, program in usable.items():
            if found := self._misfits(program, written):
                lines = (f"line {fault.line}: {fault.reason}" for fault in found)
                problems[name] = f"has faults: {'; '.join(lines)}"
        return problems

    def _problem(self, entry: Wanted, answer: Program, taken: set[str]) -> str | None:
        """Return what is wrong with one answer by itself."""
        defined = _defined(answer)
        if entry.name not in defined:
            others = [node.name for node in answer.tree.body if isinstance(node, _NAMED)]
            return f"defines {', '.join(others)}" if others else "defines no function"
        own = {entry.name, *(kept.name for kept in self.scope.definitions)}
        if clash := sorted((set(defined) & taken) - own):
            return f"also defines {clash}, already there"
        try:
            self._undefined(answer)
        except UndefinedName as error:
            return f"is refused: {_with_line(error)}"
        written = [_as_definition(entry.name, answer)]
        for site in entry.calls:  # the form of each: how many arguments, and which keywords
            values = ("*[]" if given.startswith("*") else "None" for given in site.arguments)
            named = ("**{}" if given == "**" else f"{given}=None" for given in site.keywords)
            call = Program.parse(f"{entry.name}({', '.join([*values, *named])})\n")
            if found := self._misfits(call, written):
                return f"does not fit the call {site.text}: {found[0].reason}"
        return None

    def _misfits(self, program: Program, written: Sequence[Definition]) -> Sequence[Violation]:
        """Return the violations of a program, together with the functions written for it."""
        scope = replace(self.scope, definitions=(*self.scope.definitions, *written))
        return examine(program, scope, self.policy).violations


def _with_line(error: CapError) -> str:
    return f"line {error.line}: {error}" if error.line else str(error)


_NAMED = ast.FunctionDef | ast.ClassDef


def _definitions_alone(program: Program, primitives: Collection[str]) -> Program:
    """Return an answer without statements that call what it defines, or move the robot: tests."""
    called = {*primitives, *_defined(program), "print"}

    def tests(node: ast.stmt) -> bool:
        calls = (part.func for part in ast.walk(node) if isinstance(part, ast.Call))
        return isinstance(node, ast.Assert) or any(getattr(f, "id", "") in called for f in calls)

    doomed = [node for node in program.tree.body if not isinstance(node, _NAMED) and tests(node)]
    return program.without(doomed, "removed, it only tests the function")


def _defined(program: Program) -> list[str]:
    """Return the functions, classes and constants a program defines at its top level."""
    found = []
    for node in program.tree.body:
        if isinstance(node, ast.FunctionDef | ast.ClassDef):
            found.append(node.name)
        elif isinstance(node, ast.Assign):
            found += [target.id for target in node.targets if isinstance(target, ast.Name)]
    return found


def _as_definition(name: str, program: Program) -> Definition:
    return Definition(name, program.source.strip() + "\n", origin="generated")
