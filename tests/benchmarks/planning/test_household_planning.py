"""The house: its steps and their program lines, what they need, and plans that are tried in it."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
import pytest

from benchmarks.planning import trials
from benchmarks.planning.household import (
    BY_WORDS,
    SCENES,
    SYNONYMS,
    TASKS,
    TRIED,
    House,
    HouseholdKnowledge,
    bank,
    household_world,
    lcs,
    parsed,
    plan_of,
    prepared,
    scene,
    unexecutable,
)
from cap.planners.loop import DONE
from cap.planners.stand_in_models import StandIn
from tests.rows import table


def test_every_step_is_read_back_from_its_words() -> None:
    steps = bank()
    assert len({step.text for step in steps}) == len(steps) > 1500
    for step in steps[:-1]:
        assert parsed(step.text) == step
    assert steps[-1] == DONE


@pytest.mark.sweep(share=0.34)
@pytest.mark.parametrize("task", TASKS, ids=lambda task: str(task.name))
def test_reference_plans_reach_their_goals_at_home_and_run_in_every_prepared_house(task) -> None:  # type: ignore[no-untyped-def]
    plan = plan_of(task.steps)
    world = household_world(scene(0))
    assert [step for step in plan if step is None or not world.step(step).ok] == []
    assert [goal for goal in task.goals if not world.state.holds(goal)] == []
    assert any(not scene(number).holds(goal) for goal in task.goals for number in range(SCENES))
    steps = [step for step in plan if step is not None]
    for number in range(SCENES):
        assert unexecutable(prepared(scene(number), steps), plan) == ""


@pytest.mark.parametrize(
    ("texts", "why"),
    table(__file__, "household_planning: a_step_that_cannot_be_taken_says_why").values(),
)
def test_a_step_that_cannot_be_taken_says_why(texts: list[str], why: str) -> None:
    assert why in unexecutable(scene(0), plan_of(texts))


def test_both_hands_full_is_full() -> None:
    plan = plan_of([
        "walk to the counter", "grab the sponge", "grab the bread", "grab the knife",
    ])  # fmt: skip
    assert "both hands are full" in unexecutable(scene(0), plan)


def test_houses_differ_and_are_the_same_again() -> None:
    assert [scene(n) for n in range(SCENES)] == [scene(n) for n in range(SCENES)]
    assert len({len(scene(n).facts) for n in range(SCENES)}) > 1
    assert House().holds("television is off")


@pytest.mark.parametrize(
    ("first", "second", "expected"),
    [("", "", 0.0), ("abc", "abc", 1.0), ("abc", "", 0.0), ("abcd", "acd", 0.75), ("ab", "ba", 0.5),
     ("xaybz", "ab", 0.4)],
)  # fmt: skip
def test_common_subsequences_are_shares_of_the_longer_plan(
    first: str, second: str, expected: float
) -> None:
    assert lcs(list(first), list(second)) == pytest.approx(expected)


def means(model: str, method: str) -> Mapping[str, float]:
    results = [
        trials.household_trial(task, 0, 0, lambda known: StandIn(model, known), method=method)
        for task in TRIED[::2]
    ]
    names = results[0].measured
    return {n: sum(result.measured[n] for result in results) / len(results) for n in names}


def test_without_translation_what_is_written_cannot_be_executed() -> None:
    whole, bare = means("perfect-say", "zero-shot"), means("perfect-say", "- translation")
    assert whole["parsed"] == 1.0
    assert whole["prepared"] > 0.9
    assert bare["prepared"] < 0.2
    assert bare["lcs"] < 0.6 < whole["lcs"]


@pytest.mark.soak
def test_correction_and_a_fitting_example_each_help_whom_they_can() -> None:
    noisy = [means("noisy-say:0.7", method)["lcs"] for method in ("zero-shot", "- correction")]
    assert noisy[0] > noisy[1]
    copied = [means("copy-say", method)["prepared"] for method in ("zero-shot", "- dynamic")]
    assert copied[0] > copied[1] + 0.2


def test_synonyms_lead_to_words_that_are_usual_here() -> None:
    usual = " ".join(step.text for step in bank())
    assert all(word in usual for word in SYNONYMS.values())
    assert BY_WORDS["drink the milk"].split == "test"


def test_other_words_for_a_cup_leave_a_cupboard_as_it_is() -> None:
    knowledge, generator = HouseholdKnowledge(), np.random.default_rng(0)
    said = {knowledge.worded("close the cupboard", generator) for _ in range(40)}
    assert said <= {f"{verb} the cupboard" for verb in ("close", "shut")}
    assert len({knowledge.worded("grab the cup", generator) for _ in range(40)}) > 2
