"""`cap plan`: one instruction with one planner, shown and kept."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from PIL import Image

from cap.trace.reader import read_events
from tests.cap.conftest import Cap
from tests.rows import cases

Plan = Callable[..., Any]


@pytest.fixture
def plan(cap: Cap) -> Plan:
    """Plan some words, check the exit code, and return what was printed."""
    return lambda *words, code=0: cap(["plan", *words], code)


def test_an_instruction_is_carried_out_with_its_scores_as_a_table(plan: Plan, cap: Cap) -> None:
    shown = plan("bring me something to clean up the spill").out
    assert "perfect-say knows the right next step; not a language model" in shown
    assert "find a sponge          1" in shown
    assert "done: the world matches the instruction" in shown
    (folder,) = Path("runs").iterdir()
    with Image.open(folder / "after.png") as after:
        assert after.size == (480, 480)
    kinds = [event["kind"] for event in read_events(folder)]
    assert kinds.count("candidates") == kinds.count("step") + 1 == 5
    assert "bring it to you" in cap(["trace", "show"]).out


def test_a_zero_shot_planner_acts_in_the_household(plan: Plan) -> None:
    words = ("Drink the milk", "--planner", "zero-shot", "-r", "household")
    found = json.loads(plan(*words, "--json").out)
    assert found["done"]
    assert found["plan"][-1] == "drink the milk"
    assert found["whereabouts"]["milk"] == "hand"
    assert found["rung"] == "translated"
    (head,) = [row for row in plan(*words).out.splitlines() if "likeness" in row]
    assert head.split()[:6] == ["candidate", "step", "likeness", "share", "penalty", "score"]


def test_a_monologue_reads_what_came_of_its_steps(plan: Plan) -> None:
    words = ("stack all the blocks", "--planner", "monologue", "-r", "ravens")
    shown = plan(*words, "--feedback", "scene", "--disturb", "once").out
    assert "goal: green block on red block" in shown
    assert "Reached: nothing" in shown
    assert "somebody kept it from succeeding" in shown


def test_a_program_is_bounded_and_disturbed_like_any_planner(plan: Plan) -> None:
    words = ("put the apple on the desk", "--planner", "cap", "--objects", "apple @ table")
    assert "1 steps were taken" in plan(*words, "--max-steps", "1", code=1).out
    told = plan(*words, "--disturb", "once", code=1).out
    assert "somebody kept it from succeeding" in told


def test_what_a_person_says_on_the_way_is_what_is_judged(plan: Plan) -> None:
    words = ("throw away the apple", "--say", "1:bring me a sponge")
    shown = plan(*words).out
    assert "Person: bring me a sponge" in shown
    assert "pick up the sponge" in shown


@pytest.mark.parametrize("planner", ["saycan", "cap"])
def test_a_model_that_gives_nothing_is_told_alike_by_every_planner(
    planner: str, plan: Plan
) -> None:
    """A program that could not be written ended with 1, as one that went wrong."""
    words = ("frobnicate the gizmo", "--planner", planner, "-m", "nearest")
    shown = plan(*words, code=4).out
    assert "ended unfinished: NoMatch: nearest cannot" in shown
    assert "the benchmark knows, for example: " in shown


@cases(("instruction", "objects", "why"))
def test_in_the_kitchen_what_is_so_already_or_cannot_be_is_refused_at_the_start(
    instruction: str,
    objects: str,
    why: str,
    plan: Plan,
) -> None:
    """Met by nothing, or met before anything was done, it was told as done."""
    error = plan(instruction, "--objects", objects, code=2).err
    assert "there is nothing to do" in error
    assert why in error
    assert "--objects" in error
    assert error.count("\n") == 1
    assert not [*Path("runs").glob("*")]


@cases(("words", "why"))
def test_what_cannot_be_is_one_line_and_leaves_nothing(
    words: list[str], why: str, plan: Plan
) -> None:
    shown, error = plan(*words, code=2)
    assert "failed" not in shown
    assert why in error
    assert error.count("\n") == 1
    assert not [*Path("runs").glob("*")]
