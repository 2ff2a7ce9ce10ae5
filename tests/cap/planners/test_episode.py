"""The loop: bounded, explained and written down, whatever planners and models do."""

from __future__ import annotations

import json
import math
from collections.abc import Generator, Mapping, Sequence
from pathlib import Path
from typing import Any

import pytest

from cap.errors import SpendLimit
from cap.models.base import Completion, Request, Scores
from cap.models.scorers.ranked import ranked
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

NOTHING = DialoguePrompt()


def likes(*texts: str) -> Scorer:
    """A model that would have these steps, in this order, each once."""

    def of(prompt: str, text: str) -> float:
        step = text.strip().rstrip(".")
        left = [each for each in (*texts, "done") if f". {each}." not in prompt]
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


def test_steps_are_taken_in_the_order_of_say_times_can() -> None:
    world = TextWorld(["wave", "bow", "sing"], {"done": 0.1})
    result = run_episode("greet", world, SayCan(likes("bow", "wave"), NOTHING))
    assert (result.end, result.plan, world.done) == ("done", ("bow", "wave"), ["bow", "wave"])


def test_what_cannot_be_done_is_not_chosen_however_likely_it_is_said() -> None:
    world = TextWorld(["wave", "bow"], {"bow": 0.0})
    assert run_episode("greet", world, SayCan(likes("bow", "wave"), NOTHING)).plan == ("wave",)


def test_no_admissible_step_ends_at_once_and_says_so() -> None:
    for planner in (SayCan(likes(), NOTHING), InnerMonologue(Scorer(lambda p, t: 0.0), NOTHING)):
        result = run_episode("greet", TextWorld([]), planner)
        assert (result.end, result.why) == ("stuck", "there is no step to choose")


def test_affordances_that_are_all_zero_end_with_the_reason() -> None:
    world = TextWorld(["wave"], {"wave": 0.0})
    result = run_episode("greet", world, SayCan(likes("wave"), NOTHING, terminate=0.0))
    assert (result.end, result.why) == (
        "stuck",
        "none of 2 steps can be done: all affordances are 0",
    )


def test_a_missing_log_probability_counts_as_unlikely() -> None:
    model = Scorer(lambda prompt, text: math.nan if "wave" in text else -1.0)
    result = run_episode("greet", TextWorld(["wave", "bow"]), SayCan(model, NOTHING))
    assert result.plan == ("bow",)


def test_log_probabilities_that_are_all_missing_are_the_models_failure() -> None:
    model = Scorer(lambda prompt, text: math.nan)
    result = run_episode("greet", TextWorld(["wave"]), SayCan(model, NOTHING))
    assert result.end == "model"
    assert "no log-probability that is a number" in result.why


def test_a_model_that_never_ends_is_ended_and_what_it_repeated_is_named() -> None:
    def again(prompt: str, text: str) -> float:
        return 0.0 if "wave" in text else -50.0

    world = TextWorld(["wave", "bow"], fail=["wave"])
    result = run_episode("greet", world, SayCan(Scorer(again), NOTHING), max_steps=6)
    assert result.end == "steps"
    assert result.why == "6 steps were taken and it never said done; the last 6 were all 'wave'"


def test_after_the_last_step_the_model_is_asked_nothing_more_and_nothing_is_chosen(
    tmp_path: Path,
) -> None:
    """A round of scores followed the last step; its best was shown as if it had been taken."""
    trace = Trace(tmp_path / "run")
    model = likes("wave", "bow", "sing")
    world = TextWorld(["wave", "bow", "sing"])
    run_episode("greet", world, SayCan(model, NOTHING), max_steps=2, trace=trace)
    trace.close("ok")
    assert len(model.prompts) == 2
    assert [moment["chosen"] for moment in moments(tmp_path / "run")] == ["wave", "bow"]


def test_a_planner_that_is_stuck_has_chosen_nothing_and_every_candidate_is_kept(
    tmp_path: Path,
) -> None:
    trace = Trace(tmp_path / "run")
    steps = [f"sing song {number}" for number in range(40)]
    world = TextWorld(steps, dict.fromkeys(steps, 0.0))
    planner = SayCan(likes("sing song 3"), NOTHING, terminate=0.0)
    assert run_episode("greet", world, planner, trace=trace).end == "stuck"
    trace.close("ok")
    (moment,) = moments(tmp_path / "run")
    assert moment["chosen"] is None
    assert {entry["text"] for entry in moment["candidates"]} == {*steps, "done"}


def moments(folder: Path) -> list[Mapping[str, Any]]:
    return [e["data"] for e in read_events(folder) if e["kind"] == "candidates"]


def test_steps_too_unlikely_for_a_number_are_still_told_apart() -> None:
    """Only what the model would never say could be done: it was told that nothing could be."""
    far = {" wave.": -2000.0, " bow.": -1000.0}
    world = TextWorld(["wave", "bow", "sing"], {"sing": 0.0, "bow": 0.5, "done": 0.0})
    model = Scorer(lambda prompt, text: far.get(text, 0.0))
    result = run_episode("greet", world, SayCan(model, NOTHING, terminate=0.0), max_steps=1)
    assert (result.end, result.plan) == ("steps", ("bow",))


def test_a_model_that_only_talks_is_ended() -> None:
    model = Scorer(lambda p, t: 0.0, [" thought: I wonder"])
    result = run_episode("greet", TextWorld(["wave"]), InnerMonologue(model, NOTHING), max_steps=4)
    assert (result.end, result.why) == ("talk", "12 things were said and the task is not done")


