"""The loop: bounded, explained and written down, whatever planners and models do."""

from __future__ import annotations

import json
import math
from collections.abc import Generator, Mapping
from pathlib import Path
from typing import Any

import pytest

from cap.errors import SpendLimit
from cap.models.base import Completion, Request
from cap.models.scorers import ranked
from cap.planners.dialogue import CONTINUE, DialoguePrompt
from cap.planners.loop import (
    Action,
    Feedback,
    ForcedFailure,
    PlanEpisode,
    SkillFailure,
    StepOutcome,
    run_episode,
)
from cap.planners.monologue import InnerMonologue
from cap.planners.saycan import SayCan
from cap.planners.saycanpay import SayCanPay
from cap.planners.zero_shot import LetterPieces, ZeroShot
from cap.trace.reader import read_events
from cap.trace.trace import Trace
from tests.fakes.planning import Scorer, TextWorld
from tests.fakes.scripted import Scripted
from tests.rows import rows, table

NOTHING = DialoguePrompt()


def likes(*texts: str) -> Scorer:
    """A model that would have these steps, in this order."""

    def of(prompt: str, text: str) -> float:
        left = [*texts, "done"][prompt.count("Robot: ") - 1 :]
        step = text.strip().rstrip(".")
        return -float(left.index(step)) * 5 if step in left else -50.0

    return Scorer(of)


class Plan:
    """Yields what it was given; after that it is done."""

    name = "plan"

    def __init__(self, *actions: Action) -> None:
        self.actions = actions
        self.received: list[StepOutcome] = []

    def act(self, episode: PlanEpisode) -> Generator[Action, StepOutcome, str]:
        for action in self.actions:
            self.received.append((yield action))
        return ""


CASES = table(__file__, "saycan")


@rows("case", CASES.values(), CASES)
def test_the_step_with_the_greatest_product_is_taken(case: dict[str, Any]) -> None:
    world = TextWorld(case["steps"], case.get("can"), case.get("fail", ()))
    model = likes(*case["likes"])
    planner = SayCan(model, NOTHING, case.get("terminate", 0.1))
    result = run_episode("greet", world, planner, max_steps=case.get("most", 15))
    assert "".join(model.prompts[-1:]).endswith(case.get("asked", ""))
    assert (result.end, result.why) == (case["end"], case.get("why", ""))
    assert result.plan == tuple(case.get("plan", ()))


def test_a_missing_log_probability_counts_as_unlikely() -> None:
    model = Scorer(lambda prompt, text: math.nan if "wave" in text else -1.0)
    result = run_episode("greet", TextWorld(["wave", "bow"]), SayCan(model, NOTHING))
    assert result.plan == ("bow",)
    world = TextWorld(["wave", "bow"], dict.fromkeys(("wave", "bow"), 0.0))
    result = run_episode("greet", world, SayCan(model, NOTHING, 0.0))
    assert result.why == "none of 3 steps can be done: all affordances are 0"


def test_log_probabilities_that_are_all_missing_are_the_models_failure() -> None:
    model = Scorer(lambda prompt, text: math.nan)
    result = run_episode("greet", TextWorld(["wave"]), SayCan(model, NOTHING))
    assert result.end == "model"
    assert "no log-probability that is a number" in result.why


def test_candidates_are_recorded_up_to_the_last_step_and_nothing_is_chosen_where_it_is_stuck(
    tmp_path: Path,
) -> None:
    model, trace = likes("wave", "bow", "sing"), Trace(tmp_path / "run")
    run_episode("go", TextWorld(["wave", "bow", "sing"]), SayCan(model, NOTHING), max_steps=2,
                trace=trace)  # fmt: skip
    steps = [f"sing song {number}" for number in range(40)]
    stuck = SayCan(likes("sing song 3"), NOTHING, 0.0)
    run_episode("go", TextWorld(steps, dict.fromkeys(steps, 0.0)), stuck, trace=trace)
    trace.close("ok")
    assert len(model.prompts) == 2
    found = moments(tmp_path / "run")
    assert [moment["chosen"] for moment in found] == ["wave", "bow", None]
    assert {entry["text"] for entry in found[-1]["candidates"]} == {*steps, "done"}


