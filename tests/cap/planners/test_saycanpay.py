"""Whole plans by say, can and pay: the seed's worked example, searches, scores of plans."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import pytest

from cap.models.base import Completion, Request, Scores
from cap.planners.dialogue import DialoguePrompt
from cap.planners.loop import Action, EpisodeResult, run_episode
from cap.planners.saycan import scored
from cap.planners.saycanpay import PartialPlan, PlanContext, SayCanPay
from cap.trace.reader import read_events
from cap.trace.trace import Trace
from tests.fakes.planning import TextWorld
from tests.rows import rows, table


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


SEARCHES = table(__file__, "searches")


@rows("case", SEARCHES.values(), SEARCHES)
def test_the_plan_with_the_best_scores_is_found(case: dict[str, Any]) -> None:
    """Beams can invert the order of say and can: the mean of long plans is no worse."""
    says = {tuple(steps.split()): chances for steps, chances in case["says"].items()}
    learned = {name: always(case[name]) for name in ("can", "pay") if name in case}
    options = {key: case[key] for key in ("method", "beams", "candidates") if key in case}
    assert plan(Table(says), **learned, **options).plan == tuple(case["plan"])


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


def events(folder: Path, says: dict[tuple[str, ...], dict[str, float]], **options: Any) -> Any:
    """Return the moments that a search records: taken ones, and others."""
    trace = Trace(folder)
    planner = SayCanPay(Table(says), DialoguePrompt(), **options)
    run_episode("go", TextWorld(["a", "b", "c"]), planner, trace=trace)
    trace.close("ok")
    found = read_events(folder)
    return [
        [event["data"] for event in found if event["kind"] == kind]
        for kind in ("candidates", "considered")
    ]


def test_of_a_search_only_the_steps_of_the_plan_it_took_are_marked(tmp_path: Path) -> None:
    says = {(): {"a": 0.6, "b": 0.4}, ("a",): {"c": 0.3, "done": 0.1},
            ("a", "c"): {"done": 0.2}, ("b",): {"done": 0.99}}  # fmt: skip
    taken, others = events(tmp_path / "run", says, method="beam", beams=2)
    assert [moment["chosen"] for moment in taken] == ["b", "done"]
    assert {moment["chosen"] for moment in others} == {None}


def test_every_candidate_of_every_moment_is_in_the_trace(tmp_path: Path) -> None:
    says = {(): {"a": 0.6, "b": 0.4}, ("a",): {"done": 1.0}}
    scores = {"can": always({"b": 0.2}), "pay": always({"a": 0.5})}
    taken, _ = events(tmp_path / "run", says, **scores)
    assert [(moment["step"], moment["chosen"]) for moment in taken] == [(1, "a"), (2, "done")]
    values = {c["text"]: (c["can"], c["pay"]) for c in taken[0]["candidates"]}
    assert values == {"a": (1.0, 0.5), "b": (0.2, 1.0), "c": (1.0, 1.0), "done": (1.0, 1.0)}
