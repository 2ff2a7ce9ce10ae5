"""What makes steps fail on purpose, how likely steps succeed, and the names of things."""

from __future__ import annotations

import pytest

from benchmarks.planning.kitchen_skills import near, with_article
from benchmarks.planning.trials import forced_failure, skill_failure
from cap.planners.loop import Action
from tests.rows import table

WAVE, BOW = (Action("do", (text,), text) for text in ("wave", "bow"))


def test_a_forced_failure_strikes_one_step_once() -> None:
    meddled: list[Action] = []
    strikes = forced_failure(("do",), meddled.append, skill_failure(0, {"do": 0.0}))
    assert strikes(Action("fly"), 0) == ""
    assert [strikes(action, 1) for action in (BOW, WAVE)] == [
        "somebody kept it from succeeding",
        "the skill failed",
    ]
    assert meddled == [BOW]
    assert forced_failure(("fly",))(BOW, 0) == ""


def test_skills_fail_as_often_as_they_should_and_the_same_way_for_the_same_seed() -> None:
    runs = [[skill_failure(n, {"do": 0.7})(BOW, at) for at in range(5)] for n in range(400)]
    assert runs[7] == [skill_failure(7, {"do": 0.7})(BOW, at) for at in range(5)]
    assert 0.66 < sum(why == "" for run in runs for why in run) / 2000 < 0.74


def test_names_have_articles() -> None:
    names = ("apple", "cup", "rice chips", "glass")
    assert list(map(with_article, names)) == ["an apple", "a cup", "the rice chips", "a glass"]


@pytest.mark.parametrize(("away_m", "expected"), table(__file__, "near").values())
def test_what_is_near_is_reached_more_surely(away_m: float, expected: float) -> None:
    assert near(away_m) == pytest.approx(expected)
