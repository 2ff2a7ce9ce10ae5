"""Reading problem files: TOML, whose format `cap bench problems --schema` prints.

What is Python in a file is parsed and looked over here; it runs inside the sandbox alone.
"""

from __future__ import annotations

import ast
import hashlib
import tomllib
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Annotated, Any

import msgspec

from benchmarks.problems.problem import (
    LOOP,
    PRIMITIVES,
    Mutant,
    Problem,
    ProblemSet,
    functions_of,
)
from benchmarks.task_file import converted
from cap.checker.checker import check
from cap.checker.rules import bound_names
from cap.errors import CheckFailed, ProblemError
from cap.files import read_bytes
from cap.program.program import Program

FORMAT_VERSION = 1


def load(paths: Sequence[Path]) -> ProblemSet:
    """Read problem files.

    Raises:
        ProblemError: One cannot be read, or an entry in it is wrong; with file and problem.
    """
    found: dict[str, Problem] = {}
    digest = hashlib.sha256()
    for path in paths:
        try:
            data = read_bytes(path)
            values = tomllib.loads(data.decode("utf-8-sig"))
        except (OSError, ValueError) as error:
            why = getattr(error, "strerror", None) or error
            raise ProblemError(f"cannot read problem file {path}: {why}") from None
        digest.update(data)
        for problem in problems_of(values, str(path)):
            if problem.name in found:
                raise ProblemError(f"{path}: a second problem '{problem.name}'; rename one")
            found[problem.name] = problem
    return ProblemSet(found, digest.hexdigest())


# --- one file

_SHARED = ("setup", "given")
"""What a file says for all its problems, and a problem for itself."""


class _File(msgspec.Struct, forbid_unknown_fields=True):
    """A problem file; of its problems nothing is checked yet."""

    format: int
    problem: Annotated[list[dict[str, Any]], msgspec.Meta(min_length=1)]
    setup: str = ""
    given: str = ""


def problems_of(values: Mapping[str, Any], where: str) -> list[Problem]:
    """Return the problems of a file that was parsed.

    Raises:
        ProblemError: An entry in it is wrong; with what `where` says, and the problem.
    """
    file = converted(values, _File, where, ProblemError)
    if file.format != FORMAT_VERSION:
        raise ProblemError(
            f"{where}: 'format' is {file.format}; this version reads {FORMAT_VERSION}"
        )
    return [
        _problem(entry, file, f"{where}, problem {number}")
        for number, entry in enumerate(file.problem, 1)
    ]


def _problem(entry: Mapping[str, Any], file: _File, where: str) -> Problem:
    name = str(entry.get("header", "")).removeprefix("def ").partition("(")[0]
    where = f"{where} ({name})" if name else where
    cases = entry.get("cases", [])
    if isinstance(cases, list):
        entry = {**entry, "cases": [_as_table(case) for case in cases]}
    given = converted(entry, Problem, where, ProblemError)
    if not given.cases and not given.random:
        raise ProblemError(f"{where}: 'cases' is missing, or 'random', which makes some")
    for number, case in enumerate(given.cases, 1):
        for text in filter(None, (case.entries, case.result)):
            try:
                ast.parse(f"[{text}\n]", mode="eval")
            except (SyntaxError, ValueError, RecursionError, MemoryError) as error:
                why = f"{text[:60]!r} is not Python: {error}"
                raise ProblemError(f"{where}, case {number}: {why}") from None
    parts = {
        key: "\n\n\n".join(
            filter(None, (getattr(table, key).strip("\n") for table in (file, given)))
        )
        for key in _SHARED
    }
    mutants = [Mutant(one.what, _named(one.source.strip("\n"), name)) for one in given.mutants]
    problem = msgspec.structs.replace(
        given,
        reference=_named(given.reference.strip("\n"), name),
        mutants=tuple(mutants),
        random=given.random.strip("\n"),
        **parts,
    )
    if problem.given and not functions_of(checked(problem.given, f"{where}, given")):
        raise ProblemError(f"{where}, given: defines no function")
    _check_header(problem, where)
    _check_defines(problem.reference, problem.name, f"{where}, reference")
    for mutant in problem.mutants:
        _check_defines(mutant.source, problem.name, f"{where}, mutant '{mutant.what}'")
    if problem.setup:
        checked(problem.setup, f"{where}, setup")
    if problem.random:
        _check_defines(problem.random, "arguments", f"{where}, random")
    return problem


def _as_table(case: Any) -> Any:
    """Return a case that is a list of arguments, and perhaps a result, as a table."""
    if isinstance(case, list) and 1 <= len(case) <= 2:
        return dict(zip(("arguments", "result"), case, strict=False))
    return case


# --- what is Python in it


def _check_header(problem: Problem, where: str) -> None:
    """Refuse a header that is more than a name and parameters, some with a default."""
    try:
        (node,) = ast.parse(f"{problem.header} pass").body
    except (SyntaxError, ValueError):
        raise ProblemError(f"{where}: header {problem.header!r} is no `def name(a, b):`") from None
    if (
        not isinstance(node, ast.FunctionDef)
        or node.args.posonlyargs
        or node.args.kwonlyargs
        or node.args.vararg
        or node.args.kwarg
        or "\n" in problem.header
    ):
        raise ProblemError(
            f"{where}: header {problem.header!r} must be one `def name(a, b=1):`, without "
            "parameters that are only named, only placed or starred"
        )
    try:
        for value in node.args.defaults:
            ast.literal_eval(value)
    except ValueError:
        raise ProblemError(f"{where}: header {problem.header!r}: defaults must be data") from None
    results = [name.strip() for name in problem.result.split(",")]
    names = [problem.name, *results, *problem.parameters, *problem.given_names]
    taken = [*PRIMITIVES, LOOP, "case_arguments"]
    for name in names:
        if not name.isidentifier() or name.startswith("_"):
            raise ProblemError(f"{where}: {name!r} is no name a program can use")
        if name in taken:
            raise ProblemError(f"{where}: the name '{name}' is taken; choose another")
        taken += [name] if name not in results else []


def _named(source: str, name: str) -> str:
    """Return a solution; one that is an expression, such as a lambda, gets the function's name."""
    try:
        expression = ast.parse(source.strip(), mode="eval")
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return source
    return f"{name} = {source.strip()}" if isinstance(expression.body, ast.Lambda) else source


def _check_defines(source: str, name: str, where: str) -> None:
    if name not in functions_of(checked(source, where)):
        raise ProblemError(f"{where}: does not define '{name}'")


def checked(source: str, where: str) -> Program:
    """Return text as a program that the check lets pass.

    Raises:
        ProblemError: It does not.
    """
    try:
        program = Program.parse(source)
    except CheckFailed as error:
        line = getattr(error, "line", None)
        raise ProblemError(f"{where}{f', line {line}' if line else ''}: {error}") from None
    for violation in check(program):
        raise ProblemError(f"{where}: {violation}")
    for node in ast.walk(program.tree):
        for name in PRIMITIVES & frozenset(bound_names(node)):
            raise ProblemError(f"{where}: '{name}' is provided; choose another name")
    return program
