"""Models that know the plan: how likely they say what, and that they read the dialogue alone."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Sequence
from dataclasses import replace

import pytest

from cap.errors import NoMatch, UnknownModel
from cap.models.base import Request
from cap.planners.dialogue import Dialogue, DialogueLine, DialoguePrompt
from cap.planners.stand_in_models import Advice, Knowledge, StandIn, is_stand_in, what_it_knows
from tests.rows import rows, table

OPTIONS = [f" {text}." for text in ("one", "two", "three", "four", "five", "done")]


class Counting(Knowledge):
    """One, two, three and done."""

    def advice(self, lines: Sequence[DialogueLine]) -> Advice | None:
        if not any(line.kind == "person" and line.text == "count" for line in lines):
            return None
        done = sum(line.kind == "step" for line in lines)
        return Advice(tuple((text,) for text in ("one", "two", "three", "done")[done:]), ("three",))


def say(name: str, steps: Sequence[str] = (), seed: int = 0) -> list[float]:
    dialogue = Dialogue(DialoguePrompt(), "count")
    for step in steps:
        dialogue.add("step", step)
    scores = StandIn(name, Counting(), seed).score(dialogue.before_step(), OPTIONS)
    return [math.exp(value) for value in scores.logprobs]


def written(name: str, knowledge: Knowledge, seeds: int) -> Counter[str]:
    """Return how often each line is written, without options."""
    asked = Request("Person: count\nRobot")
    return Counter(StandIn(name, knowledge, seed).complete(asked).text for seed in range(seeds))


def test_perfect_say_says_what_is_right_and_the_rest_of_the_plan_after_it() -> None:
    first = say("perfect-say")
    assert sum(first) == pytest.approx(1)
    assert first[0] > 0.89
    assert first[0] > 9 * first[1] > 80 * first[2] > 700 * first[5]
    assert max(first[3:5]) < 1e-8
    assert say("perfect-say", ["one", "two", "three"])[5] > 0.999


def test_distractors_are_as_many_as_asked_and_less_likely_than_what_is_right() -> None:
    found = say("perfect-say-with-distractors:2", ["one"])
    likely = [value for value in found if value > 0.02]
    assert len(likely) == 4  # right, next of the plan, two others
    assert max(found) == found[1]


def test_noisy_say_is_right_as_often_as_its_number_says() -> None:
    right = sum(max(say("noisy-say:0.7", [], seed)) == say("noisy-say:0.7", [], seed)[0]
                for seed in range(400))  # fmt: skip
    assert 0.64 < right / 400 < 0.76
    assert all(say("noisy-say:1", [], seed)[0] > 0.8 for seed in range(20))
    assert say("noisy-say:0.7", [], 3) == say("noisy-say:0.7", [], 3)


def test_even_say_says_the_right_one_and_others_alike_and_nothing_else() -> None:
    found = say("even-say:2", ["one"])
    likely = [number for number, value in enumerate(found) if value > 0.01]
    assert len(likely) == 3
    assert 1 in likely
    assert found[1] == pytest.approx(1 / 3, abs=1e-5)
    firsts = {max(range(6), key=say("even-say:2", [], seed).__getitem__) for seed in range(30)}
    assert len(firsts) > 3  # whatever comes first is chance
    assert 0.3 < written("even-say:2", Counting(), 400)[": 1. one."] / 400 < 0.37


@rows("name", table(__file__, "no stand-ins").values())
def test_a_name_that_is_none_of_them_is_refused_with_the_forms(name: str) -> None:
    with pytest.raises(UnknownModel, match="noisy-say:P"):
        StandIn(name, Counting())


def test_what_is_not_the_benchmarks_it_does_not_know() -> None:
    model = StandIn("perfect-say", Counting())
    with pytest.raises(NoMatch, match="'sing' is none"):
        model.score("Person: sing\nRobot: 1.", OPTIONS)
    with pytest.raises(NoMatch, match="no programs of this robot"):
        model.complete(Request("import robot\n\n# count"))


@rows(("name", "known"), table(__file__, "what stand-ins know").values())
def test_what_a_name_stands_for_is_shown_with_it(name: str, known: str) -> None:
    assert what_it_knows(name) == known
    assert is_stand_in(name) == (known != "" and name != "nearest")


def test_it_says_goals_only_where_the_examples_show_how() -> None:
    model = StandIn("perfect-say", Counting())
    shown = "Person: x\nRobot goal: y\n\nPerson: count\nRobot"
    assert model.complete(Request(shown)).text == " goal: three"
    assert model.complete(Request("Person: count\nRobot")).text == ": 1. one."
    stated = "Person: x\nRobot goal: y\n\nPerson: count\nRobot goal: three\nRobot"
    assert model.complete(Request(stated)).text == ": 1. one."


def test_it_writes_the_next_step_or_the_rest_of_a_plan() -> None:
    shown = "Task: see the cup\nStep 1: find the cup\n\nTask: count\nStep 1:"
    model, copies = (StandIn(name, Counting()) for name in ("perfect-say", "copy-say"))
    assert model.complete(Request(shown, ("\n",))).text == " one"
    assert model.complete(Request(shown)).text == " one\nStep 2: two\nStep 3: three"
    assert model.complete(Request(f"{shown} one\nStep 2:", ("\n",))).text == " two"
    assert copies.complete(Request(shown.replace("count", "see the mug"))).text == " find the mug"


def test_without_options_what_is_wrong_may_be_any_step_that_was_told_of() -> None:
    """It said a later step of the plan, which did no harm: its quality made no difference."""

    class Wide(Counting):
        def advice(self, lines: Sequence[DialogueLine]) -> Advice | None:
            found = super().advice(lines)
            return found and replace(found, others=("five", "six"))

    said = written("noisy-say:0.4", Wide(), 300)
    assert said.keys() == {
        f": 1. {text}." for text in ("one", "two", "three", "five", "six", "done")
    }
    assert 0.32 < said[": 1. one."] / 300 < 0.48