def moments(folder: Path) -> list[Mapping[str, Any]]:
    return [e["data"] for e in read_events(folder) if e["kind"] == "candidates"]


def test_steps_too_unlikely_for_a_number_are_still_told_apart() -> None:
    """Only what the model would never say could be done: it was told that nothing could be."""
    far = {" wave.": -2000.0, " bow.": -1000.0}
    world = TextWorld(["wave", "bow", "sing"], {"sing": 0.0, "bow": 0.5, "done": 0.0})
    model = Scorer(lambda prompt, text: far.get(text, 0.0))
    result = run_episode("greet", world, SayCan(model, NOTHING, terminate=0.0), max_steps=1)
    assert (result.end, result.plan) == ("steps", ("bow",))


@pytest.mark.parametrize(
    ("said", "end", "why"),
    [
        (" thought: I wonder", "talk", "12 things were said and the task is not done"),
        (": 1. xylophone.", "stuck", "3 answers in a row were no step; the last was 'Robot: 1. xy"),
    ],
)
def test_a_monologue_that_leads_nowhere_is_ended(said: str, end: str, why: str) -> None:
    model = Scorer(lambda p, t: 0.0, [said])
    result = run_episode("greet", TextWorld(["wave"]), InnerMonologue(model, NOTHING), max_steps=4)
    assert result.end == end
    assert result.why.startswith(why)


def test_a_monologue_says_goals_questions_and_steps_in_any_form() -> None:
    lines = [" goal: wave; bow", "question: which?", "Robot: 1. Wave!", "bow", ": 3. done."]
    asked = Scorer(lambda p, t: 0.0, lines)
    feedback = Feedback(("human", "scene"), answer=lambda question: "any")
    result = run_episode("go", TextWorld(["wave", "bow"]), InnerMonologue(asked, NOTHING), feedback)
    assert (result.end, result.plan) == ("done", ("wave", "bow"))
    assert asked.prompts[-1].endswith(
        "Person: go\nRobot goal: wave; bow\nReached: nothing\nRobot question: which?\nPerson: any\n"
        "Robot: 1. wave.\nReached: wave\nRobot: 2. bow.\nReached: wave; bow\nRobot"
    )


def test_a_budget_that_is_used_up_ends_the_run_not_the_episode() -> None:
    def refuse(prompt: str, text: str) -> float:
        raise SpendLimit("used up")

    with pytest.raises(SpendLimit):
        run_episode("greet", TextWorld(["wave"]), SayCan(Scorer(refuse), NOTHING))


def test_feedback_reaches_the_planner_and_outcomes_the_trace(tmp_path: Path) -> None:
    world = TextWorld(["wave", "bow"], fail=["bow"])
    plan = Plan(
        Action("goal", ("wave", "fly"), "wave; fly"),
        Action("do", ("wave",), "wave"),
        Action("do", ("bow",), "bow"),
        Action("ask", ("which way?",), "which way?"),
    )
    kinds = ("object", "success", "scene", "human")
    feedback = Feedback(kinds, "tabletop", "", lambda question: "", [(2, "never mind")])
    trace = Trace(tmp_path / "run")
    result = run_episode("greet", world, plan, feedback, trace=trace)
    trace.close("ok")
    assert [outcome.lines for outcome in plan.received] == [
        ("Reached: nothing",),
        ("Success: yes", "Reached: wave"),
        ("Success: no", "Reached: wave", "Person: never mind"),
        ("Person: (no answer)",),
    ]
    assert [outcome.ok for outcome in result.outcomes] == [True, False]
    lines = (tmp_path / "run" / "events.jsonl").read_text().splitlines()
    kinds = [json.loads(line)["kind"] for line in lines]
    assert kinds == ["instruction", "said", "step", "step", "said", "ended"]
    assert json.loads(lines[0])["data"]["opening"] == ["Scene: there is wave, bow."]


