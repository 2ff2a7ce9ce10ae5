"""SayCan's tasks in the kitchen: goals that can be reached, and missed; the simulator of words."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace

import pytest

from benchmarks.planning import kitchen_tasks, trials
from benchmarks.planning.kitchen_skills import KitchenSkills, actions_for, in_robot_words
from benchmarks.planning.kitchen_tasks import (
    BY_WORDS,
    EVERYTHING,
    FAMILIES,
    MONOLOGUE,
    SAYCAN,
    TASKS,
    KitchenTask,
    Need,
    plain,
)
from benchmarks.planning.language_simulator import LanguageWorld, SolutionKnowledge
from cap.models.base import Model
from cap.planners.dialogue import DialoguePrompt
from cap.planners.loop import Action, Feedback, run_episode
from cap.planners.saycan import SayCan
from cap.planners.stand_in_models import Knowledge, StandIn
from robots.kitchen import create
from tests.benchmarks.planning.cheating import cheats, fetch


def made(name: str, seed: int = 0) -> Callable[[Knowledge], Model]:
    return lambda knowledge: StandIn(name, knowledge, seed)


def kitchen(task: KitchenTask, seed: int = 0) -> KitchenSkills:
    robot = create(seed=seed, mode="instant", objects=kitchen_tasks.objects_of(task))
    kitchen_tasks.set_up(robot, task)
    return KitchenSkills(robot)


def test_there_are_101_instructions_in_seven_families() -> None:
    assert [len(tasks) for tasks in FAMILIES.values()] == [15, 15, 15, 15, 11, 15, 15]
    assert sum(map(len, FAMILIES.values())) == len(SAYCAN) == 101


@pytest.mark.sweep(share=0.075)
@pytest.mark.parametrize("number", range(len(TASKS)))
def test_every_task_is_done_by_perfect_say(number: int) -> None:
    result = trials.kitchen_trial(TASKS[number], number % 15, made("perfect-say"))
    assert (result.missed, result.episode.end) == (None, "done"), result


def verdict(task: KitchenTask, plan: Sequence[str]) -> str | None:
    """What the judge says after some steps, taken whatever came of those before."""
    world = kitchen(task)
    before = kitchen_tasks.look(world.robot)
    actions = {action.text: action for action in world.actions()}
    for step in plan:
        if step in actions:
            world.step(actions[step])
    return kitchen_tasks.missed(task, world, before)


@pytest.mark.sweep(share=0.025)
@pytest.mark.parametrize("number", range(len(TASKS)))
def test_no_cheat_is_taken_for_the_solution(number: int) -> None:
    task = TASKS[number]
    solution = trials.kitchen_trial(task, 0, made("perfect-say")).episode.plan
    found = cheats(task, solution)
    assert len(found) == 8
    for name, plan in found.items():
        assert verdict(task, plan) is not None, (name, plan)


@pytest.mark.parametrize(
    ("words", "plan", "why"),
    [
        ("place the coke can on the table", ["go to the trash can", "put down the coke can"],
         "the coke can is not at the table"),
        ("go to the table", ["go to the table", "go to the far counter"],
         "the robot is not at the table"),
        ("There is a close counter, far counter, and table. visit all the locations",
         ["go to the close counter", "go to the table", "go to the far counter", "bring it to you"],
         "ended elsewhere"),
        ("throw away the apple",
         ["find an apple", "pick up the apple", "go to the trash can", "put down the apple",
          "go to the drawers", "open the top drawer"], "top drawer is not as it was"),
        ("bring me a sponge",
         [*fetch("tea", "bring it to you", "put down the tea"),
          *fetch("sponge", "bring it to you", "put down the sponge")], "the tea is at the desk"),
    ],
)  # fmt: skip
def test_what_nobody_asked_for_is_no_part_of_a_task_that_is_done(
    words: str, plan: list[str], why: str
) -> None:
    """A can in the trash was put down, and who had passed by the table was taken to be there."""
    found = verdict(BY_WORDS[plain(words)], plan)
    assert found is not None
    assert why in found


def test_no_task_is_done_before_anything_is_done() -> None:
    for number, task in enumerate(TASKS):
        world = kitchen(task, number % 15)
        before = kitchen_tasks.look(world.robot)
        assert kitchen_tasks.missed(task, world, before) is not None, task.words
        assert kitchen_tasks.nothing_to_do(task, world, before) is None, task.words


def test_affordances_follow_the_robot() -> None:
    world = kitchen(KitchenTask("", "", (), scene=(("apple", "table"),)))
    can = {action.text: world.affordance(action) for action in world.actions()}
    done = {action.text: world.achieved(action) for action in world.actions()}
    assert (can["pick up the apple"], can["pick up the tea"]) == (1.0, 0.0)
    assert 0.9 < can["find a tea"] < 1.0
    assert 0.9 < can["bring it to you"] < 1.0
    assert (can["put down the tea"], can["done"]) == (1.0, 0.1)
    assert (can["open the top drawer"], can["put the tea in the top drawer"]) == (0.0, 0.0)
    assert not done["find an apple"]  # in view by chance: whoever says so may go on from there
    assert done["go to the table"]
    assert not done["pick up the apple"]
    assert world.step(Action("find", ("apple",), "find an apple")).ok
    assert world.achieved(Action("find", ("apple",), "find an apple"))
    world.step(Action("go", ("drawers",), "go to the drawers"))
    assert world.affordance(Action("open")) == 1.0
    world.step(Action("open"))
    assert world.achieved(Action("open"))
    assert not world.achieved(Action("close"))


def test_a_step_that_fails_is_an_outcome_with_its_reason() -> None:
    world = kitchen(KitchenTask("", "", ()))
    outcome = world.step(Action("pick", ("tea",), "pick up the tea"))
    assert not outcome.ok
    assert "NotFound" in outcome.message
    assert "holds nothing" in world.step(Action("put", ("tea",), "put down the tea")).message


@pytest.mark.parametrize(
    ("need", "lack"),
    [
        (Need("hold", ("apple",)), "the gripper holds coke can"),
        (Need("hold", ("coke can",), source="close counter"), "it came from elsewhere"),
        (Need("bring", ("apple",), "trash can"), "the apple is not at the trash can"),
        (Need("bring", ("apple", "tea"), "close counter", count=2), "0 of 2 are at"),
        (Need("bring", ("apple",), "you"), "the apple is not with you"),
        (Need("bring", ("apple", "tea"), "you"), "0 of 1 are with you"),
        (Need("release", ("coke can",)), "the coke can is not put down"),
        (Need("at", to="far counter"), "the robot is not at the far counter"),
        (Need("visit", to="far counter"), "the robot was not at the far counter"),
        (Need("open"), "the top drawer is not as asked"),
        (Need("stow", ("apple",)), "the apple is not in the top drawer"),
    ],
)
def test_what_is_lacking_is_said(need: Need, lack: str) -> None:
    world = kitchen(KitchenTask("", "", (), holding="coke can"))
    before = kitchen_tasks.look(world.robot)
    before = replace(before, homes={**before.homes, "coke can": "table"})
    found = kitchen_tasks.missed(KitchenTask("", "", (need,)), world, before)
    assert found is not None
    assert lack in found


def test_the_simulator_of_words_recovers_50_of_50_solutions() -> None:
    assert len(trials.solutions()) == 50
    model = made("perfect-say-with-distractors:2")
    for number in range(50):
        result = trials.simulator_trial(number, 17, model, ends=True)
        assert result.missed is None, result


class Unfeeling(LanguageWorld):
    """A world in which every step seems possible, so that the model alone decides."""

    def achieved(self, action: Action) -> bool:
        return False

    def affordance(self, action: Action) -> float:
        return 1.0


def test_the_simulator_of_words_tells_a_wrong_plan_and_affordances_mend_some() -> None:
    knowledge = SolutionKnowledge(trials.solutions())
    recovered = dict.fromkeys(("usual", "constant"), 0)
    for solution in trials.solutions()[:20]:
        for name, kind in (("usual", LanguageWorld), ("constant", Unfeeling)):
            world = kind(solution, actions_for(EVERYTHING))
            model = StandIn("noisy-say:0.7", knowledge, 1)
            run_episode(solution.instruction, world, SayCan(model, DialoguePrompt()))
            recovered[name] += world.recovered
    assert 0 < recovered["constant"] < recovered["usual"] < 20


@pytest.mark.soak
def test_feedback_lifts_success_in_the_disturbed_kitchen() -> None:
    done = {}
    for kind in ("saycan", "success", "object+success"):
        results = [
            trials.kitchen_trial(
                task, seed, made("perfect-say", seed), feedback=trials.kitchen_feedback(kind),
                stochastic=True, disturbed=True,
            )
            for task in MONOLOGUE
            for seed in range(2)
        ]  # fmt: skip
        done[kind] = sum(r.missed is None and r.episode.end == "done" for r in results)
    assert done["saycan"] < 5 < 12 <= done["success"] <= done["object+success"] <= 16


def test_an_answer_narrows_what_is_brought_and_no_answer_leaves_it_open() -> None:
    task = next(task for task in TASKS if task.question)
    for said, brought in (("a tea, please", "tea"), ("", None)):
        feedback = Feedback(("human",), answer=lambda question, said=said: said)  # type: ignore[misc]
        result = trials.kitchen_trial(task, 0, made("perfect-say"), feedback=feedback)
        assert result.missed is None
        assert brought is None or f"pick up the {brought}" in result.episode.plan


def test_a_changed_mind_changes_the_plan() -> None:
    task = BY_WORDS[plain("throw away the apple")]
    feedback = Feedback(("human",), interjections=[(1, "bring me a sponge")])
    result = trials.kitchen_trial(task, 0, made("perfect-say"), feedback=feedback)
    assert result.episode.plan == (
        "find an apple", "find a sponge", "pick up the sponge", "bring it to you",
        "put down the sponge",
    )  # fmt: skip


@pytest.mark.parametrize(
    ("said", "meant"),
    [
        ("bring me a coke can?", "bring a coke can to the desk"),
        ("move it to the trash", "move it to the trash bin"),
        ("take it to the far counter", "take it to the cart"),
        ("throw it in the trash can", "throw it in the trash bin"),
    ],
)
def test_programs_are_asked_for_in_the_robots_own_words(said: str, meant: str) -> None:
    assert in_robot_words(said) == meant
