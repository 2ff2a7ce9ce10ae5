"""SayCanPay's puzzles: shortest plans, what can be done, BabyAI's real rooms, orders of scores."""

from __future__ import annotations

from collections.abc import Sequence

import pytest

from benchmarks.planning import babyai, puzzle_domains, search_trials, trials
from benchmarks.planning.puzzle_domains import (
    DOMAINS,
    blocks,
    hanoi,
    puzzle,
    tabletop_puzzle,
)
from benchmarks.planning.puzzles import Part, puzzle_world
from benchmarks.planning.search_trials import lengths, puzzle_trial
from benchmarks.tabletop.inner_monologue import TASKS_IM
from benchmarks.tabletop.tasks import EVERY
from benchmarks.tabletop.trial_sampler import prepare
from cap.planners.dialogue import Dialogue, DialogueLine, plan_in
from cap.planners.loop import DONE, Action
from cap.planners.saycanpay import PlanContext, TrainedScores
from cap.planners.stand_in_models import StandIn

PARTS: Sequence[Part] = ("train", "test", "generalise")


@pytest.mark.parametrize("disks", [1, 2, 3, 4])
def test_the_largest_of_n_disks_moves_after_all_others_have_moved_aside(disks: int) -> None:
    names = ["red", "blue", "green", "yellow"][:disks]
    found = hanoi(names, "rod 1", names[-1], "rod 3")
    plan = found.plan(found.start)
    assert plan is not None
    assert len(plan) == 2 ** (disks - 1)


@pytest.mark.parametrize("part", PARTS)
@pytest.mark.parametrize("domain", DOMAINS)
def test_every_puzzle_is_solved_by_its_plan_and_is_the_same_again(domain: str, part: Part) -> None:
    for number in range(4):
        found = puzzle(domain, part, number)
        plan = found.plan(found.start)
        assert plan
        assert not found.solved(found.start)
        assert found.solved([*found.states(plan)][-1])
        again = puzzle(domain, part, number)
        assert (again.goal, again.opening, again.plan(again.start)) == (
            found.goal, found.opening, plan,
        )  # fmt: skip


@pytest.mark.parametrize("domain", DOMAINS)
def test_examples_of_prompts_show_a_training_problem_as_it_was_at_first(domain: str) -> None:
    prompt = search_trials.puzzle_prompt(domain)
    problems = [puzzle(domain, "train", number) for number in range(60)]
    known = {(p.opening, p.goal): (*(p.plan(p.start) or ()), DONE.text) for p in problems}
    assert prompt.examples
    for example in prompt.examples:
        opening = example.split("\n")[0]
        instruction, steps = plan_in(example)
        assert known[opening, instruction] == steps
        assert f"\n\n{example}\n\n" in Dialogue(prompt, "go on", ["It is so."]).text()


@pytest.mark.parametrize("part", PARTS)
def test_plans_hold_in_minigrids_own_rooms(part: Part) -> None:
    for number in range(4):
        found = puzzle("babyai", part, number)
        plan = found.plan(found.start)
        assert plan is not None
        assert babyai.solved_in_minigrid(part, number, plan)
        assert not babyai.solved_in_minigrid(part, number, plan[:-1])


def test_a_disk_under_another_and_a_larger_one_on_a_smaller_cannot_be_moved() -> None:
    found = hanoi(["red", "blue"], "rod 1", "blue", "rod 2")
    world = puzzle_world(found)
    assert found.after(found.start, "move the red disk to rod 1") is None
    assert found.after(found.start, "move the red disk to rod 3") is not None
    assert not world.step(Action("move", (), "move the blue disk to rod 2")).ok
    assert world.step(Action("move", (), "move the red disk to rod 2")).ok
    assert not world.step(Action("move", (), "move the blue disk to rod 2")).ok


def test_a_bowl_takes_one_block() -> None:
    found = blocks(["red", "blue", "green", "gray"], 2, 2, True)
    assert found.plan(found.start) is not None
    assert found.after(found.start, "put the red block 1 in the blue bowl 1") is None
    once = found.after(found.start, "put the red block 1 in the blue bowl 2")
    assert once is not None
    assert found.after(once, "put the red block 2 in the blue bowl 2") is None
    assert len(found.plan(found.start) or ()) == 3  # the green one must leave first


def test_lengths_are_against_the_same_puzzles_shortest_plan() -> None:
    found = hanoi(["red", "blue"], "rod 1", "blue", "rod 2")
    short = ("move the red disk to rod 3", "move the blue disk to rod 2")
    assert lengths(found, short, ended=True) == {
        "optimal": 1.0, "optimal until": 1.0, "relative": 1.0, "steps": 2.0,
    }  # fmt: skip
    beyond = lengths(found, (*short, "move the red disk to rod 1"), ended=True)
    assert (beyond["optimal"], beyond["optimal until"]) == (0.0, 1.0)
    assert beyond["relative"] == pytest.approx(3 / 4)
    assert lengths(found, short[:1], ended=False)["relative"] == 0.0


