"""Reading problem files: TOML, whose format `cap bench problems --schema` prints.

What is Python in a file is parsed and looked over here; it runs inside the sandbox alone.
"""

from __future__ import annotations

import ast
import hashlib
import tomllib
from collections.abc import Mapping, Sequence
from dataclasses import fields
from pathlib import Path
from typing import Any

from benchmarks.problems.problem import (
    GENERALISATIONS,
    LOOP,
    PRIMITIVES,
    Case,
    Mutant,
    Problem,
    ProblemSet,
    Tolerance,
    functions_of,
)
from cap.checker.checker import check
from cap.errors import CheckFailed, ProblemError, did_you_mean
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
            data = path.read_bytes()
            values = tomllib.loads(data.decode("utf-8"))
        except (OSError, ValueError) as error:
            raise ProblemError(f"cannot read problem file {path}: {error}") from None
        digest.update(data)
        for problem in _file(values, str(path)):
            if problem.name in found:
                raise ProblemError(f"{path}: a second problem '{problem.name}'; rename one")
            found[problem.name] = problem
    return ProblemSet(found, digest.hexdigest())


# --- one file

_FILE_KEYS = ("format", "setup", "given", "problem")
_REQUIRED = (
    *("header", "result", "family", "generalisation", "reason", "reference", "cases", "mutants"),
)
_OPTIONAL = ("random", "random_cases", "tolerance")


def _file(values: Mapping[str, Any], where: str) -> list[Problem]:
    _known_keys(values, _FILE_KEYS, where)
    if values.get("format") != FORMAT_VERSION:
        raise ProblemError(
            f"{where}: 'format' is {values.get('format')!r}; this version reads {FORMAT_VERSION}"
        )
    entries = values.get("problem")
    if not isinstance(entries, list) or not entries:
        raise ProblemError(f"{where}: no [[problem]] in it")
    shared = {
        key: _string(values, key, where) if key in values else "" for key in ("setup", "given")
    }
    if shared["given"]:
        program = checked(shared["given"], f"{where}, given")
        if not functions_of(program):
            raise ProblemError(f"{where}, given: defines no function")
    return [_problem(entry, shared, f"{where}, problem {n}") for n, entry in enumerate(entries, 1)]


def _problem(entry: Any, shared: Mapping[str, str], where: str) -> Problem:
    if not isinstance(entry, dict):
        raise ProblemError(f"{where}: not a table")
    header = _string(entry, "header", where)
    where = f"{where} ({header.removeprefix('def ').partition('(')[0]})"
    _known_keys(entry, (*_REQUIRED, *_OPTIONAL), where)
    for key in _REQUIRED:
        if key not in entry:
            raise ProblemError(f"{where}: '{key}' is missing")
    words = {
        key: _string(entry, key, where) for key in _REQUIRED if key not in ("cases", "mutants")
    }
    problem = Problem(
        **words,
        cases=_cases(entry["cases"], where),
        mutants=_mutants(entry["mutants"], where),
        random=_string(entry, "random", where) if "random" in entry else "",
        random_cases=_count(entry.get("random_cases", Problem.random_cases), where),
        tolerance=_tolerance(entry.get("tolerance", {}), where),
        **shared,
    )
    _check_header(problem, where)
    _check_defines(problem.reference, problem.name, f"{where}, reference")
    for mutant in problem.mutants:
        _check_defines(mutant.source, problem.name, f"{where}, mutant '{mutant.what}'")
    if problem.setup:
        checked(problem.setup, f"{where}, setup")
    if problem.random:
        _check_defines(problem.random, "arguments", f"{where}, random")
    return problem


def _known_keys(values: Mapping[str, Any], known: Sequence[str], where: str) -> None:
    for key in values:
        if key not in known:
            hint = did_you_mean(key, known)
            raise ProblemError(f"{where}: unknown key '{key}'.{hint} Known: {', '.join(known)}")


def _string(values: Mapping[str, Any], key: str, where: str) -> str:
    if key not in values:
        raise ProblemError(f"{where}: '{key}' is missing")
    value = values[key]
    if not isinstance(value, str) or not value.strip():
        raise ProblemError(f"{where}: '{key}' must be text, not {_shown(value)}")
    return value.strip("\n")