def test_kitchen_feedback_is_silent_about_success_and_lists_what_is_seen() -> None:
    world = TextWorld(["wave", "bow"], fail=["bow"])
    plan = Plan(Action("do", ("wave",), "wave"), Action("do", ("bow",), "bow"))
    run_episode("greet", world, plan, Feedback(("success", "object")))
    assert [outcome.lines for outcome in plan.received] == [
        ("Scene: there is wave, bow.",),
        ("[success: no]", "Scene: there is wave, bow."),
    ]


def test_a_forced_failure_strikes_one_step_once() -> None:
    once = ForcedFailure(("do",))
    bow, wave = Action("do", ("bow",), "bow"), Action("do", ("wave",), "wave")
    struck = [bool(once.strikes(a, n)) for n, a in enumerate((bow, wave, bow, bow))]
    assert struck == [True, False, False, False]
    meddled: list[Action] = []
    other = ForcedFailure(("do",), meddled.append, SkillFailure(0, {"do": 0.0}))
    assert [other.strikes(bow, n) for n in range(2)] == [
        "somebody kept it from succeeding",
        "the skill failed",
    ]
    assert meddled == [bow]


def test_a_step_that_is_made_to_fail_changes_nothing() -> None:
    world, wave = TextWorld(["wave"]), Action("do", ("wave",), "wave")
    result = run_episode("go", world, Plan(wave), disturbance=SkillFailure(0, {"do": 0.0}))
    assert result.outcomes == (StepOutcome(wave, False, "the skill failed"),)
    assert world.done == []


def test_skills_fail_as_often_as_they_should_and_the_same_way_for_the_same_seed() -> None:
    bow = Action("do", ("bow",), "bow")
    runs = [
        [SkillFailure(seed, {"do": 0.7}).strikes(bow, n) for n in range(5)] for seed in range(400)
    ]
    again = [SkillFailure(7, {"do": 0.7}).strikes(bow, n) for n in range(5)]
    assert again == runs[7]
    succeeded = sum(why == "" for run in runs for why in run)
    assert 0.66 < succeeded / 2000 < 0.74
    assert SkillFailure(0, {"do": 0.0}).strikes(Action("fly"), 0) == ""


def test_an_explanation_is_asked_for_first_and_stands_before_the_steps(tmp_path: Path) -> None:
    model, trace = likes("wave"), Trace(tmp_path)
    model.lines = [" They want a wave.\nRobot: 1."]
    planner = SayCan(model, NOTHING, explains=True)
    assert run_episode("greet", TextWorld(["wave"]), planner, trace=trace).plan == ("wave",)
    trace.close("ok")
    assert model.prompts[0].endswith("Person: greet\nExplanation:")
    assert "Explanation: They want a wave.\nRobot: 1." in model.prompts[1]
    said = [e["data"] for e in read_events(tmp_path) if e["kind"] == "explanation"]
    assert said == [{"text": "They want a wave."}]


def test_a_model_asks_where_somebody_answers_and_reads_the_answer() -> None:
    def of(prompt: str, text: str) -> float:
        if text in (" and continue", " and ask:"):
            return 0.0 if ("ask" in text) == ("question: how" not in prompt) else -9.0
        if "wave" in text:
            return 0.0 if ". wave." not in prompt else -9.0
        return -5.0 if text == " done." else -20.0

    model = Scorer(of, [" how high?"])
    asked: list[str] = []

    def answer(question: str) -> str:
        asked.append(question)
        return "as high\nas you can"

    run_episode(
        "greet", TextWorld(["wave"]), SayCan(model, NOTHING), Feedback(("human",), answer=answer)
    )
    assert asked == ["how high?"]
    assert "Robot question: how high?\nPerson: as high as you can" in model.prompts[-1]


