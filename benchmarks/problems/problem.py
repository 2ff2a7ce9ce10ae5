"""Problems: functions to be written from their header alone, with the tests that judge them.

They are read from files by `problem_file` and judged by `judge`.
"""

from __future__ import annotations

import ast
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property

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
PRIMITIVES = ("next_case", "hand_in")
"""What the loop around a function is driven by; problems may not use these names."""
LOOP = "run_cases"
LIMITS = Limits(program_s=5.0, calls_s=60.0, calls=4000, memory_bytes=512 << 20)
"""What one program of a problem may use: a candidate, a reference, a maker of inputs."""


@dataclass(frozen=True)
class Tolerance:
    """How far a number may be off: `abs` plus `rel` times what is expected."""

    abs: float = 1e-6
    """In the unit of the number; for geometry metres, and square metres of area."""
    rel: float = 1e-6
    """A share of the expected number."""


@dataclass(frozen=True)
class Case:
    """One fixed input."""

    arguments: str
    """As in a call: `[0, 1], 3`."""
    result: str | None = None
    """What must come back, worked out by hand; None if the reference alone says."""


@dataclass(frozen=True)
class Mutant:
    """A wrong solution that the tests must tell from a right one."""

    what: str
    """What is wrong with it."""
    source: str
    """Its definition."""


@dataclass(frozen=True)
class Problem:
    """One function to be written."""

    header: str
    """`def name(parameters):`, all that is asked with."""
    result: str
    """What the value is called in the request."""
    family: str
    """The group it is reported in."""
    generalisation: str
    """One of `GENERALISATIONS`."""
    reason: str
    """Why that one."""
    reference: str
    """A right solution."""
    mutants: tuple[Mutant, ...]
    """Wrong ones."""
    cases: tuple[Case, ...]
    """Fixed inputs."""
    random: str = ""
    """`def arguments(rng)`, which returns one more input; "" if there is none."""
    random_cases: int = 10
    """How many of those."""
    tolerance: Tolerance = Tolerance()
    """How results are compared."""
    setup: str = ""
    """Definitions that `cases` and `random` share; the file's."""
    given: str = ""
    """Functions a solution may call, about the `scene` a case begins with; the file's."""

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

    @cached_property
    def given_names(self) -> tuple[str, ...]:
        """The functions a solution may call."""
        return functions_of(Program.parse(self.given)) if self.given else ()

    @property
    def loop(self) -> str:
        """The program that calls the function once for each case.

        The arguments go back with each result: a solution must leave them as they were.
        """
        names = ", ".join(self.parameters)
        take = f"        [{names}] = case_arguments\n" if names else ""
        return (
            f"def {LOOP}():\n"
            f"    while (case_arguments := next_case()) is not None:\n{take}"
            f"        {self.result} = {self.name}({names})\n"
            f"        hand_in({self.result}, [{names}])\n"
            f"{LOOP}()\n"
        )


@dataclass(frozen=True)
class ProblemSet:
    """Problems that are run together."""

    problems: Mapping[str, Problem]
    """By name, in the order of the files."""
    sha256: str
    """Of the files' contents."""


def functions_of(program: Program) -> tuple[str, ...]:
    """Return the functions a program defines at its top level."""
    return tuple(node.name for node in program.tree.body if isinstance(node, ast.FunctionDef))
