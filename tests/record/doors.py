"""All that the record uses of the product: the command, `cap`'s names, files by documented form.

The insides may change under it; where a door itself moves, this file is the one to change.
"""

from __future__ import annotations

import os
import re
import subprocess
import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from functools import cache
from importlib.metadata import entry_points
from pathlib import Path
from typing import Any

from benchmarks.suite import Outcome, Settings, Trial, suite
from cap import (
    Completion,
    Limits,
    Prompt,
    Request,
    Sandbox,
    Scope,
    Session,
    Turn,
    make_model,
    make_robot,
)
from cap.cli.options import MOVED
from cap.program.scope import Primitive
from cap.prompt.prompt import load

__all__ = [
    "Completion",
    "Limits",
    "Outcome",
    "Prompt",
    "Request",
    "Sandbox",
    "Session",
    "Settings",
    "Trial",
    "Turn",
    "last_state",
    "load",
    "make_model",
    "make_robot",
    "robots",
    "run_cap",
    "scope_of",
    "suite",
    "translated",
    "unchecked",
]

ROOT = Path(__file__).resolve().parents[2]
PROMPTS = ROOT / "prompts"


def translated(arguments: list[str]) -> list[str]:
    """Return the arguments of a command of 0.1 as they are typed now."""
    if arguments[:1] == ["skills"]:  # --skills is still an option there
        return arguments
    said, now = list(arguments), []
    while said:
        word = said.pop(0)
        new = MOVED.get(word, word)
        if placeholder := re.search("[A-Z]+(=VALUE)?$", new if word in MOVED else ""):
            new = new[: placeholder.start()] + said.pop(0)
        now += new.split(" ", 1) if word in MOVED else [word]
    return now


def run_cap(
    folder: Path, *arguments: str, given: str = "", seconds: float = 120
) -> subprocess.CompletedProcess[str]:
    """Run the `cap` command in a folder that is also its home, with no setting from outside."""
    kept = {
        name: value
        for name, value in os.environ.items()
        if not name.startswith(("CAP_", "OPENAI_", "OPENROUTER_", "XDG_"))
    }
    environment = {**kept, "HOME": str(folder), "PYTHONPATH": str(ROOT), "COLUMNS": "100"}
    environment |= {"TERM": "dumb", "OMP_NUM_THREADS": "1", "OPENBLAS_NUM_THREADS": "1"}
    return subprocess.run(
        [sys.executable, "-P", "-m", "cap", *arguments],
        cwd=folder,
        env=environment,
        input=given,
        capture_output=True,
        text=True,
        timeout=seconds,
        check=False,
    )


@cache
def robots() -> tuple[str, ...]:
    """Return the robots that the distribution registers, without those of an environment apart."""
    found = {entry.name for entry in entry_points(group="cap.robots")}
    return tuple(sorted(found - {"robosuite"}))


def scope_of(functions: Sequence[Callable[..., Any]], group: str) -> Scope:
    """Return a scope with some functions, by their names and as members of a group."""
    return Scope(
        primitives={call.__name__: Primitive.of(call, "perception") for call in functions},
        groups={group: tuple(call.__name__ for call in functions)},
    )


def unchecked(sandbox: Sandbox, source: str, scope: Scope) -> Any:
    """Run a program that no check has seen, and return its result."""
    return sandbox.execute(source, scope, returns="ret")


@contextmanager
def last_state(names: Sequence[str]) -> Iterator[Callable[[], Mapping[str, Any]]]:
    """Yield what returns the state in which the robot was that was closed last.

    A benchmark's trial closes the robot it used; what the robot says of its world just before is
    the trial's final state: `positions()`, `condition()` and what it said.
    """
    states: list[Mapping[str, Any]] = []
    patched = []
    for name in names:
        robot = make_robot(name, mode="instant")
        kind: Any = type(robot)
        robot.close()

        def close(self: Any, end: Callable[[Any], None] = kind.close) -> None:
            states.append(state_of(self))
            end(self)

        patched.append((kind, kind.__dict__.get("close")))
        kind.close = close
    states.clear()
    try:
        yield lambda: states[-1] if states else {}
    finally:
        for kind, close in patched:
            if close is None:
                del kind.close
            else:
                kind.close = close


def state_of(robot: Any) -> dict[str, Any]:
    """Return all that a robot says of its world."""
    condition = robot.condition() if hasattr(robot, "condition") else {}
    return {
        "positions": dict(robot.positions()),
        "condition": dict(condition),
        "said": list(getattr(robot, "spoken", ())),
    }


def everyday() -> dict[str, Callable[[], str]]:
    """Return the sentences of the suite `everyday`, each with what judges it."""
    from benchmarks.everyday.suite import TASKS

    found = suite("everyday")
    settings = Settings("everyday", "nearest", "instant", prompts="")
    cases = {}
    for trial in found.trials(1, 0):

        def verdict(trial: Trial = trial) -> str:
            return str(found.run(trial, settings).extra["result"])

        cases[f"{trial.task}: {TASKS[trial.task].instruction}"] = verdict
    return cases
