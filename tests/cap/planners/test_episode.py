"""The loop: bounded, explained and written down, whatever planners and models do."""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import pytest

from cap.errors import SpendLimit
from cap.models.base import Completion, Request
from cap.models.scorers import ranked
from cap.planners.dialogue import (
    CONTINUE,
    Dialogue,
    DialogueLine,
    DialoguePrompt,
    match,
    plan_in,
    read,
)
from cap.planners.loop import (
    Action,
    EpisodeResult,
    Feedback,
    PlanEpisode,
    Planner,
    StepOutcome,
    run_episode,
)
from cap.planners.monologue import InnerMonologue
from cap.planners.saycan import SayCan
from cap.planners.saycanpay import SayCanPay
from cap.planners.zero_shot import ZeroShot, by_letters
from cap.robot.registry import prompts_path
from cap.trace.trace import Trace
from tests.fakes.planning import Scorer, TextWorld
from tests.fakes.scripted import Scripted
from tests.rows import rows, table

NOTHING = DialoguePrompt()
WAVE, BOW = (Action("do", (text,), text) for text in ("wave", "bow"))


def play(
    planner: Planner,
    steps: Sequence[str] = ("wave", "bow"),
    feedback: Feedback | None = None,
    world: TextWorld | None = None,
    **options: Any,
) -> tuple[EpisodeResult, list[tuple[str, Any]]]:
    """Return how an episode ended, and the events of its trace."""
    trace, events = Trace(), list[tuple[str, Any]]()
    trace.listeners.append(lambda event: events.append((event.kind, event.data)))
    world = world or TextWorld(steps)
    return run_episode("greet", world, planner, feedback, trace=trace, **options), events


def of_kind(kind: str, events: Sequence[tuple[str, Any]]) -> list[Any]:
    return [data for found, data in events if found == kind]


def likes(*texts: str) -> Scorer:
    """A model that would have these steps, in this order."""

    def of(prompt: str, text: str) -> float:
        left = [*texts, "done"][prompt.count("Robot: ") - 1 :]
        step = text.strip().rstrip(".")
        return -float(left.index(step)) * 5 if step in left else -50.0

    return Scorer(of)


class Plan:
    """Does and says what it was given; after that it is done."""

    def __init__(self, *actions: Action) -> None:
        self.actions = actions
        self.received: list[Sequence[str]] = []

    def act(self, episode: PlanEpisode) -> str:
        for action in self.actions:
            spoken = action.skill in ("ask", "goal")
            self.received.append(episode.say(action) if spoken else episode.step(action).lines)
        return ""


CASES = table(__file__, "saycan")


@rows("case", CASES.values(), CASES)
def test_the_step_with_the_greatest_product_is_taken(case: dict[str, Any]) -> None:
    world = TextWorld(case["steps"], case.get("can"), case.get("fail", ()))
    model = likes(*case.get("likes", ()))
    if (logs := case.get("logs")) is not None:
        model = Scorer(lambda prompt, text: logs.get(text.strip(" ."), -math.inf))
    planner = SayCan(model, NOTHING, case.get("terminate", 0.1))
    result, _ = play(planner, world=world, max_steps=case.get("most", 15))
    assert "".join(model.prompts[-1:]).endswith(case.get("asked", ""))
    assert (result.end, result.why) == (case["end"], case.get("why", ""))
    assert result.plan == tuple(case.get("plan", ()))


def test_candidates_are_recorded_and_nothing_is_chosen_where_it_is_stuck() -> None:
    model = likes("wave", "bow", "sing")
    _, events = play(SayCan(model, NOTHING), ["wave", "bow", "sing"], max_steps=2)
    assert len(model.prompts) == 2
    assert [moment["chosen"] for moment in of_kind("candidates", events)] == ["wave", "bow"]
    steps = [f"sing song {number}" for number in range(40)]
    stuck = SayCan(likes("sing song 3"), NOTHING, 0.0)
    _, events = play(stuck, world=TextWorld(steps, dict.fromkeys(steps, 0.0)))
    (moment,) = of_kind("candidates", events)
    assert moment["chosen"] is None
    assert {entry["text"] for entry in moment["candidates"]} == {*steps, "done"}


@pytest.mark.parametrize(
    ("said", "end", "why"),
    [
        (" thought: I wonder", "talk", "12 things were said and the task is not done"),
        (": 1. xylophone.", "stuck", "3 answers in a row were no step; the last was 'Robot: 1. xy"),
    ],
)
def test_a_monologue_that_leads_nowhere_is_ended(said: str, end: str, why: str) -> None:
    result, _ = play(InnerMonologue(Scorer(lambda p, t: 0.0, [said]), NOTHING), max_steps=4)
    assert result.end == end
    assert result.why.startswith(why)