def test_knowledge_follows_the_steps_so_far_whatever_they_were() -> None:
    found = hanoi(["red", "blue"], "rod 1", "blue", "rod 2")
    knowledge = search_trials.PuzzleKnowledge(found)
    lines = [DialogueLine("person", found.goal)]
    lines += [DialogueLine("step", "move the red disk to rod 2")]  # in the way
    advice = knowledge.advice(lines)
    assert advice is not None
    assert advice.steps[0] == ("move the red disk to rod 3",)
    lines += [DialogueLine("step", step) for step in ("move the red disk to rod 3", "nonsense")]
    advice = knowledge.advice([*lines, DialogueLine("step", "move the blue disk to rod 2")])
    assert advice is not None
    assert advice.steps == ((DONE.text,),)


@pytest.mark.inside
@pytest.mark.soak
@pytest.mark.parametrize("domain", ["hanoi", "babyai"])
def test_can_adds_to_say_and_pay_to_both(domain: str, monkeypatch: pytest.MonkeyPatch) -> None:
    def small(name: str) -> TrainedScores:
        return puzzle_domains.trained(name, 25)

    monkeypatch.setattr(search_trials, "trained", small)
    done, optimal = {}, {}
    for column in ("greedy say", "greedy saycan", "greedy saycanpay"):
        results = [
            puzzle_trial(f"{domain} test", column, n, lambda k, n=n: StandIn("even-say:2", k, n))  # type: ignore[misc]
            for n in range(8)
        ]
        done[column] = sum(r.missed is None and r.episode.end == "done" for r in results)
        optimal[column] = sum(r.measured["optimal"] for r in results)
    assert done["greedy say"] < done["greedy saycan"] <= done["greedy saycanpay"]
    assert optimal["greedy say"] <= optimal["greedy saycan"] < optimal["greedy saycanpay"]
    assert done["greedy saycanpay"] >= 7


def test_what_is_further_from_the_end_pays_less_and_another_step_nothing() -> None:
    paid = set()
    for row in puzzle_domains.labelled("hanoi", 3):
        found = puzzle("hanoi", "train", row.trajectory)
        state: object = found.start
        for step in row.context.steps:
            state = found.after(state, step)
        left = (*(found.plan(state) or ()), DONE.text)
        assert row.pay == (pytest.approx(0.3 ** (len(left) - 1)) if row.step == left[0] else 0.0)
        paid.add(row.pay)
    assert {0.0, 0.3, 1.0} <= paid


def test_tabletop_tasks_are_learned_as_what_was_put_where() -> None:
    found = tabletop_puzzle(1)
    plan = found.plan(found.start)
    assert plan
    assert found.solved(plan)
    assert not found.solved(plan[:-1])
    assert found.after((), "fly away") is None
    rows = puzzle_domains.labelled("tabletop", 3)
    assert {row.pay for row in rows} >= {0.0, 1.0}
    assert any(row.step == "done" and row.can for row in rows)
    assert found.after((), found.moves[0]) == (found.moves[0],)


def test_a_block_with_another_on_it_is_not_picked_up() -> None:
    found = next(p for p in map(tabletop_puzzle, range(9)) if "tack" in p.goal)
    plan = found.plan(found.start) or ()
    lowest = plan[0].split(" and put it on the ")[1]
    covered = [move for move in found.moves if move.startswith(f"pick up the {lowest} ")]
    assert covered
    assert all(found.after(plan[:1], move) is None for move in covered)


@pytest.mark.inside
@pytest.mark.parametrize("planner", ["cap", "zero-shot", "saycan", "monologue", "saycanpay"])
def test_five_systems_do_the_same_task_and_a_wrong_model_misleads_each(
    planner: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    def uncertain(name: str) -> TrainedScores:
        def ones(context: PlanContext, steps: Sequence[str]) -> list[float]:
            return [1.0] * len(steps)

        return TrainedScores(ones, ones)

    monkeypatch.setattr(trials, "trained", uncertain)
    setup = prepare(TASKS_IM[0], EVERY, "IM", 3)
    for model, good in (("perfect-say", True), ("noisy-say:0", False)):
        result = trials.tabletop_trial(
            setup,
            {},
            lambda known, name=model: StandIn(name, known, 3),
            planner=planner,  # type: ignore[misc]
        )
        assert (result.missed is None) == good, result
