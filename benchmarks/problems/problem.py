"""Problems: functions to be written from their header alone, with the tests that judge them.

They are read from files by `problem_file` and judged by `judge`.
"""

from __future__ import annotations

import ast
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Annotated, Literal

import msgspec

from cap.program.program import Program
from cap.sandbox.limits import Limits

GENERALISATIONS = (
    "systematicity",
    "productivity",
    "substitutivity",
    "localism",
    "overgeneralisation",
)
"""Kinds of generalisation, after Hupkes et al.; what each means is in the format's text."""
PRIMITIVES = frozenset(["next_case", "hand_in"])
"""What the loop around a function is driven by; problems may not use these names."""
LOOP = "run_cases"
LIMITS = Limits(program_s=5.0, calls_s=60.0, calls=4000, memory_bytes=512 << 20)
"""What one program of a problem may use: a candidate, a reference, a maker of inputs."""


Text = Annotated[str, msgspec.Meta(pattern=r"\S")]


class Tolerance(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """How far a number may be off: `abs` plus `rel` times what is expected."""

    abs: Annotated[float, msgspec.Meta(ge=0, le=1e6)] = 1e-6
    """In the unit of the number; for geometry metres, and square metres of area."""
    rel: Annotated[float, msgspec.Meta(ge=0, le=1e6)] = 1e-6
    """A share of what is expected."""

    def allowed(self, expected: float) -> float:
        """Return how far off a number may be."""
        return self.abs + self.rel * abs(expected)


class Case(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """One fixed input."""

    arguments: str = ""
    """As in a call: `[0, 1], 3`."""
    result: str | None = None
    """What must come back, worked out by hand; None if the reference alone says."""
    tolerance: Tolerance | None = None
    """How far off its result may be; None if the problem says."""
    scene: str = ""
    """What the given functions are about, if there are any."""

    @property
    def entries(self) -> str:
        """The scene, if there is one, and the arguments."""
        return ", ".join(filter(None, (self.scene, self.arguments)))


class Mutant(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """A wrong solution that the tests must tell from a right one."""

    what: str
    """What is wrong with it."""
    source: str
    """Its definition."""


class Problem(msgspec.Struct, frozen=True, dict=True, forbid_unknown_fields=True):
    """One function to be written."""

    header: Text
    """`def name(parameters):`, all that is asked with."""
    reference: Text
    """A right solution."""
    result: Text = "result"
    """What the value is called in the request, or its parts: `left, right`."""
    family: Text = "own"
    """The group it is reported in."""
    generalisation: Literal["", *GENERALISATIONS] = ""  # type: ignore[valid-type]
    """How it goes beyond the examples of the prompts."""
    reason: Text = ""
    """Why that one."""
    mutants: tuple[Mutant, ...] = ()
    """Wrong ones."""
    cases: tuple[Case, ...] = ()
    """Fixed inputs."""
    random: Text = ""
    """`def arguments(rng)`, which returns one more input; "" if there is none."""
    random_cases: Annotated[int, msgspec.Meta(ge=0, le=1000)] = 10
    """How many of those."""
    tolerance: Tolerance = Tolerance()
    """How results are compared."""
    setup: Text = ""
    """Definitions that `cases` and `random` share; the file's, and its own."""
    given: Text = ""
    """Functions a solution may call, about the `scene` a case begins with; likewise."""

    @cached_property
    def definition(self) -> ast.FunctionDef:
        """The header, parsed."""
        node = ast.parse(f"{self.header} pass").body[0]
        assert isinstance(node, ast.FunctionDef)
        return node

    @property
    def name(self) -> str:
        """The function's name."""
        return self.definition.name

    @property
    def parameters(self) -> tuple[str, ...]:
        """The names of its parameters."""
        return tuple(entry.arg for entry in self.definition.args.args)

    def tolerance_of(self, number: int) -> Tolerance:
        """Return how far off the result of a case may be; random ones follow the fixed ones."""
        own = self.cases[number].tolerance if number < len(self.cases) else None
        return own or self.tolerance

    @property
    def counts(self) -> range:
        """How many arguments a call may have."""
        n = len(self.parameters)
        return range(n - len(self.definition.args.defaults), n + 1)

    @property
    def solution(self) -> str:
        """The reference as one who is asked for a function would write it: definitions alone."""
        body = ast.parse(self.reference).body
        if all(isinstance(node, ast.FunctionDef) for node in body):
            return self.reference
        answer = ast.parse(f"return {self.name}({', '.join(self.parameters)})").body
        whole = ast.parse(f"{self.header} pass")
        function = whole.body[0]
        assert isinstance(function, ast.FunctionDef)
        function.body = [*body, *answer]
        return ast.unparse(whole)

    @property
    def request(self) -> str:
        """The call that a function is asked for with; parameters with a default show it."""
        return f"{self.result} = {self._call(self.counts[0])}"

    def _call(self, count: int) -> str:
        """Return a call with so many arguments; the others are named with their defaults."""
        names, defaults = self.parameters, self.definition.args.defaults
        left = names[count:]
        values = [ast.unparse(value) for value in defaults[len(defaults) - len(left) :]]
        written = [*names[:count], *map("{}={}".format, left, values)]
        return f"{self.name}({', '.join(written)})"

    @cached_property
    def given_names(self) -> tuple[str, ...]:
        """The functions a solution may call."""
        return functions_of(Program.parse(self.given)) if self.given else ()

    @property
    def loop(self) -> str:
        """The program that calls the function once for each case.

        The arguments go back with each result: a solution must leave them as they were.
        """
        lines = [f"def {LOOP}():", "    while (case_arguments := next_case()) is not None:"]
        for count in self.counts:
            place = "        "
            if count < self.counts[-1]:
                word = "if" if count == self.counts[0] else "elif"
                lines.append(f"{place}{word} len(case_arguments) == {count}:")
            elif len(self.counts) > 1:
                lines.append(f"{place}else:")
            place += "    " if len(self.counts) > 1 else ""
            names = ", ".join(self.parameters[:count])
            lines += [f"{place}[{names}] = case_arguments"] if names else []
            lines.append(f"{place}{self.result} = {self._call(count)}")
            value = f"({self.result})" if "," in self.result else self.result
            lines.append(f"{place}hand_in({value}, [{names}])")
        return "\n".join([*lines, f"{LOOP}()", ""])


@dataclass(frozen=True)
class ProblemSet:
    """Problems that are run together."""

    problems: Mapping[str, Problem]
    """By name, in the order of the files."""
    sha256: str
    """Of the files' contents."""


def functions_of(program: Program) -> tuple[str, ...]:
    """Return the functions a program defines at its top level, lambdas with a name too."""
    found = []
    for node in program.tree.body:
        if isinstance(node, ast.FunctionDef):
            found.append(node.name)
        elif isinstance(node, ast.Assign) and isinstance(node.value, ast.Lambda):
            found += [target.id for target in node.targets if isinstance(target, ast.Name)]
    return tuple(found)