def test_a_chat_model_is_told_to_continue_the_text_and_to_write_no_program() -> None:
    """It was told that a program is wanted, as for an instruction to a robot."""

    class Asked(Scorer):
        systems: list[str | None] = []  # noqa: RUF012

        def complete(self, request: Request) -> Completion:
            self.systems.append(request.system)
            return super().complete(request)

    asked = Asked(lambda p, t: float("ask" in t or "done" in t), [" done."])
    world = TextWorld(["wave"])
    texts = LetterPieces(["wave", "done"])
    for planner in (
        InnerMonologue(asked, NOTHING),
        SayCan(asked, NOTHING, explains=True),
        SayCanPay(asked, NOTHING, method="greedy-token"),
        ZeroShot(asked, (), texts),
        ZeroShot(asked, (), texts, corrects=False),
    ):
        before = len(asked.systems)
        run_episode("greet", world, planner, Feedback(("human",)), max_steps=2)
        assert len(asked.systems) > before
    assert set(asked.systems) == {CONTINUE}


def test_where_steps_are_ranked_only_what_was_named_is_done(tmp_path: Path) -> None:
    model = Scripted("B, A, CE", "A, CE", "CE, A")
    many = TextWorld(["wave", "bow", *(f"sing song {number}" for number in range(80))])
    trace = Trace(tmp_path)
    result = run_episode("greet", many, by_letter(model), trace=trace)
    trace.close("ok")
    assert (result.end, result.plan, result.rung) == ("done", ("bow", "wave"), "ranked")
    assert len(model.requests) == 3  # one for each step
    first = moments(tmp_path)[0]["candidates"]
    assert first[0]["say"] == pytest.approx(0.95, abs=1e-3)
    assert (first[-1]["say"], first[-1]["log_say"]) == (0.0, None)
    world = TextWorld(["wave", "bow"], {"bow": 0.0})
    result = run_episode("greet", world, by_letter(Scripted("B")))
    assert (result.end, result.plan) == ("stuck", ())
    assert result.why == "nothing the model said can be done now, such as 'bow'"


def test_an_answer_in_prose_is_asked_again_once_and_then_is_a_failed_step(tmp_path: Path) -> None:
    """One answer without a letter ended the whole episode."""
    prose = "I think it should greet first"
    again = Scripted(prose, "B", "C")
    result = run_episode("greet", TextWorld(["wave", "bow"]), by_letter(again))
    assert (result.end, result.plan) == ("done", ("bow",))
    assert f"{prose}\n\nThat names no letter" in again.requests[1].prompt

    trace = Trace(tmp_path)
    once = Scripted(prose, prose, "A", "C")
    feedback = Feedback(("success",))
    result = run_episode(
        "greet", TextWorld(["wave", "bow"]), by_letter(once), feedback, trace=trace
    )
    trace.close("ok")
    assert (result.end, result.plan) == ("done", ("no step", "wave"))
    assert [outcome.ok for outcome in result.outcomes] == [False, True]
    assert f"ranked no step, it answered '{prose}'" in result.outcomes[0].message
    assert "Robot: 1. no step.\n[success: no]\n" in once.requests[-1].prompt
    assert [e["data"]["ok"] for e in read_events(tmp_path) if e["kind"] == "step"] == [False, True]

    never = Scripted(prose)
    result = run_episode("greet", TextWorld(["wave"]), by_letter(never))
    assert (result.end, result.why[:40]) == ("model", "Unranked: the model ranked no step, it a")
    assert (len(never.requests), len(result.outcomes)) == (6, 2)
    result = run_episode("greet", TextWorld(["wave"]), by_letter(never), max_steps=1)
    assert (result.end, result.plan) == ("steps", ("no step",))


def by_letter(model: Scripted) -> SayCan:
    """A planner whose model only ranks by letter."""
    model.score = lambda prompt, texts: ranked(model, prompt, texts)  # type: ignore[attr-defined]
    return SayCan(model, NOTHING)