def test_a_monologue_says_goals_questions_and_steps_in_any_form() -> None:
    lines = [" goal: wave; bow", "question: which?", "Robot: 1. Wave!", "bow", ": 3. done."]
    asked = Scorer(lambda p, t: 0.0, lines)
    feedback = Feedback(("human", "scene"), answer=lambda question: "any")
    result, _ = play(InnerMonologue(asked, NOTHING), feedback=feedback)
    assert (result.end, result.plan) == ("done", ("wave", "bow"))
    assert asked.prompts[-1].endswith(
        "Person: greet\nRobot goal: wave; bow\nReached: nothing\nRobot question: which?\n"
        "Person: any\nRobot: 1. wave.\nReached: wave\nRobot: 2. bow.\nReached: wave; bow\nRobot"
    )


def test_a_budget_that_is_used_up_ends_the_run_not_the_episode() -> None:
    def refuse(prompt: str, text: str) -> float:
        raise SpendLimit("used up")

    with pytest.raises(SpendLimit):
        play(SayCan(Scorer(refuse), NOTHING))


def test_feedback_reaches_the_planner_and_outcomes_the_trace() -> None:
    world = TextWorld(["wave", "bow"], fail=["bow"])
    goal, ask = Action("goal", ("wave", "fly"), "wave; fly"), Action("ask", ("how?",), "how?")
    plan = Plan(goal, WAVE, BOW, ask)
    kinds = ("object", "success", "scene", "human")
    feedback = Feedback(kinds, "tabletop", "", lambda question: "", [(2, "never mind")])
    result, events = play(plan, feedback=feedback, world=world)
    assert [list(lines) for lines in plan.received] == [
        ["Reached: nothing"],
        ["Success: yes", "Reached: wave"],
        ["Success: no", "Reached: wave", "Person: never mind"],
        ["Person: (no answer)"],
    ]
    assert [outcome.ok for outcome in result.outcomes] == [True, False]
    kinds = tuple(kind for kind, _ in events)
    assert kinds == ("instruction", "said", "step", "step", "said", "ended")
    assert events[0][1]["opening"] == ["Scene: there is wave, bow."]


def test_kitchen_feedback_is_silent_about_success_and_lists_what_is_seen() -> None:
    plan = Plan(WAVE, BOW)
    world = TextWorld(["wave", "bow"], fail=["bow"])
    play(plan, feedback=Feedback(("success", "object")), world=world)
    scene = "Scene: there is wave, bow."
    assert plan.received == [(scene,), ("[success: no]", scene)]


def test_a_step_that_is_made_to_fail_changes_nothing() -> None:
    world = TextWorld(["wave"])
    result, _ = play(Plan(WAVE), world=world, disturbance=lambda action, number: "the skill failed")
    assert result.outcomes == (StepOutcome(WAVE, False, "the skill failed"),)
    assert world.done == []


def test_a_model_asks_where_somebody_answers_and_reads_the_answer() -> None:
    def of(prompt: str, text: str) -> float:
        if text in (" and continue", " and ask:"):
            return 0.0 if ("ask" in text) == ("question: how" not in prompt) else -9.0
        return 0.0 if text == (" done." if ". wave." in prompt else " wave.") else -9.0

    model, asked = Scorer(of, [" how high?"]), list[str]()

    def answer(question: str) -> str:
        asked.append(question)
        return "as high\nas you can"

    play(SayCan(model, NOTHING), feedback=Feedback(("human",), answer=answer))
    assert asked == ["how high?"]
    assert "Robot question: how high?\nPerson: as high as you can" in model.prompts[-1]


class Asked(Scorer):
    """Keeps the system messages it is sent."""

    def complete(self, request: Request) -> Completion:
        self.systems = [*getattr(self, "systems", []), request.system]
        return super().complete(request)


@pytest.mark.parametrize(
    "planner",
    [
        lambda model: InnerMonologue(model, NOTHING),
        lambda model: SayCan(model, NOTHING),
        lambda model: SayCanPay(model, NOTHING, method="greedy-token"),
        lambda model: ZeroShot(model, (), by_letters(["wave", "done"], {})),
        lambda model: ZeroShot(model, (), by_letters(["wave", "done"], {}), corrects=False),
    ],
)
def test_a_chat_model_continues_the_text_and_writes_no_program(
    planner: Callable[[Any], Planner],
) -> None:
    asked = Asked(lambda p, t: float("ask" in t or "done" in t), [" done."])
    play(planner(asked), ["wave"], Feedback(("human",)), max_steps=2)
    assert set(asked.systems) == {CONTINUE}


def by_letter(model: Scripted) -> SayCan:
    """A planner whose model only ranks by letter."""
    model.score = lambda prompt, texts: ranked(model, prompt, texts)  # type: ignore[attr-defined]
    return SayCan(model, NOTHING)


