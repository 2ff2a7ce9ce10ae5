"""Whole plans by say, can and pay: the seed's worked example, searches, scores of plans."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from pathlib import Path

import pytest

from cap.models.base import Completion, Request, Scores
from cap.planners.dialogue import DialoguePrompt
from cap.planners.loop import Action, EpisodeResult, run_episode
from cap.planners.saycan import scored
from cap.planners.saycanpay import PartialPlan, PlanContext, SayCanPay
from cap.trace.reader import read_events
from cap.trace.trace import Trace
from tests.fakes.planning import TextWorld


class Table:
    """Says steps by a table from the steps before them."""

    name = "table"
    endpoint = None

    def __init__(self, of: dict[tuple[str, ...], dict[str, float]], *lines: str) -> None:
        self.of = of
        self.lines = list(lines)

    def score(self, prompt: str, continuations: Sequence[str]) -> Scores:
        episode = prompt.rsplit("Person:", 1)[-1].splitlines()[1:-1]
        before = tuple(line.split(". ", 1)[1].rstrip(".") for line in episode)
        chances = self.of.get(before, {})
        found = (chances.get(text.strip().rstrip("."), 1e-9) for text in continuations)
        return Scores(tuple(map(math.log, found)), "exact")

    def complete(self, request: Request) -> Completion:
        return Completion(self.lines.pop(0), self.name)


def always(table: dict[str, float]) -> Callable[[PlanContext, Sequence[str]], list[float]]:
    return lambda context, steps: [table.get(step, 1.0) for step in steps]


def plan(
    model: Table, steps: Sequence[str] = ("a", "b", "c"), limit: int = 6, **options: object
) -> EpisodeResult:
    planner = SayCanPay(model, DialoguePrompt(), **options)  # type: ignore[arg-type]
    return run_episode("go", TextWorld(steps), planner, max_steps=limit)


def test_what_scores_alike_is_taken_by_chance_and_the_same_seed_takes_the_same() -> None:
    """The first in the world's order was always taken, and a plan went round in circles."""
    alike = Table({(): {"a": 0.3, "b": 0.3, "c": 0.3}, **{(s,): {"done": 1.0} for s in "abc"}})
    taken = [plan(alike, seed=seed).plan for seed in range(12)]
    assert {steps[0] for steps in taken} == {"a", "b", "c"}
    assert taken == [plan(alike, seed=seed).plan for seed in range(12)]
    nearly = always({"a": 0.999, "b": 0.9999, "c": 0.9})  # Can is no better known than that
    firsts = {plan(alike, seed=seed, can=nearly).plan[0] for seed in range(12)}
    assert firsts == {"a", "b"}


def test_hanois_worked_example_is_the_product_of_its_columns() -> None:
    rows = {
        "brown to 2": (0.86, 0.92, 0.08, 0.06),
        "brown to 3": (0.60, 0.93, 0.06, 0.03),
        "yellow to 3": (0.26, 0.0, 0.07, 0.0),
    }
    for text, (says, can, pay, net) in rows.items():
        candidate = scored(Action("move", (), text), math.log(says), can, pay)
        assert candidate.parts["score"] == pytest.approx(net, abs=0.005)
    best = max(rows, key=lambda text: math.prod(rows[text][:3]))
    assert best == "brown to 2"


def test_plans_are_scored_by_the_mean() -> None:
    assert PartialPlan((), (-1.0, -2.0, -3.0)).score == pytest.approx(-2.0)
    assert PartialPlan().score == 0.0


def test_what_cannot_be_done_is_vetoed_and_what_pays_is_preferred() -> None:
    model = Table({(): {"a": 0.5, "b": 0.3, "c": 0.2}, ("c",): {"done": 1.0},
                   ("b",): {"done": 1.0}, ("a",): {"done": 1.0}})  # fmt: skip
    assert plan(model).plan == ("a",)
    assert plan(model, can=always({"a": 0.001})).plan == ("b",)
    pays = always({"b": 0.1, "c": 0.9})
    assert plan(model, can=always({"a": 0.001}), pay=pays).plan == ("c",)