def test_answers_that_mean_no_step_are_counted_and_the_last_is_named() -> None:
    model = Scorer(lambda p, t: 0.0, [": 1. xylophone quartz."])
    result = run_episode("greet", TextWorld(["wave"]), InnerMonologue(model, NOTHING))
    assert result.end == "stuck"
    assert "3 answers in a row were no step" in result.why
    assert "xylophone quartz" in result.why


def test_a_budget_that_is_used_up_ends_the_run_not_the_episode() -> None:
    def refuse(prompt: str, text: str) -> float:
        raise SpendLimit("used up")

    with pytest.raises(SpendLimit):
        run_episode("greet", TextWorld(["wave"]), SayCan(Scorer(refuse), NOTHING))


def test_a_planner_that_goes_on_after_done_is_not_asked_again() -> None:
    plan = Plan(Action("do", ("wave",), "wave"), Action("done", (), "done"), Action("do", (), "x"))
    result = run_episode("greet", TextWorld(["wave"]), plan)
    assert (result.end, result.plan) == ("done", ("wave",))


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


def test_an_explanation_is_asked_for_first_and_stands_before_the_steps() -> None:
    model = likes("wave")
    model.lines = [" They want a wave.\nRobot: 1."]
    result = run_episode("greet", TextWorld(["wave"]), SayCan(model, NOTHING, explains=True))
    assert result.plan == ("wave",)
    assert model.prompts[0].endswith("Person: greet\nExplanation:")
    assert "Explanation: They want a wave.\nRobot: 1." in model.prompts[1]


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


class Ranker:
    """Answers every ranking with the letters of some steps, in order."""

    name = "ranker"
    endpoint = None

    def __init__(self, *texts: str) -> None:
        self.texts = list(texts)
        self.requests: list[Request] = []

    def complete(self, request: Request) -> Completion:
        self.requests.append(request)
        listed = {
            line.split(") ", 1)[1].rstrip("."): line.split(")")[0]
            for line in request.prompt.splitlines()
            if ") " in line
        }
        done = request.prompt.rsplit("Person:", 1)[-1].count("Robot:") - 1
        named = self.texts[min(done, len(self.texts) - 1)].split("; ")
        return Completion(", ".join(listed.get(text, "none") for text in named), self.name)

    def score(self, prompt: str, continuations: Sequence[str]) -> Scores:
        return ranked(self, prompt, continuations)


def test_where_steps_are_ranked_only_what_was_named_is_done(tmp_path: Path) -> None:
    model = Ranker("bow; wave; done", "wave; done", "done; wave")
    many = TextWorld(["wave", "bow", *(f"sing song {number}" for number in range(80))])
    trace = Trace(tmp_path)
    result = run_episode("greet", many, SayCan(model, NOTHING), trace=trace)
    trace.close("ok")
    assert (result.end, result.plan, result.rung) == ("done", ("bow", "wave"), "ranked")
    assert len(model.requests) == 3  # one for each step
    moments = [event for event in read_events(tmp_path) if event["kind"] == "candidates"]
    assert moments[0]["data"]["candidates"][0]["say"] == pytest.approx(0.95, abs=1e-3)
    assert moments[0]["data"]["candidates"][-1]["say"] == 0.0
    world = TextWorld(["wave", "bow"], {"bow": 0.0})
    result = run_episode("greet", world, SayCan(Ranker("bow"), NOTHING))
    assert (result.end, result.plan) == ("stuck", ())
    assert result.why == "nothing the model said can be done now, such as 'bow'"


def test_an_answer_in_prose_is_asked_again_once_and_then_is_a_failed_step(tmp_path: Path) -> None:
    """One answer without a letter ended the whole episode."""
    prose = "I think it should greet first"
    again = Scripted(prose, "B", "C")
    result = run_episode("greet", TextWorld(["wave", "bow"]), ByLetter(again))
    assert (result.end, result.plan) == ("done", ("bow",))
    assert f"{prose}\n\nThat names no letter" in again.requests[1].prompt

    trace = Trace(tmp_path)
    once = Scripted(prose, prose, "A", "C")
    feedback = Feedback(("success",))
    result = run_episode("greet", TextWorld(["wave", "bow"]), ByLetter(once), feedback, trace=trace)
    trace.close("ok")
    assert (result.end, result.plan) == ("done", ("no step", "wave"))
    assert [outcome.ok for outcome in result.outcomes] == [False, True]
    assert f"ranked no step, it answered '{prose}'" in result.outcomes[0].message
    assert "Robot: 1. no step.\n[success: no]\n" in once.requests[-1].prompt
    assert [e["data"]["ok"] for e in read_events(tmp_path) if e["kind"] == "step"] == [False, True]

    never = Scripted(prose)
    result = run_episode("greet", TextWorld(["wave"]), ByLetter(never))
    assert (result.end, result.why[:40]) == ("model", "Unranked: the model ranked no step, it a")
    assert (len(never.requests), len(result.outcomes)) == (6, 2)
    result = run_episode("greet", TextWorld(["wave"]), ByLetter(never), max_steps=1)
    assert (result.end, result.plan) == ("steps", ("no step",))


def ByLetter(model: Scripted) -> SayCan:  # noqa: N802
    """A planner whose model only ranks by letter."""
    model.score = lambda prompt, texts: ranked(model, prompt, texts)  # type: ignore[attr-defined]
    return SayCan(model, NOTHING)
