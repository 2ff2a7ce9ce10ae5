"""Planners of whole plans: say, can and pay with their searches, and the zero-shot planner."""

from __future__ import annotations

import math
import sys
from collections.abc import Callable, Sequence
from dataclasses import replace
from itertools import pairwise
from typing import Any

import numpy as np
import pytest

from cap.errors import MissingExtra
from cap.models.base import Completion, Request
from cap.planners.dialogue import DialoguePrompt
from cap.planners.loop import EpisodeResult, run_episode
from cap.planners.saycanpay import (
    LabelledStep,
    PlanContext,
    SayCanPay,
    features,
    renamer,
    train,
)
from cap.planners.zero_shot import (
    PlanExample,
    ZeroShot,
    by_letters,
)
from cap.trace.trace import Event, Trace
from tests.fakes.planning import Scorer, TextWorld
from tests.rows import rows, table

Says = dict[tuple[str, ...], dict[str, float]]


def says(table: Says, *lines: str) -> Scorer:
    """A model that says steps by a table from the steps before them."""

    def of(prompt: str, text: str) -> float:
        episode = prompt.rsplit("Person:", 1)[-1].splitlines()[1:-1]
        before = tuple(line.split(". ", 1)[1].rstrip(".") for line in episode)
        return math.log(table.get(before, {}).get(text.strip().rstrip("."), 1e-9))

    return Scorer(of, lines)


def always(table: dict[str, float]) -> Callable[[PlanContext, Sequence[str]], list[float]]:
    return lambda context, steps: [table.get(step, 1.0) for step in steps]


def plan(
    model: Scorer, steps: Sequence[str] = ("a", "b", "c"), limit: int = 6, **options: object
) -> EpisodeResult:
    planner = SayCanPay(model, DialoguePrompt(), **options)  # type: ignore[arg-type]
    return run_episode("go", TextWorld(steps), planner, max_steps=limit)


def test_what_scores_alike_is_taken_by_chance_and_the_same_seed_takes_the_same() -> None:
    """The first in the world's order was always taken, and a plan went round in circles."""
    alike = says({(): {"a": 0.3, "b": 0.3, "c": 0.3}, **{(s,): {"done": 1.0} for s in "abc"}})
    taken = [plan(alike, seed=seed).plan for seed in range(12)]
    assert {steps[0] for steps in taken} == {"a", "b", "c"}
    assert taken == [plan(alike, seed=seed).plan for seed in range(12)]
    nearly = always({"a": 0.999, "b": 0.9999, "c": 0.9})  # Can is no better known than that
    firsts = {plan(alike, seed=seed, can=nearly).plan[0] for seed in range(12)}
    assert firsts == {"a", "b"}


SEARCHES = table(__file__, "searches")


@rows("case", SEARCHES.values(), SEARCHES)
def test_the_plan_with_the_best_scores_is_found(case: dict[str, Any]) -> None:
    """Beams can invert the order of say and can: the mean of long plans is no worse."""
    chances = {tuple(steps.split()): chances for steps, chances in case["says"].items()}
    learned = {name: always(case[name]) for name in ("can", "pay") if name in case}
    options = {key: case[key] for key in ("method", "beams", "candidates") if key in case}
    assert plan(says(chances), **learned, **options).plan == tuple(case["plan"])


@pytest.mark.parametrize("method", ["greedy", "beam"])
def test_a_model_that_never_says_done_is_bounded(method: str) -> None:
    again = Scorer(lambda prompt, text: 0.0 if "a" in text else -50.0)
    result = plan(again, limit=4, method=method)
    assert (result.end, len(result.plan)) == ("steps", 4)


def test_what_a_model_writes_is_taken_for_the_step_that_is_most_alike() -> None:
    model = says({}, ": 1. pick up teh apple.", ": 2. done.")
    result = plan(model, ("pick up the apple", "find the apple"), method="greedy-token")
    assert (result.end, result.plan) == ("done", ("pick up the apple",))


def moments(table: Says, **options: Any) -> list[Event]:
    """Return the moments of the plan that a search took."""
    trace, events = Trace(), list[Event]()
    trace.listeners.append(events.append)
    planner = SayCanPay(says(table), DialoguePrompt(), **options)
    run_episode("go", TextWorld(["a", "b", "c"]), planner, trace=trace)
    return [event for event in events if event.kind == "candidates"]


def test_of_a_search_the_steps_of_the_plan_it_took_are_recorded() -> None:
    table = {(): {"a": 0.6, "b": 0.4}, ("a",): {"c": 0.3, "done": 0.1},
            ("a", "c"): {"done": 0.2}, ("b",): {"done": 0.99}}  # fmt: skip
    found = moments(table, method="beam", beams=2)
    assert [event.data["chosen"] for event in found] == ["b", "done"]
    assert found[0].data["candidates"][0]["text"] == "a"


