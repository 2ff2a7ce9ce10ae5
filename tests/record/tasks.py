"""Every suite's tasks, carried out by their oracles: success and the robot's world at the end."""

from __future__ import annotations

import os
import random
import re
from collections.abc import Mapping
from functools import cache, partial
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import Any
from unittest import mock

from tests.record import doors
from tests.record.record import Case, Seen, Skipped
from tests.record.values import parted, plain, steady

SUITES = (
    *("control", "drawing", "embodiments", "humaneval", "kitchen", "planning", "reasoning"),
    *("robocodegen", "tabletop"),
)
PROMPTS = {"tabletop": "ravens-seen"} | {
    name: name for name in ("control", "reasoning", "robocodegen")
}
"""The prompts of those whose robot has others."""
MOVED = ("drawing", "embodiments", "kitchen", "tabletop")
"""Those that move a robot; they are tried in physics as well."""
ENGINES = ("pybullet", "mujoco")
DRAWN = {"planning": 150}
"""How many trials are tried, drawn with a seed, where there are very many."""
PERFECT = "perfect-say"
"""The planners' upper row, which stands in place of an oracle."""
TABLES = ("SC-4", "SC-5", "IM-1", "IM-3", "CaP-III", "NL-1", "five")


def cases(name: str) -> Mapping[str, Case]:
    """Return a suite's trials of seed 0 in the instant world."""
    return _drawn(name, _trials(name, "instant"))


def in_physics(engine: str) -> Mapping[str, Case]:
    """Return the trials of seed 0 that move a robot, in physics."""
    found: dict[str, Case] = {}
    for name in MOVED:
        for key, case in _trials(name, "physics").items():
            there = (
                partial(_with, engine, case) if _installed(engine) else partial(_without, engine)
            )
            found[f"{name}: {key}"] = there
    return found


def _with(engine: str, case: Case) -> Seen | Skipped:
    with mock.patch.dict(os.environ, {"CAP_PHYSICS": engine}):
        return case()


def _without(engine: str) -> Skipped:
    return Skipped(f"{engine} is not installed")


def _trials(name: str, mode: str) -> dict[str, Case]:
    found: dict[str, Case] = {}
    for table in TABLES if name == "planning" else ("",):
        options = {"table": table, "models": [PERFECT]} if table else {}
        suite = doors.suite(name, options)
        model = PERFECT if table else "oracle"
        settings = doors.Settings(name, model, mode, prompts=PROMPTS.get(name, ""), options=options)
        splits = suite.oracle_splits
        for trial in suite.trials(1, 0, splits=splits):
            where = " ".join(filter(None, (table, trial.split)))
            key = f"{trial.task} [{where}] {trial.seed}" if where else f"{trial.task} {trial.seed}"
            found[key] = partial(_trial, suite, trial, settings)
    return found


def _drawn(name: str, trials: dict[str, Case]) -> Mapping[str, Case]:
    if name not in DRAWN:
        return trials
    kept = random.Random(name).sample(sorted(trials), DRAWN[name])
    return {key: trials[key] for key in sorted(kept)}


def _trial(suite: Any, trial: doors.Trial, settings: doors.Settings) -> Seen:
    with doors.last_state(doors.robots()) as state:
        outcome = suite.run(trial, settings)
        world = plain(state())
    extra = {key: each for key, each in outcome.extra.items() if key != "series"}
    behaviour, wording = parted(plain(extra))
    behaviour = {"success": outcome.success, "cause": outcome.cause, **behaviour}
    if world:
        behaviour["world"] = world
    wording = {"instruction": outcome.instruction, "failure": steady(outcome.failure), **wording}
    return Seen(behaviour, {key: value for key, value in wording.items() if value})


@cache
def engine_version(engine: str) -> str:
    """Return the version of an engine; `none` where it is not installed."""
    return version(engine) if _installed(engine) else "none"


def _installed(engine: str) -> bool:
    try:
        version(engine)
    except PackageNotFoundError:
        return False
    return True


@cache
def processor() -> str:
    """Return the processor's name, family and model, fit for a file's name."""
    try:
        text = Path("/proc/cpuinfo").read_text(encoding="utf-8")
    except OSError:
        text = ""
    lines = dict(re.findall(r"^(model name|cpu family|model)\s*: (.+)$", text, re.MULTILINE))
    found = " ".join(lines[name] for name in sorted(lines, reverse=True)) or "unknown"
    return re.sub(r"[^a-z0-9]+", "-", found.lower()).strip("-")