def test_where_steps_are_ranked_only_what_was_named_is_done() -> None:
    model = Scripted("B, A, CE", "A, CE", "CE, A")
    many = ["wave", "bow", *(f"sing song {number}" for number in range(80))]
    result, events = play(by_letter(model), many)
    assert (result.end, result.plan, result.rung) == ("done", ("bow", "wave"), "ranked")
    assert len(model.requests) == 3  # one for each step
    first = of_kind("candidates", events)[0]["candidates"]
    assert first[0]["say"] == pytest.approx(0.95, abs=1e-3)
    assert (first[-1]["say"], first[-1]["log_say"]) == (0.0, None)
    result, _ = play(by_letter(Scripted("B")), world=TextWorld(["wave", "bow"], {"bow": 0.0}))
    assert (result.end, result.plan) == ("stuck", ())
    assert result.why == "nothing the model said can be done now, such as 'bow'"


def test_an_answer_in_prose_is_asked_again_once_and_then_is_a_failed_step() -> None:
    prose = "I think it should greet first"
    again = Scripted(prose, "B", "C")
    assert play(by_letter(again))[0].plan == ("bow",)
    assert f"{prose}\n\nThat names no letter" in again.requests[1].prompt

    once = Scripted(prose, prose, "A", "C")
    result, events = play(by_letter(once))
    assert (result.end, result.plan) == ("done", ("wave",))
    assert f"ranked no step, it answered '{prose}'" in of_kind("answer", events)[0]["text"]
    assert "Robot: 1. no step.\n[success: no]\n" in once.requests[-1].prompt

    never = Scripted(prose)
    result, _ = play(by_letter(never))
    assert (result.end, result.why[:40]) == ("model", "Unranked: the model ranked no step, it a")
    assert (len(never.requests), len(result.outcomes)) == (6, 0)


# --- the dialogue a model continues: written, and read back by whoever stands in for a model

EXAMPLE = """\
Person: wave
Robot goal: waved
Robot: 1. wave.
[success: no]
Robot: 2. wave.
Robot: 3. done."""
PROMPT = DialoguePrompt(("I am a robot.",), (EXAMPLE,))
TEXT = f"""\
I am a robot.

{EXAMPLE}

[scene: nobody]
Person: bow twice
Robot: 1. bow.
[success: no]
Person: take your time
Robot thought: slowly then
Robot: 2. bow.
"""


def test_a_dialogue_is_written_line_by_line_and_its_last_episode_is_read_back() -> None:
    dialogue = Dialogue(PROMPT, "bow twice", ["[scene: nobody]"])
    dialogue.add("step", "bow", ("[success: no]", "Person: take your time"))
    dialogue.add("thought", "slowly then")
    dialogue.add("step", "bow")
    assert dialogue.text() == TEXT
    assert dialogue.before_step() == TEXT + "Robot: 3."  # the step that is due is no step
    opening = DialogueLine("feedback", "[scene: nobody]"), DialogueLine("person", "bow twice")
    assert read(dialogue.before_step()) == (*opening, *dialogue.lines)


def test_the_form_of_prompt_files_has_steps_alone_and_one_article() -> None:
    example = "Person: get a cup\nRobot: 1. find a cup.\n[scene: cup]\nRobot: 2. done."
    prompt = DialoguePrompt((), (example,), ("cup",))
    assert Dialogue(prompt, "get an egg.").as_program(["egg"]) == (
        "objects = ['cup', 'egg']\n\n# get the cup.\nplan = ['find the cup', 'done']\n\n"
        "# get the egg.\n"
    )


@rows("path", sorted((prompts_path() / "planners").glob("*.toml")))
def test_the_shipped_prompts_are_read_and_are_short(path: Path) -> None:
    prompt = DialoguePrompt.load(path)
    assert prompt.header
    for example in prompt.examples:
        steps = plan_in(example)[1]
        assert steps[-1] == "done"
        numbers = [int(number) for number in re.findall(r"^Robot: (\d+)\.", example, re.M)]
        assert numbers == list(range(1, len(steps) + 1))
    assert len(Dialogue(prompt, "x").text()) < 4 * 3000
    if path.stem == "kitchen":
        assert len(prompt.examples) == 17


MATCHES = table(__file__, "match")


@rows(("text", "steps", "number"), MATCHES.values(), MATCHES)
def test_words_are_matched_to_the_step_they_mean(
    text: str, steps: list[str], number: int | None
) -> None:
    assert match(text, steps) == number


def test_a_prompt_without_feedback_neither_announces_nor_shows_any() -> None:
    shown = DialoguePrompt.load(prompts_path() / "planners" / "tabletop.toml")
    with_it, without = (Dialogue(each, "x").text() for each in (shown, shown.without_feedback()))
    assert "whether it succeeded" in with_it
    assert "Success: no" in with_it
    assert "ucce" not in without
    assert without.count("Robot: ") == with_it.count("Robot: ")