def _shown(value: Any) -> str:
    text = repr(value)
    return text if len(text) <= 60 else f"{text[:57]}..."


def _count(value: Any, where: str) -> int:
    if type(value) is not int or not 0 <= value <= 1000:
        raise ProblemError(f"{where}: 'random_cases' must be 0 to 1000, not {_shown(value)}")
    return value


def _tolerance(value: Any, where: str) -> Tolerance:
    known = [entry.name for entry in fields(Tolerance)]
    if not isinstance(value, dict):
        raise ProblemError(f"{where}: 'tolerance' must be a table of {known}")
    _known_keys(value, known, f"{where}, tolerance")
    for key, number in value.items():
        if type(number) not in (int, float) or not 0 <= number <= 1e6:
            raise ProblemError(f"{where}: tolerance '{key}' cannot be {_shown(number)}")
    return Tolerance(**value)


def _cases(value: Any, where: str) -> tuple[Case, ...]:
    """Read cases: a list of [arguments] or [arguments, result], as Python text."""
    remedy = "give [[arguments], [arguments, result], ...] as text"
    if not isinstance(value, list) or not value:
        raise ProblemError(f"{where}: 'cases' must be a list; {remedy}")
    cases = []
    for number, entry in enumerate(value, 1):
        texts = isinstance(entry, list) and all(isinstance(text, str) for text in entry)
        if not texts or len(entry) not in (1, 2):
            raise ProblemError(f"{where}, case {number}: {_shown(entry)} is no case; {remedy}")
        for text in entry:
            try:
                ast.parse(f"[{text}\n]", mode="eval")
            except (SyntaxError, ValueError, RecursionError, MemoryError) as error:
                raise ProblemError(
                    f"{where}, case {number}: {_shown(text)} is not Python: {error}"
                ) from None
        cases.append(Case(*entry))
    return tuple(cases)


def _mutants(value: Any, where: str) -> tuple[Mutant, ...]:
    if not isinstance(value, list) or not value:
        raise ProblemError(f"{where}: 'mutants' must be a list of tables with 'what' and 'source'")
    found = []
    for number, entry in enumerate(value, 1):
        place = f"{where}, mutant {number}"
        if not isinstance(entry, dict):
            raise ProblemError(f"{place}: not a table with 'what' and 'source'")
        _known_keys(entry, ("what", "source"), place)
        found.append(Mutant(_string(entry, "what", place), _string(entry, "source", place)))
    return tuple(found)


# --- what is Python in it


def _check_header(problem: Problem, where: str) -> None:
    """Refuse a header that is more than a name and plain parameters."""
    try:
        (node,) = ast.parse(f"{problem.header} pass").body
    except (SyntaxError, ValueError):
        raise ProblemError(f"{where}: header {problem.header!r} is no `def name(a, b):`") from None
    plain = isinstance(node, ast.FunctionDef) and ast.unparse(node.args) == ", ".join(
        entry.arg for entry in node.args.args
    )
    if not plain or "\n" in problem.header or getattr(node, "returns", None) is not None:
        raise ProblemError(
            f"{where}: header {problem.header!r} must be one `def name(a, b):` with plain "
            "parameters: no types, defaults or stars"
        )
    names = [problem.name, problem.result, *problem.parameters, *problem.given_names]
    taken = [*PRIMITIVES, LOOP, "case_arguments"]
    for name in names:
        if not name.isidentifier() or name.startswith("_"):
            raise ProblemError(f"{where}: {name!r} is no name a program can use")
        if name in taken:
            raise ProblemError(f"{where}: the name '{name}' is taken; choose another")
        taken += [name] if name != problem.result else []
    if problem.generalisation not in GENERALISATIONS:
        known = ", ".join(GENERALISATIONS)
        raise ProblemError(
            f"{where}: generalisation {problem.generalisation!r} unknown; known: {known}"
        )


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
    if violations := check(program.tree, None, frozenset(PRIMITIVES)):
        raise ProblemError(f"{where}: {violations[0]}")
    return program
