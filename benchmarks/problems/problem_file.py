"""Reading problem files: TOML, whose format `cap bench problems --schema` prints.

What is Python in a file is parsed and looked over here; it runs inside the sandbox alone.
"""

from __future__ import annotations

import ast
import hashlib
import tomllib
from collections.abc import Mapping, Sequence
from dataclasses import fields, replace
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
from cap.checker.rules import bound_names
from cap.errors import CheckFailed, ProblemError, did_you_mean
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
        for problem in _file(values, str(path)):
            if problem.name in found:
                raise ProblemError(f"{path}: a second problem '{problem.name}'; rename one")
            found[problem.name] = problem
    return ProblemSet(found, digest.hexdigest())


def parsed(text: str, where: str) -> list[Problem]:
    """Return the problems of a file's text.

    Raises:
        ProblemError: An entry in it is wrong; with what `where` says, and the problem.
    """
    return _file(tomllib.loads(text), where)


# --- one file

_FILE_KEYS = ("format", "setup", "given", "problem")
_REQUIRED = ("header", "reference")
_WORDS = ("result", "family", "generalisation", "reason", "random")
_SHARED = ("setup", "given")
"""What a file says for all its problems, and a problem for itself."""
_OPTIONAL = (*_WORDS, *_SHARED, "cases", "mutants", "random_cases", "tolerance")


def _file(values: Mapping[str, Any], where: str) -> list[Problem]:
    _known_keys(values, _FILE_KEYS, where)
    if values.get("format") != FORMAT_VERSION:
        raise ProblemError(
            f"{where}: 'format' is {values.get('format')!r}; this version reads {FORMAT_VERSION}"
        )
    entries = values.get("problem")
    if not isinstance(entries, list) or not entries:
        raise ProblemError(f"{where}: no [[problem]] in it")
    shared = {key: _string(values, key, where) if key in values else "" for key in _SHARED}
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
    if "cases" not in entry and "random" not in entry:
        raise ProblemError(f"{where}: 'cases' is missing, or 'random', which makes some")
    own = {key: _string(entry, key, where) for key in _SHARED if key in entry}
    parts = {key: "\n\n\n".join(filter(None, (shared[key], own.get(key)))) for key in _SHARED}
    problem = Problem(
        header=header,
        reference=_string(entry, "reference", where),
        **{key: _string(entry, key, where) for key in _WORDS if key in entry},
        cases=_cases(entry["cases"], where) if "cases" in entry else (),
        mutants=_mutants(entry.get("mutants", []), where),
        random_cases=_count(entry.get("random_cases", Problem.random_cases), where),
        tolerance=_tolerance(entry.get("tolerance", {}), where),
        **parts,
    )
    if problem.given and not functions_of(checked(problem.given, f"{where}, given")):
        raise ProblemError(f"{where}, given: defines no function")
    _check_header(problem, where)
    problem = replace(
        problem,
        reference=_named(problem.reference, problem.name),
        mutants=tuple(
            replace(one, source=_named(one.source, problem.name)) for one in problem.mutants
        ),
    )
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
    words = {"rel_of": ("expected", "got", "larger"), "both": ("sum", "larger")}
    for key, number in value.items():
        if key in words:
            if number not in words[key]:
                known_words = ", ".join(words[key])
                raise ProblemError(f"{where}: tolerance '{key}' must be one of {known_words}")
        elif type(number) not in (int, float) or not 0 <= number <= 1e6:
            raise ProblemError(f"{where}: tolerance '{key}' cannot be {_shown(number)}")
    return Tolerance(**value)


def _cases(value: Any, where: str) -> tuple[Case, ...]:
    """Read cases: a list of [arguments] or [arguments, result], or tables, as Python text."""
    remedy = "give [[arguments], [arguments, result], {scene, arguments, result}, ...] as text"
    if not isinstance(value, list) or not value:
        raise ProblemError(f"{where}: 'cases' must be a list; {remedy}")
    cases = []
    for number, entry in enumerate(value, 1):
        own = None
        if isinstance(entry, dict):
            known = ("scene", "arguments", "result", "tolerance")
            _known_keys(entry, known, f"{where}, case {number}")
            if "tolerance" in entry:
                own = _tolerance(entry["tolerance"], f"{where}, case {number}")
            head = [entry[key] for key in ("scene", "arguments") if entry.get(key)]
            if all(isinstance(text, str) for text in head):
                entry = [", ".join(head), *(entry[key] for key in ("result",) if key in entry)]
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
        cases.append(replace(Case(*entry), tolerance=own))
    return tuple(cases)


def _mutants(value: Any, where: str) -> tuple[Mutant, ...]:
    if not isinstance(value, list):
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
    """Refuse a header that is more than a name and parameters, some with a default or a star."""
    try:
        (node,) = ast.parse(f"{problem.header} pass").body
    except (SyntaxError, ValueError):
        raise ProblemError(f"{where}: header {problem.header!r} is no `def name(a, b):`") from None
    if (
        not isinstance(node, ast.FunctionDef)
        or node.args.posonlyargs
        or node.args.kwonlyargs
        or node.args.kwarg
        or "\n" in problem.header
    ):
        raise ProblemError(
            f"{where}: header {problem.header!r} must be one `def name(a, b=1, *rest):`, without "
            "parameters that are only named or only placed"
        )
    try:
        for value in node.args.defaults:
            ast.literal_eval(value)
    except ValueError:
        raise ProblemError(f"{where}: header {problem.header!r}: defaults must be data") from None
    results = [name.strip() for name in problem.result.split(",")]
    names = [problem.name, *results, *problem.parameters, *problem.given_names]
    names += [problem.rest] if problem.rest else []
    taken = [*PRIMITIVES, LOOP, "case_arguments"]
    for name in names:
        if not name.isidentifier() or name.startswith("_"):
            raise ProblemError(f"{where}: {name!r} is no name a program can use")
        if name in taken:
            raise ProblemError(f"{where}: the name '{name}' is taken; choose another")
        taken += [name] if name not in results else []
    if problem.generalisation not in ("", *GENERALISATIONS):
        known = ", ".join(GENERALISATIONS)
        raise ProblemError(
            f"{where}: generalisation {problem.generalisation!r} unknown; known: {known}"
        )


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
