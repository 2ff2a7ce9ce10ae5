"""Programs that seem to do what a sentence of the kitchen says; none is taken for it."""

from __future__ import annotations

import re
from typing import Any

import numpy as np
import pytest

from benchmarks.suite import Outcome, Trial, suite
from robots.kitchen import create
from tests.benchmarks.cheating import assert_judged_wrong, carried_out
from tests.rows import table

SEED = 4
CHEATS = table(__file__, "cheats: cheats")
HONEST = table(__file__, "cheats: honest")
BROKEN = {"thrown away, and a last turn that fails", "taken out, and failures"}


def told_and_carried_out(
    task: str, programs: tuple[str, ...], monkeypatch: pytest.MonkeyPatch
) -> Outcome:
    """Run programs for a task's sentences, told the names that stand in them."""
    robot = create(seed=SEED, mode="instant")
    found: Any = suite("kitchen")
    case = found.tasks[task].make(np.random.default_rng([SEED, 7]), robot)
    sentences = " ".join(case.instructions)
    places = re.findall("|".join(sorted(robot.get_loc_names(), key=len, reverse=True)), sentences)
    named = [name for name in list(robot.positions()) if name in sentences and name != "bowl"]
    if task == "all-of-a-kind":
        named = [
            name for name in list(robot.positions()) if robot.state.location_of(name) == places[0]
        ]
    named.sort(key=sentences.find)
    others = [name for name in list(robot.positions()) if name not in named and name != "bowl"]
    source = robot.state.location_of(named[0]) if named else "table"
    beside = [name for name in others if robot.state.location_of(name) == source]
    other = [*named[1:2], *beside, *others][0]
    told = f"PLACES = {places!r}\nNAME, OTHER = {(named or ['sponge'])[0]!r}, {other!r}\n"
    told += f"SOURCE, BOWL = {source!r}, {robot.state.location_of('bowl')!r}\n"
    told += "DRAWERS = ['top drawer', 'middle drawer', 'bottom drawer']\n"
    told += f"SIDE = {-1 if ' left' in sentences else 1}\n"
    told += f"CM = {next(iter(re.findall('([0-9]+) cm', sentences)), 0)}\n"
    whole = [told + program for program in programs]
    return carried_out(found, Trial(task, "", SEED), whole, monkeypatch)


@pytest.mark.sweep(share=0.25)
@pytest.mark.parametrize("name", CHEATS)
def test_it_is_not_taken_for_what_was_asked(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    task, programs = CHEATS[name]
    assert_judged_wrong(told_and_carried_out(task, programs, monkeypatch), name in BROKEN)


@pytest.mark.sweep(share=0.5)
@pytest.mark.parametrize("name", HONEST)
def test_another_way_to_do_it_is_right(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    outcome = told_and_carried_out(*HONEST[name], monkeypatch)
    assert outcome.success, outcome.failure