def test_a_beam_finds_what_greed_misses_and_one_beam_is_greedy() -> None:
    model = Table({(): {"a": 0.6, "b": 0.4}, ("a",): {"c": 0.3, "done": 0.1},
                   ("a", "c"): {"done": 0.2}, ("b",): {"done": 0.99}})  # fmt: skip
    assert plan(model).plan == ("a", "c")
    assert plan(model, method="beam", beams=1).plan == ("a", "c")
    assert plan(model, method="beam", beams=2).plan == ("b",)


def test_a_long_way_that_can_be_done_beats_a_short_one_in_the_mean_and_pay_mends_it() -> None:
    """Why beams can invert the order of say and can: the mean of long plans is no worse."""
    model = Table({(): {"b": 1.0, "a": 0.5}, ("a",): {"done": 0.5},
                   ("b",): {"c": 1.0}, ("b", "c"): {"b": 1.0, "done": 0.9}})  # fmt: skip
    assert plan(model, method="beam", beams=3, candidates=3).plan == ("b", "c")
    pays = always({"b": 0.01, "c": 0.01})
    assert plan(model, method="beam", beams=3, candidates=3, pay=pays).plan == ("a",)


@pytest.mark.parametrize("method", ["greedy", "beam"])
def test_a_model_that_never_says_done_is_bounded(method: str) -> None:
    class Again(Table):
        def score(self, prompt: str, continuations: Sequence[str]) -> Scores:
            values = (0.0 if "a" in text else -50.0 for text in continuations)
            return Scores(tuple(values), "exact")

    result = plan(Again({}), limit=4, method=method)
    assert (result.end, len(result.plan)) == ("steps", 4)


def test_what_a_model_writes_is_taken_for_the_step_with_the_fewest_letters_changed() -> None:
    model = Table({}, ": 1. pick up teh apple.", ": 2. done.")
    result = plan(model, ("pick up the apple", "find the apple"), method="greedy-token")
    assert (result.end, result.plan) == ("done", ("pick up the apple",))


def test_of_a_search_only_the_steps_of_the_plan_it_took_are_marked(tmp_path: Path) -> None:
    model = Table({(): {"a": 0.6, "b": 0.4}, ("a",): {"c": 0.3, "done": 0.1},
                   ("a", "c"): {"done": 0.2}, ("b",): {"done": 0.99}})  # fmt: skip
    trace = Trace(tmp_path / "run")
    planner = SayCanPay(model, DialoguePrompt(), method="beam", beams=2)
    run_episode("go", TextWorld(["a", "b", "c"]), planner, trace=trace)
    trace.close("ok")
    events = read_events(tmp_path / "run")
    chosen = [e["data"]["chosen"] for e in events if e["kind"] == "candidates"]
    assert chosen == ["b", "done"]
    others = [e["data"]["chosen"] for e in events if e["kind"] == "considered"]
    assert others
    assert set(others) == {None}


def test_every_candidate_of_every_moment_is_in_the_trace(tmp_path: Path) -> None:
    model = Table({(): {"a": 0.6, "b": 0.4}, ("a",): {"done": 1.0}})
    planner = SayCanPay(model, DialoguePrompt(), can=always({"b": 0.2}), pay=always({"a": 0.5}))
    trace = Trace(tmp_path / "run")
    run_episode("go", TextWorld(["a", "b"]), planner, trace=trace)
    trace.close("ok")
    moments = [e["data"] for e in read_events(tmp_path / "run") if e["kind"] == "candidates"]
    assert [(moment["step"], moment["chosen"]) for moment in moments] == [(1, "a"), (2, "done")]
    values = {c["text"]: (c["can"], c["pay"]) for c in moments[0]["candidates"]}
    assert values == {"a": (1.0, 0.5), "b": (0.2, 1.0), "done": (1.0, 1.0)}