def test_every_candidate_of_every_moment_is_in_the_trace() -> None:
    table = {(): {"a": 0.6, "b": 0.4}, ("a",): {"done": 1.0}}
    found = moments(table, can=always({"b": 0.2}), pay=always({"a": 0.5}))
    assert [(e.data["step"], e.data["chosen"]) for e in found] == [(1, "a"), (2, "done")]
    values = {c["text"]: (c["can"], c["pay"]) for c in found[0].data["candidates"]}
    assert values == {"a": (1.0, 0.5), "b": (0.2, 1.0), "c": (1.0, 1.0), "done": (1.0, 1.0)}


COLORS = ("red", "blue", "green", "pink")
BLUE = PlanContext("take the blue cup", "there are red and blue cups", (), COLORS)
PINK = PlanContext("take the pink cup", "there are green and pink cups", (), COLORS)


def cups(count: int) -> list[LabelledStep]:
    """Cups to take: the one that is asked for pays, and one that was taken cannot be."""
    found = []
    for number in range(count):
        first, second = COLORS[number % 4], COLORS[(number + 1) % 4]
        begin = PlanContext(f"take the {first} cup", f"there are {second} and {first} cups", (),
                            COLORS)  # fmt: skip
        for context in (begin, replace(begin, steps=(begin.goal,))):
            for color in (first, second):
                step = f"take the {color} cup"
                pay = 0.6 if color == first and not context.steps else 0.0
                found.append(LabelledStep(context, step, step not in context.steps, pay, number))
    return found


def test_names_are_known_by_where_goal_and_opening_name_them() -> None:
    assert renamer(BLUE)("Take the blue cup") == "take the <g1 o2> cup"
    assert renamer(PINK)("take the pink cup") == renamer(BLUE)("take the blue cup")
    for unnamed in ("take the green cup", "take the redwood cup"):
        assert renamer(BLUE)(unnamed) == unnamed
    assert features(BLUE, ["take the red cup"]) == features(PINK, ["take the green cup"])


def tower(*disks: str) -> PlanContext:
    """All disks on the first rod, the smallest first, the last to be moved."""
    over = ", ".join(f"the {a} disk is on top of the {b} disk" for a, b in pairwise(disks))
    opening = f"{over}; all are on rod 1. There are rod 1 and rod 2 and rod 3."
    names = (*disks, "rod 1", "rod 2", "rod 3")
    return PlanContext(f"move the {disks[-1]} disk to rod 2", opening, (), names)


def only(kind: str, context: PlanContext, step: str) -> set[str]:
    """Return the features of a kind."""
    (words,) = features(context, [step])
    return {word for word in words if word.startswith(f"{kind} ")}


def test_one_disk_more_changes_no_rod_and_what_lies_on_a_disk_counts() -> None:
    three, four = tower("red", "blue", "green"), tower("red", "blue", "green", "pink")
    top, last = (only("free", three, f"move the {name} disk to rod 2") for name in ("red", "green"))
    assert top == only("free", four, "move the red disk to rod 2") != last
    assert last == only("free", four, "move the pink disk to rod 2")
    assert not only("means", three, "move the red disk to rod 2")


def test_what_is_behind_a_shut_door_and_which_key_is_held_counts() -> None:
    opening = "Room 1 has red key. Room 2 has blue ball. The red door is locked."
    context = PlanContext("pick up the blue ball", opening, (), ("red", "blue"))
    ways = {
        (): ("means True", "locked|False|False"),
        ("pick up the red key",): ("means True", "locked|True|True"),
        ("pick up the red key", "drop the red key"): ("means True", "locked|False|False"),
        ("pick up the red key", "toggle the red door"): ("means False", "closed"),
    }
    for steps, (ball, door) in ways.items():
        there = replace(context, steps=steps)
        assert ball in " ".join(only("means", there, "pick up the blue ball"))
        if door != "closed":
            assert door in " ".join(only("means", there, "toggle the red door"))
    assert not only("free", context, "pick up the blue ball")


@pytest.mark.soak
def test_what_was_learned_holds_for_names_never_seen() -> None:
    learned, goal = train(cups(20)), "take the mauve cup"
    unseen = PlanContext(goal, "there are teal and mauve cups", (), ("mauve", "teal"))
    right, wrong = learned.pay(unseen, [goal, "take the teal cup"])
    assert right > 0.4 > wrong + 0.2
    again, other = learned.can(replace(unseen, steps=(goal,)), [goal, "take the teal cup"])
    assert again < 0.2 < 0.8 < other


def test_a_step_that_was_never_seen_has_numbers_between_0_and_1() -> None:
    learned = train(cups(8))
    for scores in (learned.can, learned.pay):
        for context in (BLUE, PlanContext("", "", ())):
            assert all(0 < value <= 1 for value in scores(context, ["", "flÿ to the möon"]))


def test_without_the_library_the_remedy_is_one_line(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "sklearn", None)
    with pytest.raises(MissingExtra, match=r"scikit-learn.*\[planning\]"):
        train(cups(5))


# --- the zero-shot planner: steps in free words, translated to the steps there are

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
