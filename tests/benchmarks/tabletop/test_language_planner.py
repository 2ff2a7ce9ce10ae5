"""The planner without code: what counts as a step, and how a plan is carried out."""

from typing import Any

import pytest

from benchmarks.suite import Settings, Trial
from benchmarks.tabletop import suite as trials
from benchmarks.tabletop.language_planner import PlanStep, parse
from cap.models.base import Completion, Request
from tests.fakes.scripted import Scripted

RED_ON_BLUE = PlanStep("red block", "blue bowl")


@pytest.mark.parametrize(
    "text",
    [
        "plan = ['Pick up the red block. Place it on the blue bowl.']",
        "1. Pick up the red block.\n2. Place it in the blue bowl.\n3. Done.",
        "plan = ['Pick up the red block', 'Place it on the blue bowl']",
        "Pick up the red block and place it on top of the blue bowl.",
        "Sure!\n\npick up red block, then put it into the Blue Bowl",
        "```python\nplan = ['Pick up the red block. Place it on the blue bowl.']\n```",
        "<think>Pick up the green block. Place it on the middle.</think>\n"
        "Pick up the red block. Place it on the blue bowl.",
    ],
)
def test_a_step_is_read_in_any_dress(text: str) -> None:
    assert parse(text) == (RED_ON_BLUE,)


@pytest.mark.parametrize(
    "text", ["", "Done.", "Move the red block to the blue bowl.", "Pick up the red block."]
)
def test_what_is_no_step_is_none(text: str) -> None:
    assert parse(text) == ()


def test_steps_keep_their_order() -> None:
    lines = [str(PlanStep("red block", "left side")), str(RED_ON_BLUE)]
    assert parse("\n".join(lines)) == (PlanStep("red block", "left side"), RED_ON_BLUE)


def test_a_plan_after_the_stop_string_does_not_count() -> None:
    text = "plan = ['Pick up the red block. Place it on the blue bowl.']\n# stack the blocks.\n"
    more = "plan = ['Pick up the green block. Place it on the red block.']\n"
    assert parse(text + more, ("\n# ",)) == (RED_ON_BLUE,)


def test_no_words_of_a_plan_become_code() -> None:
    wicked = PlanStep("red block'); say('hi", "middle")
    assert wicked.call == f"put_first_on_second({wicked.what!r}, 'middle')"
    assert parse("Pick up the x'); say('y. Place it on the middle.") == ()


class Planner:
    """Plans `blocks-on-place` for whatever blocks the prompt's last context names."""

    name = "planner"

    def __init__(self, place: str) -> None:
        self.place = place

    def complete(self, request: Request) -> Completion:
        context = request.prompt.rsplit("objects = ", 1)[1].splitlines()[0]
        blocks = context.strip("[]").replace("'", "").split(", ")
        steps = [str(PlanStep(name, self.place)) for name in blocks if name.endswith("block")]
        return Completion(f"plan = {steps!r}", self.name)


def run(monkeypatch: pytest.MonkeyPatch, model: Any) -> Any:
    monkeypatch.setattr("benchmarks.models.model_for", lambda *_: model)
    settings = Settings("tabletop", "nl:planner", "instant")
    return trials.TabletopSuite().run(Trial("blocks-on-place", "SA-SI", 0), settings)


def test_a_plan_is_carried_out(monkeypatch: pytest.MonkeyPatch) -> None:
    place = run(monkeypatch, Planner("middle")).instruction.split("on the ")[1].rstrip(".")
    outcome = run(monkeypatch, Planner(place))
    assert outcome.success
    assert outcome.requests == 1
    assert outcome.program.splitlines()[0].endswith(f"Place it on the {place}.")


def test_a_plan_for_elsewhere_fails(monkeypatch: pytest.MonkeyPatch) -> None:
    outcome = run(monkeypatch, Planner("middle"))
    assert (outcome.success, outcome.cause) == (False, "task")


def test_an_answer_without_steps_is_the_models_fault(monkeypatch: pytest.MonkeyPatch) -> None:
    outcome = run(monkeypatch, Scripted("I cannot do that."))
    assert (outcome.success, outcome.cause, outcome.program) == (False, "model", "")
