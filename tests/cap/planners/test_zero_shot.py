"""The zero-shot planner: steps in free words, translated to the steps there are."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import pytest

from cap.models.base import Completion, Request
from cap.planners.loop import EpisodeResult, run_episode
from cap.planners.zero_shot import (
    PlanExample,
    ZeroShot,
    by_letters,
)
from cap.trace.trace import Event, Trace
from tests.fakes.planning import TextWorld
from tests.rows import rows, table

STEPS = ["walk to the kitchen", "open the fridge", "grab the milk"]
HOUSE = ["walk to the kitchen", "switch on the light", "grab the cup", "put the cup in the sink"]
EXAMPLES = [
    PlanExample("Read a book", ("find the book", "read the book")),
    PlanExample("Drink water", ("walk to the kitchen", "grab the water")),
]


class Writer:
    """Writes one of some texts for each request, by its seed."""

    name = "writer"

    def __init__(self, *rounds: Sequence[str]) -> None:
        self.rounds = [list(texts) for texts in rounds]
        self.prompts: list[str] = []

    def complete(self, request: Request) -> Completion:
        self.prompts.append(request.prompt)
        self.tokens = request.max_tokens
        last = request.prompt.rsplit("\n\n", 1)[-1]
        texts = self.rounds[min(last.count("\nStep") - 1, len(self.rounds) - 1)]
        return Completion(texts[(request.seed or 0) % len(texts)], self.name)


def run(
    model: Writer, steps: int = 8, trace: Trace | None = None, **options: bool
) -> EpisodeResult:
    world = TextWorld(STEPS)
    texts = [action.text for action in world.actions()]
    planner = ZeroShot(model, EXAMPLES, by_letters(texts, {}), samples=4, **options)
    return run_episode("Drink milk", world, planner, max_steps=steps, trace=trace)


def test_each_step_is_translated_before_the_next_is_written() -> None:
    model = Writer([" Walk to kitchen"], [" open fridge door"], [" Grab some milk"], [""])
    result = run(model)
    assert (result.end, result.plan) == ("done", tuple(STEPS))
    assert model.prompts[-1] == (
        "Task: Drink water\nStep 1: walk to the kitchen\nStep 2: grab the water\n\n"
        "Task: Drink milk\nStep 1: walk to the kitchen\nStep 2: open the fridge\n"
        "Step 3: grab the milk\nStep 4:"
    )


def test_the_example_is_the_one_most_alike_or_the_first() -> None:
    for dynamic, task in ((True, "Drink water"), (False, "Read a book")):
        model = Writer([""])
        run(model, dynamic=dynamic)
        assert model.prompts[0].startswith(f"Task: {task}\n")


def test_what_most_samples_mean_is_taken_and_the_plan_ends_where_most_are_empty() -> None:
    often = Writer([" walk to kitchen", " walk to kitchen", " grab milk", " walk to kitchen"], [""])
    assert run(often).plan == ("walk to the kitchen",)
    ends = Writer([" walk to kitchen"], ["", "", "", " grab milk"])
    assert run(ends).plan == ("walk to the kitchen",)


def test_words_that_mean_nothing_here_end_the_plan_with_their_score() -> None:
    result = run(Writer([" zzz qqq"]))
    assert result.end == "stuck"
    assert "the likeliest step scores" in result.why
    assert run(Writer([" walk to kitchen"], [" zzz qqq"])).end == "done"


def test_a_step_is_not_said_twice_where_another_is_nearly_as_good() -> None:
    trace, events = Trace(), list[Event]()
    trace.listeners.append(events.append)
    model = Writer([" grab milk"], [" grab milk", " open the fridge"], [""])
    assert run(model, trace=trace).plan == ("grab the milk", "open the fridge")
    _, second = (event.data for event in events if event.kind == "candidates")
    fridge, milk = second["candidates"]
    assert (milk["said"], milk["share"], milk["penalty"]) == ("grab milk", 0.5, 0.5)
    assert (fridge["penalty"], fridge["beta"]) == (0.0, 0.3)
    assert fridge["score"] == pytest.approx(1 + 0.3 * np.log(0.5))


def test_a_plan_without_end_is_bounded() -> None:
    result = run(Writer([" grab milk"], [" open the fridge"], [" grab milk"]), steps=4)
    assert (result.end, len(result.plan)) == ("steps", 4)


def test_without_correction_the_whole_plan_is_written_first() -> None:
    plan = " Walk to kitchen\nStep 2: open fridge\nStep 3: grab milk\n\nTask: x\nStep 1: no"
    model = Writer([plan])
    assert run(model, corrects=False).plan == tuple(STEPS)
    assert (len(model.prompts), model.tokens) == (1, 400)


def test_without_translation_only_exact_words_are_steps() -> None:
    result = run(Writer([" walk to the kitchen\nStep 2: open fridge"]), translates=False)
    assert [outcome.action.skill for outcome in result.outcomes] == ["do", "unread"]


MEANT = table(__file__, "translations")


@rows(("said", "meant"), MEANT.values(), MEANT)
def test_the_nearest_step_is_the_one_that_is_meant(said: str, meant: int) -> None:
    number, likeness = by_letters(HOUSE, {"turn on": "switch on"})(said)
    assert number == meant
    assert 0.3 < likeness <= 1 + 1e-9


def test_the_same_words_are_fully_alike_and_strange_ones_not_at_all() -> None:
    nearest = by_letters(HOUSE, {})
    assert nearest("grab the cup") == (2, pytest.approx(1))
    assert nearest("ÿÿÿ") == (0, 0.0)
    assert by_letters(["switch on tv"], {"turn on": "switch on"})("Turn ON a Tv!")[1] > 0.999
